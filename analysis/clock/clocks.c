// SPDX-License-Identifier: BSD-3-Clause
// Reads the CLOCK chunks: offset and drift of each node clock against the reference node.
#include "analysis/clock/clocks.h"

#include <string.h>

#include "analysis/clock/clock_corrections.h"

#define OFFSET_MAX ((int64_t)CRIT_TIME_MAX / 2)

struct comparison {
	struct crit_rec_clock first;
	struct crit_rec_clock last;
	uint32_t count;
};

static bool read_clock(const struct crit_recording *recording, size_t at,
		       struct crit_rec_clock *ret_clock)
{
	const struct crit_chunk_ref *ref = &recording->refs[at];

	if (ref->kind != CRIT_C_CLOCK ||
	    !crit_recording_read_struct(recording, ref, ret_clock, sizeof(*ret_clock)))
		return false;
	ret_clock->reference[sizeof(ret_clock->reference) - 1] = '\0';
	return ret_clock->reference[0] && ret_clock->offset_ns < OFFSET_MAX &&
	       ret_clock->offset_ns > -OFFSET_MAX && ret_clock->time_ns < CRIT_TIME_MAX &&
	       ret_clock->bound_ns < CRIT_TIME_MAX;
}

/* The host name the first comparison of all names, or "". */
static void find_reference(const struct crit_model *model, char ret_host[CRIT_WORLD_BYTES])
{
	struct crit_rec_clock clock;

	ret_host[0] = '\0';
	for (size_t i = 0; i < model->node_count; i++) {
		const struct crit_recording *recording = model->nodes[i].recording;

		for (size_t at = 0; at < recording->ref_count; at++) {
			if (read_clock(recording, at, &clock)) {
				memcpy(ret_host, clock.reference, CRIT_WORLD_BYTES);
				return;
			}
		}
	}
}

/* Comparisons with the reference, of worlds that have the same one. */
static void collect(const struct crit_recording *recording, const char *reference,
		    struct comparison *ret_found)
{
	struct crit_rec_clock clock;

	ret_found->count = 0;
	for (size_t at = 0; at < recording->ref_count; at++) {
		if (!read_clock(recording, at, &clock) || strcmp(clock.reference, reference) != 0)
			continue;
		if (!ret_found->count || clock.time_ns < ret_found->first.time_ns)
			ret_found->first = clock;
		if (!ret_found->count || clock.time_ns > ret_found->last.time_ns)
			ret_found->last = clock;
		ret_found->count++;
	}
}

/* A straight line through both; through one, or the better of two that contradict each other. */
static void draw_line(struct crit_node *node, const struct comparison *found)
{
	const struct crit_rec_clock *first = &found->first, *last = &found->last;
	const uint64_t passed_ns = last->time_ns - first->time_ns;
	const __int128 one = (__int128)1 << CRIT_CLOCK_SLOPE_SHIFT;
	__int128 slope =
		passed_ns ? (last->offset_ns - first->offset_ns) * one / (__int128)passed_ns : 0;

	node->row.clock_kind = passed_ns ? CRIT_CLOCK_COMPARED : CRIT_CLOCK_COMPARED_ONCE;
	if (slope > CRIT_CLOCK_SLOPE_MAX || slope < -CRIT_CLOCK_SLOPE_MAX) {
		first = last->bound_ns < first->bound_ns ? last : first;
		last = first;
		slope = 0;
		node->row.clock_kind = CRIT_CLOCK_COMPARED_ONCE;
	}
	node->clock = (struct crit_node_clock){ .offset_ns = first->offset_ns,
						.slope = (int64_t)slope,
						.at_ns = first->time_ns,
						.passed_ns = last->time_ns - first->time_ns,
						.bound_ns = { first->bound_ns, last->bound_ns } };
	node->row.clock_bound_ns = last->bound_ns > first->bound_ns ? last->bound_ns
								    : first->bound_ns;
}

/* Like another node of the same boot, else as good as the nodes' wall clocks. */
static void follow(struct crit_node *node, const struct crit_node *other)
{
	const struct crit_rec_file *base = &other->recording->file;
	const struct crit_rec_file *file = &node->recording->file;
	int64_t behind_ns;

	node->clock = other->clock;
	node->row.clock_kind = CRIT_CLOCK_SAME;
	node->row.clock_bound_ns = other->row.clock_bound_ns;
	if (file->boot[0] && !strcmp(file->boot, base->boot))
		return;
	node->row.clock_kind = CRIT_CLOCK_WALL;
	node->row.clock_bound_ns = CRIT_CLOCK_UNBOUND;
	if (!file->start_real_ns || !base->start_real_ns)
		return;
	behind_ns = (int64_t)((file->start_real_ns - file->start_mono_ns) -
			      (base->start_real_ns - base->start_mono_ns)) %
		    OFFSET_MAX;
	node->clock.offset_ns += behind_ns;
	node->clock.at_ns -= (uint64_t)behind_ns; /* a stamp of this node as well */
}

void crit_clocks_set(struct crit_model *model, const struct crit_clock_corrections *corrections)
{
	char reference[CRIT_WORLD_BYTES];
	const struct crit_node *anchor = NULL;
	struct comparison found;

	find_reference(model, reference);
	for (size_t i = 0; i < model->node_count; i++) {
		struct crit_node *node = &model->nodes[i];

		node->row.clock_kind = CRIT_CLOCK_NONE;
		collect(node->recording, reference, &found);
		if (reference[0] ? !strcmp(node->recording->file.host, reference) : !i)
			node->row.clock_kind = CRIT_CLOCK_REFERENCE;
		else if (found.count)
			draw_line(node, &found);
		if (!anchor && node->row.clock_kind)
			anchor = node;
	}
	for (size_t i = 0; i < model->node_count; i++) {
		struct crit_node *node = &model->nodes[i];

		if (!node->row.clock_kind && anchor)
			follow(node, anchor);
	}
	crit_clock_corrections_apply(corrections, model);
	for (size_t i = 0; i < model->node_count; i++) {
		struct crit_node *node = &model->nodes[i];

		node->row.clock_offset_ns = node->clock.offset_ns;
		node->row.clock_drift_ppb = (int64_t)(((__int128)node->clock.slope * 1000000000) >>
						      CRIT_CLOCK_SLOPE_SHIFT);
	}
}
