/* SPDX-License-Identifier: BSD-3-Clause */
/* The rings of the kernel half: one of each CPU and one of all, read in the order of stamps. */
#ifndef CRIT_COLLECTOR_KERNEL_RINGS_H
#define CRIT_COLLECTOR_KERNEL_RINGS_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "collector/source/ring.h"
#include "core/abi/abi_cpu_ring.h"
#include "core/abi/abi_kernel.h"
#include "core/base/clock.h"

struct crit_cpu_cursor { /* over the ring of a CPU */
	struct crit_cpu_ring *ring;
	const struct crit_kernel_head *front; /* at position */
	uint64_t time_ns; /* of that */
	uint64_t bytes; /* of the ring that are used */
	uint64_t position, end; /* at the last look */
	uint64_t released, looked;
};

struct crit_kernel_rings {
	struct crit_ring shared;
	unsigned long shared_looked; /* its position at the last look */
	struct crit_cpu_ring *mapped; /* cpu_count */
	struct crit_cpu_cursor *cursors; /* likewise */
	struct crit_cpu_cursor **heap; /* that have a record to give, the oldest on top */
	uint64_t until_ns; /* what is stamped later stays where it is */
	uint32_t cpu_count;
	uint32_t heap_count;
	bool is_top_out; /* its cursor is with the caller */
};

struct crit_kernel_rings_maps { /* of the kernel half */
	int records_fd, cpu_rings_fd;
	size_t record_bytes; /* of the ring of all */
	uint64_t cpu_ring_bytes;
	uint32_t cpu_count;
};

/* Maps them.  Errors: -errno of mmap, -ENOMEM. */
int crit_kernel_rings_open(struct crit_kernel_rings *rings,
			   const struct crit_kernel_rings_maps *maps);

/* Accepts zeroed ones. */
void crit_kernel_rings_close(struct crit_kernel_rings *rings);

/*
 * Finds out what is there.  All records that are stamped until now are, but for those of a CPU that
 * has been in the middle of one for 1 ms: a hypervisor took it away.
 */
void crit_kernel_rings_look(struct crit_kernel_rings *rings);

/* Is there a record, stamped until then?  It is the front one. */
static inline bool crit_cpu_cursor_has(struct crit_cpu_cursor *cursor, uint64_t until_ns)
{
	if (cursor->position == cursor->end)
		return false;
	cursor->front =
		(const void *)(cursor->ring->bytes + (cursor->position & (cursor->bytes - 8)));
	cursor->time_ns = crit_clock_bend(cursor->front->time_ns);
	return cursor->time_ns <= until_ns;
}

static inline size_t crit_cpu_cursor_front_bytes(const struct crit_cpu_cursor *cursor)
{
	return (size_t)(cursor->front->kind >> 8) * 8;
}

struct crit_kernel_next { /* of what was there, in the order of stamps */
	const struct crit_kernel_head *shared; /* a record of the ring of all, or NULL */
	size_t bytes; /* of that */
	uint64_t time_ns; /* likewise */
	struct crit_cpu_cursor *cursor; /* else: the records of this CPU */
	uint64_t until_ns; /* up to this stamp */
};

/*
 * What comes next.  Of equal stamps, and where it is a STACK, the record of the ring of all is
 * first.  A cursor is moved by the caller, over one record at least; a shared record is borrowed
 * until the next call.  Returns false when there is nothing, or one is being written for 1 ms.
 * Cost: the logarithm of the number of CPUs that have some.
 */
bool crit_kernel_rings_next(struct crit_kernel_rings *rings, struct crit_kernel_next *ret_next);

/* Gives all that was read back to the kernel.  Returns true if it was much for a ring. */
bool crit_kernel_rings_release(struct crit_kernel_rings *rings);

#endif
