// SPDX-License-Identifier: BSD-3-Clause
// Finds the counter of a call and site in its thread's buffer, and adds to it.
#include "core/shim/shim_counter.h"

#include "core/base/hash.h"

#define COUNTER_PROBES 16

struct crit_counter *crit_counter_find(struct crit_shim_thread *thread, uint32_t call,
				       uint64_t site)
{
	struct crit_counter *counters = crit_thread_buffer_counters(thread->buffer);
	uint64_t hash = crit_hash_mix(site, (uint64_t)call << 40);
	uint32_t place = crit_hash_place(hash, CRIT_COUNTERS);

	for (int probe = 0; probe < COUNTER_PROBES; probe++) {
		struct crit_counter *counter = &counters[place];

		if (counter->call == call && counter->site == site)
			return counter;
		if (counter->call == 0) {
			counter->site = site;
			counter->call = call;
			return counter;
		}
		place = place + 1 < CRIT_COUNTERS ? place + 1 : 0;
	}
	return NULL;
}

void crit_counter_fold(struct crit_shim_thread *thread, uint32_t call, uint64_t site,
		       uint64_t calls, uint64_t time_ns, uint64_t bytes)
{
	struct crit_counter *counter = crit_counter_of(thread, call, site);

	thread->buffer->folded_ns += time_ns;
	if (!counter)
		return;
	counter->count += calls;
	counter->folded_count += calls;
	counter->folded_ns += time_ns;
	counter->bytes += bytes;
}
