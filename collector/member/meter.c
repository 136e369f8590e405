// SPDX-License-Identifier: BSD-3-Clause
// Budgets of CPU time and memory that ranks may make critd spend.
#include "collector/member/meter.h"

#include <stdlib.h>

#include "collector/system/now.h"
#include "core/base/clock.h"

#define SECOND_NS 1000000000
#define PROCESS_NS 8000000 /* per second; with ARRIVALS_NS below 2 % of a CPU */
#define PROCESS_SAVED_NS 3000000 /* at most */
#define ALL_NS 60000000 /* per second, and at most so much is saved up */
#define CALLS_NS 60000000
#define CALLS_SAVED_NS 500000000
#define CALLS_DEBT_NS 240000000 /* 4 s without calls: a client gives up after 5 */
#define ARRIVAL_NS 600000 /* paid back for a process that registers: its few calls */
#define ARRIVALS_NS 10000000
#define ARRIVALS_SAVED_NS 2500000000ll /* 4096 processes that start at once */
#define MAPS_NS 10000000
#define MAPS_SAVED_NS 100000000 /* a thousand processes that start at once */
#define WAKE_NS 5000 /* to wake for them */
#define SLOT_NS 200 /* paid back: far more than copying it takes */
#define CHUNK_NS 20000 /* a record of its own, in the writing thread too: 4 to 30 us seen */
#define STREAM_NS 70000 /* paid back for one that held anything: its begin and end */
#define STRIPES_SPARE 65536u /* for processes with more, all together */
#define GATHERED_BYTES (64u << 20) /* in batches of thread buffers, all together */

struct crit_meter {
	struct crit_allowance all;
	struct crit_allowance calls;
	struct crit_allowance maps;
	struct crit_allowance arrivals; /* what may be paid back for them */
	uint64_t cpu_ns; /* of this thread, when last read */
	uint64_t calls_cpu_ns; /* likewise, when the present calls began */
	uint64_t tick_ns; /* what a tick took of them */
	int64_t credit_ns; /* by slots, since then */
	uint32_t looks; /* since then */
	uint32_t spare_buffers; /* not taken */
	size_t gathered_bytes;
	bool was_short; /* looks were put off, as all together had no time left */
};

static void fill(struct crit_allowance *allowance, int64_t per_second_ns, int64_t most_ns,
		 uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - allowance->filled_ns;

	if (allowance->filled_ns == 0) {
		allowance->left_ns = most_ns;
	} else {
		if (passed_ns > 60ull * SECOND_NS)
			passed_ns = 60ull * SECOND_NS;
		allowance->left_ns +=
			(int64_t)passed_ns * (per_second_ns / 1000) / (SECOND_NS / 1000);
	}
	if (allowance->left_ns > most_ns)
		allowance->left_ns = most_ns;
	allowance->filled_ns = now_ns;
}

/* One step that took long is not paid for in seconds without a look: what is owed has an end. */
static void charge(struct crit_allowance *allowance, int64_t most_owed_ns, int64_t most_ns,
		   int64_t spent_ns)
{
	allowance->left_ns -= spent_ns;
	if (allowance->left_ns < -most_owed_ns)
		allowance->left_ns = -most_owed_ns;
	if (allowance->left_ns > most_ns)
		allowance->left_ns = most_ns;
}

struct crit_meter *crit_meter_create(void)
{
	struct crit_meter *meter = calloc(1, sizeof(*meter));

	if (meter)
		meter->spare_buffers = STRIPES_SPARE;
	return meter;
}

void crit_meter_destroy(struct crit_meter *meter)
{
	free(meter);
}

void crit_meter_begin(struct crit_meter *meter, uint64_t now_ns)
{
	fill(&meter->all, ALL_NS, ALL_NS, now_ns);
	meter->cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->credit_ns = 0;
	meter->looks = 0;
}

void crit_meter_fill(struct crit_allowance *allowance, uint64_t now_ns)
{
	fill(allowance, PROCESS_NS, PROCESS_SAVED_NS, now_ns);
}

void crit_meter_settle(struct crit_meter *meter, struct crit_allowance *share)
{
	const uint64_t cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const int64_t spent_ns = (int64_t)(cpu_ns - meter->cpu_ns) - meter->credit_ns;

	charge(&meter->all, ALL_NS, ALL_NS, spent_ns);
	if (share)
		charge(share, PROCESS_SAVED_NS, PROCESS_SAVED_NS, spent_ns);
	meter->cpu_ns = cpu_ns;
	meter->credit_ns = 0;
	meter->looks = 0;
}

void crit_meter_forgive(struct crit_meter *meter)
{
	meter->cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->credit_ns = 0;
	meter->looks = 0;
}

bool crit_meter_allows(struct crit_meter *meter, const struct crit_allowance *share,
		       bool has_called)
{
	if (meter->all.left_ns <= (has_called ? -ALL_NS : 0)) {
		meter->was_short = true;
		return false;
	}
	return !share || share->left_ns > (has_called ? -PROCESS_SAVED_NS : 0);
}

void crit_meter_begin_calls(struct crit_meter *meter)
{
	meter->calls_cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->tick_ns = 0;
}

void crit_meter_except_tick(struct crit_meter *meter, uint64_t begin_cpu_ns)
{
	meter->tick_ns += meter->cpu_ns - begin_cpu_ns;
}

bool crit_meter_end_calls(struct crit_meter *meter, uint64_t now_ns)
{
	const uint64_t cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t spent_ns = cpu_ns - meter->calls_cpu_ns - meter->tick_ns + WAKE_NS;

	fill(&meter->calls, CALLS_NS, CALLS_SAVED_NS, now_ns);
	charge(&meter->calls, CALLS_DEBT_NS, CALLS_SAVED_NS, (int64_t)spent_ns);
	return meter->calls.left_ns > 0;
}

bool crit_meter_allows_calls(struct crit_meter *meter, uint64_t now_ns)
{
	fill(&meter->calls, CALLS_NS, CALLS_SAVED_NS, now_ns);
	return meter->calls.left_ns > 0;
}

void crit_meter_credit_arrival(struct crit_meter *meter, uint64_t now_ns)
{
	struct crit_allowance *arrivals = &meter->arrivals;
	int64_t paid_ns = ARRIVAL_NS;

	fill(arrivals, ARRIVALS_NS, ARRIVALS_SAVED_NS, now_ns);
	if (paid_ns > arrivals->left_ns)
		paid_ns = arrivals->left_ns;
	arrivals->left_ns -= paid_ns;
	charge(&meter->calls, CALLS_DEBT_NS, CALLS_SAVED_NS, -paid_ns);
}

void crit_meter_charge_maps(struct crit_meter *meter, uint64_t cpu_ns)
{
	charge(&meter->maps, MAPS_SAVED_NS, MAPS_SAVED_NS, (int64_t)cpu_ns);
}

bool crit_meter_allows_maps(struct crit_meter *meter, uint64_t now_ns)
{
	fill(&meter->maps, MAPS_NS, MAPS_SAVED_NS, now_ns);
	return meter->maps.left_ns > 0;
}

void crit_meter_credit(struct crit_meter *meter, uint32_t slots)
{
	meter->credit_ns += (int64_t)slots * SLOT_NS;
}

void crit_meter_credit_stream(struct crit_meter *meter)
{
	meter->credit_ns += STREAM_NS;
}

void crit_meter_chunk(struct crit_meter *meter)
{
	meter->credit_ns -= CHUNK_NS;
}

void crit_meter_look(struct crit_meter *meter, struct crit_allowance *share)
{
	if (++meter->looks >= CRIT_METER_LOOKS_AT_ONCE)
		crit_meter_settle(meter, share);
}

bool crit_meter_was_short(struct crit_meter *meter)
{
	const bool was_short = meter->was_short;

	meter->was_short = false;
	return was_short;
}

void crit_meter_refill(struct crit_meter *meter)
{
	meter->all.filled_ns = 0;
}

void crit_meter_gather(struct crit_meter *meter, ssize_t bytes)
{
	meter->gathered_bytes += (size_t)bytes;
}

bool crit_meter_has_gathered_much(const struct crit_meter *meter)
{
	return meter->gathered_bytes > GATHERED_BYTES;
}

uint32_t crit_meter_spare_buffers(const struct crit_meter *meter)
{
	return meter->spare_buffers;
}

void crit_meter_take_buffers(struct crit_meter *meter, int32_t count)
{
	meter->spare_buffers -= (uint32_t)count;
}
