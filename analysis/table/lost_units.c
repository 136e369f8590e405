// SPDX-License-Identifier: BSD-3-Clause
// Finds units and what they do while they are active; leaves out those that do next to nothing.
#include "analysis/table/lost_units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/account/metric.h"
#include "analysis/table/efficiency.h"

#define LEAST_ACTIVE_RATIO 0.01 /* of the most active unit; less is left out */
#define LEAST_ACTIVE_THREAD_RATIO 0.05 /* likewise: one that starts others may take long to begin */
#define HOLDS_UP_RATIO 0.05 /* of the window, in which a rank alone is blocked */
#define LEFT_OUT_RATIO 0.05 /* of all active time: they are what the run does */
#define OTHERS_LEFT_OUT_RATIO 0.25 /* likewise, with those of other processes */

/* What threads do while they are active, summed over cells. */
struct activity {
	double useful, runnable, library;
};

static struct activity activity_of(const struct crit_cells *cells, enum crit_active_rule rule)
{
	struct activity sum = { 0 };

	for (unsigned int state = 0; state < CRIT_STATE_COUNT; state++)
		for (unsigned int c = 0; c < CRIT_CLASS_COUNT; c++) {
			double time_ns = (double)cells->ns[state][c];

			if (!crit_metric_is_active(rule, state, c))
				continue;
			if (state == CRIT_STATE_RUNNABLE)
				sum.runnable += time_ns;
			else if (c == CRIT_CLASS_MPI || crit_metric_is_waiting_class(c))
				sum.library += time_ns;
			else
				sum.useful += time_ns;
		}
	return sum;
}

static double active_of(const struct activity *activity)
{
	return activity->useful + activity->runnable + activity->library;
}

static double useful_of(const struct crit_cells *cells)
{
	struct crit_usage usage;

	crit_usage_of(cells, &usage);
	return (double)usage.useful_ns;
}

/* Unknown outside MPI and OpenMP: of what blocks there nobody knows either. */
static double unknown_of(const struct crit_cells *cells)
{
	const uint64_t *unknown = cells->ns[CRIT_STATE_UNKNOWN];

	return (double)(unknown[CRIT_CLASS_NONE] + unknown[CRIT_CLASS_USER] +
			unknown[CRIT_CLASS_OMP]);
}

void crit_lost_unit_split_idle(struct crit_lost_unit *unit, uint64_t active_ns, uint64_t silent_ns)
{
	const struct crit_thread_row *thread = unit->teller;
	double all, both, told, part[2], limit[2] = { (double)silent_ns, 0 };
	struct crit_usage usage;

	if (!thread)
		return;
	crit_usage_of(&thread->cells, &usage);
	all = (double)usage.blocked_ns + unknown_of(&thread->cells);
	/* who waits for a thread that works for it, as a pool's, is not blocked */
	both = all - crit_smaller(fmax(unit->awaiting, unit->active - unit->teller_active),
				  (double)usage.blocked_ns);
	if (both <= 0)
		return;
	limit[1] = crit_at_least_0((double)active_ns - unit->active);
	part[1] = crit_smaller((double)thread->idle_blocked_ns, all);
	part[1] = crit_at_least_0(part[1] - (all - both)); /* whose end it waits for is active */
	part[0] = both - part[1];
	for (int busy = 0; busy < 2; busy++) {
		told = crit_smaller(part[busy], limit[busy]);
		unit->blocked[busy] = told * (both - unknown_of(&thread->cells)) / both;
		unit->unknown[busy] = crit_at_least_0(told - unit->blocked[busy]);
	}
}

/* Divides the time a unit is active as its threads' active time is divided. */
static void split_active(struct crit_lost_unit *unit, const struct crit_cells *cells,
			 enum crit_active_rule rule)
{
	struct activity activity = activity_of(cells, rule);
	double sum = active_of(&activity);

	unit->work = useful_of(cells);
	if (sum <= 0)
		return;
	unit->useful = unit->active * activity.useful / sum;
	unit->runnable = unit->active * activity.runnable / sum;
	unit->library = unit->active * activity.library / sum;
}

static double in_mpi(const struct crit_cells *cells)
{
	return (double)(crit_cells_class(cells, CRIT_CLASS_MPI) +
			crit_cells_class(cells, CRIT_CLASS_MPI_MAY_WAIT) +
			crit_cells_class(cells, CRIT_CLASS_MPI_WAIT) +
			crit_cells_class(cells, CRIT_CLASS_MPI_POLL));
}

/* Its team is not complete before it has come, outside of OpenMP's own waits. */
static double blocked_in_region(const struct crit_thread_row *thread, uint64_t blocked_ns)
{
	const double alone = (double)blocked_ns - (double)thread->idle_blocked_ns;

	return crit_smaller((double)thread->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP],
			    crit_at_least_0(alone));
}

/* Where a rank's thread is in MPI, the rank is: what its others do does not hold up anybody. */
static void add_thread(struct crit_lost_unit *unit, const struct crit_results *results,
		       uint32_t row, double active)
{
	const struct crit_thread_row *thread = &results->threads[row];
	const double mpi = in_mpi(&thread->cells), window_ns = (double)results->window_ns;
	struct crit_usage usage;
	double in_region;

	crit_usage_of(&thread->cells, &usage);
	in_region = blocked_in_region(thread, usage.blocked_ns);
	if (in_region > unit->in_region) {
		unit->in_region = in_region;
		unit->in_region_row = row;
	}
	if (active > LEAST_ACTIVE_RATIO * unit->active && window_ns > 0)
		unit->threads += (double)(usage.life_ns - usage.setup_ns) / window_ns;
	if (unit->teller &&
	    (unit->teller_mpi > mpi || (unit->teller_mpi >= mpi && unit->teller_active >= active)))
		return;
	unit->teller = thread;
	unit->teller_active = active;
	unit->teller_mpi = mpi;
}

static double active_in(const struct crit_results *results, const struct crit_cells *cells)
{
	struct activity activity = activity_of(cells, results->rule);

	return active_of(&activity);
}

static size_t find_ranks(const struct crit_results *results, struct crit_lost_unit *units)
{
	for (size_t i = 0; i < results->rank_count; i++) {
		const struct crit_rank_row *rank = &results->ranks[i];

		units[i] = (struct crit_lost_unit){ .row = i,
						    .node = rank->node,
						    .active = (double)rank->active_ns };
		split_active(&units[i], &rank->cells, results->rule);
	}
	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];

		if (thread->role == CRIT_THREAD_APP && thread->rank_row >= 0)
			add_thread(&units[thread->rank_row], results, (uint32_t)i,
				   active_in(results, &thread->cells));
	}
	return results->rank_count;
}

static size_t find_threads(const struct crit_results *results, struct crit_lost_unit *units)
{
	size_t count = 0;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];
		double active = active_in(results, &thread->cells);

		if (thread->role != CRIT_THREAD_APP)
			continue;
		units[count] =
			(struct crit_lost_unit){ .row = i, .node = thread->node, .active = active };
		split_active(&units[count], &thread->cells, results->rule);
		units[count].team = (double)crit_cells_class(&thread->cells, CRIT_CLASS_OMP_WAIT);
		add_thread(&units[count++], results, (uint32_t)i, active);
	}
	return count;
}

/* A thread without rank, of another process than one that is active for longest. */
static bool is_of_another(const struct crit_lost_unit *unit, const struct crit_lost_unit *most,
			  const struct crit_results *results)
{
	return !results->has_ranks &&
	       (results->threads[unit->row].pid != results->threads[most->row].pid ||
		results->threads[unit->row].node != results->threads[most->row].node);
}

/*
 * From how much active time on a unit is none that does next to nothing, and whether that fits.  Of
 * other processes more may be left out, as of a shell that starts the program.
 */
static double least_active(const struct crit_lost_units *units, const struct crit_results *results,
			   bool *ret_is_of_life)
{
	const double ratio = results->has_ranks ? LEAST_ACTIVE_RATIO : LEAST_ACTIVE_THREAD_RATIO;
	const struct crit_lost_unit *most = units->rows;
	double all = 0, own = 0, others = 0;
	size_t idle = 0, live = 0;

	for (size_t i = 0; i < units->count; i++) {
		if (units->rows[i].active > most->active)
			most = &units->rows[i];
		all += units->rows[i].active;
	}
	for (size_t i = 0; i < units->count; i++) {
		const struct crit_lost_unit *unit = &units->rows[i];
		const bool is_idle = unit->active < ratio * most->active;

		live += unit->active > 0;
		idle += unit->active > 0 && is_idle;
		if (is_idle && is_of_another(unit, most, results))
			others += unit->active;
		else if (is_idle)
			own += unit->active;
	}
	*ret_is_of_life = !results->has_ranks && (own > LEFT_OUT_RATIO * all ||
						  own + others > OTHERS_LEFT_OUT_RATIO * all);
	return results->has_ranks && 2 * idle >= live ? 0 : ratio * most->active;
}

/* That nobody is active meanwhile: everybody else may well wait for it. */
static double blocked_alone(const struct crit_lost_unit *unit)
{
	struct crit_usage usage;

	if (!unit->teller)
		return 0;
	crit_usage_of(&unit->teller->cells, &usage);
	return crit_at_least_0((double)usage.blocked_ns - (double)unit->teller->idle_blocked_ns);
}

/*
 * Leaves out those that do next to nothing; but of ranks only where most have something to do: else
 * they are no masters that hand out work, and the others hold them up; nor those that are blocked
 * outside MPI while nobody works, for whom the others wait; nor threads that wait for their team.
 * Threads or processes that live for a short time do little each, and most of the work together:
 * then those are left out that are active for a small part of their lives.
 */
static void leave_out(struct crit_lost_units *units, const struct crit_results *results)
{
	const double window_ns = (double)results->window_ns;
	bool is_of_life;
	const double least = least_active(units, results, &is_of_life);
	size_t kept = 0;

	for (size_t i = 0; i < units->count; i++) {
		const struct crit_lost_unit *unit = &units->rows[i];
		const double life_ns = unit->threads * window_ns;

		if (unit->active > 0 &&
		    (unit->active >= (is_of_life ? LEAST_ACTIVE_THREAD_RATIO * life_ns : least) ||
		     unit->team >= CRIT_TEAM_RATIO * window_ns ||
		     (results->has_ranks && blocked_alone(unit) >= HOLDS_UP_RATIO * window_ns)))
			units->rows[kept++] = *unit;
	}
	units->count = kept;
}

int crit_lost_units_find(const struct crit_results *results, struct crit_lost_units *ret_units)
{
	const size_t most = results->has_ranks ? results->rank_count : results->thread_count;

	*ret_units = (struct crit_lost_units){ .rows = calloc(most + 1, sizeof(*ret_units->rows)) };
	if (!ret_units->rows)
		return -ENOMEM;
	ret_units->count = results->has_ranks ? find_ranks(results, ret_units->rows)
					      : find_threads(results, ret_units->rows);
	leave_out(ret_units, results);
	return 0;
}

bool *crit_lost_units_mark(const struct crit_results *results)
{
	const size_t most = results->has_ranks ? results->rank_count : results->thread_count;
	bool *is_unit = calloc(most + 1, sizeof(*is_unit));
	struct crit_lost_units units;

	if (!is_unit || crit_lost_units_find(results, &units)) {
		free(is_unit);
		return NULL;
	}
	for (size_t i = 0; i < units.count; i++)
		is_unit[units.rows[i].row] = true;
	free(units.rows);
	return is_unit;
}
