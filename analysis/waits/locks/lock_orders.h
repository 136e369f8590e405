/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether threads could get locks in another order in a scenario than in the recording.
 *
 * A forecast leaves locks to their recorded owners, in that order.  That is what a lock would do
 * which is given to who asks first, or is taken by who comes while it is free, as long as no thread
 * comes before an earlier owner: while that one has not asked, or after the lock is free and before
 * that one has it.  Where a thread did so in the recording, and came too late all the same, nothing
 * changes as long as it comes at the same distance.
 *
 * Locks that choose among those who wait in another way may change their order unnoticed.
 *
 * Memory: the last owners of each lock, as many as came since those who waited at one time asked,
 * times scenarios.  Of locks beyond a number, any time may change the order.
 */
#ifndef CRIT_LOCK_ORDERS_H
#define CRIT_LOCK_ORDERS_H

#include <stddef.h>
#include <stdint.h>

struct crit_lock_turn { /* of an owner */
	uint64_t asked_ns;
	uint64_t free_ns; /* the release before; 0: none is known */
	uint64_t taken_ns;
};

struct crit_lock_owners; /* of a lock */

struct crit_lock_orders { /* zeroed but for scenario_count: empty */
	size_t scenario_count;
	struct crit_lock_owners *locks; /* by number */
	size_t count, capacity;
};

void crit_lock_orders_fini(struct crit_lock_orders *orders);

/*
 * The next owner of a lock.  turns: as recorded, then in each scenario; changes: of each scenario,
 * counted up where it could have come before an earlier owner.  Errors: -ENOMEM.
 * Cost: owners since it asked, times scenarios.
 */
int crit_lock_orders_take(struct crit_lock_orders *orders, uint32_t lock,
			  const struct crit_lock_turn *turns, uint64_t *changes);

#endif
