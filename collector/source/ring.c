// SPDX-License-Identifier: BSD-3-Clause
// Consumes a BPF ring buffer through its mappings, as linux/bpf.h lays them out.
#include "collector/source/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RELEASE_BYTES (64u << 10)

int crit_ring_open(struct crit_ring *ring, int map_fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;

	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	producer = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int saved = errno;

		(void)munmap(consumer, page);
		return -saved;
	}
	ring->consumer_pos = consumer;
	ring->producer_pos = producer;
	ring->data = (const uint8_t *)producer + page;
	ring->bytes = bytes;
	ring->position = *ring->consumer_pos;
	ring->released = ring->position;
	ring->end = ring->position;
	return 0;
}

void crit_ring_close(struct crit_ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!ring->consumer_pos)
		return;
	(void)munmap(ring->consumer_pos, page);
	(void)munmap((void *)ring->producer_pos, page + 2 * ring->bytes);
	memset(ring, 0, sizeof(*ring));
}

void crit_ring_look(struct crit_ring *ring)
{
	ring->end = __atomic_load_n(ring->producer_pos, __ATOMIC_ACQUIRE);
}

static size_t room_of(size_t bytes)
{
	return (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~(size_t)7;
}

const void *crit_ring_peek(struct crit_ring *ring, size_t *ret_bytes)
{
	ring->is_busy = false;
	while (ring->position < ring->end) {
		const uint8_t *at = ring->data + (ring->position & (ring->bytes - 1));
		uint32_t head =
			__atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
		size_t bytes = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		ring->is_busy = head & BPF_RINGBUF_BUSY_BIT;
		if (ring->is_busy)
			return NULL;
		if (!(head & BPF_RINGBUF_DISCARD_BIT)) {
			*ret_bytes = bytes;
			return at + BPF_RINGBUF_HDR_SZ;
		}
		ring->position += room_of(bytes);
	}
	return NULL;
}

static void give_back(struct crit_ring *ring)
{
	ring->released = ring->position;
	__atomic_store_n(ring->consumer_pos, ring->position, __ATOMIC_RELEASE);
}

void crit_ring_advance(struct crit_ring *ring, size_t bytes)
{
	if (ring->position - ring->released >= RELEASE_BYTES)
		give_back(ring); /* not this one yet */
	ring->position += room_of(bytes);
}

void crit_ring_release(struct crit_ring *ring)
{
	if (ring->position != ring->released)
		give_back(ring);
}
