/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The records that a switch of a CPU from one task to another is told by. */
#ifndef CRIT_SWITCH_BPF_H
#define CRIT_SWITCH_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/record.bpf.h"

static __always_inline void emit_switch(__u32 run_number, __u8 flags, __u8 state, __u32 prev_tid,
					__u32 next_tid, __u64 prev_tag)
{
	struct crit_kernel_switch *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_SWITCH, run_number, flags);
	r->head.state = state;
	r->prev_tid = prev_tid;
	r->next_tid = next_tid;
	r->prev_tag = prev_tag;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* The switch to prev was not seen: how long it ran tells when that was. */
static __noinline void emit_ran(struct task_struct *prev, struct crit_member *member)
{
	struct crit_kernel_ran *r = reserve(member->run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_RAN, member->run_number, 0);
	r->tid = prev->pid;
	r->reserved = 0;
	r->ran_ns = prev->se.sum_exec_runtime - member->ran_ns;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Returns the task's number; 0, and no name, where the served user may not know it. */
static __always_inline __u32 name_task(char *ret_comm, struct task_struct *task)
{
	__builtin_memset(ret_comm, 0, CRIT_COMM_BYTES);
	if (!crit_sched_may_name(BPF_CORE_READ(task, cred, uid.val), served_uid))
		return 0;
	read_comm(ret_comm, task);
	return task->pid;
}

static __always_inline void name_taker(struct crit_kernel_preempted *r, struct task_struct *taker)
{
	r->taker_tid = name_task(r->taker_comm, taker);
	r->taker_tgid = r->taker_tid ? taker->tgid : 0;
}

/* Like emit_switch, when a stranger gets a CPU that members wait for. */
static __noinline void emit_preempted(struct task_struct *prev, struct crit_member *member,
				      __u32 how, struct task_struct *next)
{
	struct crit_kernel_preempted *r = reserve(member->run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->switched.head, CRIT_K_SWITCH, member->run_number, (__u8)how);
	r->switched.head.state = (__u8)(how >> 8);
	r->switched.prev_tid = prev->pid;
	r->switched.next_tid = 0;
	r->switched.prev_tag = member->tag;
	name_taker(r, next);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Likewise, when a member gets a CPU from a stranger, and waited for it or others do. */
static __noinline void emit_released(struct task_struct *prev, __u32 run_number, __u32 flags,
				     struct task_struct *next)
{
	struct crit_kernel_preempted *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->switched.head, CRIT_K_SWITCH, run_number, (__u8)flags);
	r->switched.prev_tid = 0;
	r->switched.next_tid = next->pid;
	r->switched.prev_tag = 0;
	name_taker(r, prev);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* A CPU that members of this run wait for goes from one stranger to another. */
static __noinline void emit_outside(struct task_struct *prev, __u32 run_number, __u32 flags,
				    struct task_struct *next)
{
	struct crit_kernel_outside *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_OUTSIDE, run_number, (__u8)flags);
	r->prev_tid = name_task(r->prev_comm, prev);
	r->next_tid = name_task(r->next_comm, next);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

#endif
