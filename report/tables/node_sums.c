// SPDX-License-Identifier: BSD-3-Clause
// Adds up threads by node, and measures how evenly a node's ranks are busy.
#include "report/tables/node_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/efficiency.h"

struct spread { /* useful times, those of a node side by side */
	size_t *next; /* by node: where its next one belongs */
	double *values_s;
	int32_t *indexes;
};

static void add_thread(struct crit_node_sum *sum, const struct crit_thread_row *thread)
{
	sum->app_threads++;
	crit_attribution_add(&sum->run, &thread->run);
	crit_cells_add(&sum->cells, &thread->cells);
}

static void add_all(const struct crit_results *results, struct crit_node_sum *sums)
{
	for (size_t i = 0; i < results->rank_count; i++)
		sums[results->ranks[i].node].ranks++;
	for (size_t i = 0; i < results->thread_count; i++)
		if (results->threads[i].role == CRIT_THREAD_APP)
			add_thread(&sums[results->threads[i].node], &results->threads[i]);
}

static void put(struct spread *spread, uint32_t node, const struct crit_cells *cells, size_t index)
{
	size_t at = spread->next[node]++;
	struct crit_usage usage;

	crit_usage_of(cells, &usage);
	spread->values_s[at] = (double)usage.useful_ns * 1e-9;
	spread->indexes[at] = (int32_t)index;
}

static void measure(const struct crit_results *results, struct spread *spread,
		    struct crit_node_sum *sums)
{
	size_t first = 0;

	for (size_t i = 0; i < results->node_count; i++) {
		spread->next[i] = first;
		first += results->has_ranks ? sums[i].ranks : sums[i].app_threads;
	}
	for (size_t i = 0; i < results->rank_count; i++)
		put(spread, results->ranks[i].node, &results->ranks[i].cells, i);
	for (size_t i = 0; i < results->thread_count && !results->has_ranks; i++)
		if (results->threads[i].role == CRIT_THREAD_APP)
			put(spread, results->threads[i].node, &results->threads[i].cells, i);
	first = 0;
	for (size_t i = 0; i < results->node_count; i++) {
		crit_imbalance_of(&spread->values_s[first], &spread->indexes[first],
				  spread->next[i] - first, &sums[i].useful);
		first = spread->next[i];
	}
}

int crit_node_sums_of(const struct crit_results *results, struct crit_node_sum **ret_sums)
{
	size_t most = results->rank_count + results->thread_count + 1;
	struct crit_node_sum *sums = calloc(results->node_count + 1, sizeof(*sums));
	struct spread spread = { .next = calloc(results->node_count + 1, sizeof(*spread.next)),
				 .values_s = calloc(most, sizeof(*spread.values_s)),
				 .indexes = calloc(most, sizeof(*spread.indexes)) };
	int rc = -ENOMEM;

	if (sums && spread.next && spread.values_s && spread.indexes) {
		add_all(results, sums);
		measure(results, &spread, sums);
		*ret_sums = sums;
		sums = NULL;
		rc = 0;
	}
	free(sums);
	free(spread.next);
	free(spread.values_s);
	free(spread.indexes);
	return rc;
}
