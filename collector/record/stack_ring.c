// SPDX-License-Identifier: BSD-3-Clause
// Writes a ring whose reader may look at any time, and is never waited for.
#include "collector/record/stack_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

struct crit_stack_ring {
	int fd;
	struct crit_stacks_head *head; /* in the memfd: written, never read */
	uint8_t *data; /* behind it */
	uint64_t bytes; /* of data */
	uint64_t written;
	uint64_t skipped;
	uint64_t marked; /* parts of the ring since the begin, up to the last entry's */
};

static int map(struct crit_stack_ring *ring)
{
	const size_t bytes = CRIT_STACKS_HEAD_BYTES + ring->bytes;
	uint8_t *base;

	ring->fd = memfd_create("crit-stacks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ring->fd < 0 || ftruncate(ring->fd, (off_t)bytes))
		return -errno;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	ring->head = (void *)base;
	ring->data = base + CRIT_STACKS_HEAD_BYTES;
	if (fcntl(ring->fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		return -errno;
	return 0;
}

int crit_stack_ring_create(uint64_t ring_bytes, struct crit_stack_ring **ret_ring)
{
	struct crit_stack_ring *ring = calloc(1, sizeof(*ring));
	int rc;

	if (!ring)
		return -ENOMEM;
	ring->bytes = ring_bytes;
	rc = map(ring);
	if (rc) {
		crit_stack_ring_destroy(ring);
		return rc;
	}
	ring->head->magic = CRIT_STACKS_MAGIC;
	ring->head->ring_bytes = ring_bytes;
	*ret_ring = ring;
	return 0;
}

void crit_stack_ring_destroy(struct crit_stack_ring *ring)
{
	if (!ring)
		return;
	if (ring->head)
		(void)munmap(ring->head, CRIT_STACKS_HEAD_BYTES + ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring);
}

int crit_stack_ring_fd(const struct crit_stack_ring *ring)
{
	return ring->fd;
}

/* Round the end, where the part meets it.  Returns the position behind it. */
static uint64_t copy(const struct crit_stack_ring *ring, uint64_t position,
		     const struct iovec *part)
{
	const uint64_t at = position & (ring->bytes - 1);
	const uint64_t room = ring->bytes - at;
	const uint64_t first = part->iov_len < room ? part->iov_len : room;

	memcpy(ring->data + at, part->iov_base, first);
	memcpy(ring->data, (const uint8_t *)part->iov_base + first, part->iov_len - first);
	return position + part->iov_len;
}

/* An entry begins here: the first one of its part of the ring is where a late reader goes on. */
static void mark(struct crit_stack_ring *ring, uint64_t position)
{
	const uint64_t part = position / (ring->bytes / CRIT_STACKS_MARKS);

	if (part < ring->marked)
		return;
	ring->marked = part + 1;
	__atomic_store_n(&ring->head->marks[part % CRIT_STACKS_MARKS], position, __ATOMIC_RELAXED);
}

/* The first part begins with the entry, whose size is set here. */
static void put(struct crit_stack_ring *ring, struct crit_stacks_entry *entry,
		const struct iovec *parts, int count)
{
	static const uint64_t zero;
	uint64_t position = ring->written;
	uint64_t bytes = 0;
	struct iovec padding = { .iov_base = (void *)&zero };

	for (int i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	padding.iov_len = -bytes & 7;
	bytes += padding.iov_len;
	if (bytes > ring->bytes / 4) {
		__atomic_store_n(&ring->head->skipped, ++ring->skipped, __ATOMIC_RELAXED);
		return;
	}
	entry->bytes = (uint32_t)bytes;
	mark(ring, position);
	__atomic_store_n(&ring->head->begun, position + bytes, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (int i = 0; i < count; i++)
		position = copy(ring, position, &parts[i]);
	ring->written = copy(ring, position, &padding);
	__atomic_store_n(&ring->head->written, ring->written, __ATOMIC_RELEASE);
}

void crit_stack_ring_put_copy(struct crit_stack_ring *ring, const struct crit_kernel_stack *stack,
			      uint64_t time_ns)
{
	struct crit_stacks_copy head = {
		.entry = { .kind = CRIT_STACKS_COPY },
		.request = stack->request,
		.pid = stack->pid,
		.tid = stack->tid,
		.stack_bytes = stack->stack_bytes,
		.time_ns = time_ns,
		.ip = stack->ip,
		.sp = stack->sp,
		.bp = stack->bp,
		.lr = stack->lr,
	};
	const struct iovec parts[] = { { &head, sizeof(head) },
				       { (void *)(stack + 1), stack->stack_bytes } };

	put(ring, &head.entry, parts, 2);
}

void crit_stack_ring_put_maps(struct crit_stack_ring *ring, const struct crit_rec_maps *record,
			      const char *text, size_t bytes)
{
	struct crit_stacks_entry entry = { .kind = CRIT_STACKS_MAPS };
	const struct iovec parts[] = { { &entry, sizeof(entry) },
				       { (void *)record, sizeof(*record) },
				       { (void *)text, bytes } };

	put(ring, &entry, parts, 3);
}

void crit_stack_ring_end(struct crit_stack_ring *ring)
{
	__atomic_store_n(&ring->head->is_over, 1, __ATOMIC_RELEASE);
	/* the low half of the word, on x86-64 */
	(void)syscall(SYS_futex, &ring->head->is_over, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
