/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of OpenMP: acquired and released as event records, in an order per lock. */
#ifndef CRIT_OTF2_LOCK_RECORDS_H
#define CRIT_OTF2_LOCK_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "otf2/archive/archive_files.h"
#include "otf2/definitions/layout.h"
#include "otf2/events/streams.h"

struct crit_otf2_locks;

/* Everything is borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_locks *crit_otf2_locks_create(struct crit_otf2_files *files,
					       const struct crit_otf2_layout *layout);
void crit_otf2_locks_destroy(struct crit_otf2_locks *locks);

/* A wait for a lock is over: the thread has it.  Errors: -ENOMEM, -EIO. */
int crit_otf2_locks_acquire(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at,
			    uint64_t lock);

/* The thread released a lock.  Errors: -ENOMEM, -EIO. */
int crit_otf2_locks_release(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at,
			    uint64_t lock);

/* A section under a lock (0: none) is over: releases it, unless that was told already. */
int crit_otf2_locks_leave_section(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at,
				  uint64_t lock);

/* Were locks acquired, and all of them released? */
bool crit_otf2_locks_are_whole(const struct crit_otf2_locks *locks);

/* Counts, for process 0.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_locks_pack(const struct crit_otf2_locks *locks, struct crit_exchange_buffer *buffer);
int crit_otf2_locks_unpack(struct crit_otf2_locks *locks, const struct crit_exchange_buffer *buffer,
			   size_t *at);

#endif
