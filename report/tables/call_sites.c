// SPDX-License-Identifier: BSD-3-Clause
// Groups call sites by source location, and sorts them by waiting time.
#include "report/tables/call_sites.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table/group_by.h"
#include "core/base/array.h"
#include "core/base/hash.h"

struct crit_call_sites {
	struct crit_call_site_row *rows;
	size_t row_count;
};

static crit_fix weight_of(const struct crit_call_site_row *row)
{
	return row->all_waiting + ((crit_fix)row->waiting_ns << 64);
}

/* Those in no file are nobody else's. */
static int compare_place(const void *a, const void *b)
{
	const struct crit_call_site_row *left = a;
	const struct crit_call_site_row *right = b;
	int order = crit_source_location_compare(&left->place, &right->place);

	if (!order)
		order = (left->call > right->call) - (left->call < right->call);
	if (!order && !left->place.module)
		order = (left->index > right->index) - (left->index < right->index);
	return order;
}

static uint64_t hash_place(const void *item)
{
	const struct crit_call_site_row *row = item;

	return crit_hash_mix(row->place.offset, row->call);
}

static int compare_weight(const void *a, const void *b)
{
	crit_fix left = weight_of(a);
	crit_fix right = weight_of(b);

	return left < right ? 1 : left > right ? -1 : compare_place(a, b);
}

static uint64_t key_of_weight(const void *item)
{
	return ~(uint64_t)(weight_of(item) >> 64);
}

static const struct crit_row_order by_weight = { sizeof(struct crit_call_site_row), key_of_weight,
						 compare_weight };

static void begin(void *to, const void *from)
{
	const struct crit_call_site_row *site = from;

	*(struct crit_call_site_row *)to = (struct crit_call_site_row){ .call = site->call,
									.place = site->place,
									.index = site->index };
}

static void join(void *to, const void *from)
{
	const struct crit_call_site_row *row = from;
	struct crit_call_site_row *into = to;

	into->process_count += row->process_count;
	into->visits += row->visits;
	into->time_ns += row->time_ns;
	into->wait_ns += row->wait_ns;
	into->all_waiting += row->all_waiting;
	into->waiting_ns += row->waiting_ns;
}

static const struct crit_grouping by_place = { sizeof(struct crit_call_site_row),
					       sizeof(struct crit_call_site_row),
					       compare_place,
					       begin,
					       join,
					       hash_place };

static struct crit_call_site_row site_of(const struct crit_results *results, size_t index,
					 struct crit_symbols *symbols)
{
	const struct crit_call_row *site = &results->call_sites[index];
	struct crit_call_site_row row = { .call = site->call,
					  .place.offset = site->site,
					  .index = index,
					  .process_count = 1,
					  .visits = site->visits,
					  .time_ns = site->time_ns,
					  .wait_ns = site->wait_ns,
					  .all_waiting = site->run.all_waiting[CRIT_UNIT_THREADS],
					  .waiting_ns = site->run.waiting_ns };

	if (symbols)
		crit_symbols_find(symbols, site->node, site->pid, site->site, &row.place);
	return row;
}

static int fill(struct crit_call_sites *call_sites, struct crit_symbols *symbols,
		const struct crit_results *results)
{
	struct crit_groups groups;
	int rc = crit_groups_begin(&groups, &by_place, results->call_site_count);

	for (size_t i = 0; symbols && i < results->call_site_count; i++) {
		const struct crit_call_row *site = &results->call_sites[i];

		crit_symbols_expect(symbols, site->node, site->pid, site->site);
	}
	for (size_t i = 0; i < results->call_site_count && !rc; i++) {
		const struct crit_call_site_row row = site_of(results, i, symbols);

		rc = crit_groups_put(&groups, &row);
	}
	call_sites->rows = crit_groups_end(&groups, &call_sites->row_count);
	if (!rc)
		crit_array_sort_rows(call_sites->rows, call_sites->row_count, &by_weight);
	return rc;
}

struct crit_call_sites *crit_call_sites_create(struct crit_symbols *symbols,
					       const struct crit_results *results)
{
	struct crit_call_sites *call_sites = calloc(1, sizeof(*call_sites));

	if (call_sites && !fill(call_sites, symbols, results))
		return call_sites;
	crit_call_sites_destroy(call_sites);
	return NULL;
}

void crit_call_sites_destroy(struct crit_call_sites *call_sites)
{
	if (call_sites)
		free(call_sites->rows);
	free(call_sites);
}

const struct crit_call_site_row *crit_call_sites_rows(const struct crit_call_sites *call_sites,
						      size_t *ret_count)
{
	*ret_count = call_sites ? call_sites->row_count : 0;
	return call_sites ? call_sites->rows : NULL;
}
