/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has each lock, as far as a film has to tell: from when somebody waits for it on.
 *
 * A lock for which nobody waits holds nobody up, so its holders are told only while there are
 * waiters.  From a release on it belongs to the next one who has it, if that one waits already:
 * what keeps the others then is that this one is not yet running.  A thread that comes later and
 * has it before those who waited has it from then on; until then the lock is free.
 *
 * Memory: locks.
 */
#ifndef CRIT_LOCK_HOLDERS_H
#define CRIT_LOCK_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum crit_lock_step_kind {
	CRIT_LOCK_BEGINS, /* a stretch in which threads may wait for it */
	CRIT_LOCK_WAS_HELD, /* it ends; thread had it, and acted at its end */
	CRIT_LOCK_WAS_FREE, /* it ends; nobody had it, or nobody knows who */
	CRIT_LOCK_RELEASED /* by thread; nobody waited before that */
};

struct crit_lock_step {
	enum crit_lock_step_kind kind;
	uint32_t thread;
};

#define CRIT_LOCK_STEPS_MAX 3u

struct crit_lock_steps { /* of one time, in order */
	struct crit_lock_step rows[CRIT_LOCK_STEPS_MAX];
	size_t count;
};

struct crit_lock_holder {
	uint64_t begin_ns; /* of the present stretch */
	uint64_t released_ns; /* last */
	uint32_t thread; /* that has it, or CRIT_NONE */
	uint32_t last; /* that had it before, or CRIT_NONE */
	uint32_t waiters;
	uint32_t bucket; /* the caller's, 0 at first */
	bool is_begun; /* a stretch */
	bool was_released; /* else nobody knows when that was */
};

struct crit_lock_holders { /* zeroed: empty */
	struct crit_lock_holder *rows; /* by lock */
	size_t count, capacity;
};

void crit_lock_holders_fini(struct crit_lock_holders *holders);

/* The row of a lock; valid until the next call.  Errors: NULL, out of memory. */
struct crit_lock_holder *crit_lock_holders_obtain(struct crit_lock_holders *holders, uint32_t lock);

/*
 * What happens to a lock, in order of time: a thread begins to wait for it; has it, after it asked;
 * gives it back; and, without having told so, waits no more or has it no more.
 */
void crit_lock_holder_ask(struct crit_lock_holder *holder, uint32_t thread, uint64_t time_ns,
			  struct crit_lock_steps *ret_steps);
void crit_lock_holder_take(struct crit_lock_holder *holder, uint32_t thread, uint64_t asked_ns,
			   uint64_t time_ns, struct crit_lock_steps *ret_steps);
void crit_lock_holder_release(struct crit_lock_holder *holder, uint32_t thread, uint64_t time_ns,
			      struct crit_lock_steps *ret_steps);
void crit_lock_holder_lose(struct crit_lock_holder *holder, uint32_t thread,
			   struct crit_lock_steps *ret_steps);

#endif
