// SPDX-License-Identifier: BSD-3-Clause
// Sweeps over begins and ends of units, and of what threads wait for others to end.
#include "analysis/table/unit_presence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/table/efficiency.h"

#define LEAST_RATIO 0.01 /* of the window */
#define NO_UNIT SIZE_MAX

struct edge { /* of a unit's time */
	uint64_t time_ns;
	size_t unit;
	int step;
};

struct presence {
	const struct crit_results *results;
	struct crit_lost_units *units;
	size_t *unit_of; /* by row; NULL: nobody waits for a thread to end */
	uint64_t *left_ns; /* of units: when who waited for its end went on; NULL likewise */
	struct edge *edges;
	size_t edge_count;
	uint64_t *level_ns; /* by how many are there */
	double capacity;
};

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step; /* who dies makes room */
}

static void mark(struct presence *presence, size_t unit, uint64_t time_ns, int step)
{
	presence->edges[presence->edge_count++] = (struct edge){ time_ns, unit, step };
}

/* When a unit was there: a rank in its part of the window, a thread in its life. */
static void mark_unit(struct presence *presence, size_t unit)
{
	const struct crit_results *results = presence->results;
	const size_t row = presence->units->rows[unit].row;
	const uint64_t begin_ns = results->has_ranks ? results->ranks[row].open_ns
						     : results->threads[row].birth_ns;
	uint64_t end_ns = results->has_ranks ? results->ranks[row].close_ns
					     : results->threads[row].death_ns;

	if (presence->left_ns && presence->left_ns[unit] < end_ns)
		end_ns = presence->left_ns[unit] > begin_ns ? presence->left_ns[unit] : begin_ns;
	mark(presence, unit, begin_ns, 1);
	mark(presence, unit, end_ns, -1);
}

/* The unit that waits for the thread's end while it lives; NO_UNIT: none does. */
static size_t waiter_of(const struct presence *presence, const struct crit_await_row *await,
			bool is_certain)
{
	const struct crit_thread_row *waiter = &presence->results->threads[await->waiter];

	if ((is_certain && !await->is_certain) || await->since_ns < waiter->birth_ns ||
	    await->until_ns < await->since_ns || await->until_ns > waiter->death_ns)
		return NO_UNIT;
	return presence->unit_of[await->waiter];
}

/* Who waited for a thread to end has its place again: what that still does is to go. */
static void note_ends(struct presence *presence, bool is_certain)
{
	const struct crit_results *results = presence->results;

	for (size_t i = 0; presence->left_ns && i < presence->units->count; i++)
		presence->left_ns[i] = UINT64_MAX;
	for (size_t i = 0; presence->left_ns && i < results->await_count; i++) {
		const struct crit_await_row *await = &results->awaits[i];
		const size_t unit = presence->unit_of[await->ended];

		if (unit != NO_UNIT && waiter_of(presence, await, is_certain) != NO_UNIT)
			presence->left_ns[unit] = await->until_ns;
	}
}

/* When units wait for others to end: those that do so for long enough.  Yields whether one does. */
static bool mark_waits(struct presence *presence, bool is_certain)
{
	const struct crit_results *results = presence->results;
	struct crit_lost_unit *rows = presence->units->rows;
	const double least = LEAST_RATIO * (double)results->window_ns;
	bool has_waits = false;

	for (size_t i = 0; i < presence->units->count; i++)
		rows[i].awaiting = 0;
	for (size_t i = 0; presence->unit_of && i < results->await_count; i++) {
		const struct crit_await_row *await = &results->awaits[i];
		const size_t unit = waiter_of(presence, await, is_certain);

		if (unit != NO_UNIT)
			rows[unit].awaiting += (double)(await->until_ns - await->since_ns);
	}
	for (size_t i = 0; presence->unit_of && i < results->await_count; i++) {
		const struct crit_await_row *await = &results->awaits[i];
		const size_t unit = waiter_of(presence, await, is_certain);

		if (unit == NO_UNIT || rows[unit].awaiting < least)
			continue;
		mark(presence, unit, await->since_ns, -1);
		mark(presence, unit, await->until_ns, 1);
		has_waits = true;
	}
	for (size_t i = 0; i < presence->units->count; i++)
		if (rows[i].awaiting < least)
			rows[i].awaiting = 0;
	return has_waits;
}

/* Adds up how long so many are there, and each of them alone.  Yields the most. */
static size_t add_levels(struct presence *presence)
{
	uint64_t before_ns = 0;
	long live = 0, most = 0, sum = 0; /* of the numbers of those who are there */

	qsort(presence->edges, presence->edge_count, sizeof(*presence->edges), compare_edges);
	for (size_t i = 0; i < presence->edge_count; i++) {
		const struct edge *edge = &presence->edges[i];
		const uint64_t time_ns = edge->time_ns - before_ns;

		if (live > 0) /* who dies as it is born is gone before it is there */
			presence->level_ns[live] += time_ns;
		if (live == 1 && sum >= 0 && (size_t)sum < presence->units->count)
			presence->units->rows[sum].alone += (double)time_ns;
		live += edge->step;
		sum += edge->step * (long)edge->unit;
		if (live > most)
			most = live;
		before_ns = edge->time_ns;
	}
	return (size_t)most;
}

/* is_certain: waits that may be for a lock do not count. */
static void run(struct presence *presence, bool is_certain)
{
	struct crit_lost_units *units = presence->units;
	const double least = LEAST_RATIO * (double)presence->results->window_ns;
	uint64_t together_ns = 0;
	bool has_waits;
	size_t most;

	presence->edge_count = 0;
	note_ends(presence, is_certain);
	for (size_t i = 0; i < units->count; i++) {
		units->rows[i].alone = 0;
		mark_unit(presence, i);
	}
	has_waits = mark_waits(presence, is_certain);
	for (size_t i = 0; i <= units->count; i++)
		presence->level_ns[i] = 0;
	most = add_levels(presence);
	while (has_waits && most > 1) {
		together_ns += presence->level_ns[most];
		if ((double)together_ns >= least)
			break;
		most--;
	}
	presence->capacity = most > 1 ? (double)most : 1;
}

/* Errors: -ENOMEM. */
static int find_units(struct presence *presence)
{
	const struct crit_results *results = presence->results;

	if (!results->await_count || results->has_ranks)
		return 0;
	presence->unit_of = calloc(results->thread_count, sizeof(*presence->unit_of));
	presence->left_ns = calloc(presence->units->count, sizeof(*presence->left_ns));
	if (!presence->unit_of || !presence->left_ns)
		return -ENOMEM;
	for (size_t i = 0; i < results->thread_count; i++)
		presence->unit_of[i] = NO_UNIT;
	for (size_t i = 0; i < presence->units->count; i++)
		presence->unit_of[presence->units->rows[i].row] = i;
	return 0;
}

/*
 * Of a unit's work so much is serial as it can have done while no other was there.  Shares of time
 * that were not its own, as for a CPU or for I/O, may all be of that.
 */
static void take_out(struct crit_lost_unit *unit, const struct crit_results *results)
{
	const struct crit_thread_row *thread = &results->threads[unit->row];
	struct crit_usage usage;

	if (unit->awaiting <= 0)
		return;
	crit_usage_of(&thread->cells, &usage);
	unit->serial = crit_smaller(
		unit->work,
		crit_at_least_0(unit->alone - (double)usage.runnable_ns -
				crit_at_least_0((double)usage.blocked_ns - unit->awaiting)));
	unit->threads =
		crit_at_least_0(unit->threads - unit->awaiting / (double)results->window_ns);
}

int crit_unit_presence_measure(struct crit_lost_units *units, const struct crit_results *results)
{
	struct presence presence = { .results = results, .units = units };
	int rc;

	units->capacity = (double)units->count;
	if (!units->count)
		return 0;
	rc = find_units(&presence);
	presence.edges = calloc(2 * (units->count + results->await_count), sizeof(*presence.edges));
	presence.level_ns = calloc(units->count + 1, sizeof(*presence.level_ns));
	if (!presence.edges || !presence.level_ns)
		rc = -ENOMEM;
	if (!rc) {
		run(&presence, false);
		if (presence.unit_of && presence.capacity < 2)
			run(&presence, true);
		units->capacity = presence.capacity;
		for (size_t i = 0; i < units->count && presence.unit_of; i++)
			take_out(&units->rows[i], results);
	}
	free(presence.left_ns);
	free(presence.unit_of);
	free(presence.edges);
	free(presence.level_ns);
	return rc;
}
