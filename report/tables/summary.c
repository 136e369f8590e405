// SPDX-License-Identifier: BSD-3-Clause
// Orders, sums and the mode of a run, and the list of what is missing.
#include "report/tables/summary.h"
#include "report/tables/thread_kinds.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double crit_summary_share(const struct crit_summary *summary,
			  const struct crit_attribution *attribution)
{
	return summary->cmetric_s > 0
		       ? crit_fix_seconds(attribution->cmetric[summary->unit]) / summary->cmetric_s
		       : 0;
}

static int compare_fix(crit_fix a, crit_fix b) /* descending */
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_rank(const void *a, const void *b, void *user)
{
	const struct crit_results *results = user;
	const size_t *left = a;
	const size_t *right = b;
	int order = compare_fix(results->ranks[*left].run.cmetric[CRIT_UNIT_RANKS],
				results->ranks[*right].run.cmetric[CRIT_UNIT_RANKS]);

	return order ? order : (*left > *right) - (*left < *right);
}

static int by_thread(const void *a, const void *b, void *user)
{
	const struct crit_results *results = user;
	const struct crit_thread_row *left = &results->threads[*(const size_t *)a];
	const struct crit_thread_row *right = &results->threads[*(const size_t *)b];
	int order = (int)left->role - (int)right->role;

	if (!order)
		order = compare_fix(left->run.cmetric[CRIT_UNIT_THREADS],
				    right->run.cmetric[CRIT_UNIT_THREADS]);
	return order ? order : (left > right) - (left < right);
}

static crit_fix call_weight(const struct crit_call_row *call)
{
	return call->run.all_waiting[CRIT_UNIT_THREADS] + ((crit_fix)call->run.waiting_ns << 64);
}

static int by_call(const void *a, const void *b, void *user)
{
	const struct crit_results *results = user;
	const struct crit_call_row *left = &results->calls[*(const size_t *)a];
	const struct crit_call_row *right = &results->calls[*(const size_t *)b];
	int order = compare_fix(call_weight(left), call_weight(right));

	if (!order)
		order = (left->time_ns < right->time_ns) - (left->time_ns > right->time_ns);
	return order ? order : (left > right) - (left < right);
}

static size_t *sorted(size_t count, int (*compare)(const void *, const void *, void *),
		      const struct crit_results *results)
{
	size_t *order = malloc((count ? count : 1) * sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare, (void *)results);
	return order;
}

static enum crit_mode mode_of(const struct crit_results *results)
{
	bool has[CRIT_HALF_COUNT] = { false };

	for (size_t i = 0; i < results->node_count; i++)
		has[results->nodes[i].kernel_half] = true;
	if (has[CRIT_HALF_PERF])
		return CRIT_MODE_APPROXIMATE;
	if (!has[CRIT_HALF_BPF])
		return CRIT_MODE_SHIMS_ONLY;
	return results->has_ranks || results->call_count ? CRIT_MODE_FULL : CRIT_MODE_KERNEL_ONLY;
}

static void find_sums(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	for (size_t i = 0; i < results->check_count; i++)
		if (results->checks[i].unit == summary->unit &&
		    results->checks[i].scope == CRIT_SCOPE_RUN)
			summary->check = &results->checks[i];
	if (summary->check) {
		summary->cmetric_s = crit_fix_seconds(summary->check->cmetric_sum);
		if (summary->check->window_ns > summary->check->active_ns)
			summary->silent_ns = summary->check->window_ns - summary->check->active_ns;
	}
	for (size_t i = 0; i < results->thread_count; i++)
		summary->app_threads += results->threads[i].role == CRIT_THREAD_APP;
}

static void find_place(void *user, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place)
{
	crit_symbols_find(user, node, pid, address, ret_place);
}

static void find_in_file(void *user, const char *path, uint64_t offset,
			 struct crit_source_location *ret_place)
{
	crit_symbols_find_in_file(user, path, offset, ret_place);
}

/* What threads do is looked up only where that decides who is compared with whom. */
static int find_lost_time(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	uint32_t *kinds;
	int rc = crit_lost_time_of(results, NULL, &summary->lost);

	if (rc || !summary->lost.has_helpers)
		return rc;
	kinds = crit_thread_kinds_of(results, &summary->finder);
	rc = kinds ? crit_lost_time_of(results, kinds, &summary->lost) : -ENOMEM;
	free(kinds);
	return rc;
}

int crit_summary_init(struct crit_summary *summary, const struct crit_results *results,
		      const struct crit_summary_options *options)
{
	const struct crit_hot_query lines = { .level = CRIT_HOT_LINE };

	memset(summary, 0, sizeof(*summary));
	if (options->symbols)
		summary->finder =
			(struct crit_region_finder){ find_place, options->symbols, find_in_file };
	else if (options->finder)
		summary->finder = *options->finder;
	summary->results = results;
	summary->call_sites = options->call_sites;
	summary->causes = options->causes;
	summary->wait_graph = options->wait_graph;
	summary->fixes = options->fixes;
	summary->symbols = options->symbols;
	summary->mode = mode_of(results);
	summary->unit = results->has_ranks ? CRIT_UNIT_RANKS : CRIT_UNIT_THREADS;
	find_sums(summary);
	summary->missing = calloc(CRIT_MISSING_MAX, sizeof(*summary->missing));
	summary->rank_order = sorted(results->rank_count, by_rank, results);
	summary->thread_order = sorted(results->thread_count, by_thread, results);
	summary->call_order = sorted(results->call_count, by_call, results);
	if (!summary->missing || !summary->rank_order || !summary->thread_order ||
	    !summary->call_order || find_lost_time(summary) ||
	    crit_node_sums_of(results, &summary->node_sums) ||
	    crit_hot_table_init(&summary->hot, results, &summary->finder, &lines) ||
	    crit_wait_table_init(&summary->waits, results) ||
	    crit_region_table_init(&summary->regions, results,
				   summary->finder.find ? &summary->finder : NULL)) {
		crit_summary_fini(summary);
		return -ENOMEM;
	}
	crit_efficiency_of(results, &summary->efficiency);
	return 0;
}

void crit_summary_fini(struct crit_summary *summary)
{
	free(summary->missing);
	free(summary->rank_order);
	free(summary->thread_order);
	free(summary->call_order);
	free(summary->node_sums);
	crit_hot_table_fini(&summary->hot);
	crit_wait_table_fini(&summary->waits);
	crit_region_table_fini(&summary->regions);
	memset(summary, 0, sizeof(*summary));
}

/* The last row stands for itself and for all that come after it. */
static void fold(struct crit_summary *summary, bool is_incomplete)
{
	struct crit_missing *last = &summary->missing[CRIT_MISSING_MAX - 1];

	summary->missing_folded++;
	last->is_incomplete = last->is_incomplete || is_incomplete;
	last->fix[0] = '\0';
	(void)snprintf(last->what, sizeof(last->what), "%zu more, for which this list has no room",
		       summary->missing_folded + 1);
}

void crit_summary_add_missing(struct crit_summary *summary, bool is_incomplete, const char *fix,
			      const char *format, ...)
{
	struct crit_missing *slot;
	va_list arguments;

	summary->is_incomplete = summary->is_incomplete || is_incomplete;
	if (summary->missing_count == CRIT_MISSING_MAX) {
		fold(summary, is_incomplete);
		return;
	}
	slot = &summary->missing[summary->missing_count++];
	slot->is_incomplete = is_incomplete;
	(void)snprintf(slot->fix, sizeof(slot->fix), "%s", fix ? fix : "");
	va_start(arguments, format);
	(void)vsnprintf(slot->what, sizeof(slot->what), format, arguments);
	va_end(arguments);
}
