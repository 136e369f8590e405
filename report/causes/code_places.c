// SPDX-License-Identifier: BSD-3-Clause
// Ends are found by what they are, places by their two ends; buckets keep their places.
#include "report/causes/code_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"
#include "core/base/index.h"

#define BLOCK_ROWS 256u

struct kept { /* rows that stay where they are, and an index of them */
	size_t row_bytes;
	char **blocks; /* of BLOCK_ROWS */
	size_t block_count, block_capacity;
	uint32_t count;
	struct crit_index index;
};

struct crit_code_places {
	const struct crit_code_key *keys;
	const struct crit_results *results;
	struct crit_symbols *symbols;
	const struct crit_code_place **of_buckets;
	struct kept ends, places;
	uint32_t sorted_count; /* of the places, when they were sorted */
};

static void *kept_at(const struct kept *kept, uint32_t number)
{
	return kept->blocks[number / BLOCK_ROWS] + number % BLOCK_ROWS * kept->row_bytes;
}

/* Keeps one more, without anything in it.  Errors: NULL, out of memory. */
static void *keep(struct kept *kept, uint64_t hash)
{
	if (kept->count == kept->block_count * BLOCK_ROWS) {
		char *block;

		if (crit_array_grow(&kept->blocks, &kept->block_capacity, kept->block_count + 1,
				    sizeof(*kept->blocks)))
			return NULL;
		block = malloc(BLOCK_ROWS * kept->row_bytes);
		if (!block)
			return NULL;
		kept->blocks[kept->block_count++] = block;
	}
	return crit_index_put(&kept->index, hash, kept->count) ? NULL
							       : kept_at(kept, kept->count++);
}

static void kept_fini(struct kept *kept)
{
	for (size_t i = 0; i < kept->block_count; i++)
		free(kept->blocks[i]);
	free(kept->blocks);
	crit_index_fini(&kept->index);
}

/* Phases have a name and no place. */
int crit_code_call_compare(uint16_t left_call, const struct crit_source_location *left,
			   uint16_t right_call, const struct crit_source_location *right)
{
	int order = crit_by_number(left_call, right_call);

	if (!order && crit_code_is_phase(left_call))
		return strcmp(left->function, right->function);
	return order ? order : crit_source_location_compare(left, right);
}

static int compare_ends(const struct crit_code_end *left, const struct crit_code_end *right)
{
	if (left->is_function != right->is_function)
		return left->is_function ? 1 : -1;
	return left->is_function ? crit_source_function_compare(&left->place, &right->place)
				 : crit_code_call_compare(left->call, &left->place, right->call,
							  &right->place);
}

static uint64_t hash_end(const struct crit_code_end *end)
{
	if (end->is_function)
		return crit_hash_mix(crit_hash_text(end->place.function),
				     end->place.function_begin);
	return crit_hash_mix(end->call, crit_code_is_phase(end->call)
						? crit_hash_text(end->place.function)
						: end->place.offset);
}

/* Errors: NULL, out of memory. */
static const struct crit_code_end *put_end(struct crit_code_places *places,
					   const struct crit_code_end *end)
{
	const uint64_t hash = hash_end(end);
	struct crit_code_end *added;
	struct crit_probe probe;
	uint32_t found = crit_index_first(&places->ends.index, hash, &probe);

	while (found != CRIT_NONE && compare_ends(kept_at(&places->ends, found), end))
		found = crit_index_next(&places->ends.index, &probe);
	if (found != CRIT_NONE)
		return kept_at(&places->ends, found);
	added = keep(&places->ends, hash);
	if (added) {
		*added = *end;
		added->number = places->ends.count - 1;
	}
	return added;
}

static bool is_same(const struct crit_code_place *left, const struct crit_code_place *right)
{
	return left->before == right->before && left->after == right->after &&
	       left->is_call == right->is_call && left->is_region == right->is_region;
}

/* Of ends that were put, or could not be.  Errors: NULL, out of memory. */
static const struct crit_code_place *put_place(struct crit_code_places *places,
					       const struct crit_code_place *place)
{
	struct crit_code_place *added;
	struct crit_probe probe;
	uint64_t hash;
	uint32_t found;

	if (!place->before || !place->after)
		return NULL;
	hash = (uint64_t)place->before->number << 32 | place->after->number;
	found = crit_index_first(&places->places.index, hash, &probe);
	while (found != CRIT_NONE && !is_same(kept_at(&places->places, found), place))
		found = crit_index_next(&places->places.index, &probe);
	if (found != CRIT_NONE)
		return kept_at(&places->places, found);
	added = keep(&places->places, hash);
	if (added) {
		*added = *place;
		added->number = places->places.count - 1;
	}
	return added;
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

const struct crit_region_row *crit_code_region_row(const struct crit_results *results,
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

/* Errors: NULL, out of memory. */
static const struct crit_code_end *put_call(struct crit_code_places *places,
					    const struct crit_thread_row *thread,
					    const struct crit_code_call *call)
{
	struct crit_code_end end = { .call = call->call };

	if (crit_code_is_phase(call->call)) {
		const struct crit_region_row *phase =
			crit_code_region_row(places->results, thread, call->site);

		end.place.function = phase ? phase->name : "";
	} else if (call->call != CRIT_CODE_LOCK) { /* all locks are one place */
		end.place.offset = call->site;
		if (places->symbols && call->site && call->call != CRIT_CODE_BLOCKED)
			crit_symbols_find(places->symbols, thread->node, thread->pid, call->site,
					  &end.place);
	}
	return put_end(places, &end);
}

/* Errors: NULL, out of memory. */
static const struct crit_code_place *put_key(struct crit_code_places *places,
					     const struct crit_code_key *key)
{
	static const struct crit_code_end nothing;
	struct crit_code_place place = { 0 };

	if (key->thread < places->results->thread_count) {
		const struct crit_thread_row *thread = &places->results->threads[key->thread];

		place.is_call = key->is_call;
		place.before = put_call(places, thread, &key->before);
		place.after = put_call(places, thread, &key->after);
	} else {
		const struct crit_code_end ended = { .call = key->before.call,
						     .place.offset = key->before.site };

		place.before = put_end(places, &ended);
		place.after = put_end(places, &nothing);
	}
	return put_place(places, &place);
}

const struct crit_code_place *crit_code_places_region(struct crit_code_places *places,
						      uint16_t call,
						      const struct crit_source_location *place)
{
	static const struct crit_code_end nothing;
	const struct crit_code_end end = { .call = call, .place = *place };
	const struct crit_code_place region = { .is_region = true,
						.before = put_end(places, &end),
						.after = put_end(places, &nothing) };

	return put_place(places, &region);
}

int crit_code_places_function(struct crit_code_places *places, const struct crit_thread_row *thread,
			      uint64_t address, const struct crit_code_place **ret_place)
{
	static const struct crit_code_end nothing;
	struct crit_code_end end = { .is_function = true };
	struct crit_source_location *at = &end.place;
	struct crit_code_place place = { 0 };

	*ret_place = NULL;
	if (!places->symbols || !address)
		return 0;
	crit_symbols_find(places->symbols, thread->node, thread->pid, address, at);
	if (at->frame_count > 1)
		crit_source_see_from(at, &at->frames[at->frame_count - 1]);
	if (!at->function)
		return 0;
	place.before = put_end(places, &end);
	place.after = put_end(places, &nothing);
	*ret_place = put_place(places, &place);
	return *ret_place ? 0 : -ENOMEM;
}

static int compare_end_pointers(const void *a, const void *b)
{
	struct crit_code_end *const *left = a, *const *right = b;

	return compare_ends(*left, *right);
}

/* As places of different kinds are ordered. */
static uint32_t kind_of(const struct crit_code_place *place)
{
	return place->is_call << 2u | place->is_region << 1u | place->before->is_function;
}

/* Each has its order then.  Errors: -ENOMEM. */
static int sort_ends(struct crit_code_places *places)
{
	const uint32_t count = places->ends.count;
	struct crit_code_end **sorted = calloc(count + 1, sizeof(struct crit_code_end *));

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = kept_at(&places->ends, i);
	qsort(sorted, count, sizeof(struct crit_code_end *), compare_end_pointers);
	for (uint32_t i = 0; i < count; i++)
		sorted[i]->order = i;
	free(sorted);
	return 0;
}

static uint32_t key_of_after(const struct crit_code_place *place)
{
	return place->after->order;
}

static uint32_t key_of_before(const struct crit_code_place *place)
{
	return place->before->order;
}

/* Sorts the numbers of all places by one key.  keys: room for one of each.  Errors: -ENOMEM. */
static int sort_by(struct crit_code_places *places, uint32_t *numbers, uint32_t *keys,
		   uint32_t (*key_of)(const struct crit_code_place *))
{
	for (uint32_t i = 0; i < places->places.count; i++)
		keys[i] = key_of(kept_at(&places->places, i));
	return crit_array_sort_numbers(numbers, places->places.count, keys);
}

/* By kind, then by the call before, then by the one after: in that order of weight. */
int crit_code_places_sort(struct crit_code_places *places)
{
	const uint32_t count = places->places.count;
	uint32_t *numbers, *keys;
	int rc;

	if (places->sorted_count == count)
		return 0;
	numbers = calloc(count, sizeof(*numbers));
	keys = calloc(count, sizeof(*keys));
	rc = numbers && keys ? sort_ends(places) : -ENOMEM;
	for (uint32_t i = 0; i < count && !rc; i++)
		numbers[i] = i;
	if (!rc)
		rc = sort_by(places, numbers, keys, key_of_after);
	if (!rc)
		rc = sort_by(places, numbers, keys, key_of_before);
	if (!rc)
		rc = sort_by(places, numbers, keys, kind_of);
	for (uint32_t i = 0; i < count && !rc; i++)
		((struct crit_code_place *)kept_at(&places->places, numbers[i]))->order = i;
	free(numbers);
	free(keys);
	if (!rc)
		places->sorted_count = count;
	return rc;
}

/* Errors: -ENOMEM. */
static int put_buckets(struct crit_code_places *places, size_t bucket_count)
{
	static const struct crit_code_key nowhere = { .thread = CRIT_NONE };

	places->of_buckets = crit_lines_room(bucket_count + 1, sizeof(struct crit_code_place *));
	if (!places->of_buckets)
		return -ENOMEM;
	for (size_t i = 0; i <= bucket_count; i++) {
		places->of_buckets[i] =
			put_key(places, i < bucket_count ? &places->keys[i] : &nowhere);
		if (!places->of_buckets[i])
			return -ENOMEM;
	}
	return crit_code_places_sort(places);
}

struct crit_code_places *crit_code_places_create(const struct crit_code_key *keys,
						 size_t bucket_count,
						 const struct crit_results *results,
						 struct crit_symbols *symbols)
{
	struct crit_code_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	*places = (struct crit_code_places){ .keys = keys,
					     .results = results,
					     .symbols = symbols,
					     .ends.row_bytes = sizeof(struct crit_code_end),
					     .places.row_bytes = sizeof(struct crit_code_place) };
	if (!put_buckets(places, bucket_count))
		return places;
	crit_code_places_destroy(places);
	return NULL;
}

void crit_code_places_destroy(struct crit_code_places *places)
{
	if (!places)
		return;
	kept_fini(&places->ends);
	kept_fini(&places->places);
	free(places->of_buckets);
	free(places);
}

const struct crit_code_place *crit_code_places_of(const struct crit_code_places *places,
						  size_t bucket)
{
	return places->of_buckets[bucket];
}
