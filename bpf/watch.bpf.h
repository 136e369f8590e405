/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * CPUs whose switches are all recorded: those that a runnable member waits for.
 *
 * A CPU's words are written by whoever makes a member runnable, on whatever CPU.  Two that do so
 * for two runs at one moment may both count: each counts down again, whoever has the CPU by then.
 */
#ifndef CRIT_WATCH_BPF_H
#define CRIT_WATCH_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"
#include "core/abi/abi_kernel.h"

#define NO_CPU (~0u)
#define OUTSIDE_NS 1000000000ull
#define OUTSIDE_MOST 8192u /* of one CPU in that time */

struct crit_watched_cpu watched_cpus[CRIT_WATCHED_CPUS];

static __always_inline struct crit_watched_cpu *watched_cpu_of(__u32 cpu)
{
	return &watched_cpus[cpu & (CRIT_WATCHED_CPUS - 1)];
}

static __always_inline bool is_watched(const struct crit_watched_cpu *watched)
{
	return watched->here + watched->elsewhere != 0;
}

/* One more waits for this CPU, or one less; where it is the current one, nothing interrupts. */
static __always_inline void add_waiting(struct crit_watched_cpu *watched, __u32 cpu, __s32 change)
{
	if (cpu == bpf_get_smp_processor_id())
		watched->here += change;
	else
		__sync_fetch_and_add(&watched->elsewhere, change);
}

static __always_inline __u32 is_watched_for(const struct crit_watched_cpu *watched,
					    __u32 run_number)
{
	return is_watched(watched) && watched->run_number == run_number;
}

/* LEFT_OUT if switches since the last record are, which is told now. */
static __always_inline __u8 take_left_out(struct crit_watched_cpu *watched)
{
	__u8 flags = watched->is_left_out ? CRIT_KF_LEFT_OUT : 0;

	watched->is_left_out = 0;
	return flags;
}

/* Is there room for a switch between strangers?  Storms of these must not fill recordings. */
static __always_inline __u32 has_outside_room(struct crit_watched_cpu *watched)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (now_ns - watched->since_ns > OUTSIDE_NS) {
		watched->since_ns = now_ns;
		watched->outside_count = 0;
	}
	if (++watched->outside_count <= OUTSIDE_MOST)
		return 1;
	watched->is_left_out = 1;
	return 0;
}

/* The CPU a task is queued on. */
static __always_inline __u32 cpu_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	if (bpf_core_field_exists(task->cpu))
		return task->cpu;
	return NO_CPU;
}

static __always_inline bool is_alive(__u32 run_number)
{
	return counters_of(run_number)->run_number == run_number;
}

/* One more member of the run waits for this CPU; 0 where another run has it. */
VERIFIED_ONCE int add_waiter(__u32 cpu, __u32 run_number)
{
	struct crit_watched_cpu *watched = watched_cpu_of(cpu);
	__u32 other = watched->run_number;

	if (cpu >= CRIT_WATCHED_CPUS)
		return 0;
	if (is_watched(watched) && other != run_number) {
		if (is_alive(other))
			return 0;
		watched->here = 0; /* that run is over */
		watched->elsewhere = 0;
	}
	watched->run_number = run_number;
	add_waiting(watched, cpu, 1);
	return 1;
}

VERIFIED_ONCE int remove_waiter(__u32 cpu, __u32 run_number)
{
	struct crit_watched_cpu *watched = watched_cpu_of(cpu);

	if (is_watched(watched) && is_alive(run_number)) /* else it has been set to 0 */
		add_waiting(watched, cpu, -1);
	return 0;
}

/* The member waits for this CPU from now on.  Returns WATCHED, or 0 where another run has it. */
static __always_inline __u8 begin_wait(struct crit_member *member, __u32 cpu)
{
	if (!add_waiter(cpu, member->run_number))
		return 0;
	member->cpu = cpu;
	member->flags |= CRIT_MF_WAITS;
	return CRIT_KF_WATCHED;
}

/* It runs, or is no member any more. */
static __always_inline void end_wait(struct crit_member *member)
{
	if (!(member->flags & CRIT_MF_WAITS))
		return;
	member->flags &= ~CRIT_MF_WAITS;
	remove_waiter(member->cpu, member->run_number);
}

#endif
