// SPDX-License-Identifier: BSD-3-Clause
// Bytes are copied first, and counted only if the writer had not come round to them by then.
#include "analysis/unwind/stack_entries.h"

#include <errno.h>
#include <string.h>

#define ALIGNMENT 8
#define AHEAD_PART 8 /* of the ring, which may be overwritten while a late reader begins */

int crit_stack_entries_open(const void *memory, size_t memory_bytes,
			    struct crit_stack_entries *ret_ring)
{
	const struct crit_stacks_head *head = memory;
	uint64_t byte_count;

	if (memory_bytes < CRIT_STACKS_HEAD_BYTES || head->magic != CRIT_STACKS_MAGIC)
		return -EPROTO;
	byte_count = __atomic_load_n(&head->ring_bytes, __ATOMIC_RELAXED);
	if (byte_count < ALIGNMENT || (byte_count & (byte_count - 1)) ||
	    byte_count > memory_bytes - CRIT_STACKS_HEAD_BYTES)
		return -EPROTO;
	*ret_ring = (struct crit_stack_entries){
		.head = head,
		.bytes = (const unsigned char *)memory + CRIT_STACKS_HEAD_BYTES,
		.byte_count = byte_count,
	};
	return 0;
}

uint64_t crit_stack_entries_written(const struct crit_stack_entries *ring, bool *ret_is_over)
{
	*ret_is_over = __atomic_load_n(&ring->head->is_over, __ATOMIC_ACQUIRE) != 0;
	return __atomic_load_n(&ring->head->written, __ATOMIC_ACQUIRE);
}

bool crit_stack_entries_is_lost(const struct crit_stack_entries *ring, uint64_t position)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read comes before */
	return __atomic_load_n(&ring->head->begun, __ATOMIC_RELAXED) - position > ring->byte_count;
}

uint64_t crit_stack_entries_oldest(const struct crit_stack_entries *ring, uint64_t written)
{
	const uint64_t begun = __atomic_load_n(&ring->head->begun, __ATOMIC_ACQUIRE);
	const uint64_t most = ring->byte_count - ring->byte_count / AHEAD_PART;
	uint64_t oldest = written;

	for (size_t i = 0; i < CRIT_STACKS_MARKS; i++) {
		const uint64_t mark = __atomic_load_n(&ring->head->marks[i], __ATOMIC_RELAXED);

		if (mark < oldest && begun - mark <= most)
			oldest = mark;
	}
	return oldest;
}

int crit_stack_entries_copy(const struct crit_stack_entries *ring, uint64_t position,
			    size_t byte_count, void *ret_bytes)
{
	const uint64_t at = position & (ring->byte_count - 1);
	const size_t first = byte_count < ring->byte_count - at ? byte_count
								: (size_t)(ring->byte_count - at);

	memcpy(ret_bytes, ring->bytes + at, first);
	memcpy((char *)ret_bytes + first, ring->bytes, byte_count - first);
	return crit_stack_entries_is_lost(ring, position) ? -EOVERFLOW : 0;
}

int crit_stack_entries_look(const struct crit_stack_entries *ring, uint64_t position,
			    uint64_t written, struct crit_stacks_entry *ret_entry)
{
	struct crit_stacks_entry entry;
	const int rc = crit_stack_entries_copy(ring, position, sizeof(entry), &entry);

	if (rc)
		return rc;
	if (entry.bytes < sizeof(entry) || entry.bytes % ALIGNMENT ||
	    entry.bytes > written - position || written - position > ring->byte_count)
		return -EPROTO;
	*ret_entry = entry;
	return 0;
}
