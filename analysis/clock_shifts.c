// SPDX-License-Identifier: BSD-3-Clause
// Linear constraints between nodes, met by projections.
#include "analysis/clock_shifts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/model.h"
#include "analysis/peers.h"
#include "analysis/transits.h"

#define SWEEPS_MAX 4096u /* all were met after 10 in every run that has an answer */
#define WORK_MAX (1u << 26) /* constraints looked at: half a second */
#define SLACK_NS 16 /* a projection goes beyond by that, or it would never end */
#define ROUNDING_NS 4
#define MOVE_MAX_NS 1e9 /* a comparison that is worse than that tells nothing */
#define DRIFT_SHIFT 11 /* while it is under way clocks drift by less than its 2^-11 */

struct line { /* of a node's movement */
	double by_ns[2], most_ns[2]; /* at its first and last comparison */
	double begin_ns, passed_ns; /* since the window's begin; and between the two, 0: one */
	double rise_ns[2]; /* by_ns[1] - by_ns[0] at least and at most */
};

struct constraint { /* at a time one node is ahead of another by so much at most */
	uint32_t from, to;
	double at_ns, most_ns;
};

struct system {
	struct line *lines; /* by node */
	struct constraint *constraints;
	size_t count, capacity;
};

void crit_clock_shifts_fini(struct crit_clock_shifts *shifts)
{
	free(shifts->nodes);
	*shifts = (struct crit_clock_shifts){ 0 };
}

static bool has_bound(const struct crit_node *node)
{
	return node->row.clock_kind != CRIT_CLOCK_NONE && node->row.clock_kind != CRIT_CLOCK_WALL;
}

bool crit_clock_shifts_can_be(const struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->node_count && model->node_count > 1; i++) {
		const struct crit_node *node = &model->nodes[i];

		if (has_bound(node) && (node->clock.bound_ns[0] || node->clock.bound_ns[1]))
			return true;
	}
	return false;
}

/* The node whose clock a node of the same boot shares; CRIT_NONE where nobody knows a bound. */
static uint32_t mover_of(const struct crit_model *model, uint32_t node)
{
	uint32_t i;

	if (!has_bound(&model->nodes[node]))
		return CRIT_NONE;
	if (model->nodes[node].row.clock_kind != CRIT_CLOCK_SAME)
		return node;
	for (i = 0; i < model->node_count; i++)
		if (has_bound(&model->nodes[i]) &&
		    model->nodes[i].row.clock_kind != CRIT_CLOCK_SAME)
			return i;
	return CRIT_NONE;
}

static struct line line_of(const struct crit_model *model, uint32_t node)
{
	const struct crit_node_clock *clock = &model->nodes[node].clock;
	const int64_t most = CRIT_CLOCK_SLOPE_MAX;
	const int64_t begin_ns = (int64_t)clock->at_ns + clock->offset_ns;
	const double per_slope =
		(double)clock->passed_ns / (double)(1ull << CRIT_CLOCK_SLOPE_SHIFT);

	return (struct line){
		.most_ns = { fmin((double)clock->bound_ns[0], MOVE_MAX_NS),
			     fmin((double)clock->bound_ns[1], MOVE_MAX_NS) },
		.begin_ns = (double)(begin_ns - (int64_t)model->window_begin_ns),
		.passed_ns = (double)clock->passed_ns,
		.rise_ns = { (double)(-most - clock->slope) * per_slope,
			     (double)(most - clock->slope) * per_slope },
	};
}

/* How much of a line's movement at a time is that of its end. */
static double part_of(const struct line *line, double at_ns)
{
	return line->passed_ns > 0 ? (at_ns - line->begin_ns) / line->passed_ns : 0;
}

static double value_of(const struct line *line, const double by_ns[2], double at_ns)
{
	double part = part_of(line, at_ns);

	return (1 - part) * by_ns[0] + part * by_ns[1];
}

/* All that could be met or not. */
static int add(struct system *system, const struct constraint *new)
{
	const struct line *from = &system->lines[new->from], *to = &system->lines[new->to];
	int rc;

	if (fabs(value_of(from, from->most_ns, new->at_ns)) +
		    fabs(value_of(to, to->most_ns, new->at_ns)) <=
	    new->most_ns)
		return 0;
	rc = crit_array_grow(&system->constraints, &system->capacity, system->count + 1,
			     sizeof(*system->constraints));
	if (!rc)
		system->constraints[system->count++] = *new;
	return rc;
}

/* Lines are straight, so what holds at both ends of a section holds in it. */
static int collect(struct system *system, const struct crit_model *model,
		   const struct crit_transits *transits)
{
	const uint64_t window_ns = model->window_end_ns - model->window_begin_ns;
	const int64_t quantum_ns =
		(int64_t)(window_ns >> (CRIT_CLOCK_SLOPE_SHIFT - 1)); /* of two */
	size_t link;
	uint32_t i;
	int rc = 0;

	for (link = 0; link < transits->link_count; link++) {
		struct constraint new = { mover_of(model, transits->links[link].from),
					  mover_of(model, transits->links[link].to), 0, 0 };

		if (new.from == CRIT_NONE || new.to == CRIT_NONE || new.from == new.to)
			continue;
		for (i = 0; i <= transits->sections && !rc; i++) {
			int64_t least_ns = crit_transits_least(transits, link, i);

			if (least_ns == CRIT_TRANSIT_NONE)
				continue;
			new.at_ns = (double)i *(double)transits->section_ns;
			new.most_ns = (double)(least_ns - (llabs(least_ns) >> DRIFT_SHIFT) -
					       quantum_ns - ROUNDING_NS);
			rc = add(system, &new);
		}
	}
	return rc;
}

static void move(struct line *line, int end, double by_ns)
{
	line->by_ns[end] += by_ns;
	line->by_ns[end] = fmax(-line->most_ns[end], fmin(line->most_ns[end], line->by_ns[end]));
}

/* Moves both lines as little as it takes; false where they need not. */
static bool project(struct system *system, const struct constraint *constraint)
{
	struct line *from = &system->lines[constraint->from];
	struct line *to = &system->lines[constraint->to];
	double from_part = part_of(from, constraint->at_ns);
	double to_part = part_of(to, constraint->at_ns);
	double excess_ns = value_of(from, from->by_ns, constraint->at_ns) -
			   value_of(to, to->by_ns, constraint->at_ns) - constraint->most_ns;
	double weights[4] = { 1 - from_part, from_part, to_part - 1, -to_part };
	double norm = 0;
	int i;

	if (excess_ns <= 0)
		return false;
	for (i = 0; i < 4; i++) {
		weights[i] *= (i < 2 ? from : to)->most_ns[i % 2] > 0;
		norm += weights[i] * weights[i];
	}
	for (i = 0; i < 4 && norm > 0; i++)
		move(i < 2 ? from : to, i % 2, -weights[i] * (excess_ns + SLACK_NS) / norm);
	return true;
}

/* A line becomes as steep as a clock's can be; false where it is. */
static bool flatten(struct line *line)
{
	double rise_ns = line->by_ns[1] - line->by_ns[0];
	double excess_ns =
		fmax(rise_ns - line->rise_ns[1], 0) - fmax(line->rise_ns[0] - rise_ns, 0);

	if (line->passed_ns <= 0 || fabs(excess_ns) < 1)
		return false;
	move(line, 0, excess_ns / 2);
	move(line, 1, -excess_ns / 2);
	return true;
}

/* Sweeps until nothing moves; false where that would have no end. */
static bool meet_all(struct system *system, size_t line_count)
{
	bool has_moved = true;
	uint64_t sweep, work = 0;
	size_t i;

	for (sweep = 0; has_moved && sweep < SWEEPS_MAX && work < WORK_MAX; sweep++) {
		has_moved = false;
		for (i = 0; i < line_count; i++)
			has_moved |= flatten(&system->lines[i]);
		for (i = 0; i < system->count; i++)
			has_moved |= project(system, &system->constraints[i]);
		work += system->count;
	}
	return !has_moved;
}

int crit_clock_shifts_find(struct crit_clock_shifts *shifts, const struct crit_model *model,
			   const struct crit_transits *transits)
{
	struct system system = { .lines = calloc(model->node_count, sizeof(*system.lines)) };
	int rc = system.lines ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < model->node_count && !rc; i++)
		system.lines[i] = line_of(model, i);
	if (!rc)
		rc = collect(&system, model, transits);
	shifts->is_known = !rc;
	if (!rc && meet_all(&system, model->node_count)) {
		shifts->nodes = calloc(model->node_count, sizeof(*shifts->nodes));
		rc = shifts->nodes ? 0 : -ENOMEM;
	}
	for (i = 0; i < model->node_count && shifts->nodes; i++) {
		uint32_t mover = mover_of(model, i);
		const struct line *line = &system.lines[mover == CRIT_NONE ? 0 : mover];

		if (mover == CRIT_NONE)
			continue;
		shifts->nodes[i].by_ns[0] = llround(line->by_ns[0]);
		shifts->nodes[i].by_ns[1] = llround(line->by_ns[line->passed_ns > 0]);
	}
	shifts->count = shifts->nodes ? model->node_count : 0;
	free(system.lines);
	free(system.constraints);
	return rc;
}

int crit_clock_shifts_tell(struct crit_clock_shifts *shifts, const struct crit_peers *peers)
{
	uint64_t count = shifts->count;
	int rc = crit_peers_tell(peers, &count, 1);

	shifts->is_known = !rc;
	if (rc || !count)
		return rc;
	if (!shifts->nodes)
		shifts->nodes = calloc(count, sizeof(*shifts->nodes));
	rc = crit_peers_agree(peers, 0, shifts->nodes ? 0 : -ENOMEM);
	if (rc)
		return rc;
	shifts->count = count;
	return crit_peers_tell(peers, (uint64_t *)shifts->nodes,
			       count * sizeof(*shifts->nodes) / sizeof(uint64_t));
}

/* The line of a node's clock moves at both ends. */
static void apply(const struct crit_clock_shift *shift, struct crit_node *node)
{
	const __int128 one = (__int128)1 << CRIT_CLOCK_SLOPE_SHIFT, most = CRIT_CLOCK_SLOPE_MAX;
	struct crit_node_clock *clock = &node->clock;
	__int128 slope = clock->slope;
	uint64_t bound_ns = 0;
	int end;

	clock->offset_ns += shift->by_ns[0];
	if (clock->passed_ns)
		slope += (shift->by_ns[1] - shift->by_ns[0]) * one / (__int128)clock->passed_ns;
	clock->slope = (int64_t)(slope > most ? most : slope < -most ? -most : slope); /* rounded */
	for (end = 0; end < 2; end++) {
		uint64_t by_ns = (uint64_t)llabs(shift->by_ns[end]);

		if (by_ns > (uint64_t)llabs(node->row.clock_shift_ns))
			node->row.clock_shift_ns = shift->by_ns[end];
		if (clock->bound_ns[end] + by_ns > bound_ns)
			bound_ns = clock->bound_ns[end] + by_ns;
	}
	if (node->row.clock_bound_ns != CRIT_CLOCK_UNBOUND)
		node->row.clock_bound_ns = bound_ns;
}

void crit_clock_shifts_apply(const struct crit_clock_shifts *shifts, struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->node_count && shifts->count == model->node_count; i++)
		apply(&shifts->nodes[i], &model->nodes[i]);
}
