// SPDX-License-Identifier: BSD-3-Clause
// Measures what ranks make critd spend, and says when it is enough.
#include "collector/member/meter.h"

#include <string.h>

#include "collector/system/now.h"
#include "core/base/clock.h"

#define SECOND_NS 1000000000

static void fill(struct crit_allowance *allowance, __s64 per_second_ns, __s64 most_ns, __u64 now_ns)
{
	__u64 passed_ns = now_ns - allowance->filled_ns;

	if (allowance->filled_ns == 0) {
		allowance->left_ns = most_ns;
	} else {
		if (passed_ns > 60ull * SECOND_NS)
			passed_ns = 60ull * SECOND_NS;
		allowance->left_ns +=
			(__s64)passed_ns * (per_second_ns / 1000) / (SECOND_NS / 1000);
	}
	if (allowance->left_ns > most_ns)
		allowance->left_ns = most_ns;
	allowance->filled_ns = now_ns;
}

/* One step that took long is not paid for in seconds without a look. */
static void charge(struct crit_allowance *allowance, __s64 most_ns, __s64 spent_ns)
{
	allowance->left_ns -= spent_ns;
	if (allowance->left_ns < -most_ns)
		allowance->left_ns = -most_ns;
	if (allowance->left_ns > most_ns)
		allowance->left_ns = most_ns;
}

void crit_meter_init(struct crit_meter *meter)
{
	memset(meter, 0, sizeof(*meter));
	meter->spare_stripes = CRIT_METER_STRIPES_SPARE;
}

void crit_meter_begin(struct crit_meter *meter, __u64 now_ns)
{
	fill(&meter->all, CRIT_METER_ALL_NS, CRIT_METER_ALL_NS, now_ns);
	meter->cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->earned_ns = 0;
	meter->looks = 0;
}

void crit_meter_fill(struct crit_allowance *allowance, __u64 now_ns)
{
	fill(allowance, CRIT_METER_PROCESS_NS, CRIT_METER_PROCESS_SAVED_NS, now_ns);
}

void crit_meter_settle(struct crit_meter *meter, struct crit_allowance *share)
{
	const __u64 cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const __s64 spent_ns = (__s64)(cpu_ns - meter->cpu_ns) - meter->earned_ns;

	charge(&meter->all, CRIT_METER_ALL_NS, spent_ns);
	if (share)
		charge(share, CRIT_METER_PROCESS_SAVED_NS, spent_ns);
	meter->cpu_ns = cpu_ns;
	meter->earned_ns = 0;
	meter->looks = 0;
}

void crit_meter_forgive(struct crit_meter *meter)
{
	meter->cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->earned_ns = 0;
	meter->looks = 0;
}

bool crit_meter_allows(struct crit_meter *meter, const struct crit_allowance *share,
		       bool has_called)
{
	if (meter->all.left_ns <= (has_called ? -CRIT_METER_ALL_NS : 0)) {
		meter->was_short = true;
		return false;
	}
	return !share || share->left_ns > (has_called ? -CRIT_METER_PROCESS_SAVED_NS : 0);
}

void crit_meter_begin_calls(struct crit_meter *meter)
{
	meter->calls_cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	meter->tick_ns = 0;
}

void crit_meter_except_tick(struct crit_meter *meter, __u64 begin_cpu_ns)
{
	meter->tick_ns += meter->cpu_ns - begin_cpu_ns;
}

bool crit_meter_end_calls(struct crit_meter *meter, __u64 now_ns)
{
	const __u64 cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const __u64 spent_ns = cpu_ns - meter->calls_cpu_ns - meter->tick_ns + CRIT_METER_WAKE_NS;

	fill(&meter->calls, CRIT_METER_CALLS_NS, CRIT_METER_CALLS_SAVED_NS, now_ns);
	charge(&meter->calls, CRIT_METER_CALLS_SAVED_NS, (__s64)spent_ns);
	return meter->calls.left_ns > 0;
}

bool crit_meter_allows_calls(struct crit_meter *meter, __u64 now_ns)
{
	fill(&meter->calls, CRIT_METER_CALLS_NS, CRIT_METER_CALLS_SAVED_NS, now_ns);
	return meter->calls.left_ns > 0;
}

void crit_meter_earn_arrival(struct crit_meter *meter, __u64 now_ns)
{
	struct crit_allowance *arrivals = &meter->arrivals;
	__s64 paid_ns = CRIT_METER_ARRIVAL_NS;

	fill(arrivals, CRIT_METER_ARRIVALS_NS, CRIT_METER_ARRIVALS_SAVED_NS, now_ns);
	if (paid_ns > arrivals->left_ns)
		paid_ns = arrivals->left_ns;
	arrivals->left_ns -= paid_ns;
	charge(&meter->calls, CRIT_METER_CALLS_SAVED_NS, -paid_ns);
}
