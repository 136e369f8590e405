// SPDX-License-Identifier: BSD-3-Clause
// Joins regions of a process by their places.
#include "report/causes/who_regions.h"

#include <stdlib.h>

#include "core/base/array.h"
#include "report/causes/code_places.h"

struct crit_who_regions {
	const struct crit_results *results;
	struct crit_who_region *rows; /* of each row of the results */
	uint32_t *first; /* row of the same place, of each */
	struct crit_who_region outside;
};

static int compare_place(const struct crit_who_regions *regions, uint32_t left, uint32_t right)
{
	const struct crit_region_row *rows = regions->results->regions.rows;
	int order = crit_by_number(rows[left].node, rows[right].node);

	if (!order)
		order = crit_by_number(rows[left].pid, rows[right].pid);
	return order ? order
		     : crit_code_call_compare(regions->rows[left].call, &regions->rows[left].place,
					      regions->rows[right].call,
					      &regions->rows[right].place);
}

static int compare(const void *a, const void *b, void *user)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = compare_place(user, left, right);

	return order ? order : crit_by_number(left, right);
}

static int join(struct crit_who_regions *regions)
{
	const size_t count = regions->results->regions.row_count;
	uint32_t *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), compare, regions);
	for (size_t i = 0; i < count; i++) {
		const bool is_same = i && !compare_place(regions, sorted[i - 1], sorted[i]);

		regions->first[sorted[i]] = is_same ? regions->first[sorted[i - 1]] : sorted[i];
	}
	free(sorted);
	return 0;
}

/* The call and place of a row of the results. */
static void find_place(const struct crit_results *results, size_t row, struct crit_symbols *symbols,
		       struct crit_who_region *ret_region)
{
	const struct crit_region_row *region = &results->regions.rows[row];
	const bool is_phase = region->call == CRIT_CONSTRUCT_PHASE;

	ret_region->call = (uint16_t)region->call;
	if (is_phase)
		ret_region->place.function = region->name;
	else
		ret_region->place.offset = region->site;
	if (symbols && region->site && !is_phase)
		crit_symbols_find(symbols, region->node, region->pid, region->site,
				  &ret_region->place);
}

struct crit_who_regions *crit_who_regions_create(const struct crit_results *results,
						 struct crit_symbols *symbols)
{
	const size_t count = results->regions.row_count;
	struct crit_who_regions *regions = calloc(1, sizeof(*regions));

	if (!regions)
		return NULL;
	regions->results = results;
	regions->outside.number = 1;
	regions->rows = calloc(count + 1, sizeof(*regions->rows));
	regions->first = calloc(count + 1, sizeof(*regions->first));
	for (size_t i = 0; i < count && regions->rows; i++) {
		regions->rows[i].number = (uint32_t)i + 2;
		find_place(results, i, symbols, &regions->rows[i]);
	}
	if (regions->rows && regions->first && !join(regions))
		return regions;
	crit_who_regions_destroy(regions);
	return NULL;
}

void crit_who_regions_destroy(struct crit_who_regions *regions)
{
	if (!regions)
		return;
	free(regions->rows);
	free(regions->first);
	free(regions);
}

const struct crit_who_region *crit_who_regions_find(const struct crit_who_regions *regions,
						    const struct crit_code_key *key)
{
	const struct crit_region_row *rows = regions->results->regions.rows, *row;

	if (key->thread >= regions->results->thread_count)
		return &regions->outside;
	row = crit_code_region_row(regions->results, &regions->results->threads[key->thread],
				   key->region);
	if (row && key->is_around)
		row = row->parent < 0 ? NULL : &rows[row->parent];
	return row ? &regions->rows[regions->first[row - rows]] : &regions->outside;
}
