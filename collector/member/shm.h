/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's memfd as critd sees it: checked once, read by pread, written by pwrite, never mapped.
 * Everything in it is untrusted.
 */
#ifndef CRIT_COLLECTOR_SHM_H
#define CRIT_COLLECTOR_SHM_H

#include <stdint.h>

#include "core/abi/abi_shim.h"
#include "core/base/err.h"

struct crit_shm {
	int fd; /* -1: the process has none */
	uint32_t buffer_count;
	uint32_t buffer_bytes;
	uint32_t ring_slots;
	uint32_t counter_count;
};

/*
 * Accepts a sealed (SHRINK, GROW, SEAL) memfd of ordinary pages whose size and head agree.
 * Ownership: ret_shm borrows fd.  Errors: -EINVAL with the reason in err; ret_shm is untouched.
 */
int crit_shm_check(int fd, struct crit_shm *ret_shm, struct crit_err *err);

/* Thread buffers claimed so far, bounded by buffer_count.  Errors: -EIO. */
int crit_shm_buffers_used(const struct crit_shm *shm, uint32_t *ret_used, uint64_t *ret_no_buffer);

/* The first 256 bytes of a thread buffer's head; the rest of ret_head is zero.  Errors: -EIO. */
int crit_shm_read_buffer(const struct crit_shm *shm, uint32_t buffer,
			 struct crit_thread_buffer_head *ret_head);

/*
 * Slots position … position + count - 1 of the thread buffer's ring.  Range: count at most
 * ring_slots.
 */
int crit_shm_read_slots(const struct crit_shm *shm, uint32_t buffer, uint64_t position,
			uint32_t count, struct crit_slot *ret_slots);

/* The thread buffer's counters: counter_count of them.  Returns how many are in use, or -EIO. */
int crit_shm_read_counters(const struct crit_shm *shm, uint32_t buffer,
			   struct crit_counter *ret_used);

/* Zeroes the counters for the next owner, by freeing their pages.  Errors: -errno. */
int crit_shm_clear_counters(const struct crit_shm *shm, uint32_t buffer);

/*
 * Writes to the head of a thread buffer that has an owner.  Errors: -EIO; -ENODATA when the head
 * was not there any more, which only a hostile rank brings about.
 */
int crit_shm_write_read_pos(const struct crit_shm *shm, uint32_t buffer, uint64_t position);
int crit_shm_write_free(const struct crit_shm *shm, uint32_t buffer);

/* Tells the shim what to record from now on. */
int crit_shm_write_level(const struct crit_shm *shm, uint32_t level, uint32_t tau_ns,
			 uint32_t is_stopped);

#endif
