/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of a thread buffer, by call and site: calls and waits that level profile does not
 * record.
 */
#ifndef CRIT_SHIM_COUNTER_H
#define CRIT_SHIM_COUNTER_H

#include "core/shim/shim_ring.h"

static inline struct crit_counter *
crit_thread_buffer_counters(struct crit_thread_buffer_head *buffer)
{
	return (struct crit_counter *)(void *)((char *)buffer + CRIT_THREAD_BUFFER_HEAD_BYTES);
}

/* NULL: the table is full there. */
CRIT_HIDDEN struct crit_counter *crit_counter_find(struct crit_shim_thread *thread, uint32_t call,
						   uint64_t site);

/* Adds spans that were shorter than tau. */
CRIT_HIDDEN void crit_counter_fold(struct crit_shim_thread *thread, uint32_t call, uint64_t site,
				   uint64_t calls, uint64_t time_ns, uint64_t bytes);

/* The counter of this call and site, or NULL when the table is full there. */
static inline struct crit_counter *crit_counter_of(struct crit_shim_thread *thread, uint32_t call,
						   uint64_t site)
{
	struct crit_counter *counter = thread->last_counter;

	if (CRIT_LIKELY(counter->call == call && counter->site == site))
		return counter;
	counter = crit_counter_find(thread, call, site);
	if (counter)
		thread->last_counter = counter;
	else
		thread->buffer->counters_lost++;
	return counter;
}

#endif
