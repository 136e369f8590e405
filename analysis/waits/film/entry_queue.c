// SPDX-License-Identifier: BSD-3-Clause
// A radix heap of entries, latest first.
#include "analysis/waits/film/entry_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define FEW 8u /* nodes */

void crit_entry_queue_fini(struct crit_entry_queue *queue)
{
	for (int i = 0; i < CRIT_ENTRY_HEAPS; i++)
		free(queue->heaps[i].entries);
	free(queue->taken.entries);
	free(queue->spare.entries);
	*queue = (struct crit_entry_queue){ .used = 0 };
}

static int put(struct crit_entry_heap *heap, const struct crit_film_entry *entry)
{
	int rc = crit_array_grow(&heap->entries, &heap->capacity, heap->count + 1,
				 sizeof(*heap->entries));

	if (rc)
		return rc;
	if (!heap->count || entry->time_ns > heap->latest_ns)
		heap->latest_ns = entry->time_ns;
	heap->entries[heap->count++] = *entry;
	return 0;
}

int crit_entry_queue_put(struct crit_entry_queue *queue, const struct crit_film_entry *entry)
{
	const uint64_t taken_ns = ~queue->before_ns;
	const int at = 63 - __builtin_clzll((taken_ns ^ entry->time_ns) | 1);

	if (entry->time_ns >= taken_ns)
		return -EPROTO;
	queue->used |= 1ull << at;
	return put(&queue->heaps[at], entry);
}

static int compare(const void *left, const void *right)
{
	const struct crit_film_entry *a = left, *b = right;
	const int by_node = crit_by_number(a->node, b->node);

	return by_node ? by_node : crit_by_number(a->number, b->number);
}

/* By node, of which there are few: all that a collective call ends have one or two. */
static bool sort_few(const struct crit_entry_heap *heap, struct crit_film_entry *ret_sorted)
{
	uint32_t nodes[FEW];
	size_t ends[FEW + 1] = { 0 }, count = 0;

	for (size_t i = 0; i < heap->count; i++) {
		size_t at = 0;

		while (at < count && nodes[at] < heap->entries[i].node)
			at++;
		if (at == count || nodes[at] != heap->entries[i].node) {
			if (count == FEW)
				return false;
			memmove(&nodes[at + 1], &nodes[at], (count - at) * sizeof(*nodes));
			memmove(&ends[at + 1], &ends[at], (count - at) * sizeof(*ends));
			nodes[at] = heap->entries[i].node;
			ends[at] = 0;
			count++;
		}
		ends[at]++;
	}
	for (size_t at = 1; at < count; at++)
		ends[at] += ends[at - 1];
	for (size_t i = heap->count; i > 0; i--) {
		size_t at = 0;

		while (nodes[at] != heap->entries[i - 1].node)
			at++;
		ret_sorted[--ends[at]] = heap->entries[i - 1];
	}
	return true;
}

static bool is_sorted(const struct crit_entry_heap *heap)
{
	size_t at = 1;

	while (at < heap->count && heap->entries[at - 1].node <= heap->entries[at].node)
		at++;
	return at >= heap->count;
}

/* Errors: -ENOMEM. */
static int sort(struct crit_entry_heap *heap, struct crit_entry_heap *spare)
{
	const struct crit_entry_heap unsorted = *heap;
	int rc;

	if (is_sorted(heap))
		return 0;
	rc = crit_array_grow(&spare->entries, &spare->capacity, heap->count,
			     sizeof(*spare->entries));
	if (rc)
		return rc;
	if (sort_few(heap, spare->entries)) {
		spare->count = heap->count;
		*heap = *spare;
		*spare = unsorted;
	} else {
		qsort(heap->entries, heap->count, sizeof(*heap->entries), compare);
	}
	return 0;
}

const struct crit_film_entry *crit_entry_queue_take(struct crit_entry_queue *queue,
						    size_t *ret_count)
{
	struct crit_entry_heap *heap = &queue->heaps[__builtin_ctzll(queue->used)];
	struct crit_entry_heap *taken = &queue->taken;
	int rc = 0;

	queue->before_ns = ~heap->latest_ns;
	queue->used &= queue->used - 1;
	taken->count = 0;
	for (size_t i = 0; i < heap->count && !rc; i++)
		rc = heap->entries[i].time_ns == heap->latest_ns
			     ? put(taken, &heap->entries[i])
			     : crit_entry_queue_put(queue, &heap->entries[i]);
	heap->count = 0;
	if (!rc)
		rc = sort(taken, &queue->spare);
	*ret_count = taken->count;
	return rc ? NULL : taken->entries;
}
