/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of core/abi/abi_stacks.h, critd's side: copies of stacks, and the memory maps to
 * understand them, for the finisher of a run.
 */
#ifndef CRIT_COLLECTOR_STACK_RING_H
#define CRIT_COLLECTOR_STACK_RING_H

#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_kernel.h"
#include "core/abi/abi_recording.h"
#include "core/abi/abi_stacks.h"

struct crit_stack_ring;

/*
 * Makes a memfd that nobody else can write, nor make larger or smaller.
 * Range: ring_bytes a power of two, of a page at least.  Ownership: destroy accepts NULL.
 * Errors: -ENOMEM; -errno of what failed, as where the kernel cannot seal it (before 5.1).
 * Cost: memory is used as the ring fills.
 */
int crit_stack_ring_create(uint64_t ring_bytes, struct crit_stack_ring **ret_ring);
void crit_stack_ring_destroy(struct crit_stack_ring *ring);

/* The memfd, to be passed on; borrowed. */
int crit_stack_ring_fd(const struct crit_stack_ring *ring);

/* Puts a copy, with its stamp by critd's clock.  Range: the stack is behind it.  Cost: a copy. */
void crit_stack_ring_put_copy(struct crit_stack_ring *ring, const struct crit_kernel_stack *stack,
			      uint64_t time_ns);

/* Puts the text of /proc/PID/maps. */
void crit_stack_ring_put_maps(struct crit_stack_ring *ring, const struct crit_rec_maps *record,
			      const char *text, size_t bytes);

/* Says that no more comes, and wakes those who wait for it (futex(2), on is_over). */
void crit_stack_ring_end(struct crit_stack_ring *ring);

#endif
