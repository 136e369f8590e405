// SPDX-License-Identifier: BSD-3-Clause
// Finds waits for the end of a thread by the call that blocks and by what the waker does next.
#include "analysis/replay/thread_ends.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "analysis/model/model.h"

#define DEATH_NS 100000000u /* after the last act of a thread: it may want a CPU for that */
#define AGAIN_NS 1000000u /* between two waits for the same end */
#define BLOCKED_DEATH_NS 10000000u /* likewise, where it blocks, as for a lock of its runtime */

enum blocked_for {
	BLOCKED_FOR_OTHERS = 0,
	BLOCKED_FOR_CHILD,
	BLOCKED_FOR_JOIN,
	BLOCKED_FOR_LOCK,
};

struct crit_thread_ends {
	struct crit_engine *engine;
	struct crit_thread_end *ends; /* by row */
	size_t count;
	uint32_t *threads; /* of rows */
};

static enum blocked_for blocked_for(const struct crit_kernel_call *call)
{
	if (!call || call->flags & CRIT_CALL_COMPAT)
		return BLOCKED_FOR_OTHERS;
	if (call->number == SYS_wait4 || call->number == SYS_waitid)
		return BLOCKED_FOR_CHILD;
	if (call->number != SYS_futex)
		return BLOCKED_FOR_OTHERS;
	switch (call->argument_2 & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return call->argument_2 & FUTEX_PRIVATE_FLAG ? BLOCKED_FOR_LOCK : BLOCKED_FOR_JOIN;
	default:
		return BLOCKED_FOR_OTHERS;
	}
}

/* Who blocks after it woke somebody hardly ends there, but in the call that ends it. */
static int on_block(void *user, const struct crit_event *event)
{
	struct crit_thread_ends *ends = user;
	struct crit_thread_end *end =
		&ends->ends[ends->engine->listeners.thread_rows[event->thread]];
	const struct crit_kernel_call *call = event->system_call;
	const struct crit_bucket *bucket = ends->engine->accounts[event->thread].bucket;

	end->blocked_for = (uint8_t)(bucket->key.span_class <= CRIT_CLASS_USER
					     ? blocked_for(call)
					     : BLOCKED_FOR_OTHERS);
	if (call && call->number != SYS_exit && call->number != SYS_exit_group)
		end->has_blocked = true;
	return 0;
}

static bool is_of_process(const struct crit_thread_ends *ends, uint32_t a, uint32_t b)
{
	const struct crit_thread *threads = ends->engine->model->threads;

	return threads[ends->threads[a]].process == threads[ends->threads[b]].process;
}

static int on_wakeup(void *user, const struct crit_event *event)
{
	struct crit_thread_ends *ends = user;
	const struct crit_edge *edge = event->edge;
	const struct crit_thread *cause = &ends->engine->model->threads[ends->threads[edge->cause]];
	const enum blocked_for reason = ends->ends[edge->waiter].blocked_for;
	struct crit_thread_end *end;

	if (reason == BLOCKED_FOR_OTHERS ||
	    (reason == BLOCKED_FOR_JOIN && !is_of_process(ends, edge->waiter, edge->cause)) ||
	    (reason == BLOCKED_FOR_LOCK && cause->creator != ends->threads[edge->waiter]))
		return 0;
	end = &ends->ends[edge->cause];
	/* a runtime may wake the waiter twice: for its lock, and for what keeps it from going on */
	if (!end->since_ns || end->waiter != edge->waiter ||
	    edge->begin_ns > end->until_ns + AGAIN_NS)
		end->since_ns = edge->begin_ns;
	end->until_ns = edge->end_ns;
	end->waiter = edge->waiter;
	end->has_blocked = false;
	end->is_certain = reason != BLOCKED_FOR_LOCK;
	return 0;
}

int crit_thread_ends_create(struct crit_engine *engine, struct crit_thread_ends **ret_ends)
{
	struct crit_thread_ends *ends;
	const size_t count = engine->model->thread_count;
	struct crit_listener listener = { .on = { [CRIT_EVENT_BLOCK] = on_block,
						  [CRIT_EVENT_EDGE + CRIT_EDGE_WAKEUP] =
							  on_wakeup } };
	int rc = -ENOMEM;

	*ret_ends = NULL;
	if (engine->model->rank_count)
		return 0;
	ends = calloc(1, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	ends->engine = engine;
	ends->count = count;
	ends->ends = calloc(count + 1, sizeof(*ends->ends));
	ends->threads = calloc(count + 1, sizeof(*ends->threads));
	for (size_t i = 0; i < count && ends->threads; i++)
		ends->threads[engine->listeners.thread_rows[i]] = (uint32_t)i;
	listener.user = ends;
	if (ends->ends && ends->threads)
		rc = crit_listeners_add(&engine->listeners, &listener);
	if (rc)
		crit_thread_ends_destroy(ends);
	else
		*ret_ends = ends;
	return rc;
}

void crit_thread_ends_destroy(struct crit_thread_ends *ends)
{
	if (!ends)
		return;
	free(ends->ends);
	free(ends->threads);
	free(ends);
}

const struct crit_thread_end *crit_thread_ends_at(const struct crit_thread_ends *ends, size_t row)
{
	return ends && row < ends->count && ends->ends[row].since_ns ? &ends->ends[row] : NULL;
}

int crit_thread_ends_take(struct crit_thread_ends *ends, size_t row,
			  const struct crit_thread_end *end)
{
	if (!ends || row >= ends->count || end->waiter >= ends->count)
		return -EPROTO;
	ends->ends[row] = *end;
	return 0;
}

/* Did a thread's last act, of those that woke somebody who waits so, come with its end? */
static bool has_ended(const struct crit_thread_end *end, uint64_t death_ns)
{
	return end->since_ns &&
	       death_ns <= end->until_ns + (end->has_blocked ? BLOCKED_DEATH_NS : DEATH_NS);
}

int crit_thread_ends_fill(const struct crit_thread_ends *ends, struct crit_results *results)
{
	size_t count = 0;

	for (size_t row = 0; ends && row < results->thread_count; row++)
		count += has_ended(&ends->ends[row], results->threads[row].death_ns);
	if (!count)
		return 0;
	results->awaits = calloc(count, sizeof(*results->awaits));
	if (!results->awaits)
		return -ENOMEM;
	for (size_t row = 0; row < results->thread_count; row++) {
		const struct crit_thread_end *end = &ends->ends[row];

		if (has_ended(end, results->threads[row].death_ns))
			results->awaits[results->await_count++] =
				(struct crit_await_row){ .since_ns = end->since_ns,
							 .until_ns = end->until_ns,
							 .waiter = end->waiter,
							 .ended = (uint32_t)row,
							 .is_certain = end->is_certain };
	}
	return 0;
}
