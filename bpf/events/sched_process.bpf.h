/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Events sched_process_fork, _exec and _exit: a member is born, changes its program, ends. */
#ifndef CRIT_SCHED_PROCESS_BPF_H
#define CRIT_SCHED_PROCESS_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/admit.bpf.h"
#include "bpf/yield.bpf.h"

static __always_inline void emit_fork(struct task_struct *parent, struct task_struct *child,
				      __u32 run_number, __u8 flags, __u64 parent_tag)
{
	struct crit_kernel_fork *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_FORK, run_number, flags);
	r->parent_tid = parent->pid;
	r->parent_tgid = parent->tgid;
	r->tid = child->pid;
	r->tgid = child->tgid;
	r->ns_tid = ns_tid_of(child);
	r->reserved = 0;
	r->parent_tag = parent_tag;
	read_comm(r->comm, child);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Fires in the parent, before the child's first wakeup. */
SEC("tp_btf/sched_process_fork")
int on_sched_process_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0];
	struct task_struct *child = (void *)ctx[1];
	struct crit_member *member = look_up_living(parent);
	struct crit_member init = {};
	__u32 is_thread = child->tgid == parent->tgid;
	__u8 flags;

	if (!member)
		return 0;
	if ((member->flags & FIRST_SIGHT) && !admit(parent, member, 1))
		return 0;
	flags = refresh_tag(parent, BPF_CORE_READ(parent, mm), member);
	init.run_number = member->run_number;
	init.flags = crit_sched_child_flags(member->flags, is_thread);
	if (is_thread) {
		init.tag_offset = member->tag_offset;
		init.mm = member->mm;
	} else {
		init.mm = member->mm ? (__u64)BPF_CORE_READ(child, mm) : 0; /* a copy of that */
		flags |= CRIT_KF_NEW_PROCESS;
	}
	emit_fork(parent, child, init.run_number, flags, member->tag);
	if (create_born(child, &init))
		__sync_fetch_and_add(&counters_of(init.run_number)->live_forked, 1);
	else
		__sync_fetch_and_add(&counters_of(init.run_number)->lost_members, 1);
	return 0;
}

/* Exec took over the number of the old leader. */
static __always_inline void take_over_tid(struct task_struct *task, __u32 old_tid)
{
	struct crit_member *member = NULL, copy;

	note_tid(task->pid);
	if (!has_task_storage)
		member = bpf_map_lookup_elem(&members_by_tid, &old_tid);
	if (!member)
		return;
	copy = *member;
	(void)bpf_map_delete_elem(&members_by_tid, &old_tid);
	(void)create_member(task, &copy);
}

SEC("tp_btf/sched_process_exec")
int on_sched_process_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 old_tid = (__u32)ctx[1];
	struct linux_binprm *bprm = (void *)ctx[2];
	struct crit_member *member;
	__u8 expulsion;

	if (old_tid != (__u32)task->pid)
		take_over_tid(task, old_tid);
	member = look_up_living(task);
	if (!member)
		return 0;
	end_yields(task, member);
	member->tag = 0;
	member->mm = (__u64)BPF_CORE_READ(task, mm);
	expulsion = expulsion_of(task, BPF_CORE_READ_BITFIELD(bprm, secureexec));
	if (expulsion) {
		expel(task, member, old_tid, expulsion);
		return 0;
	}
	if (member->flags & (CRIT_MF_NEW | CRIT_MF_ASLEEP)) {
		emit_enrol(task, member->run_number, CRIT_KF_RUNNING);
		member->flags |= CRIT_MF_ON_CPU;
	}
	member->flags &= ~(CRIT_MF_HAS_TAG | FIRST_SIGHT);
	emit_exec(task, member->run_number, old_tid, 0, CRIT_EXPELLED_NOT);
	return 0;
}

static __always_inline void count_out(const struct crit_member *member)
{
	if (member->flags & CRIT_MF_FORKED)
		__sync_fetch_and_add(&counters_of(member->run_number)->live_forked, -1);
}

SEC("tp_btf/sched_process_exit")
int on_sched_process_exit(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct crit_member *member = look_up_living(task);
	struct crit_kernel_exit *r;
	__u8 flags;

	if (!member || (member->flags & CRIT_MF_EXITED))
		return 0;
	if ((member->flags & FIRST_SIGHT) && !admit(task, member, 1))
		return 0;
	end_yields(task, member);
	flags = refresh_tag(task, BPF_CORE_READ(task, mm), member);
	member->flags |= CRIT_MF_EXITED;
	r = reserve(member->run_number, sizeof(*r));
	if (!r) {
		count_out(member);
		return 0;
	}
	set_head(&r->head, CRIT_K_EXIT, member->run_number, flags);
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->exit_code = task->exit_code;
	r->reserved = 0;
	r->tag = member->tag;
	read_comm(r->comm, task);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	count_out(member); /* the record first: at zero critd drains and ends the run */
	return 0;
}

#endif
