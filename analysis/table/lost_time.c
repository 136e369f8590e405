// SPDX-License-Identifier: BSD-3-Clause
// Divides the window of each rank or thread into useful time and losses.
#include "analysis/table/lost_time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/table/efficiency.h"
#include "analysis/table/lost_units.h"
#include "analysis/table/unit_presence.h"
#include "core/abi/abi_comm.h"
#include "core/base/array.h"

#define NAMED_BALANCE_RATIO 0.90 /* above it nobody is named */
#define NAMED_EXCESS_RATIO 0.5 /* of the largest excess over the mean */
#define LEAST_EXCESS_RATIO 0.01 /* of the window, for that largest one */
#define BLAME_RATIO 0.5 /* of it, that units wait on average */
#define CROWDED_RATIO 1.05 /* threads per CPU: fewer have one each */
#define HELPER_RATIO 0.2 /* of the most work, and of the time it is there */
#define MOST_SECOND_RATIO 0.5 /* of the longest: else nobody is the one that is blocked */
#define SHORT_RATIO 0.5 /* of what short CPUs cost: the rest waits meanwhile */
#define TURNS_OVERLAP_RATIO 0.1 /* of the time in which others could work beside the longest */
#define TURNS_LEAST_RATIO 0.05 /* of the time that somebody is active, for that */
#define FOREIGN_RUNNABLE_RATIO 0.05 /* of the window, from which somebody had the CPUs */
#define PRESSED_RATIO 0.15 /* of what own threads took that had CPUs enough without others */

double crit_lost_time_cpus(const struct crit_node_row *node)
{
	return node->usable_cpus > 0 ? node->usable_cpus : node->cpu_count;
}

/* Units that take turns in a place tell of more blocking, by one thread each, than it has time. */
static void fit_blocked(struct crit_lost_units *units, const struct crit_consistency_check *check)
{
	const double limit[2] = {
		units->capacity * (double)(check->window_ns - check->active_ns),
		crit_at_least_0(units->capacity * (double)check->active_ns - units->active),
	};

	for (int busy = 0; busy < 2; busy++) {
		double told = units->blocked[busy] + units->unknown[busy];

		if (told <= limit[busy])
			continue;
		units->blocked[busy] *= limit[busy] / told;
		units->unknown[busy] *= limit[busy] / told;
	}
}

static void add_up(struct crit_lost_units *units, const struct crit_consistency_check *check,
		   struct crit_lost_time *ret_lost)
{
	for (size_t i = 0; i < units->count; i++) {
		struct crit_lost_unit *unit = &units->rows[i];

		crit_lost_unit_split_idle(unit, check->active_ns,
					  check->window_ns - check->active_ns);
		for (int busy = 0; busy < 2; busy++) {
			units->blocked[busy] += unit->blocked[busy];
			units->unknown[busy] += unit->unknown[busy];
		}
		units->active += unit->active;
		units->useful += unit->useful;
		units->runnable += unit->runnable;
		units->library += unit->library;
		unit->work -= unit->serial; /* that could not be with another one */
		if (unit->serial * 1e-9 > ret_lost->serial_s) {
			ret_lost->serial_s = unit->serial * 1e-9;
			ret_lost->serial_row = unit->row;
		}
	}
	if (units->active > units->capacity * (double)check->active_ns)
		units->capacity = units->active / (double)check->active_ns;
	fit_blocked(units, check);
}

/*
 * Compares work with that of peers: threads that do next to nothing beside the most active one, and
 * not for a short life, are none where they do something else, as logging, or where nobody knows
 * what they do.
 */
static void compare(struct crit_lost_units *units, const struct crit_results *results,
		    const uint32_t *kinds, struct crit_lost_time *ret_lost)
{
	const struct crit_lost_unit *most = units->rows;
	double work = 0;

	for (size_t i = 0; i < units->count; i++)
		if (units->rows[i].work > most->work)
			most = &units->rows[i];
	units->most_work = most->work;
	ret_lost->most_row = most->row;
	units->peers = units->capacity;
	for (size_t i = 0; i < units->count; i++) {
		struct crit_lost_unit *unit = &units->rows[i];
		const uint32_t kind = kinds ? kinds[unit->row] : 0;

		if (results->has_ranks || unit->work >= HELPER_RATIO * units->most_work ||
		    unit->work >= HELPER_RATIO * unit->threads * (double)results->window_ns ||
		    (kind && kind == kinds[most->row]) ||
		    unit->team >= CRIT_TEAM_RATIO * (double)results->window_ns) {
			work += unit->work;
			continue;
		}
		/* what it has of a place beside others */
		units->peers -= crit_at_least_0(crit_smaller(unit->threads, 1) -
						unit->alone / (double)results->window_ns);
		ret_lost->has_helpers = true;
	}
	if (units->peers < 1)
		units->peers = 1;
	ret_lost->peers = units->peers;
	units->mean_work = work / units->peers; /* one that is gone did its part of a place */
}

struct crowd { /* on a node */
	size_t units;
	double threads;
};

/* Who is where.  Ownership: the caller frees.  Errors: NULL when out of memory. */
static struct crowd *find_crowds(const struct crit_results *results,
				 const struct crit_lost_units *units)
{
	struct crowd *crowds = calloc(results->node_count + 1, sizeof(*crowds));

	for (size_t i = 0; crowds && i < units->count; i++) {
		crowds[units->rows[i].node].units++;
		crowds[units->rows[i].node].threads += units->rows[i].threads;
	}
	return crowds;
}

/* They live for a part of the window only: rounded, but up where they are more than the CPUs. */
static size_t whole_threads(double threads, double cpus)
{
	const double whole = floor(threads + 0.5);

	return (size_t)(whole <= cpus && threads >= CROWDED_RATIO * cpus ? ceil(threads) : whole);
}

/* Finds the node with most threads per CPU, and how long all work takes on all CPUs. */
static void find_crowded(const struct crit_results *results, const struct crowd *crowds,
			 struct crit_lost_time *lost)
{
	double work_s = 0, all_cpus = 0;

	for (size_t k = 0; k < results->node_count; k++) {
		double cpus = crit_lost_time_cpus(&results->nodes[k]);
		double threads = crowds[k].threads;

		if (cpus <= 0)
			continue;
		work_s += (double)results->nodes[k].busy_ns * 1e-9;
		all_cpus += cpus;
		if (threads / cpus <= lost->threads_per_cpu)
			continue;
		lost->threads_per_cpu = threads / cpus;
		lost->crowded_node = (uint32_t)k;
		lost->crowded_threads = whole_threads(threads, cpus);
		lost->crowded_units = results->has_ranks ? crowds[k].units : lost->crowded_threads;
	}
	lost->floor_s = all_cpus > 0 ? work_s / all_cpus : 0;
}

struct takers { /* of CPUs that app threads wanted; ns */
	double own, foreign, idle, all;
	double tools; /* of foreign: by crit itself */
	double unknown; /* by whom is not known: too many take turns */
};

static struct takers sum_takers(const struct crit_results *results)
{
	struct takers takers = { 0 };

	for (size_t i = 0; i < results->preemptor_count; i++) {
		const struct crit_preemptor_row *row = &results->preemptors[i];
		const double lost_ns = (double)row->lost_ns;

		if (results->threads[row->thread].role != CRIT_THREAD_APP)
			continue;
		takers.all += lost_ns;
		if (row->kind == CRIT_PREEMPTOR_MEMBER)
			takers.own += lost_ns;
		else if (row->kind == CRIT_PREEMPTOR_STRANGER || row->kind == CRIT_PREEMPTOR_HIDDEN)
			takers.foreign += lost_ns;
		else if (row->kind == CRIT_PREEMPTOR_IDLE)
			takers.idle += lost_ns;
		else if (row->kind == CRIT_PREEMPTOR_UNKNOWN)
			takers.unknown += lost_ns;
		if (row->kind == CRIT_PREEMPTOR_STRANGER && crit_comm_is_own(row->name))
			takers.tools += lost_ns;
	}
	return takers;
}

/* Busy threads that could have a CPU each. */
static bool fits_cpus(const struct crit_lost_time *lost)
{
	return lost->threads_per_cpu > 0 && lost->threads_per_cpu < CROWDED_RATIO;
}

/*
 * Other programs had the CPUs, rather than threads of the run, or no thread at all, as under a
 * limit or on a CPU that wakes late.  Where the node has a CPU for each busy thread, threads of the
 * run share one only because another program holds one: there PRESSED_RATIO of the time that
 * threads of the run had is enough.  least: time of other programs from which they count, ns.
 */
static bool is_foreign(const struct takers *takers, const struct crit_lost_time *lost, double least)
{
	const bool is_most = takers->foreign >= takers->own;

	return 2 * (takers->foreign + takers->unknown) >= takers->all - takers->own &&
	       (is_most || (fits_cpus(lost) && takers->foreign >= least &&
			    takers->foreign >= PRESSED_RATIO * takers->own));
}

/* Who had the CPUs that threads wanted, in recordings that tell. */
static void find_foreign(const struct crit_results *results, const struct crit_lost_units *units,
			 struct crit_lost_time *lost)
{
	const double least = FOREIGN_RUNNABLE_RATIO * units->capacity * (double)results->window_ns;
	const bool is_short = units->runnable > least;
	const struct takers takers = sum_takers(results);
	const bool is_told = takers.own + takers.foreign > 0;
	const double foreign = takers.foreign + takers.unknown;
	double in_teams = 0;
	struct crit_usage usage;

	lost->lacks_cpus = is_short && fits_cpus(lost) && takers.idle <= takers.all - takers.idle;
	lost->has_foreign_load = is_told ? is_short && is_foreign(&takers, lost, least)
					 : lost->lacks_cpus;
	lost->foreign_s =
		1e-9 * (is_told ? crit_smaller(takers.foreign, units->runnable) : units->runnable);
	lost->tools_s = 1e-9 * crit_smaller(takers.tools, units->runnable);
	lost->taken_s = 1e-9 * (is_told ? crit_smaller(foreign, units->runnable) : units->runnable);
	if (lost->has_foreign_load && fits_cpus(lost) && takers.own > least)
		lost->beside_s = 1e-9 * takers.own;
	for (size_t i = 0; i < units->count; i++) {
		if (!units->rows[i].teller)
			continue;
		crit_usage_of(&units->rows[i].teller->cells, &usage);
		in_teams += (double)usage.omp_wait_ns;
	}
	lost->own_s = 1e-9 * (in_teams + (is_told ? takers.own : units->runnable));
}

/* The units' waiting that short CPUs explain: while nobody is active [0], while somebody is [1]. */
static void find_shortage(const struct crit_results *results, const struct crowd *crowds,
			  const struct crit_lost_units *units, double ret_waiting[2])
{
	enum crit_unit unit = results->has_ranks ? CRIT_UNIT_RANKS : CRIT_UNIT_THREADS;

	ret_waiting[0] = 0;
	ret_waiting[1] = 0;
	for (size_t k = 0; k < results->node_count; k++) {
		const struct crit_cpu_shortage *shortage = &results->nodes[k].shortage;
		double slots = units->capacity * (double)crowds[k].units / (double)units->count;

		ret_waiting[0] += slots * (double)shortage->waiting_ns;
		ret_waiting[1] += crit_at_least_0(slots * (double)shortage->full_ns -
						  (double)shortage->full_unit_ns[unit]);
	}
	if (!results->has_ranks) /* what threads block in a CPU does not end */
		ret_waiting[1] =
			crit_at_least_0(ret_waiting[1] - units->blocked[1] - units->unknown[1]);
}

/*
 * Of threads that block in locks and barriers of their own nobody tells whom they wait for; so much
 * of it as the most active one has to do beyond the mean is imbalance all the same.
 */
static double explained(const struct crit_lost_units *units, const struct crit_results *results,
			double blocked_ns)
{
	double excess = crit_at_least_0(units->peers * (units->most_work - units->mean_work));

	return results->has_ranks ? 0 : crit_smaller(blocked_ns, excess);
}

/*
 * Which rank ended without MPI_Finalize longest before the last one of its world: nobody waits for
 * it after that, as where several programs are launched one after another.
 */
static void find_gone(const struct crit_results *results, struct crit_lost_time *lost)
{
	size_t next;

	for (size_t first = 0; first < results->rank_count; first = next) {
		const uint32_t world = results->ranks[first].world_number;
		uint64_t end_ns = 0;

		for (next = first;
		     next < results->rank_count && results->ranks[next].world_number == world;
		     next++)
			if (results->ranks[next].close_ns > end_ns)
				end_ns = results->ranks[next].close_ns;
		for (size_t i = first; i < next; i++) {
			const struct crit_rank_row *rank = &results->ranks[i];

			if (!rank->is_open || !rank->exit_ns || rank->exit_ns >= end_ns ||
			    (double)(end_ns - rank->exit_ns) * 1e-9 <= lost->gone_s)
				continue;
			lost->gone_s = (double)(end_ns - rank->exit_ns) * 1e-9;
			lost->gone_row = i;
		}
	}
}

/*
 * How long one is blocked while nobody is active where others may wait for it: a rank outside MPI
 * or in a parallel region, and a thread without ranks in a region.
 */
static double blocked_in_place(const struct crit_results *results,
			       const struct crit_lost_unit *unit)
{
	return results->has_ranks ? fmax(unit->blocked[0], unit->in_region)
				  : crit_smaller(unit->blocked[0], unit->in_region);
}

/*
 * Time in which nobody is active, and that no CPU would end: one is blocked meanwhile, or a rank
 * has ended too early, or all wait in vain, so what the others wait for does not come.
 */
static double held_up(const struct crit_results *results, const struct crit_lost_units *units,
		      uint64_t silent_ns, struct crit_lost_time *lost)
{
	double most = 0, second = 0;

	for (size_t i = 0; i < units->count; i++) {
		const struct crit_lost_unit *unit = &units->rows[i];
		const double blocked = blocked_in_place(results, unit);
		const bool is_in_region = !results->has_ranks || blocked > unit->blocked[0];

		second = fmax(second, fmin(most, blocked));
		if (blocked > most) {
			lost->blocked_row = unit->row;
			lost->blocked_thread = is_in_region ? unit->in_region_row : CRIT_NONE;
			lost->blocked_s = 1e-9 * (blocked + unit->blocked[1]);
		}
		most = fmax(most, blocked);
	}
	if (second < MOST_SECOND_RATIO * most)
		lost->blocked_alone_s = most * 1e-9;
	find_gone(results, lost);
	lost->still = crit_standstill_of(results, silent_ns);
	return fmax(most, 1e9 * fmax(fmax(lost->gone_s, lost->still.s), lost->threads_still.s));
}

/* Divides the waiting of all units, ns while nobody [0] and while somebody [1] is active. */
static void divide(const struct crit_results *results, const struct crit_lost_units *units,
		   const struct crit_consistency_check *check, const struct crowd *crowds,
		   struct crit_lost_time *lost)
{
	const uint64_t silent_ns = results->window_ns - check->active_ns;
	double per_unit = 1e-9 / units->capacity, cpus = units->runnable, balance, extra;
	double waiting[2] = {
		units->capacity * (double)silent_ns,
		crit_at_least_0(units->capacity * (double)check->active_ns - units->active),
	};
	double left[2], in_vain[2];

	find_shortage(results, crowds, units, in_vain);
	in_vain[0] = crit_smaller(
		in_vain[0],
		units->capacity *
			crit_at_least_0((double)silent_ns - 1e9 * crit_fix_seconds(check->nobody) -
					held_up(results, units, silent_ns, lost)));
	lost->waiting_s =
		crit_at_least_0(waiting[1] - (results->has_ranks ? units->blocked[1] : 0)) *
		per_unit;
	lost->gain_s =
		crit_at_least_0(crit_smaller(lost->waiting_s, lost->window_s - lost->floor_s));
	for (int busy = 0; busy < 2; busy++) {
		left[busy] = crit_at_least_0(waiting[busy] - units->blocked[busy] -
					     units->unknown[busy]);
		in_vain[busy] = crit_smaller(in_vain[busy], left[busy]);
		left[busy] -= in_vain[busy];
		cpus += in_vain[busy];
	}
	balance = crit_smaller(left[1], lost->gain_s / per_unit);
	cpus += left[1] - balance;
	extra = crit_smaller(explained(units, results, units->blocked[1]),
			     lost->gain_s / per_unit - balance);
	lost->useful_s = units->useful * per_unit;
	lost->runnable_s = units->runnable * per_unit;
	lost->loss_s[CRIT_LOSS_CPUS] = cpus * per_unit;
	lost->is_short = results->has_ranks ||
			 lost->own_s >=
				 SHORT_RATIO * units->capacity * lost->loss_s[CRIT_LOSS_CPUS] ||
			 (lost->threads_per_cpu >= CROWDED_RATIO &&
			  lost->runnable_s >= SHORT_RATIO * lost->loss_s[CRIT_LOSS_CPUS]);
	lost->loss_s[CRIT_LOSS_IMBALANCE] = (balance + extra) * per_unit;
	lost->loss_s[CRIT_LOSS_ALL_WAITING] = left[0] * per_unit;
	lost->loss_s[CRIT_LOSS_BLOCKED] =
		(units->blocked[0] + units->blocked[1] - extra) * per_unit;
	lost->loss_s[CRIT_LOSS_LIBRARY] = units->library * per_unit;
	lost->loss_s[CRIT_LOSS_UNKNOWN] = (units->unknown[0] + units->unknown[1]) * per_unit;
}

/* Those who work beside others end sooner, the more so the evener; those who take turns do not. */
static bool is_by_turns(const struct crit_lost_units *units,
			const struct crit_consistency_check *check)
{
	double most = 0, others;

	for (size_t i = 0; i < units->count; i++)
		most = fmax(most, units->rows[i].active);
	others = units->active - most;
	return others >= TURNS_LEAST_RATIO * (double)check->active_ns &&
	       units->active - (double)check->active_ns <= TURNS_OVERLAP_RATIO * others;
}

static int compare_work(const void *left, const void *right)
{
	const struct crit_lost_unit *a = left, *b = right;

	if (a->work != b->work)
		return a->work > b->work ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/*
 * Shims alone do not tell CPU time from time in the queue for a CPU: where threads share CPUs equal
 * work looks uneven then.
 */
static bool is_work_known(const struct crit_results *results, const struct crit_lost_time *lost)
{
	for (size_t k = 0; k < results->node_count; k++)
		if (results->nodes[k].kernel_half == CRIT_HALF_NONE)
			return lost->threads_per_cpu < CROWDED_RATIO;
	return true;
}

/*
 * Work that others have not is waited for.  Where nobody waits, threads that spin in loops of their
 * own took unequal parts of the CPUs.
 */
static bool is_blamed(const struct crit_lost_units *units, const struct crit_lost_time *lost)
{
	double threads = 1;

	for (size_t i = 0; i < units->count; i++)
		if (units->rows[i].work >= units->most_work && units->rows[i].threads > 1)
			threads = units->rows[i].threads;
	return lost->waiting_s * threads >=
	       BLAME_RATIO * (units->most_work - units->mean_work) * 1e-9;
}

static void name_units(struct crit_lost_units *units, const struct crit_results *results,
		       struct crit_lost_time *lost)
{
	double least =
		units->mean_work + NAMED_EXCESS_RATIO * (units->most_work - units->mean_work);

	lost->work_balance_ratio =
		units->most_work > 0 ? crit_smaller(units->mean_work / units->most_work, 1) : 1;
	lost->is_work_known = is_work_known(results, lost);
	lost->is_uneven = units->count > 1 && lost->is_work_known && is_blamed(units, lost) &&
			  (units->most_work - units->mean_work) * 1e-9 >=
				  LEAST_EXCESS_RATIO * lost->window_s;
	if (!lost->is_uneven || lost->work_balance_ratio > NAMED_BALANCE_RATIO)
		return;
	qsort(units->rows, units->count, sizeof(*units->rows), compare_work);
	while (lost->named_count < units->count && units->rows[lost->named_count].work >= least) {
		const struct crit_lost_unit *unit = &units->rows[lost->named_count];

		if (lost->named_count < CRIT_NAMED_MAX)
			lost->named[lost->named_count] =
				(struct crit_named_unit){ unit->row,
							  unit->work / units->mean_work };
		lost->named_count++;
	}
}

/* Of the time app threads lived in the window, what nobody knows. */
static double unknown_ratio_of(const struct crit_results *results)
{
	double unknown = 0, thread = 0;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_cells *cells = &results->threads[i].cells;
		struct crit_usage usage;

		if (results->threads[i].role != CRIT_THREAD_APP)
			continue;
		crit_usage_of(cells, &usage);
		thread += (double)(usage.life_ns - usage.setup_ns);
		unknown += (double)(crit_cells_state(cells, CRIT_STATE_UNKNOWN) -
				    cells->ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_SETUP]);
	}
	return thread > 0 ? unknown / thread : 0;
}

static const struct crit_consistency_check *law_of(const struct crit_results *results,
						   enum crit_unit unit)
{
	for (size_t i = 0; i < results->check_count; i++)
		if (results->checks[i].unit == unit && results->checks[i].scope == CRIT_SCOPE_RUN)
			return &results->checks[i];
	return NULL;
}

int crit_lost_time_of(const struct crit_results *results, const uint32_t *kinds,
		      struct crit_lost_time *ret_lost)
{
	struct crit_lost_time lost = {
		.unit = results->has_ranks ? CRIT_UNIT_RANKS : CRIT_UNIT_THREADS,
		.window_s = (double)results->window_ns * 1e-9,
		.work_balance_ratio = 1,
		.blocked_thread = CRIT_NONE,
	};
	const struct crit_consistency_check *check = law_of(results, lost.unit);
	struct crit_lost_units units;
	struct crowd *crowds;
	int rc = crit_lost_units_find(results, &units);

	if (rc)
		return rc;
	rc = crit_unit_presence_measure(&units, results);
	crowds = find_crowds(results, &units);
	if (!crowds)
		rc = -ENOMEM;
	if (!rc && check)
		rc = crit_thread_standstill_find(results, results->window_ns - check->active_ns,
						 &lost.threads_still);
	if (!rc && check && results->window_ns && units.count) {
		add_up(&units, check, &lost);
		compare(&units, results, kinds, &lost);
		find_crowded(results, crowds, &lost);
		find_foreign(results, &units, &lost);
		lost.is_valid = true;
		lost.unit_count = units.count;
		lost.units = units.capacity;
		lost.unknown_ratio = unknown_ratio_of(results);
		divide(results, &units, check, crowds, &lost);
		lost.is_by_turns = is_by_turns(&units, check);
		name_units(&units, results, &lost);
	}
	free(crowds);
	free(units.rows);
	if (!rc)
		*ret_lost = lost;
	return rc;
}
