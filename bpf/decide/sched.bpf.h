/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Decisions of the kernel half, without any kernel type: compiled into BPF, natively into unit
 * tests, and into a syscall program that runs them inside the kernel.
 */
#ifndef CRIT_SCHED_BPF_H
#define CRIT_SCHED_BPF_H

#include "core/abi/abi_kernel.h"
#include "core/abi/abi_member.h"
#include "core/abi/abi_tag.h"
#include "core/abi/abi_wake.h"

#define CRIT_TASK_WAKING 0x200u
#define CRIT_TASK_DEAD_BITS 0xb0u /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define CRIT_MM_DUMPABLE_MASK 3u /* low bits of mm->flags */
#define CRIT_MM_DUMPABLE_USER 1u /* SUID_DUMP_USER */
#define CRIT_PF_KTHREAD 0x00200000u

/*
 * State of a task at its switch-out, as abi_kernel.h names it.
 *
 * prev_state is what the scheduler saw, state_now the task's word at the hook.  A preempted task
 * stays runnable whatever it was about to wait for; the scheduler says so by is_preempted (the
 * classic tracepoint folds this into bit 0x100, which in the raw word means "woken by fatal signals
 * only"). A task whose word is 0 by now had a signal pending and never left its queue; one whose
 * word says so is being woken, and may have been for long: its CPU looked for other work.
 */
static inline __u8 crit_sched_state(__u32 prev_state, __u32 state_now, __u32 is_preempted)
{
	if (is_preempted || prev_state == 0 || state_now == 0)
		return 0;
	return (__u8)((prev_state & 0xff ? prev_state & 0xff : 2) |
		      (state_now == CRIT_TASK_WAKING ? CRIT_STATE_WOKEN : 0));
}

static inline __u32 crit_sched_is_dead(__u8 state)
{
	return (state & CRIT_TASK_DEAD_BITS) != 0;
}

/* Does a task that leaves its CPU in this state come back to where it is? */
static inline __u32 crit_sched_is_blocked(__u8 state)
{
	return state != 0 && !crit_sched_is_dead(state);
}

/* May the served user read the memory of own processes that have these flags? */
static inline __u32 crit_sched_is_readable(__u32 served_uid, __u64 mm_flags)
{
	return served_uid == 0 || (mm_flags & CRIT_MM_DUMPABLE_MASK) == CRIT_MM_DUMPABLE_USER;
}

/* Must the kernel half end for a task with these properties, and its tag not be read? */
static inline __u8 crit_sched_expulsion(__u32 uid, __u32 euid, __u32 served_uid, __u64 mm_flags,
					__u32 is_privileged)
{
	if (served_uid == 0)
		return CRIT_EXPELLED_NOT;
	if (uid != served_uid || euid != served_uid)
		return CRIT_EXPELLED_USER;
	if (is_privileged)
		return CRIT_EXPELLED_PRIVILEGES;
	return crit_sched_is_readable(served_uid, mm_flags) ? CRIT_EXPELLED_NOT
							    : CRIT_EXPELLED_UNREADABLE;
}

/* May the served user learn the name of a task of this user?  Own ones and the system's. */
static inline __u32 crit_sched_may_name(__u32 uid, __u32 served_uid)
{
	return uid == served_uid || uid == 0;
}

/* Does a thread with this tag only wait, whatever it does on a CPU? */
static inline __u32 crit_sched_is_waiting(__u64 tag)
{
	__u64 span_class = CRIT_TAG_FIELD(tag, CLASS);

	return span_class == CRIT_CLASS_MPI_WAIT || span_class == CRIT_CLASS_MPI_POLL ||
	       span_class == CRIT_CLASS_OMP_WAIT;
}

/*
 * Does a thread count as active that leaves its CPU in this state and with this tag, or runs (0)?
 * This is an estimate, for how many samples are kept: a spinning thread counts until its next tick
 * or switch, and again from the one after that on.
 */
static inline __u32 crit_sample_is_active(__u8 state, __u64 tag)
{
	return state == 0 && !crit_sched_is_waiting(tag);
}

/* One tick in so many is kept of threads that wait. */
#define CRIT_SAMPLE_WAITS 16u

/* What a record says of a count of active threads, which may be off by some. */
static inline __u16 crit_sample_active(__s64 active_count)
{
	return active_count < 0 ? 0 : active_count < 65535 ? (__u16)active_count : 65535u;
}

/*
 * The probability, times 65536, that a sample with this tag is kept; 0 stands for 1.  Of all active
 * threads no more run, and are sampled, than there are CPUs.
 */
static inline __u16 crit_sample_keep(__u64 tag, __u32 active, __u32 cpu_count)
{
	const __u32 sampled = active < cpu_count ? active : cpu_count;

	if (crit_sched_is_waiting(tag))
		return 65536u / CRIT_SAMPLE_WAITS;
	return sampled > 1 ? (__u16)(65536u / sampled) : 0;
}

static inline __u32 crit_sample_is_kept(__u16 keep, __u32 random)
{
	return keep == 0 || (random & 0xffff) < keep;
}

#define CRIT_CAPTURE_NS 10000000ull /* of a thread the first block in so long is captured, and */
#define CRIT_CAPTURE_OTHERS 16u /* one in so many others */

/*
 * Is a thread's other block at this time one that is captured?  No two stamps of a program are
 * spaced evenly to the nanosecond, and a step of one goes to another quarter of all values.
 */
static inline __u32 crit_capture_is_drawn(__u64 now_ns)
{
	return (__u32)now_ns * 2654435769u < 0xffffffffu / CRIT_CAPTURE_OTHERS + 1;
}

/* Flags a child starts with.  The tag word belongs to a thread's own process only. */
static inline __u32 crit_sched_child_flags(__u32 parent_flags, __u32 is_thread)
{
	return CRIT_MF_FORKED | (is_thread ? parent_flags & CRIT_MF_HAS_TAG : 0);
}

#endif
