/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumer of a BPF ring buffer: the kernel's two mappings and a cursor, no callback per record. */
#ifndef CRIT_COLLECTOR_RING_H
#define CRIT_COLLECTOR_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_ring {
	unsigned long *consumer_pos; /* page 0, ours to write */
	const unsigned long *producer_pos; /* page 1, then the data twice in a row */
	const uint8_t *data;
	size_t bytes; /* of the data, a power of two */
	unsigned long position; /* passed over so far */
	unsigned long released; /* of that, what the kernel has back */
	unsigned long end; /* at the last look */
	bool is_busy; /* at the last peek: a record was there, and being written */
};

/* Bytes of all rings of perf events: as asked, else 1 MiB per CPU, and 8 MiB or more. */
static inline uint64_t crit_ring_wanted(uint64_t asked_bytes, uint32_t cpus)
{
	if (asked_bytes)
		return asked_bytes;
	return (uint64_t)(cpus > 8 ? cpus : 8) << 20;
}

/* Maps the ring behind map_fd.  Range: bytes is the map's max_entries.  Errors: -errno of mmap. */
int crit_ring_open(struct crit_ring *ring, int map_fd, size_t bytes);

void crit_ring_close(struct crit_ring *ring);

/* Finds out what is there: until the next look, no more is. */
void crit_ring_look(struct crit_ring *ring);

/*
 * The next committed record, or NULL when there is none yet.  Ownership: borrowed until another one
 * is passed over, or all are released.  Threads: one consumer.
 */
const void *crit_ring_peek(struct crit_ring *ring, size_t *ret_bytes);

/* Passes over the record that was peeked at, of bytes. */
void crit_ring_advance(struct crit_ring *ring, size_t bytes);

/* Gives everything passed over back to the kernel. */
void crit_ring_release(struct crit_ring *ring);

#endif
