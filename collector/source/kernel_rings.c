// SPDX-License-Identifier: BSD-3-Clause
// Merges the rings of the kernel half by the stamps of their records.
//
// A CPU says that it is about to stamp a record before it does.  So once nobody says so any more,
// all that was stamped before is there, and no record of one CPU overtakes those of another.
#include "collector/source/kernel_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/system/now.h"
#include "core/base/clock.h"

#define NEVER_NS UINT64_MAX
#define STORES_NS 1000u /* after which others have seen what a CPU wrote */
#define WAIT_NS 1000000u
/*
 * x86 shows a CPU's stores to others in their order.  Elsewhere BPF cannot see to that before Linux
 * 5.18: what was stored before a value that is read may be seen later, as long as above.
 */
#if defined(__x86_64__)
#define HAS_WEAK_ORDER false
#else
#define HAS_WEAK_ORDER true
#endif
#define RELEASE_BYTES (64u << 10)
#define MUCH_SHARE 8 /* of a ring, at once */

int crit_kernel_rings_open(struct crit_kernel_rings *rings,
			   const struct crit_kernel_rings_maps *maps)
{
	void *mapped;
	int rc;

	*rings = (struct crit_kernel_rings){ .cpu_count = maps->cpu_count };
	rings->cursors = calloc(maps->cpu_count, sizeof(*rings->cursors));
	rings->heap = calloc(maps->cpu_count, sizeof(struct crit_cpu_cursor *));
	if (!rings->cursors || !rings->heap)
		return -ENOMEM;
	rc = crit_ring_open(&rings->shared, maps->records_fd, maps->record_bytes);
	if (rc)
		return rc;
	mapped = mmap(NULL, maps->cpu_count * sizeof(*rings->mapped), PROT_READ | PROT_WRITE,
		      MAP_SHARED, maps->cpu_rings_fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	rings->mapped = mapped;
	for (uint32_t i = 0; i < maps->cpu_count; i++) {
		rings->cursors[i].ring = &rings->mapped[i];
		rings->cursors[i].bytes = maps->cpu_ring_bytes;
	}
	return 0;
}

void crit_kernel_rings_close(struct crit_kernel_rings *rings)
{
	if (rings->mapped)
		(void)munmap(rings->mapped, rings->cpu_count * sizeof(*rings->mapped));
	crit_ring_close(&rings->shared);
	free(rings->cursors);
	free(rings->heap);
	memset(rings, 0, sizeof(*rings));
}

/* Puts the cursor at place where its stamp belongs. */
static void sift(struct crit_kernel_rings *rings, uint32_t place)
{
	struct crit_cpu_cursor **heap = rings->heap, *cursor = heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child + 1 < rings->heap_count &&
		    heap[child + 1]->time_ns < heap[child]->time_ns)
			child++;
		if (child >= rings->heap_count || cursor->time_ns <= heap[child]->time_ns)
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = cursor;
}

static void wait_for(const struct crit_cpu_ring *ring, uint64_t until_ns)
{
	while (__atomic_load_n(&ring->is_telling, __ATOMIC_ACQUIRE) && crit_now_ns() < until_ns)
		;
}

static void wait_until(uint64_t until_ns)
{
	while (crit_now_ns() < until_ns)
		;
}

void crit_kernel_rings_look(struct crit_kernel_rings *rings)
{
	const uint64_t now_ns = crit_now_ns();

	wait_until(now_ns + STORES_NS);
	for (uint32_t i = 0; i < rings->cpu_count; i++)
		wait_for(rings->cursors[i].ring, now_ns + WAIT_NS);
	if (HAS_WEAK_ORDER)
		wait_until(crit_now_ns() + STORES_NS);
	for (uint32_t i = 0; i < rings->cpu_count; i++)
		rings->cursors[i].end =
			__atomic_load_n(&rings->cursors[i].ring->end, __ATOMIC_ACQUIRE);
	if (HAS_WEAK_ORDER)
		wait_until(crit_now_ns() + STORES_NS);
	rings->until_ns = now_ns;
	rings->heap_count = 0;
	for (uint32_t i = 0; i < rings->cpu_count; i++) {
		struct crit_cpu_cursor *cursor = &rings->cursors[i];

		cursor->looked = cursor->position;
		if (crit_cpu_cursor_has(cursor, now_ns))
			rings->heap[rings->heap_count++] = cursor;
	}
	for (uint32_t i = rings->heap_count / 2; i > 0; i--)
		sift(rings, i - 1);
	crit_ring_look(&rings->shared);
	rings->shared_looked = rings->shared.position;
}

static void release(struct crit_cpu_cursor *cursor)
{
	cursor->released = cursor->position;
	__atomic_store_n(&cursor->ring->begin, cursor->position, __ATOMIC_RELEASE);
	__atomic_store_n(&cursor->ring->is_woken, 0, __ATOMIC_RELAXED);
}

/* The caller has moved the oldest cursor. */
static void settle_top(struct crit_kernel_rings *rings)
{
	struct crit_cpu_cursor *cursor = rings->heap[0];

	rings->is_top_out = false;
	if (cursor->position - cursor->released >= RELEASE_BYTES)
		release(cursor);
	if (!crit_cpu_cursor_has(cursor, rings->until_ns))
		rings->heap[0] = rings->heap[--rings->heap_count];
	if (rings->heap_count > 1)
		sift(rings, 0);
}

/* Until when the oldest cursor comes before all others. */
static uint64_t second_ns(const struct crit_kernel_rings *rings)
{
	uint64_t first_ns = rings->until_ns;

	for (uint32_t i = 1; i < rings->heap_count && i < 3; i++) {
		if (rings->heap[i]->time_ns < first_ns)
			first_ns = rings->heap[i]->time_ns;
	}
	return first_ns;
}

/* What is being written there may be older than all else.  Returns false if it is for too long. */
static bool find_shared(struct crit_kernel_rings *rings, struct crit_kernel_next *next)
{
	uint64_t until_ns = 0;

	for (;;) {
		next->shared = crit_ring_peek(&rings->shared, &next->bytes);
		if (next->shared || !rings->shared.is_busy)
			return true;
		if (!until_ns)
			until_ns = crit_now_ns() + WAIT_NS;
		else if (crit_now_ns() >= until_ns)
			return false;
	}
}

bool crit_kernel_rings_next(struct crit_kernel_rings *rings, struct crit_kernel_next *ret_next)
{
	uint64_t shared_ns = NEVER_NS;

	if (rings->is_top_out)
		settle_top(rings);
	if (!find_shared(rings, ret_next))
		return false;
	if (ret_next->shared) {
		shared_ns = crit_clock_bend(ret_next->shared->time_ns);
		if (ret_next->shared->kind == CRIT_K_STACK ||
		    shared_ns <= (rings->heap_count ? rings->heap[0]->time_ns : rings->until_ns)) {
			ret_next->time_ns = shared_ns;
			crit_ring_advance(&rings->shared, ret_next->bytes);
			return true;
		}
	}
	if (rings->heap_count == 0)
		return false;
	rings->is_top_out = true;
	ret_next->shared = NULL;
	ret_next->cursor = rings->heap[0];
	ret_next->until_ns = second_ns(rings);
	if (shared_ns <= ret_next->until_ns)
		ret_next->until_ns = shared_ns - 1;
	return true;
}

bool crit_kernel_rings_release(struct crit_kernel_rings *rings)
{
	bool was_much = rings->shared.position - rings->shared_looked >
			rings->shared.bytes / MUCH_SHARE;

	crit_ring_release(&rings->shared);
	for (uint32_t i = 0; i < rings->cpu_count; i++) {
		struct crit_cpu_cursor *cursor = &rings->cursors[i];

		was_much |= cursor->position - cursor->looked > cursor->bytes / MUCH_SHARE;
		if (cursor->released != cursor->position)
			release(cursor);
	}
	return was_much;
}
