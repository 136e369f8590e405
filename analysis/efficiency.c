// SPDX-License-Identifier: BSD-3-Clause
/* Folds the cells of ranks, or of threads without ranks, into efficiencies. */
#include "analysis/efficiency.h"

#include <stdlib.h>
#include <string.h>

struct location { /* a rank, or a thread of a run without ranks */
	uint32_t node;
	double weight; /* CPUs it stands for, at least 1 */
	double useful; /* per CPU, ns */
	double runnable;
	double blocked;
	double mpi;
};

struct fold {
	size_t count;
	double sum_useful;
	double sum_mpi; /* weighted */
	double sum_weight;
	double max_useful;
	double max_ready; /* U + R */
	double max_present; /* U + R + B */
	double min_mpi;
};

uint64_t crit_cells_state(const struct crit_cells *cells, enum crit_kernel_state state)
{
	uint64_t sum_ns = 0;

	for (int c = 0; c < CRIT_CLASS_COUNT; c++)
		sum_ns += cells->ns[state][c];
	return sum_ns;
}

static uint64_t class_sum(const struct crit_cells *cells, enum crit_span_class span_class)
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
	ret_usage->blocked_ns = blocked[CRIT_CLASS_NONE] + blocked[CRIT_CLASS_USER];
	ret_usage->mpi_may_wait_ns = class_sum(cells, CRIT_CLASS_MPI_MAY_WAIT);
	ret_usage->mpi_wait_ns =
		class_sum(cells, CRIT_CLASS_MPI_WAIT) + class_sum(cells, CRIT_CLASS_MPI_POLL);
	ret_usage->mpi_ns = class_sum(cells, CRIT_CLASS_MPI) + ret_usage->mpi_may_wait_ns +
			    ret_usage->mpi_wait_ns;
	ret_usage->omp_wait_ns =
		class_sum(cells, CRIT_CLASS_OMP_WAIT) + class_sum(cells, CRIT_CLASS_OMP_IDLE);
	ret_usage->setup_ns = class_sum(cells, CRIT_CLASS_SETUP);
	for (int c = 0; c < CRIT_CLASS_COUNT; c++)
		ret_usage->life_ns += class_sum(cells, (enum crit_span_class)c);
}

static struct location locate(const struct crit_cells *cells, uint32_t node, double window_ns)
{
	struct crit_usage usage;
	double weight;

	crit_usage_of(cells, &usage);
	weight = (double)(usage.life_ns - usage.setup_ns) / window_ns;
	if (weight < 1)
		weight = 1;
	return (struct location){
		.node = node,
		.weight = weight,
		.useful = (double)usage.useful_ns / weight,
		.runnable = (double)usage.runnable_ns / weight,
		.blocked = (double)usage.blocked_ns / weight,
		.mpi = (double)usage.mpi_ns / weight,
	};
}

static size_t locate_all(const struct crit_results *results, struct location *places)
{
	double window_ns = (double)results->window_ns;
	size_t count = 0;

	if (results->has_ranks) {
		for (size_t i = 0; i < results->rank_count; i++)
			places[count++] =
				locate(&results->ranks[i].cells, results->ranks[i].node, window_ns);
		return count;
	}
	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];

		if (thread->role == CRIT_THREAD_APP)
			places[count++] = locate(&thread->cells, thread->node, window_ns);
	}
	return count;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void fold_add(struct fold *fold, const struct location *place)
{
	double ready = place->useful + place->runnable;

	if (fold->count == 0 || place->mpi < fold->min_mpi)
		fold->min_mpi = place->mpi;
	fold->count++;
	fold->sum_useful += place->useful;
	fold->sum_mpi += place->mpi * place->weight;
	fold->sum_weight += place->weight;
	fold->max_useful = larger(fold->max_useful, place->useful);
	fold->max_ready = larger(fold->max_ready, ready);
	fold->max_present = larger(fold->max_present, ready + place->blocked);
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

/* The best node: largest mean useful time, smallest mean time in MPI. */
static void best_node(const struct location *places, size_t count, struct fold *ret_best)
{
	struct fold best = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct fold node = { 0 };
		bool is_done = false;

		for (size_t j = 0; j < i && !is_done; j++)
			is_done = places[j].node == places[i].node;
		for (size_t j = i; j < count && !is_done; j++)
			if (places[j].node == places[i].node)
				fold_add(&node, &places[j]);
		if (is_done)
			continue;
		best.max_useful = larger(best.max_useful, node.sum_useful / (double)node.count);
		if (best.count++ == 0 || node.sum_mpi / node.sum_weight < best.min_mpi)
			best.min_mpi = node.sum_mpi / node.sum_weight;
	}
	*ret_best = best;
}

static void factor(const struct location *places, size_t count, double window_ns,
		   struct crit_efficiency *eff)
{
	struct fold all = { 0 };
	struct fold best;
	double mean_useful;
	double mean_mpi;

	for (size_t i = 0; i < count; i++)
		fold_add(&all, &places[i]);
	best_node(places, count, &best);
	mean_useful = all.sum_useful / (double)count;
	mean_mpi = all.sum_mpi / all.sum_weight;

	eff->is_valid = true;
	eff->cpu_parallel = part(mean_useful, window_ns);
	eff->cpu_balance = part(mean_useful, all.max_useful);
	eff->cpu_balance_in = part(best.max_useful, all.max_useful);
	eff->cpu_balance_out = part(mean_useful, best.max_useful);
	eff->cpu_oversubscription = part(all.max_useful, all.max_ready);
	eff->cpu_io = part(all.max_ready, all.max_present);
	eff->cpu_communication = part(all.max_present, window_ns);
	eff->wall_parallel = part(window_ns - mean_mpi, window_ns);
	eff->wall_balance = part(window_ns - mean_mpi, window_ns - all.min_mpi);
	eff->wall_balance_in = part(window_ns - best.min_mpi, window_ns - all.min_mpi);
	eff->wall_balance_out = part(window_ns - mean_mpi, window_ns - best.min_mpi);
	eff->wall_communication = part(window_ns - all.min_mpi, window_ns);
}

void crit_efficiency_of(const struct crit_results *results, struct crit_efficiency *ret_efficiency)
{
	size_t most = results->has_ranks ? results->rank_count : results->thread_count;
	struct location *places = most ? calloc(most, sizeof(*places)) : NULL;
	size_t count;

	memset(ret_efficiency, 0, sizeof(*ret_efficiency));
	if (!places || results->window_ns == 0) {
		free(places);
		return;
	}
	count = locate_all(results, places);
	if (count > 0)
		factor(places, count, (double)results->window_ns, ret_efficiency);
	free(places);
}
