// SPDX-License-Identifier: BSD-3-Clause
// Divides the window of each rank or thread into useful time and losses.
#include "analysis/table/lost_time.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/efficiency.h"
#include "analysis/account/metric.h"

#define LEAST_ACTIVE_RATIO 0.01 /* of the most active unit; less is left out */
#define LEAST_ACTIVE_THREAD_RATIO 0.05 /* likewise: one that starts others may take long to begin */
#define NAMED_BALANCE_RATIO 0.90 /* above it nobody is named */
#define NAMED_EXCESS_RATIO 0.5 /* of the largest excess over the mean */
#define LEAST_EXCESS_RATIO 0.01 /* of the window, for that largest one */
#define BLAME_RATIO 0.5 /* of it, that units wait on average */
#define CROWDED_RATIO 1.05 /* threads per CPU: fewer have one each */
#define FOREIGN_RUNNABLE_RATIO 0.05 /* of the window, from which somebody had the CPUs */

struct unit { /* a rank, or a thread; times in ns of the window */
	size_t row;
	uint32_t node;
	double threads; /* busy ones, each for the part of the window it lives */
	const struct crit_thread_row *busiest; /* tells what it does while it is not active */
	double busiest_active;
	double work; /* useful CPU time of its threads */
	double active; /* with at least one active thread; of it by what these do: */
	double useful;
	double runnable;
	double library;
	double blocked[2]; /* while nobody is active, while somebody is */
	double unknown[2];
};

struct units {
	struct unit *rows; /* not left out */
	size_t count;
	double capacity; /* P */
	double blocked[2], unknown[2]; /* sums */
	double active, useful, runnable, library;
	double most_work, mean_work;
};

double crit_lost_time_cpus(const struct crit_node_row *node)
{
	return node->usable_cpus > 0 ? node->usable_cpus : node->cpu_count;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double at_least_0(double a)
{
	return a > 0 ? a : 0;
}

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

/*
 * What a unit does while it is not active, told by the most active of its threads: blocked or
 * unknown outside MPI and OpenMP, both split by whether others were active.  Of a rank with
 * several threads that is at most the time in which it is not active.
 */
static void split_idle(struct unit *unit, uint64_t active_ns, uint64_t silent_ns)
{
	const struct crit_thread_row *thread = unit->busiest;
	double both, part[2], limit[2] = { (double)silent_ns, 0 };
	struct crit_usage usage;

	if (!thread)
		return;
	crit_usage_of(&thread->cells, &usage);
	both = (double)usage.blocked_ns + unknown_of(&thread->cells);
	if (both <= 0)
		return;
	limit[1] = at_least_0((double)active_ns - unit->active);
	part[1] = smaller((double)thread->idle_blocked_ns, both);
	part[0] = both - part[1];
	for (int busy = 0; busy < 2; busy++) {
		double told = smaller(part[busy], limit[busy]);

		unit->blocked[busy] = told * (double)usage.blocked_ns / both;
		unit->unknown[busy] = told - unit->blocked[busy];
	}
}

/* Divides the time a unit is active as its threads' active time is divided. */
static void split_active(struct unit *unit, const struct crit_cells *cells,
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

static void add_thread(struct unit *unit, const struct crit_thread_row *thread, double active,
		       uint64_t window_ns)
{
	struct crit_usage usage;

	crit_usage_of(&thread->cells, &usage);
	if (active > LEAST_ACTIVE_RATIO * unit->active && window_ns)
		unit->threads += (double)(usage.life_ns - usage.setup_ns) / (double)window_ns;
	if (unit->busiest && unit->busiest_active >= active)
		return;
	unit->busiest = thread;
	unit->busiest_active = active;
}

static double active_in(const struct crit_results *results, const struct crit_cells *cells)
{
	struct activity activity = activity_of(cells, results->rule);

	return active_of(&activity);
}

static size_t find_ranks(const struct crit_results *results, struct unit *units)
{
	for (size_t i = 0; i < results->rank_count; i++) {
		const struct crit_rank_row *rank = &results->ranks[i];

		units[i] = (struct unit){ .row = i,
					  .node = rank->node,
					  .active = (double)rank->active_ns };
		split_active(&units[i], &rank->cells, results->rule);
	}
	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];

		if (thread->role == CRIT_THREAD_APP && thread->rank_row >= 0)
			add_thread(&units[thread->rank_row], thread,
				   active_in(results, &thread->cells), results->window_ns);
	}
	return results->rank_count;
}

static size_t find_threads(const struct crit_results *results, struct unit *units)
{
	size_t count = 0;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];
		double active = active_in(results, &thread->cells);

		if (thread->role != CRIT_THREAD_APP)
			continue;
		units[count] = (struct unit){ .row = i, .node = thread->node, .active = active };
		split_active(&units[count], &thread->cells, results->rule);
		add_thread(&units[count++], thread, active, results->window_ns);
	}
	return count;
}

/*
 * Leaves out those that do next to nothing; but of ranks only where most have something to do: else
 * they are no masters that hand out work, and the others hold them up.
 */
static void leave_out(struct units *units, bool has_ranks)
{
	const double ratio = has_ranks ? LEAST_ACTIVE_RATIO : LEAST_ACTIVE_THREAD_RATIO;
	double least = 0;
	size_t kept = 0, idle = 0, live = 0;

	for (size_t i = 0; i < units->count; i++)
		if (units->rows[i].active * ratio > least)
			least = units->rows[i].active * ratio;
	for (size_t i = 0; i < units->count; i++) {
		live += units->rows[i].active > 0;
		idle += units->rows[i].active > 0 && units->rows[i].active < least;
	}
	if (has_ranks && 2 * idle >= live)
		least = 0;
	for (size_t i = 0; i < units->count; i++)
		if (units->rows[i].active > 0 && units->rows[i].active >= least)
			units->rows[kept++] = units->rows[i];
	units->count = kept;
}

/* Units that take turns in a place tell of more blocking, by one thread each, than it has time. */
static void fit_blocked(struct units *units, const struct crit_consistency_check *check)
{
	const double limit[2] = {
		units->capacity * (double)(check->window_ns - check->active_ns),
		at_least_0(units->capacity * (double)check->active_ns - units->active),
	};

	for (int busy = 0; busy < 2; busy++) {
		double told = units->blocked[busy] + units->unknown[busy];

		if (told <= limit[busy])
			continue;
		units->blocked[busy] *= limit[busy] / told;
		units->unknown[busy] *= limit[busy] / told;
	}
}

static void add_up(struct units *units, const struct crit_consistency_check *check)
{
	double work = 0;

	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->rows[i];

		split_idle(unit, check->active_ns, check->window_ns - check->active_ns);
		for (int busy = 0; busy < 2; busy++) {
			units->blocked[busy] += unit->blocked[busy];
			units->unknown[busy] += unit->unknown[busy];
		}
		units->active += unit->active;
		units->useful += unit->useful;
		units->runnable += unit->runnable;
		units->library += unit->library;
		work += unit->work;
		if (unit->work > units->most_work)
			units->most_work = unit->work;
	}
	fit_blocked(units, check);
	units->mean_work = work / units->capacity; /* one that is gone did its part of a place */
}

struct edge { /* of a unit's time */
	uint64_t time_ns;
	int step;
};

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->step - b->step; /* who dies makes room */
}

/* When a unit was there: a rank in its part of the window, a thread in its life. */
static void mark_edges(const struct crit_results *results, size_t row, struct edge ret_edges[2])
{
	if (results->has_ranks) {
		ret_edges[0].time_ns = results->ranks[row].open_ns;
		ret_edges[1].time_ns = results->ranks[row].close_ns;
	} else {
		ret_edges[0].time_ns = results->threads[row].birth_ns;
		ret_edges[1].time_ns = results->threads[row].death_ns;
	}
	ret_edges[0].step = 1;
	ret_edges[1].step = -1;
}

/* The most units at one time: launches one after another, like threads, take turns in a place. */
static int find_capacity(struct units *units, const struct crit_results *results)
{
	struct edge *edges;
	int live = 0;

	units->capacity = (double)units->count;
	if (!units->count)
		return 0;
	edges = calloc(units->count, 2 * sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < units->count; i++)
		mark_edges(results, units->rows[i].row, &edges[2 * i]);
	qsort(edges, 2 * units->count, sizeof(*edges), compare_edges);
	units->capacity = 1;
	for (size_t i = 0; i < 2 * units->count; i++) {
		live += edges[i].step;
		if (live > units->capacity)
			units->capacity = live;
	}
	free(edges);
	return 0;
}

struct crowd { /* on a node */
	size_t units;
	double threads;
};

/* Who is where.  Ownership: the caller frees.  Errors: NULL when out of memory. */
static struct crowd *find_crowds(const struct crit_results *results, const struct units *units)
{
	struct crowd *crowds = calloc(results->node_count + 1, sizeof(*crowds));

	for (size_t i = 0; crowds && i < units->count; i++) {
		crowds[units->rows[i].node].units++;
		crowds[units->rows[i].node].threads += units->rows[i].threads;
	}
	return crowds;
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
		lost->crowded_units = results->has_ranks ? crowds[k].units
							 : (size_t)(threads + 0.5);
		lost->crowded_threads = (size_t)(threads + 0.5);
	}
	lost->floor_s = all_cpus > 0 ? work_s / all_cpus : 0;
}

/* Who had the CPUs that threads wanted: in recordings that tell, not the run's own threads. */
static void find_foreign(const struct crit_results *results, const struct units *units,
			 struct crit_lost_time *lost)
{
	const bool is_short = units->runnable >
			      FOREIGN_RUNNABLE_RATIO * units->capacity * (double)results->window_ns;
	double own = 0, foreign = 0;

	for (size_t i = 0; i < results->preemptor_count; i++) {
		const struct crit_preemptor_row *row = &results->preemptors[i];

		if (results->threads[row->thread].role != CRIT_THREAD_APP)
			continue;
		if (row->kind == CRIT_PREEMPTOR_MEMBER)
			own += (double)row->lost_ns;
		if (row->kind == CRIT_PREEMPTOR_STRANGER || row->kind == CRIT_PREEMPTOR_HIDDEN)
			foreign += (double)row->lost_ns;
	}
	lost->lacks_cpus = is_short && lost->threads_per_cpu > 0 &&
			   lost->threads_per_cpu < CROWDED_RATIO;
	lost->has_foreign_load = own + foreign > 0 ? is_short && foreign >= own : lost->lacks_cpus;
	lost->foreign_s =
		1e-9 * (own + foreign > 0 ? smaller(foreign, units->runnable) : units->runnable);
}

/* The units' waiting that short CPUs explain: while nobody is active [0], while somebody is [1]. */
static void find_shortage(const struct crit_results *results, const struct crowd *crowds,
			  const struct units *units, double ret_waiting[2])
{
	enum crit_unit unit = results->has_ranks ? CRIT_UNIT_RANKS : CRIT_UNIT_THREADS;

	ret_waiting[0] = 0;
	ret_waiting[1] = 0;
	for (size_t k = 0; k < results->node_count; k++) {
		const struct crit_cpu_shortage *shortage = &results->nodes[k].shortage;
		double slots = units->capacity * (double)crowds[k].units / (double)units->count;

		ret_waiting[0] += slots * (double)shortage->waiting_ns;
		ret_waiting[1] += at_least_0(slots * (double)shortage->full_ns -
					     (double)shortage->full_unit_ns[unit]);
	}
}

/*
 * Of threads that block in locks and barriers of their own nobody tells whom they wait for; so much
 * of it as the most active one has to do beyond the mean is imbalance all the same.
 */
static double explained(const struct units *units, const struct crit_results *results,
			double blocked_ns)
{
	double excess = at_least_0(units->capacity * (units->most_work - units->mean_work));

	return results->has_ranks ? 0 : smaller(blocked_ns, excess);
}

/* Divides the waiting of all units, ns while nobody [0] and while somebody [1] is active. */
static void divide(const struct crit_results *results, const struct units *units,
		   const struct crit_consistency_check *check, const struct crowd *crowds,
		   struct crit_lost_time *lost)
{
	double per_unit = 1e-9 / units->capacity, cpus = units->runnable, balance, extra;
	double waiting[2] = {
		units->capacity * (double)(results->window_ns - check->active_ns),
		at_least_0(units->capacity * (double)check->active_ns - units->active),
	};
	double left[2], in_vain[2];

	find_shortage(results, crowds, units, in_vain);
	lost->waiting_s = waiting[1] * per_unit;
	lost->gain_s = at_least_0(smaller(lost->waiting_s, lost->window_s - lost->floor_s));
	for (int busy = 0; busy < 2; busy++) {
		left[busy] =
			at_least_0(waiting[busy] - units->blocked[busy] - units->unknown[busy]);
		in_vain[busy] = smaller(in_vain[busy], left[busy]);
		left[busy] -= in_vain[busy];
		cpus += in_vain[busy];
	}
	balance = smaller(left[1], lost->gain_s / per_unit);
	cpus += left[1] - balance;
	extra = smaller(explained(units, results, units->blocked[1]),
			lost->gain_s / per_unit - balance);
	lost->useful_s = units->useful * per_unit;
	lost->runnable_s = units->runnable * per_unit;
	lost->loss_s[CRIT_LOSS_CPUS] = cpus * per_unit;
	lost->loss_s[CRIT_LOSS_IMBALANCE] = (balance + extra) * per_unit;
	lost->loss_s[CRIT_LOSS_ALL_WAITING] = left[0] * per_unit;
	lost->loss_s[CRIT_LOSS_BLOCKED] =
		(units->blocked[0] + units->blocked[1] - extra) * per_unit;
	lost->loss_s[CRIT_LOSS_LIBRARY] = units->library * per_unit;
	lost->loss_s[CRIT_LOSS_UNKNOWN] = (units->unknown[0] + units->unknown[1]) * per_unit;
}

static int compare_work(const void *left, const void *right)
{
	const struct unit *a = left, *b = right;

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
static bool is_blamed(const struct units *units, const struct crit_lost_time *lost)
{
	double threads = 1;

	for (size_t i = 0; i < units->count; i++)
		if (units->rows[i].work >= units->most_work && units->rows[i].threads > 1)
			threads = units->rows[i].threads;
	return lost->waiting_s * threads >=
	       BLAME_RATIO * (units->most_work - units->mean_work) * 1e-9;
}

static void name_units(struct units *units, const struct crit_results *results,
		       struct crit_lost_time *lost)
{
	double least =
		units->mean_work + NAMED_EXCESS_RATIO * (units->most_work - units->mean_work);

	lost->work_balance_ratio =
		units->most_work > 0 ? smaller(units->mean_work / units->most_work, 1) : 1;
	lost->is_work_known = is_work_known(results, lost);
	lost->is_uneven = units->count > 1 && lost->is_work_known && is_blamed(units, lost) &&
			  (units->most_work - units->mean_work) * 1e-9 >=
				  LEAST_EXCESS_RATIO * lost->window_s;
	if (!lost->is_uneven || lost->work_balance_ratio > NAMED_BALANCE_RATIO)
		return;
	qsort(units->rows, units->count, sizeof(*units->rows), compare_work);
	while (lost->named_count < units->count && units->rows[lost->named_count].work >= least) {
		const struct unit *unit = &units->rows[lost->named_count];

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

int crit_lost_time_of(const struct crit_results *results, struct crit_lost_time *ret_lost)
{
	struct crit_lost_time lost = {
		.unit = results->has_ranks ? CRIT_UNIT_RANKS : CRIT_UNIT_THREADS,
		.window_s = (double)results->window_ns * 1e-9,
		.work_balance_ratio = 1,
	};
	const struct crit_consistency_check *check = law_of(results, lost.unit);
	size_t most = results->has_ranks ? results->rank_count : results->thread_count;
	struct units units = { .rows = calloc(most + 1, sizeof(*units.rows)) };
	struct crowd *crowds;
	int rc;

	if (!units.rows)
		return -ENOMEM;
	units.count = results->has_ranks ? find_ranks(results, units.rows)
					 : find_threads(results, units.rows);
	leave_out(&units, results->has_ranks);
	crowds = find_crowds(results, &units);
	rc = crowds ? find_capacity(&units, results) : -ENOMEM;
	if (!rc && check && results->window_ns && units.count) {
		add_up(&units, check);
		find_crowded(results, crowds, &lost);
		find_foreign(results, &units, &lost);
		lost.is_valid = true;
		lost.unit_count = units.count;
		lost.units = units.capacity;
		lost.unknown_ratio = unknown_ratio_of(results);
		divide(results, &units, check, crowds, &lost);
		name_units(&units, results, &lost);
	}
	free(crowds);
	free(units.rows);
	if (!rc)
		*ret_lost = lost;
	return rc;
}
