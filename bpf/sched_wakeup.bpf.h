/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Events sched_wakeup and sched_wakeup_new: a member becomes runnable. */
#ifndef CRIT_SCHED_WAKEUP_BPF_H
#define CRIT_SCHED_WAKEUP_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/admit.bpf.h"
#include "bpf/watch.bpf.h"

static __always_inline int wake(struct task_struct *task, bool may_be, __u8 kind)
{
	struct crit_member *member = look_up_member(task, may_be);
	struct crit_kernel_wake *r;
	__u8 flags = 0;

	if (!member)
		return 0;
	if ((member->flags & FIRST_SIGHT) && !admit(task, member, 0))
		return 0;
	if (!(member->flags & (CRIT_MF_ON_CPU | CRIT_MF_WAITS | CRIT_MF_PREEMPTED)) &&
	    !crit_sched_is_waiting(member->tag))
		flags = begin_wait(member, cpu_of(task));
	r = reserve(member->run_number, sizeof(*r));
	if (!r)
		return 0;
	set_head(&r->head, kind, member->run_number, flags);
	if (flags)
		r->head.cpu = (__u16)member->cpu;
	r->tid = task->pid;
	r->waker_tid = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_sched_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	return wake(task, may_be_member(task), CRIT_K_WAKE);
}

SEC("tp_btf/sched_wakeup_new")
int on_sched_wakeup_new(__u64 *ctx)
{
	return wake((void *)ctx[0], true, CRIT_K_WAKE_NEW);
}

#endif
