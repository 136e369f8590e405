// SPDX-License-Identifier: BSD-3-Clause
// Who and where, as rows are joined by.
#include "report/causes/cause_site.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "core/base/hash.h"

int crit_cause_compare_who(const struct crit_who *left, const struct crit_who *right)
{
	int order = crit_by_number(left->rank, right->rank);

	if (!order)
		order = crit_by_number(left->thread, right->thread);
	if (!order)
		order = crit_by_number(left->lock, right->lock);
	if (!order)
		order = crit_by_number(left->is_name, right->is_name);
	return order ? order
		     : crit_by_number(left->region ? left->region->number : 0,
				      right->region ? right->region->number : 0);
}

/* Phases have a name and no place. */
int crit_cause_compare_call(uint16_t left_call, const struct crit_source_location *left,
			    uint16_t right_call, const struct crit_source_location *right)
{
	int order = crit_by_number(left_call, right_call);

	if (!order && crit_cause_is_phase(left_call))
		return strcmp(left->function, right->function);
	return order ? order : crit_source_location_compare(left, right);
}

/* What kind of time it is of, as its rows are ordered. */
static unsigned int kind_of(const struct crit_cause_row *row)
{
	return row->is_outside << 5u | row->is_cpu << 4u | row->is_blocked << 3u |
	       row->is_call << 2u | row->is_region << 1u | row->is_function;
}

int crit_cause_compare_place(const struct crit_cause_row *left, const struct crit_cause_row *right)
{
	int order = crit_by_number(kind_of(left), kind_of(right));

	if (!order && left->is_function)
		return crit_source_function_compare(&left->before, &right->before);
	if (!order)
		order = crit_cause_compare_call(left->before_call, &left->before,
						right->before_call, &right->before);
	return order ? order
		     : crit_cause_compare_call(left->after_call, &left->after, right->after_call,
					       &right->after);
}

uint64_t crit_cause_hash_who(const struct crit_who *who)
{
	const uint64_t hash = crit_hash_mix((uint64_t)who->rank << 32 | who->thread, who->lock);

	return crit_hash_mix(hash, (uint64_t)who->is_name << 32 |
					   (who->region ? who->region->number : 0));
}

static uint64_t hash_call(uint64_t hash, uint16_t call, const struct crit_source_location *place)
{
	hash = crit_hash_mix(hash, call);
	return crit_hash_mix(hash, crit_cause_is_phase(call) ? crit_hash_text(place->function)
							     : place->offset);
}

uint64_t crit_cause_hash_place(const struct crit_cause_row *row)
{
	if (row->is_function)
		return crit_hash_mix(crit_hash_text(row->before.function),
				     row->before.function_begin);
	return hash_call(hash_call(kind_of(row), row->before_call, &row->before), row->after_call,
			 &row->after);
}

struct crit_who crit_cause_who_of(const struct crit_results *results, uint32_t thread,
				  bool is_thread)
{
	struct crit_who who = { .rank = CRIT_NONE, .thread = CRIT_NONE };

	if (thread >= results->thread_count)
		return who;
	if (results->threads[thread].rank_row >= 0)
		who.rank = (uint32_t)results->threads[thread].rank_row;
	if (who.rank == CRIT_NONE || is_thread)
		who.thread = thread;
	return who;
}

struct crit_who crit_cause_who_by(const struct crit_results *results,
				  const struct crit_who_rule *rule, uint32_t thread)
{
	struct crit_who who = { .rank = CRIT_NONE, .thread = CRIT_NONE, .is_name = true };

	if (!rule->same_names || thread >= results->thread_count)
		return crit_cause_who_of(results, thread, rule->is_thread);
	who.thread = rule->same_names[thread];
	return who;
}

static int compare_names(const void *a, const void *b, void *user)
{
	const struct crit_results *results = user;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = strncmp(results->threads[left].name, results->threads[right].name,
			    sizeof(results->threads[left].name));

	return order ? order : crit_by_number(left, right);
}

uint32_t *crit_cause_same_names(const struct crit_results *results)
{
	uint32_t *sorted = calloc(results->thread_count + 1, sizeof(*sorted));
	uint32_t *same = calloc(results->thread_count + 1, sizeof(*same));
	uint32_t first = 0;

	if (!sorted || !same) {
		free(sorted);
		free(same);
		return NULL;
	}
	for (uint32_t i = 0; i < results->thread_count; i++)
		sorted[i] = i;
	qsort_r(sorted, results->thread_count, sizeof(*sorted), compare_names, (void *)results);
	for (size_t i = 0; i < results->thread_count; i++) {
		const char *name = results->threads[sorted[i]].name;

		if (!i || strncmp(name, results->threads[first].name,
				  sizeof(results->threads[first].name)))
			first = sorted[i];
		same[sorted[i]] = first;
	}
	free(sorted);
	return same;
}

struct crit_who crit_cause_lock_of(const struct crit_results *results,
				   const struct crit_code_key *key, bool is_thread)
{
	struct crit_who who = crit_cause_who_of(results, key->thread, false);

	who.thread = CRIT_NONE;
	who.lock = (is_thread || who.rank == CRIT_NONE) && key->before.site
			   ? (uint32_t)key->before.site
			   : CRIT_WHO_LOCKS;
	return who;
}

/* As the rows are sorted. */
static int compare_region(const void *key, const void *row)
{
	const struct crit_region_row *left = key, *right = row;
	int order = (left->rank_row > right->rank_row) - (left->rank_row < right->rank_row);

	if (!order)
		order = crit_by_number(left->node, right->node);
	if (!order)
		order = crit_by_number(left->pid, right->pid);
	return order ? order : crit_by_number(left->number, right->number);
}

const struct crit_region_row *crit_cause_region_row(const struct crit_results *results,
						    const struct crit_thread_row *thread,
						    uint64_t number)
{
	const struct crit_region_row key = { .rank_row = thread->rank_row,
					     .node = thread->node,
					     .pid = thread->pid,
					     .number = (uint32_t)number };

	return results->regions.row_count
		       ? bsearch(&key, results->regions.rows, results->regions.row_count,
				 sizeof(key), compare_region)
		       : NULL;
}

static void find_call(const struct crit_results *results, struct crit_symbols *symbols,
		      const struct crit_thread_row *thread, const struct crit_code_call *call,
		      uint16_t *ret_call, struct crit_source_location *ret_place)
{
	const struct crit_region_row *phase;

	*ret_call = call->call;
	if (call->call == CRIT_CODE_LOCK)
		return; /* all are one place */
	if (crit_cause_is_phase(call->call)) {
		phase = crit_cause_region_row(results, thread, call->site);
		ret_place->function = phase ? phase->name : "";
		return;
	}
	ret_place->offset = call->site;
	if (symbols && call->site && call->call != CRIT_CODE_BLOCKED)
		crit_symbols_find(symbols, thread->node, thread->pid, call->site, ret_place);
}

void crit_cause_find_place(struct crit_cause_row *row, const struct crit_code_key *key,
			   const struct crit_results *results, struct crit_symbols *symbols)
{
	const struct crit_thread_row *thread = &results->threads[key->thread];

	row->is_call = key->is_call;
	find_call(results, symbols, thread, &key->before, &row->before_call, &row->before);
	find_call(results, symbols, thread, &key->after, &row->after_call, &row->after);
}

void crit_cause_region_place(const struct crit_results *results, size_t row,
			     struct crit_symbols *symbols, struct crit_who_region *ret_region)
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

bool crit_cause_find_function(struct crit_cause_row *row, uint64_t address,
			      const struct crit_thread_row *thread, struct crit_symbols *symbols)
{
	struct crit_source_location *place = &row->before;

	row->is_function = true;
	if (!symbols || !address)
		return false;
	crit_symbols_find(symbols, thread->node, thread->pid, address, place);
	if (place->frame_count > 1)
		crit_source_see_from(place, &place->frames[place->frame_count - 1]);
	return place->function != NULL;
}
