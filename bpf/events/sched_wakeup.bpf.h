/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Events sched_waking and sched_wakeup_new, in the context of who wakes a member, and
 * sched_migrate_task, which tells the CPU that it is to have instead.  The member may still be on
 * its way to sleep, on another CPU: nothing of it is written while its flags have ON_CPU.
 */
#ifndef CRIT_SCHED_WAKEUP_BPF_H
#define CRIT_SCHED_WAKEUP_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/admit.bpf.h"
#include "bpf/cpu_ring.bpf.h"
#include "bpf/interrupt.bpf.h"
#include "bpf/watch.bpf.h"
#include "core/abi/abi_wake.h"

/* Since it is woken a member wants a CPU: the one it last had, until it is given another. */
static __always_inline __u8 want_cpu(struct task_struct *task, struct crit_member *member)
{
	if (member->flags & CRIT_MF_ON_CPU)
		return 0;
	set_active(member, 1);
	if ((member->flags & CRIT_MF_PREEMPTED) || crit_sched_is_waiting(member->tag))
		return 0;
	end_wait(member);
	return begin_wait(member, cpu_of(task));
}

struct waking {
	__u32 waker_tid;
	__u16 kind, waker; /* enum crit_kernel_kind, crit_waker */
};

static __always_inline int wake(struct task_struct *task, struct crit_member *member,
				const struct waking *how)
{
	struct crit_cpu_ring *ring;
	struct crit_kernel_wake *r;
	__u64 now_ns;
	__u8 flags;

	if ((member->flags & FIRST_SIGHT) && !admit(task, member, 0))
		return 0;
	ring = begin_telling(member->run_number);
	if (!ring)
		return 0;
	now_ns = bpf_ktime_get_ns(); /* before others tell of the CPU */
	flags = want_cpu(task, member);
	r = open_record(ring, member->run_number, sizeof(*r));
	if (!r)
		goto end;
	set_head_at(&r->head, how->kind, member->run_number, flags, now_ns);
	if (flags)
		r->head.cpu = (__u16)member->cpu;
	r->tid = task->pid;
	r->head.state = (__u8)how->waker;
	r->waker_tid = how->waker_tid;
	close_record(ring, r, sizeof(*r));
end:
	end_telling(ring);
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

/* context: the program's. */
static __always_inline void find_waker(const __u64 *context, struct task_struct *task,
				       __u32 run_number, struct waking *ret_how)
{
	struct task_struct *current = bpf_get_current_task_btf();

	ret_how->waker = CRIT_WAKER_OUTSIDE;
	if (is_interrupt(context, current)) {
		ret_how->waker = CRIT_WAKER_INTERRUPT;
	} else if (is_of_run(current, task, run_number)) {
		ret_how->waker = CRIT_WAKER_MEMBER;
		ret_how->waker_tid = current->pid;
	}
}

SEC("tp_btf/sched_waking")
int on_sched_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct crit_member *member = look_up_member(task);
	struct waking how = { .kind = CRIT_K_WAKING, .waker = CRIT_WAKER_UNKNOWN };

	if (!member)
		return 0;
	if (has_task_registers)
		find_waker(ctx, task, member->run_number, &how);
	return wake(task, member, &how);
}

SEC("tp_btf/sched_wakeup_new")
int on_sched_wakeup_new(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct crit_member *member = look_up_member(task);
	struct waking how = { .kind = CRIT_K_WAKE_NEW, .waker = CRIT_WAKER_UNKNOWN };

	return member ? wake(task, member, &how) : 0;
}

SEC("tp_btf/sched_migrate_task")
int on_sched_migrate_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 cpu = (__u32)ctx[1];
	struct crit_member *member = look_up_member(task);
	struct crit_cpu_ring *ring;
	struct crit_kernel_migrate *r;
	__u64 now_ns;
	__u8 flags;

	if (!member || !(member->flags & CRIT_MF_WAITS))
		return 0;
	ring = begin_telling(member->run_number);
	if (!ring)
		return 0;
	now_ns = bpf_ktime_get_ns(); /* before others tell of the CPU */
	end_wait(member);
	flags = begin_wait(member, cpu);
	r = open_record(ring, member->run_number, sizeof(*r));
	if (!r)
		goto end;
	set_head_at(&r->head, CRIT_K_MIGRATE, member->run_number, flags, now_ns);
	r->head.cpu = (__u16)cpu;
	r->tid = task->pid;
	r->reserved = 0;
	close_record(ring, r, sizeof(*r));
end:
	end_telling(ring);
	return 0;
}

#endif
