/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * How many members of a run have work to do, running or runnable, near enough for samples.
 *
 * Each CPU adds and subtracts in memory of its own, at every switch, and only who wants to know
 * goes to all of them.  Nothing interrupts a switch, a wakeup or a tick; where a member is expelled
 * one may come in between, and the count is off by it.
 */
#ifndef CRIT_ACTIVE_BPF_H
#define CRIT_ACTIVE_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"

#define COUNT_NS 1000ull /* per CPU, between two times that all are added up */

struct active_count {
	__u32 run_number; /* that the slot had when it was last written here */
	__s32 change; /* more that became active than that ceased to be, on this CPU */
};

struct cpu_counts {
	struct active_count of_run[CRIT_RUN_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* critd sets it */
	__type(key, __u32);
	__type(value, struct cpu_counts);
} active_counts SEC(".maps");

VERIFIED_ONCE int add_active(__u32 run_number, __s32 change)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct cpu_counts *counts = bpf_map_lookup_elem(&active_counts, &cpu);
	struct active_count *count;

	if (!counts)
		return 0;
	count = &counts->of_run[run_number & (CRIT_RUN_SLOTS - 1)];
	if (count->run_number != run_number) {
		count->run_number = run_number;
		count->change = 0;
	}
	count->change += change;
	return 0;
}

static __always_inline void set_active(struct crit_member *member, __u32 is_active)
{
	if (member->is_active == is_active)
		return;
	member->is_active = (__u16)is_active;
	add_active(member->run_number, is_active ? 1 : -1);
}

/* A thread leaves its CPU in this state, or has it (0).  NULL: it is no member. */
static __always_inline void note_active(struct crit_member *member, __u8 state)
{
	if (member)
		set_active(member, crit_sample_is_active(state, member->tag));
}

VERIFIED_ONCE int count_active(__u32 run_number)
{
	__s32 active = 0;

	for (__u32 cpu = 0; cpu < slot_count; cpu++) {
		const __u32 key = cpu;
		const struct cpu_counts *counts = bpf_map_lookup_elem(&active_counts, &key);
		const struct active_count *count;

		if (!counts)
			break;
		count = &counts->of_run[run_number & (CRIT_RUN_SLOTS - 1)];
		if (count->run_number == run_number)
			active += count->change;
	}
	return active;
}

/* Many CPUs that tick at once do not each go to all others. */
static __always_inline __s32 active_threads(__u32 run_number)
{
	struct crit_run_counters *counters = counters_of(run_number);
	const __u64 now_ns = bpf_ktime_get_ns();

	if (now_ns - counters->counted_ns >= COUNT_NS * slot_count) {
		counters->counted_ns = now_ns;
		counters->active_count = count_active(run_number);
	}
	return counters->active_count;
}

#endif
