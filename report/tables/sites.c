// SPDX-License-Identifier: BSD-3-Clause
/* Sorts call sites by place, adds up what is the same, and sorts them by weight. */
#include "report/tables/sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static crit_fix weight_of(const struct crit_site_row *row)
{
	return row->stall + ((crit_fix)row->waiting_ns << 64);
}

static int compare_place(const void *a, const void *b)
{
	const struct crit_site_row *left = a;
	const struct crit_site_row *right = b;
	int order = crit_place_compare(&left->place, &right->place);

	return order ? order : (left->call > right->call) - (left->call < right->call);
}

static int compare_weight(const void *a, const void *b)
{
	crit_fix left = weight_of(a);
	crit_fix right = weight_of(b);

	return left < right ? 1 : left > right ? -1 : compare_place(a, b);
}

static void join(struct crit_site_row *into, const struct crit_site_row *row)
{
	into->process_count += row->process_count;
	into->visits += row->visits;
	into->time_ns += row->time_ns;
	into->wait_ns += row->wait_ns;
	into->stall += row->stall;
	into->waiting_ns += row->waiting_ns;
}

static void merge(struct crit_sites *sites)
{
	size_t used = 0;

	qsort(sites->rows, sites->row_count, sizeof(*sites->rows), compare_place);
	for (size_t i = 0; i < sites->row_count; i++) {
		bool is_same = used && sites->rows[i].place.module &&
			       compare_place(&sites->rows[used - 1], &sites->rows[i]) == 0;

		if (is_same)
			join(&sites->rows[used - 1], &sites->rows[i]);
		else
			sites->rows[used++] = sites->rows[i];
	}
	sites->row_count = used;
	qsort(sites->rows, sites->row_count, sizeof(*sites->rows), compare_weight);
}

int crit_sites_init(struct crit_sites *sites, struct crit_symbols *symbols,
		    const struct crit_results *results)
{
	memset(sites, 0, sizeof(*sites));
	if (!results->site_count)
		return 0;
	sites->rows = calloc(results->site_count, sizeof(*sites->rows));
	if (!sites->rows)
		return -ENOMEM;
	for (size_t i = 0; i < results->site_count; i++) {
		const struct crit_call_row *site = &results->sites[i];
		struct crit_site_row *row = &sites->rows[sites->row_count++];

		row->call = site->call;
		row->place.offset = site->site;
		if (symbols)
			crit_symbols_find(symbols, site->node, site->pid, site->site, &row->place);
		row->process_count = 1;
		row->visits = site->visits;
		row->time_ns = site->time_ns;
		row->wait_ns = site->wait_ns;
		row->stall = site->run.stall[CRIT_UNIT_THREADS];
		row->waiting_ns = site->run.waiting_ns;
	}
	merge(sites);
	return 0;
}

void crit_sites_fini(struct crit_sites *sites)
{
	free(sites->rows);
	memset(sites, 0, sizeof(*sites));
}
