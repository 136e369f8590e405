// SPDX-License-Identifier: BSD-3-Clause
// A radix heap of entries, latest first.
#include "analysis/waits/film/entry_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define FEW 24u /* entries */
#define DIGIT_BITS 8u /* of nodes */
#define DIGITS (1u << DIGIT_BITS)

void crit_entry_queue_fini(struct crit_entry_queue *queue)
{
	free(queue->kept);
	free(queue->spare.entries);
	*queue = (struct crit_entry_queue){ .unused = 0 };
}

/* The heap with the latest.  Range: of a queue that is not empty. */
static const struct crit_entry_heap *latest(const struct crit_entry_queue *queue)
{
	const int digit = __builtin_ctz(queue->used_digits);

	return &queue->heaps[digit][63 - __builtin_clzll(queue->used[digit])];
}

/* Appends a kept entry to the heap of its time, which differs from that of the last one. */
static void place_first(struct crit_entry_queue *queue, uint32_t number, uint64_t time_ns)
{
	const unsigned int bit = 63u - (unsigned int)__builtin_clzll(~queue->before_ns ^ time_ns);
	const unsigned int digit = bit / CRIT_ENTRY_DIGIT_BITS;
	const uint64_t at = time_ns >> (digit * CRIT_ENTRY_DIGIT_BITS) & (CRIT_ENTRY_HEAPS - 1);
	struct crit_entry_heap *heap = &queue->heaps[digit][at];

	if (queue->used[digit] & 1ull << at) {
		queue->kept[heap->last - 1].next = number;
		if (time_ns > heap->latest_ns)
			heap->latest_ns = time_ns;
	} else {
		queue->used[digit] |= 1ull << at;
		queue->used_digits |= 1u << digit;
		heap->first = number;
		heap->latest_ns = time_ns;
	}
	heap->last = number;
	queue->recent = heap;
	queue->recent_ns = time_ns;
}

/* The others of a time mostly come one after the other. */
static inline void place(struct crit_entry_queue *queue, uint32_t number)
{
	struct crit_kept_entry *kept = &queue->kept[number - 1];
	const uint64_t time_ns = kept->entry.time_ns;

	kept->next = 0;
	if (!queue->recent || time_ns != queue->recent_ns) {
		place_first(queue, number, time_ns);
		return;
	}
	queue->kept[queue->recent->last - 1].next = number;
	queue->recent->last = number;
}

int crit_entry_queue_put(struct crit_entry_queue *queue, const struct crit_film_entry *entry)
{
	uint32_t number = queue->unused;
	int rc;

	if (entry->time_ns >= ~queue->before_ns)
		return -EPROTO;
	if (number) {
		queue->unused = queue->kept[number - 1].next;
	} else {
		rc = crit_array_grow(&queue->kept, &queue->capacity, queue->count + 1,
				     sizeof(*queue->kept));
		if (rc)
			return rc;
		number = (uint32_t)++queue->count;
	}
	queue->kept[number - 1].entry = *entry;
	if (entry->time_ns > queue->latest_ns)
		queue->latest_ns = entry->time_ns;
	place(queue, number);
	return 0;
}

/* By one digit of the node; what has the same stays in order. */
static void sort_by_digit(const struct crit_film_entry *entries, size_t count, unsigned int shift,
			  struct crit_film_entry *ret_sorted)
{
	size_t ends[DIGITS] = { 0 };

	for (size_t i = 0; i < count; i++)
		ends[entries[i].node >> shift & (DIGITS - 1)]++;
	for (size_t at = 1; at < DIGITS; at++)
		ends[at] += ends[at - 1];
	for (size_t i = count; i > 0; i--)
		ret_sorted[--ends[entries[i - 1].node >> shift & (DIGITS - 1)]] = entries[i - 1];
}

static void sort_few(struct crit_film_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct crit_film_entry entry = entries[i];
		size_t at = i;

		for (; at && entries[at - 1].node > entry.node; at--)
			entries[at] = entries[at - 1];
		entries[at] = entry;
	}
}

/* Each run of entries of ever lower nodes, as they mostly are that were read backwards. */
static void turn_runs(struct crit_film_entry *entries, size_t count)
{
	for (size_t begin = 0, end; begin < count; begin = end) {
		end = begin + 1;
		while (end < count && entries[end].node < entries[end - 1].node)
			end++;
		for (size_t low = begin, high = end; low + 1 < high; low++) {
			const struct crit_film_entry entry = entries[low];

			entries[low] = entries[--high];
			entries[high] = entry;
		}
	}
}

/* False, and nothing is done, where there are more than two nodes: not an act and its object. */
static bool split_two(struct crit_film_entry *entries, size_t count, struct crit_film_entry *spare)
{
	uint32_t low = entries[0].node, high = low;
	size_t lows = 0, highs = 0, at = 0;

	for (size_t i = 0; i < count; i++) {
		low = entries[i].node < low ? entries[i].node : low;
		high = entries[i].node > high ? entries[i].node : high;
	}
	while (at < count && (entries[at].node == low || entries[at].node == high))
		at++;
	if (at < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].node == low)
			entries[lows++] = entries[i];
		else
			spare[highs++] = entries[i];
	}
	memcpy(&entries[lows], spare, highs * sizeof(*entries));
	return true;
}

static bool is_sorted(const struct crit_film_entry *entries, size_t count)
{
	size_t at = 1;

	while (at < count && entries[at - 1].node <= entries[at].node)
		at++;
	return at >= count;
}

/* Those of the same node stay in order.  Errors: -ENOMEM. */
static int sort(struct crit_film_entry *entries, size_t count, struct crit_entry_list *spare)
{
	struct crit_film_entry *from = entries, *to, *other;
	uint32_t differing = 0;
	int rc;

	if (is_sorted(entries, count))
		return 0;
	if (count <= FEW) {
		sort_few(entries, count);
		return 0;
	}
	turn_runs(entries, count);
	if (is_sorted(entries, count))
		return 0;
	rc = crit_array_grow(&spare->entries, &spare->capacity, count, sizeof(*spare->entries));
	if (rc)
		return rc;
	to = spare->entries;
	if (split_two(entries, count, to))
		return 0;
	for (size_t i = 1; i < count; i++)
		differing |= entries[i].node ^ entries[0].node;
	for (unsigned int shift = 0; shift < 32; shift += DIGIT_BITS) {
		if (!(differing >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(from, count, shift, to);
		other = from;
		from = to;
		to = other;
	}
	if (from != entries)
		memcpy(entries, from, count * sizeof(*entries));
	return 0;
}

int crit_entry_queue_take(struct crit_entry_queue *queue, struct crit_entry_list *list)
{
	const int digit = __builtin_ctz(queue->used_digits);
	const struct crit_entry_heap heap = *latest(queue);
	const size_t before = list->count;
	int rc = 0;

	queue->used[digit] &= ~(1ull << (63 - __builtin_clzll(queue->used[digit])));
	if (!queue->used[digit])
		queue->used_digits &= queue->used_digits - 1;
	queue->before_ns = ~heap.latest_ns;
	queue->recent = NULL;
	for (uint32_t number = heap.first, next; number && !rc; number = next) {
		struct crit_kept_entry *kept = &queue->kept[number - 1];

		next = kept->next;
		if (kept->entry.time_ns != heap.latest_ns) {
			place(queue, number);
			continue;
		}
		rc = crit_array_grow(&list->entries, &list->capacity, list->count + 1,
				     sizeof(*list->entries));
		if (!rc)
			list->entries[list->count++] = kept->entry;
		kept->next = queue->unused;
		queue->unused = number;
	}
	queue->latest_ns = queue->used_digits ? latest(queue)->latest_ns : 0;
	return rc ? rc : sort(&list->entries[before], list->count - before, &queue->spare);
}
