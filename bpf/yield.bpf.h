/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Threads that call sched_yield while they wait: one record sums up many short stays on a CPU.
 *
 * Libraries that call sched_yield() while they wait switch a hundred thousand times a second.  What
 * these switches add up to is all that matters, for a thread that waits takes no part in who is
 * active, until it leaves its CPU with another tag.
 */
#ifndef CRIT_YIELD_BPF_H
#define CRIT_YIELD_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/cpu_ring.bpf.h"
#include "bpf/record.bpf.h"

#define YIELDS_MOST_NS 10000000ull
#define IS_OVER 0x100u /* above the flags of a record */

struct yields { /* what is told of a thread's */
	__u32 run_number, tid, count, flags;
	__u64 running_ns, whole_ns, mark_ns;
};

static __always_inline void set_yields(struct crit_kernel_yields *r, const struct yields *y)
{
	set_head(&r->head, CRIT_K_YIELDS, y->run_number, (__u8)y->flags);
	r->tid = y->tid;
	r->count = y->count;
	r->running_ns = y->running_ns;
	r->runnable_ns = y->whole_ns - y->running_ns;
	r->since_ns = r->head.time_ns - y->mark_ns;
}

/*
 * who: the number of the run, and below it that of the thread.  how: the count, and the flags, and
 * IS_OVER where interrupts are on.
 */
VERIFIED_ONCE int emit_yields_of(__u64 who, __u64 how, __u64 running_ns, __u64 whole_ns,
				 __u64 mark_ns)
{
	const struct yields y = { .run_number = who >> 32,
				  .tid = (__u32)who,
				  .count = how >> 32,
				  .flags = (__u8)how,
				  .running_ns = running_ns,
				  .whole_ns = whole_ns,
				  .mark_ns = mark_ns };
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_yields *r;

	if (!y.flags && !y.count)
		return 0;
	if (how & IS_OVER) {
		r = reserve(y.run_number, sizeof(*r));
		if (!r)
			return 0;
		set_yields(r, &y);
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	r = open_record(ring, y.run_number, sizeof(*r));
	if (!r)
		return 0;
	set_yields(r, &y);
	close_record(ring, r, sizeof(*r));
	return 0;
}

/* Tells what the thread did up to its last mark, and forgets it. */
static __always_inline void emit_yields(struct task_struct *task, struct crit_member *member,
					__u32 flags)
{
	__u64 since_ns = member->yields_ns;

	member->yields_ns = 0;
	emit_yields_of((__u64)member->run_number << 32 | (__u32)task->pid,
		       (__u64)member->yield_count << 32 | flags, member->yield_running_ns,
		       member->yield_mark_ns - since_ns, member->yield_mark_ns);
}

/* A member that is on a CPU says something else of itself. */
static __always_inline void end_yields(struct task_struct *task, struct crit_member *member)
{
	if (member->yields_ns)
		emit_yields(task, member,
			    IS_OVER | (member->flags & CRIT_MF_ON_CPU ? CRIT_KF_RUNNING : 0));
}

/* One stamp for both threads of a switch, taken when the first needs it. */
static __always_inline __u64 stamp(__u64 *now_ns)
{
	if (!*now_ns)
		*now_ns = bpf_ktime_get_ns();
	return *now_ns;
}

/* It gets a CPU.  Returns 1 when that is not to be told. */
static __always_inline int yields_in(struct task_struct *task, struct crit_member *member,
				     int is_watched, __u64 *now_ns)
{
	if (!member->yields_ns)
		return 0;
	if (!is_watched && stamp(now_ns) - member->yields_ns < YIELDS_MOST_NS) {
		member->yield_mark_ns = *now_ns;
		return 1;
	}
	emit_yields(task, member, 0);
	return 0;
}

struct yield { /* how a thread leaves its CPU */
	int was_on; /* it was seen to get that */
	int can_fold; /* runnable, waiting by its tag, and no member waits for the CPU */
	int is_same_tag;
};

/* It leaves a CPU.  Returns 1 when that is not to be told. */
static __always_inline int yields_out(struct task_struct *task, struct crit_member *member,
				      const struct yield *how, __u64 *now_ns)
{
	if (!member->yields_ns && !how->can_fold)
		return 0;
	if (member->yields_ns && how->was_on && how->can_fold && how->is_same_tag &&
	    stamp(now_ns) - member->yields_ns < YIELDS_MOST_NS) {
		member->yield_running_ns += *now_ns - member->yield_mark_ns;
		member->yield_mark_ns = *now_ns;
		member->yield_count++;
		return 1;
	}
	if (member->yields_ns)
		emit_yields(task, member, how->was_on ? CRIT_KF_RUNNING : 0);
	if (how->can_fold) {
		member->yields_ns = stamp(now_ns);
		member->yield_mark_ns = *now_ns;
		member->yield_running_ns = 0;
		member->yield_count = 0;
	}
	return 0;
}

#endif
