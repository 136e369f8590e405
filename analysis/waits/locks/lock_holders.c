// SPDX-License-Identifier: BSD-3-Clause
// From what threads do with a lock to stretches of it that somebody waits for.
#include "analysis/waits/locks/lock_holders.h"

#include <stdlib.h>

#include "core/base/array.h"

void crit_lock_holders_fini(struct crit_lock_holders *holders)
{
	free(holders->rows);
	*holders = (struct crit_lock_holders){ 0 };
}

struct crit_lock_holder *crit_lock_holders_obtain(struct crit_lock_holders *holders, uint32_t lock)
{
	if (crit_array_grow(&holders->rows, &holders->capacity, lock + 1ull,
			    sizeof(*holders->rows)))
		return NULL;
	for (; holders->count <= lock; holders->count++)
		holders->rows[holders->count] =
			(struct crit_lock_holder){ .thread = CRIT_NONE, .last = CRIT_NONE };
	return &holders->rows[lock];
}

static void add(struct crit_lock_steps *steps, enum crit_lock_step_kind kind, uint32_t thread)
{
	steps->rows[steps->count++] = (struct crit_lock_step){ kind, thread };
}

static void begin(struct crit_lock_holder *holder, uint64_t time_ns, struct crit_lock_steps *steps)
{
	if (holder->is_begun || !holder->waiters)
		return;
	holder->is_begun = true;
	holder->begin_ns = time_ns;
	add(steps, CRIT_LOCK_BEGINS, CRIT_NONE);
}

/* The thread does not have it any more. */
static void end(struct crit_lock_holder *holder, uint32_t thread, uint64_t time_ns,
		struct crit_lock_steps *steps)
{
	const bool has_length = holder->is_begun && holder->begin_ns < time_ns;

	if (holder->is_begun && !has_length)
		add(steps, CRIT_LOCK_WAS_FREE, CRIT_NONE);
	add(steps, has_length ? CRIT_LOCK_WAS_HELD : CRIT_LOCK_RELEASED, thread);
	holder->is_begun = false;
	holder->was_released = true;
	holder->released_ns = time_ns;
	holder->last = thread;
	holder->thread = CRIT_NONE;
}

void crit_lock_holder_ask(struct crit_lock_holder *holder, uint32_t thread, uint64_t time_ns,
			  struct crit_lock_steps *ret_steps)
{
	ret_steps->count = 0;
	holder->waiters++;
	if (holder->thread != CRIT_NONE && holder->thread != thread)
		begin(holder, time_ns, ret_steps);
}

/* Where another one has it still, that one's release is told late. */
void crit_lock_holder_take(struct crit_lock_holder *holder, uint32_t thread, uint64_t asked_ns,
			   uint64_t time_ns, struct crit_lock_steps *ret_steps)
{
	ret_steps->count = 0;
	holder->waiters -= holder->waiters != 0;
	if (holder->thread == thread)
		return;
	if (holder->thread != CRIT_NONE) {
		end(holder, holder->thread, time_ns, ret_steps);
	} else if (holder->is_begun && asked_ns > holder->begin_ns) {
		add(ret_steps, CRIT_LOCK_WAS_FREE, CRIT_NONE);
		holder->is_begun = false;
	}
	holder->thread = thread;
	begin(holder, time_ns, ret_steps);
}

void crit_lock_holder_release(struct crit_lock_holder *holder, uint32_t thread, uint64_t time_ns,
			      struct crit_lock_steps *ret_steps)
{
	ret_steps->count = 0;
	end(holder, thread, time_ns, ret_steps);
	begin(holder, time_ns, ret_steps);
}

void crit_lock_holder_lose(struct crit_lock_holder *holder, uint32_t thread,
			   struct crit_lock_steps *ret_steps)
{
	ret_steps->count = 0;
	if (thread != holder->thread)
		holder->waiters -= holder->waiters != 0;
	if (holder->is_begun)
		add(ret_steps, CRIT_LOCK_WAS_FREE, CRIT_NONE);
	holder->is_begun = false;
	holder->was_released = false;
	holder->thread = CRIT_NONE;
}
