// SPDX-License-Identifier: BSD-3-Clause
// Computes efficiencies from the cells of ranks, or of threads without ranks.
#include "analysis/table/efficiency.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table/lost_units.h"

struct location { /* a rank, a process of a run without ranks, or a thread of one */
	uint32_t node;
	uint32_t pid;
	struct crit_cells cells;
	double cpus; /* it stands for, at least 1 */
	/* per CPU, ns */
	double useful;
	double runnable;
	double blocked;
	double mpi;
	double idle; /* in OpenMP; of it: */
	double scheduling;
	double imbalance;
	double idle_in_mpi;
	double omp_runnable; /* in complete barriers: not idle in OpenMP but runnable */
};

struct location_sums { /* sums over CPUs, extremes of locations */
	size_t count;
	double cpus;
	double useful;
	double present; /* useful or idle in OpenMP */
	double mpi; /* and idle meanwhile */
	double max_present;
	double max_ready; /* present or runnable */
	double max_there; /* or blocked */
	double min_mpi;
};

uint64_t crit_cells_state(const struct crit_cells *cells, enum crit_kernel_state state)
{
	uint64_t sum_ns = 0;

	for (int c = 0; c < CRIT_CLASS_COUNT; c++)
		sum_ns += cells->ns[state][c];
	return sum_ns;
}

uint64_t crit_cells_class(const struct crit_cells *cells, enum crit_span_class span_class)
{
	uint64_t sum_ns = 0;

	for (int s = 0; s < CRIT_STATE_COUNT; s++)
		sum_ns += cells->ns[s][span_class];
	return sum_ns;
}

void crit_usage_of(const struct crit_cells *cells, struct crit_usage *ret_usage)
{
	const uint64_t *running = cells->ns[CRIT_STATE_RUNNING];
	const uint64_t *assumed = cells->ns[CRIT_STATE_ASSUMED];
	const uint64_t *runnable = cells->ns[CRIT_STATE_RUNNABLE];
	const uint64_t *blocked = cells->ns[CRIT_STATE_BLOCKED];
	static const enum crit_span_class compute[] = { CRIT_CLASS_NONE, CRIT_CLASS_USER,
							CRIT_CLASS_OMP };

	*ret_usage = (struct crit_usage){ .runnable_ns = runnable[CRIT_CLASS_MPI] };
	for (size_t i = 0; i < sizeof(compute) / sizeof(compute[0]); i++) {
		ret_usage->useful_ns += running[compute[i]] + assumed[compute[i]];
		ret_usage->runnable_ns += runnable[compute[i]];
	}
	ret_usage->blocked_ns =
		blocked[CRIT_CLASS_NONE] + blocked[CRIT_CLASS_USER] + blocked[CRIT_CLASS_OMP];
	ret_usage->mpi_may_wait_ns = crit_cells_class(cells, CRIT_CLASS_MPI_MAY_WAIT);
	ret_usage->mpi_wait_ns = crit_cells_class(cells, CRIT_CLASS_MPI_WAIT) +
				 crit_cells_class(cells, CRIT_CLASS_MPI_POLL);
	ret_usage->mpi_ns = crit_cells_class(cells, CRIT_CLASS_MPI) + ret_usage->mpi_may_wait_ns +
			    ret_usage->mpi_wait_ns;
	ret_usage->omp_wait_ns = crit_cells_class(cells, CRIT_CLASS_OMP_WAIT) +
				 crit_cells_class(cells, CRIT_CLASS_OMP_IDLE);
	ret_usage->setup_ns = crit_cells_class(cells, CRIT_CLASS_SETUP);
	for (int c = 0; c < CRIT_CLASS_COUNT; c++)
		ret_usage->life_ns += crit_cells_class(cells, (enum crit_span_class)c);
}

static bool uses_omp(const struct crit_thread_row *thread)
{
	uint64_t sum_ns = 0;

	for (int c = CRIT_CLASS_OMP; c <= CRIT_CLASS_OMP_IDLE; c++)
		sum_ns += crit_cells_class(&thread->cells, (enum crit_span_class)c);
	return sum_ns > 0;
}

/* Threads without ranks are sorted by node and process. */
static size_t locate_threads(const struct crit_results *results, struct location *places)
{
	bool *is_working = crit_lost_units_mark(results);
	size_t count = 0;
	size_t next;

	for (size_t i = 0; is_working && i < results->thread_count; i = next) {
		const struct crit_thread_row *first = &results->threads[i];
		bool is_omp = false;

		for (next = i; next < results->thread_count; next++) {
			const struct crit_thread_row *thread = &results->threads[next];

			if (thread->node != first->node || thread->pid != first->pid)
				break;
			is_omp |= thread->role == CRIT_THREAD_APP && uses_omp(thread);
		}
		for (size_t j = i, begin = count; j < next; j++) {
			if (results->threads[j].role != CRIT_THREAD_APP ||
			    (!is_omp && !is_working[j]))
				continue;
			if (!is_omp || count == begin)
				places[count++] =
					(struct location){ .node = first->node, .pid = first->pid };
			crit_cells_add(&places[count - 1].cells, &results->threads[j].cells);
		}
	}
	free(is_working);
	return count;
}

static int compare_places(const void *left, const void *right)
{
	const struct location *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The idle time of teams belongs to the rank or process of their region. */
static void add_regions(const struct crit_results *results, struct location *places, size_t count)
{
	for (size_t i = 0; i < results->regions.row_count; i++) {
		const struct crit_region_row *region = &results->regions.rows[i];
		struct location key = { .node = region->node, .pid = region->pid };
		struct location *place = NULL;

		if (!results->has_ranks)
			place = bsearch(&key, places, count, sizeof(key), compare_places);
		else if (region->rank_row >= 0 && (size_t)region->rank_row < count)
			place = &places[region->rank_row];
		if (!place)
			continue;
		place->scheduling += (double)region->scheduling_ns;
		place->imbalance += (double)region->imbalance_ns;
		place->omp_runnable += (double)region->runnable_ns;
	}
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Turns what was summed into time per CPU. */
static void normalise(struct location *place, double window_ns)
{
	struct crit_usage usage;
	double cpus;

	crit_usage_of(&place->cells, &usage);
	cpus = (double)(usage.life_ns - usage.setup_ns) / window_ns;
	if (cpus < 1)
		cpus = 1;
	place->cpus = cpus;
	place->useful = (double)usage.useful_ns / cpus;
	place->omp_runnable /= cpus;
	place->runnable = (double)usage.runnable_ns / cpus + place->omp_runnable;
	place->blocked = (double)usage.blocked_ns / cpus;
	place->mpi = (double)usage.mpi_ns / cpus;
	place->idle = larger((double)usage.omp_wait_ns / cpus - place->omp_runnable, 0);
	place->scheduling /= cpus;
	place->imbalance /= cpus;
	place->idle_in_mpi /= cpus;
}

static size_t locate_all(const struct crit_results *results, struct location *places)
{
	size_t count = results->has_ranks ? results->rank_count : 0;

	for (size_t i = 0; i < count; i++)
		places[i] = (struct location){ .node = results->ranks[i].node,
					       .pid = results->ranks[i].pid,
					       .cells = results->ranks[i].cells,
					       .idle_in_mpi =
						       (double)results->ranks[i].idle_in_mpi_ns };
	if (!results->has_ranks)
		count = locate_threads(results, places);
	add_regions(results, places, count);
	for (size_t i = 0; i < count; i++)
		normalise(&places[i], (double)results->window_ns);
	return count;
}

/* Idle in OpenMP outside parallel regions. */
static double serial_idle(const struct location *place)
{
	return larger(place->idle - place->scheduling - place->imbalance, 0);
}

static void fold_add(struct location_sums *fold, const struct location *place)
{
	double present = place->useful + place->scheduling + place->imbalance +
			 larger(serial_idle(place) - place->idle_in_mpi, 0);
	double mpi = place->mpi + place->idle_in_mpi;

	if (fold->count == 0 || mpi < fold->min_mpi)
		fold->min_mpi = mpi;
	fold->count++;
	fold->cpus += place->cpus;
	fold->useful += place->useful * place->cpus;
	fold->present += present * place->cpus;
	fold->mpi += mpi * place->cpus;
	fold->max_present = larger(fold->max_present, present);
	fold->max_ready = larger(fold->max_ready, present + place->runnable);
	fold->max_there = larger(fold->max_there, present + place->runnable + place->blocked);
}

/* a / b, kept inside [0, 1] against rounding; nothing of nothing is 1. */
static double part(double a, double b)
{
	if (b <= 0)
		return 1;
	if (a <= 0)
		return 0;
	return a < b ? a / b : 1;
}

/* The best node: largest mean time present, smallest mean time in MPI. */
static void best_node(const struct location_sums *nodes, size_t node_count,
		      struct location_sums *ret_best)
{
	struct location_sums best = { 0 };

	for (size_t i = 0; i < node_count; i++) {
		const struct location_sums *node = &nodes[i];

		if (!node->count)
			continue;
		best.max_present = larger(best.max_present, node->present / node->cpus);
		if (best.count++ == 0 || node->mpi / node->cpus < best.min_mpi)
			best.min_mpi = node->mpi / node->cpus;
	}
	*ret_best = best;
}

/* One CPU's OpenMP: each factor takes one loss away from what the next begins with. */
static void factor_omp(const struct location *places, size_t count, struct crit_efficiency *eff)
{
	double useful = 0, wall = 0, scheduling = 0, imbalance = 0, serial = 0, cpu_serial = 0;

	for (size_t i = 0; i < count; i++) {
		const struct location *place = &places[i];
		double idle = serial_idle(place);
		double busy = place->omp_runnable * place->cpus; /* by the clock: neither in MPI
								     nor idle */

		for (int s = 0; s < CRIT_STATE_COUNT; s++)
			busy += (double)(place->cells.ns[s][CRIT_CLASS_NONE] +
					 place->cells.ns[s][CRIT_CLASS_USER] +
					 place->cells.ns[s][CRIT_CLASS_OMP]);
		useful += place->useful * place->cpus;
		wall += busy + place->mpi * place->cpus;
		eff->wall_parallel += busy;
		scheduling += place->scheduling * place->cpus;
		imbalance += place->imbalance * place->cpus;
		serial += idle * place->cpus;
		cpu_serial += larger(idle - place->idle_in_mpi, 0) * place->cpus;
	}
	eff->omp_scheduling_ns = scheduling;
	eff->omp_imbalance_ns = imbalance;
	eff->omp_serial_ns = cpu_serial;
	eff->has_omp = scheduling + imbalance + serial > 0;
	eff->wall_parallel = part(eff->wall_parallel, wall + serial + imbalance + scheduling);
	eff->wall_omp_parallel = part(wall, wall + serial + imbalance + scheduling);
	eff->wall_omp_serialization = part(wall, wall + serial);
	eff->wall_omp_balance = part(wall + serial, wall + serial + imbalance);
	eff->wall_omp_scheduling =
		part(wall + serial + imbalance, wall + serial + imbalance + scheduling);
	eff->cpu_omp_parallel = part(useful, useful + scheduling + imbalance + cpu_serial);
	eff->cpu_omp_scheduling = part(useful, useful + scheduling);
	eff->cpu_omp_balance = part(useful + scheduling, useful + scheduling + imbalance);
	eff->cpu_omp_serialization =
		part(useful + scheduling + imbalance, useful + scheduling + imbalance + cpu_serial);
}

/* nodes: all zero, one for each node. */
static void factor(const struct location *places, size_t count, struct location_sums *nodes,
		   const struct crit_results *results, struct crit_efficiency *eff)
{
	const double window_ns = (double)results->window_ns;
	struct location_sums all = { 0 };
	struct location_sums best;
	double mean_present;
	double mean_mpi;

	for (size_t i = 0; i < count; i++) {
		fold_add(&all, &places[i]);
		fold_add(&nodes[places[i].node], &places[i]);
	}
	best_node(nodes, results->node_count, &best);
	mean_present = all.present / all.cpus;
	mean_mpi = all.mpi / all.cpus;

	eff->is_valid = true;
	eff->cpus = all.cpus;
	eff->cpu_parallel = part(all.useful / all.cpus, window_ns);
	eff->cpu_balance = part(mean_present, all.max_present);
	eff->cpu_balance_in = part(best.max_present, all.max_present);
	eff->cpu_balance_out = part(mean_present, best.max_present);
	eff->cpu_oversubscription = part(all.max_present, all.max_ready);
	eff->cpu_io = part(all.max_ready, all.max_there);
	eff->cpu_communication = part(all.max_there, window_ns);
	eff->wall_mpi_parallel = part(window_ns - mean_mpi, window_ns);
	eff->wall_balance = part(window_ns - mean_mpi, window_ns - all.min_mpi);
	eff->wall_balance_in = part(window_ns - best.min_mpi, window_ns - all.min_mpi);
	eff->wall_balance_out = part(window_ns - mean_mpi, window_ns - best.min_mpi);
	eff->wall_communication = part(window_ns - all.min_mpi, window_ns);
	factor_omp(places, count, eff);
}

void crit_efficiency_of(const struct crit_results *results, struct crit_efficiency *ret_efficiency)
{
	size_t most = results->has_ranks ? results->rank_count : results->thread_count;
	struct location *places = calloc(most + 1, sizeof(*places));
	struct location_sums *nodes = calloc(results->node_count + 1, sizeof(*nodes));
	size_t count = 0;

	memset(ret_efficiency, 0, sizeof(*ret_efficiency));
	if (places && nodes && results->window_ns)
		count = locate_all(results, places);
	if (count > 0)
		factor(places, count, nodes, results, ret_efficiency);
	free(places);
	free(nodes);
}
