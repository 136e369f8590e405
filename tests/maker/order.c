// SPDX-License-Identifier: BSD-3-Clause
// Other orders a recording may have: chunks as they were drained, kernel records as CPUs put them.
#include <stdlib.h>
#include <string.h>

#include "tests/maker/random.h"
#include "tests/maker/inside.h"

/* Where a kind must stand: FILE in front, WINDOW and FOOT at the end, the rest between. */
static int place_of(const struct maker_chunk *chunk)
{
	if (chunk->head.kind == CRIT_C_FILE)
		return 0;
	if (chunk->head.kind == CRIT_C_WINDOW)
		return 2;
	return chunk->head.kind == CRIT_C_FOOT ? 3 : 1;
}

/* True when nothing that must stand before chunk i is left. */
static bool may_be_next(const struct crit_maker *m, const bool *is_taken, size_t i)
{
	if (is_taken[i])
		return false;
	for (size_t k = 0; k < m->chunk_count; k++) {
		if (is_taken[k] || k == i)
			continue;
		if (place_of(&m->chunks[k]) < place_of(&m->chunks[i]))
			return false;
		if (k < i && m->chunks[k].head.source == m->chunks[i].head.source &&
		    place_of(&m->chunks[k]) == place_of(&m->chunks[i]))
			return false;
	}
	return true;
}

void crit_maker_interleave(struct crit_maker *m, uint64_t seed)
{
	struct maker_chunk *order;
	bool *is_taken;
	struct crit_random random = { .state = seed };

	crit_maker_drain(m);
	order = calloc(m->chunk_count + 1, sizeof(*order));
	is_taken = calloc(m->chunk_count + 1, 1);
	if (!order || !is_taken)
		crit_maker_fail("get memory");
	for (size_t count = 0; count < m->chunk_count;) {
		size_t i = (size_t)crit_random_below(&random, m->chunk_count);

		while (!may_be_next(m, is_taken, i))
			i = (i + 1) % m->chunk_count;
		is_taken[i] = true;
		order[count++] = m->chunks[i];
	}
	memcpy(m->chunks, order, m->chunk_count * sizeof(*order));
	free(order);
	free(is_taken);
	crit_maker_renumber(m);
}

/* One pass over a chunk's records, swapping some neighbours. */
static void jumble_chunk(struct maker_chunk *chunk, struct crit_random *random, uint64_t within_ns)
{
	unsigned char *at = chunk->payload, *end = chunk->payload + chunk->length;
	static unsigned char held[CRIT_KERNEL_RECORD_MAX];
	struct crit_kernel_head first, second;

	while (at + sizeof(first) <= end) {
		memcpy(&first, at, sizeof(first));
		if (at + first.size + sizeof(second) > end)
			return;
		memcpy(&second, at + first.size, sizeof(second));
		if (first.time_ns < second.time_ns && second.time_ns - first.time_ns <= within_ns &&
		    crit_random_is(random, 40)) {
			memcpy(held, at, first.size);
			memmove(at, at + first.size, second.size);
			memcpy(at + second.size, held, first.size);
			at += second.size; /* the first one may go on falling behind */
		} else {
			at += first.size;
		}
	}
}

void crit_maker_jumble(struct crit_maker *m, uint64_t seed, uint64_t within_ns)
{
	struct crit_random random = { .state = seed };

	crit_maker_drain(m);
	for (size_t i = 0; i < m->chunk_count; i++)
		if (m->chunks[i].head.kind == CRIT_C_KERNEL)
			jumble_chunk(&m->chunks[i], &random, within_ns);
}
