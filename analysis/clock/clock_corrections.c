// SPDX-License-Identifier: BSD-3-Clause
// Moves node clocks as little as possible so that no message is received before it is sent.
#include "analysis/clock/clock_corrections.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/clock/latency_links.h"
#include "analysis/model/model.h"

#define SWEEPS_MAX 8192u /* where there is an answer some hundred do */
#define SETTLING_SWEEPS 32u
#define WORK_MAX (1u << 27) /* constraints looked at: a second or two */
#define SLACK_NS 64 /* what is asked for beyond; met exactly it never is */
#define ROUNDING_NS 4
#define MOVE_MAX_NS 1e9 /* a comparison that is worse than that tells nothing */
#define DRIFT_SHIFT 11 /* while it is under way clocks drift by less than its 2^-11 */

struct line { /* of a node's movement */
	double by_ns[2], most_ns[2]; /* at its first and last comparison */
	double begin_ns, passed_ns; /* since the window's begin; and between the two, 0: one */
	double rise_ns[2]; /* by_ns[1] - by_ns[0] at least and at most */
	double beyond_ns[2], steeper_ns; /* what these limits took back */
};

struct constraint { /* at a time one node is ahead of another by so much at most */
	uint32_t from, to;
	double at_ns, most_ns;
	double moved; /* what it has moved */
};

struct system {
	struct line *lines; /* by node */
	uint32_t *movers; /* by node: whose line it is, CRIT_NONE where nobody knows a bound */
	struct constraint *constraints;
	size_t count, capacity;
};

struct crit_clock_corrections {
	struct crit_clock_correction *nodes; /* in the order of the recordings */
	size_t count;
	bool are_known;
};

struct crit_clock_corrections *crit_clock_corrections_create(void)
{
	return calloc(1, sizeof(struct crit_clock_corrections));
}

void crit_clock_corrections_destroy(struct crit_clock_corrections *corrections)
{
	if (corrections)
		free(corrections->nodes);
	free(corrections);
}

bool crit_clock_corrections_are_known(const struct crit_clock_corrections *corrections)
{
	return corrections->are_known;
}

void crit_clock_corrections_set_known(struct crit_clock_corrections *corrections, bool are_known)
{
	corrections->are_known = are_known;
}

size_t crit_clock_corrections_count(const struct crit_clock_corrections *corrections)
{
	return corrections->count;
}

const struct crit_clock_correction *
crit_clock_corrections_at(const struct crit_clock_corrections *corrections, size_t node)
{
	return &corrections->nodes[node];
}

uint64_t *crit_clock_corrections_numbers(struct crit_clock_corrections *corrections, size_t count,
					 size_t *ret_number_count)
{
	if (!corrections->nodes)
		corrections->nodes = calloc(count, sizeof(*corrections->nodes));
	if (!corrections->nodes)
		return NULL;
	corrections->count = count;
	*ret_number_count = count * sizeof(*corrections->nodes) / sizeof(uint64_t);
	return (uint64_t *)corrections->nodes;
}

static bool has_bound(const struct crit_node *node)
{
	return node->row.clock_kind != CRIT_CLOCK_NONE && node->row.clock_kind != CRIT_CLOCK_WALL;
}

bool crit_clock_corrections_can_be(const struct crit_model *model)
{
	for (size_t i = 0; i < model->node_count && model->node_count > 1; i++) {
		const struct crit_node *node = &model->nodes[i];

		if (has_bound(node) && (node->clock.bound_ns[0] || node->clock.bound_ns[1]))
			return true;
	}
	return false;
}

/* Nodes of the same boot share the clock of the first that was compared, or is the reference. */
static void find_movers(const struct crit_model *model, uint32_t *movers)
{
	uint32_t first = CRIT_NONE;

	for (uint32_t i = 0; i < model->node_count; i++) {
		const struct crit_node *node = &model->nodes[i];
		bool is_own = has_bound(node) && node->row.clock_kind != CRIT_CLOCK_SAME;

		movers[i] = is_own ? i : CRIT_NONE;
		if (is_own && first == CRIT_NONE)
			first = i;
	}
	for (uint32_t i = 0; i < model->node_count; i++)
		if (model->nodes[i].row.clock_kind == CRIT_CLOCK_SAME)
			movers[i] = first;
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
		.passed_ns = (double)clock->passed_ns + (double)clock->slope * per_slope,
		.rise_ns = { (double)(-most - clock->slope) * per_slope,
			     (double)(most - clock->slope) * per_slope },
	};
}

/* How much of a line's movement at a time is that of its end. */
static double part_of(const struct line *line, double at_ns)
{
	return line->passed_ns > 0 ? (at_ns - line->begin_ns) / line->passed_ns : 0;
}

static double value_of(const struct line *line, double at_ns)
{
	double part = part_of(line, at_ns);

	return (1 - part) * line->by_ns[0] + part * line->by_ns[1];
}

/* The most it could be at a time. */
static double most_of(const struct line *line, double at_ns)
{
	double part = part_of(line, at_ns);

	return fabs(1 - part) * line->most_ns[0] + fabs(part) * line->most_ns[1];
}

/* Of one message; those that hold whatever moves are left out.  Errors: -ENOMEM. */
static int add(struct system *system, uint32_t from, uint32_t to, double at_ns, double most_ns)
{
	int rc;

	if (most_of(&system->lines[from], at_ns) + most_of(&system->lines[to], at_ns) <= most_ns)
		return 0;
	rc = crit_array_grow(&system->constraints, &system->capacity, system->count + 1,
			     sizeof(*system->constraints));
	if (!rc)
		system->constraints[system->count++] = (struct constraint){
			.from = from, .to = to, .at_ns = at_ns, .most_ns = most_ns
		};
	return rc;
}

static int collect(struct system *system, const struct crit_model *model,
		   const struct crit_latencies *latencies)
{
	const uint64_t window_ns = model->window_end_ns - model->window_begin_ns;
	const int64_t quantum_ns =
		(int64_t)(window_ns >> (CRIT_CLOCK_SLOPE_SHIFT - 1)); /* of two slopes */
	int rc = 0;

	for (size_t i = 0; latencies && i < latencies->link_count; i++) {
		const struct crit_latency_link *link = &latencies->links[i];
		uint32_t from = system->movers[link->from], to = system->movers[link->to];

		if (from == CRIT_NONE || to == CRIT_NONE || from == to || link->is_mixed)
			continue;
		for (size_t j = 0; j < link->count && !rc; j++) {
			int64_t took_ns = link->points[j].took_ns;
			int64_t at_ns =
				(int64_t)link->points[j].sent_ns - (int64_t)model->window_begin_ns;

			rc = add(system, from, to, (double)at_ns,
				 (double)(took_ns - (llabs(took_ns) >> DRIFT_SHIFT) - quantum_ns -
					  ROUNDING_NS));
		}
	}
	return rc;
}

static double excess_of(const struct system *system, const struct constraint *constraint)
{
	return value_of(&system->lines[constraint->from], constraint->at_ns) -
	       value_of(&system->lines[constraint->to], constraint->at_ns) - constraint->most_ns;
}

/* Moves both lines as little as it takes, or back as far as it has moved them and need not have. */
static void project(struct system *system, struct constraint *constraint)
{
	struct line *from = &system->lines[constraint->from];
	struct line *to = &system->lines[constraint->to];
	double from_part = part_of(from, constraint->at_ns);
	double to_part = part_of(to, constraint->at_ns);
	double weights[4] = { 1 - from_part, from_part, to_part - 1, -to_part };
	double norm = 0, step;

	for (int i = 0; i < 4; i++) {
		weights[i] *= (i < 2 ? from : to)->most_ns[i % 2] > 0;
		norm += weights[i] * weights[i];
	}
	if (norm <= 0)
		return;
	step = fmax((excess_of(system, constraint) + SLACK_NS) / norm, -constraint->moved);
	constraint->moved += step;
	for (int i = 0; i < 4; i++)
		(i < 2 ? from : to)->by_ns[i % 2] -= weights[i] * step;
}

static double clamp(double value, double least, double most)
{
	return fmax(least, fmin(most, value));
}

/* The same for a line's own limits: how steep a clock's can be, and its bounds. */
static void limit(struct line *line)
{
	if (line->passed_ns > 0) {
		double rise_ns = line->by_ns[1] - line->by_ns[0];
		double wanted_ns = rise_ns + line->steeper_ns;
		double step_ns = clamp(wanted_ns, line->rise_ns[0], line->rise_ns[1]) - rise_ns;

		line->steeper_ns = wanted_ns - rise_ns - step_ns;
		line->by_ns[0] -= step_ns / 2;
		line->by_ns[1] += step_ns / 2;
	}
	for (int end = 0; end < 2; end++) {
		double wanted_ns = line->by_ns[end] + line->beyond_ns[end];

		line->by_ns[end] = clamp(wanted_ns, -line->most_ns[end], line->most_ns[end]);
		line->beyond_ns[end] = wanted_ns - line->by_ns[end];
	}
}

static bool is_met(const struct system *system, size_t line_count)
{
	for (size_t i = 0; i < system->count; i++)
		if (excess_of(system, &system->constraints[i]) > 0)
			return false;
	for (size_t i = 0; i < line_count; i++) {
		const struct line *line = &system->lines[i];
		double rise_ns = line->by_ns[1] - line->by_ns[0];

		if (line->passed_ns > 0 &&
		    (rise_ns < line->rise_ns[0] - 1 || rise_ns > line->rise_ns[1] + 1))
			return false;
	}
	return true; /* bounds are what was met last */
}

/*
 * Sweeps until all is met, and as often again to come near to what moves least.  False where there
 * is no end.
 */
static bool meet_all(struct system *system, size_t line_count)
{
	uint64_t enough = 0;

	for (uint64_t sweep = 0; sweep < SWEEPS_MAX && sweep * system->count < WORK_MAX; sweep++) {
		if (sweep >= enough && is_met(system, line_count)) {
			if (enough)
				return true;
			enough = 2 * sweep + SETTLING_SWEEPS;
		}
		for (size_t i = 0; i < system->count; i++)
			project(system, &system->constraints[i]);
		for (size_t i = 0; i < line_count; i++)
			limit(&system->lines[i]);
	}
	return false;
}

static int describe_corrections(struct crit_clock_corrections *corrections,
				const struct system *system, size_t node_count)
{
	bool has_moved = false;

	free(corrections->nodes);
	corrections->nodes = calloc(node_count, sizeof(*corrections->nodes));
	if (!corrections->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < node_count; i++) {
		struct crit_clock_correction *correction = &corrections->nodes[i];
		const struct line *line;

		if (system->movers[i] == CRIT_NONE)
			continue;
		line = &system->lines[system->movers[i]];
		correction->by_ns[0] = llround(line->by_ns[0]);
		correction->by_ns[1] = llround(line->by_ns[line->passed_ns > 0]);
		has_moved = has_moved || correction->by_ns[0] || correction->by_ns[1];
	}
	corrections->count = has_moved ? node_count : 0;
	return 0;
}

int crit_clock_corrections_find(struct crit_clock_corrections *corrections,
				const struct crit_model *model,
				const struct crit_latencies *latencies)
{
	struct system system = { .lines = calloc(model->node_count, sizeof(*system.lines)),
				 .movers = calloc(model->node_count, sizeof(*system.movers)) };
	int rc = system.lines && system.movers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < model->node_count && !rc; i++)
		system.lines[i] = line_of(model, i);
	if (!rc) {
		find_movers(model, system.movers);
		rc = collect(&system, model, latencies);
	}
	if (!rc && meet_all(&system, model->node_count))
		rc = describe_corrections(corrections, &system, model->node_count);
	corrections->are_known = !rc;
	free(system.lines);
	free(system.movers);
	free(system.constraints);
	return rc;
}

/* The line of a node's clock moves at both ends. */
static void apply(const struct crit_clock_correction *correction, struct crit_node *node)
{
	const __int128 one = (__int128)1 << CRIT_CLOCK_SLOPE_SHIFT, most = CRIT_CLOCK_SLOPE_MAX;
	struct crit_node_clock *clock = &node->clock;
	__int128 slope = clock->slope;
	uint64_t bound_ns = 0;

	clock->offset_ns += correction->by_ns[0];
	if (clock->passed_ns)
		slope += (correction->by_ns[1] - correction->by_ns[0]) * one /
			 (__int128)clock->passed_ns;
	clock->slope = (int64_t)(slope > most ? most : slope < -most ? -most : slope); /* rounded */
	for (int end = 0; end < 2; end++) {
		uint64_t by_ns = (uint64_t)llabs(correction->by_ns[end]);

		if (by_ns > (uint64_t)llabs(node->row.clock_correction_ns))
			node->row.clock_correction_ns = correction->by_ns[end];
		if (clock->bound_ns[end] + by_ns > bound_ns)
			bound_ns = clock->bound_ns[end] + by_ns;
	}
	if (node->row.clock_bound_ns != CRIT_CLOCK_UNBOUND)
		node->row.clock_bound_ns = bound_ns;
}

void crit_clock_corrections_apply(const struct crit_clock_corrections *corrections,
				  struct crit_model *model)
{
	for (size_t i = 0; i < model->node_count && corrections->count == model->node_count; i++)
		apply(&corrections->nodes[i], &model->nodes[i]);
}
