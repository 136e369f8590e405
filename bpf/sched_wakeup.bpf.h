/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Events sched_waking, in the context of who wakes a member, and sched_wakeup and sched_wakeup_new,
 * on the CPU where it becomes runnable, which may be another one.
 */
#ifndef CRIT_SCHED_WAKEUP_BPF_H
#define CRIT_SCHED_WAKEUP_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/admit.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/watch.bpf.h"

static __always_inline int wake(struct task_struct *task, __u8 kind)
{
	struct crit_member *member = look_up_member(task);
	struct crit_kernel_wake *r;
	__u8 flags = 0;

	if (!member)
		return 0;
	if ((member->flags & FIRST_SIGHT) && !admit(task, member, 0))
		return 0;
	if (!(member->flags & (CRIT_MF_ON_CPU | CRIT_MF_WAITS | CRIT_MF_PREEMPTED)) &&
	    !crit_sched_is_waiting(member->tag))
		flags = begin_wait(member, cpu_of(task));
	set_active(member, 1);
	r = reserve(member->run_number, sizeof(*r));
	if (!r)
		return 0;
	set_head(&r->head, kind, member->run_number, flags);
	if (flags)
		r->head.cpu = (__u16)member->cpu;
	r->tid = task->pid;
	r->head.state = (__u8)member->waker;
	r->waker_tid = member->waker_tid;
	member->waker = CRIT_WAKER_UNKNOWN;
	member->waker_tid = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Members are whole processes, but for threads of which critd has not heard yet. */
static __always_inline bool is_of_run(struct task_struct *waker, struct task_struct *task,
				      __u32 run_number)
{
	const struct crit_member *member;

	if (waker->tgid == task->tgid)
		return true;
	member = look_up_member(waker);
	return member && member->run_number == run_number;
}

SEC("tp_btf/sched_waking")
int on_sched_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct crit_member *member = look_up_member(task);
	struct task_struct *current;

	if (!member)
		return 0;
	current = bpf_get_current_task_btf();
	member->waker = CRIT_WAKER_OUTSIDE;
	member->waker_tid = 0;
	if (is_interrupt(ctx, current)) {
		member->waker = CRIT_WAKER_INTERRUPT;
	} else if (is_of_run(current, task, member->run_number)) {
		member->waker = CRIT_WAKER_MEMBER;
		member->waker_tid = current->pid;
	}
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_sched_wakeup(__u64 *ctx)
{
	return wake((void *)ctx[0], CRIT_K_WAKE);
}

SEC("tp_btf/sched_wakeup_new")
int on_sched_wakeup_new(__u64 *ctx)
{
	return wake((void *)ctx[0], CRIT_K_WAKE_NEW);
}

#endif
