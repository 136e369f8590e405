// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
// Kernel half of crit: scheduler events of member tasks, and what they were doing, into one ring.
#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/sched.bpf.h"
#include "bpf/switch.bpf.h"
#include "bpf/watch.bpf.h"
#include "bpf/yield.bpf.h"
#include "core/abi/abi_kernel.h"
#include "core/abi/abi_member.h"

static __always_inline void emit_exec(struct task_struct *task, __u32 run_number, __u32 old_tid,
				      __u8 flags, __u8 expulsion)
{
	struct crit_kernel_exec *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_EXEC, sizeof(*r), run_number, flags);
	r->head.state = expulsion;
	r->tid = task->pid;
	r->old_tid = old_tid;
	r->tgid = task->tgid;
	r->ns_tid = ns_tid_of(task);
	read_comm(r->comm, task);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static __always_inline void emit_enrol(struct task_struct *task, __u32 run_number, __u8 flags)
{
	struct crit_kernel_enrol *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_ENROL, sizeof(*r), run_number, flags);
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->ns_tid = ns_tid_of(task);
	r->parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
	read_comm(r->comm, task);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static __always_inline void expel(struct task_struct *task, struct crit_member *member,
				  __u32 old_tid, __u8 expulsion)
{
	__u32 run_number = member->run_number;
	__u32 tgid = task->tgid;

	if (member->flags & CRIT_MF_FORKED)
		__sync_fetch_and_add(&counters_of(run_number)->live_forked, -1);
	emit_exec(task, run_number, old_tid, CRIT_KF_EXPELLED, expulsion);
	delete_member(task);
	/* else its process's entry makes it a member again at once */
	if (bpf_map_delete_elem(&registered, &tgid) == 0)
		__sync_fetch_and_add(&registered_count, -1);
}

/*
 * First sight of a task that critd enrolled, in the task's own context when is_current.  The
 * credentials are those of now, so a task that became somebody else between its registration and
 * this moment is expelled, and its memory never read.  Returns 0 when it is no member any more.
 */
static __noinline int admit(struct task_struct *task, struct crit_member *member, int is_current)
{
	__u32 flags = member->flags;
	__u8 expulsion = expulsion_of(task, 0);

	if (!task->mm) { /* on its last way out: nothing to read, nobody to expel */
		member->flags = flags & ~CRIT_MF_HAS_TAG;
	} else if (expulsion) {
		expel(task, member, task->pid, expulsion);
		return 0;
	}
	if ((flags & CRIT_MF_NEW) || ((flags & CRIT_MF_ASLEEP) && is_current))
		emit_enrol(task, member->run_number, is_current ? CRIT_KF_RUNNING : 0);
	flags &= ~(CRIT_MF_NEW | CRIT_MF_ASLEEP);
	if (is_current) {
		member->mm = (__u64)task->mm;
		flags &= ~CRIT_MF_UNVERIFIED;
		flags |= CRIT_MF_ON_CPU; /* since when, nobody knows */
	}
	member->flags = flags;
	return 1;
}

#define FIRST_SIGHT (CRIT_MF_UNVERIFIED | CRIT_MF_NEW | CRIT_MF_ASLEEP)

/*
 * Reads the tag of current.  The address space must be the one that was verified: between the point
 * where exec installs a new one and on_sched_process_exec, nothing is read.
 */
static __always_inline __u8 refresh_tag(struct task_struct *task, struct crit_member *member)
{
	__u64 base, tag;

	if (!(member->flags & CRIT_MF_HAS_TAG))
		return 0;
	if ((__u64)task->mm != member->mm || (member->flags & CRIT_MF_UNVERIFIED))
		return CRIT_KF_HAS_TAG | CRIT_KF_TAG_STALE;
#if defined(__TARGET_ARCH_arm64)
	base = task->thread.uw.tp_value;
#else
	base = task->thread.fsbase;
#endif
	if (bpf_probe_read_user(&tag, sizeof(tag), (void *)(base + member->tag_offset)))
		return CRIT_KF_HAS_TAG | CRIT_KF_TAG_STALE;
	member->tag = tag;
	return CRIT_KF_HAS_TAG;
}

struct change { /* of a CPU, from one task to another */
	struct task_struct *prev, *next;
	struct crit_member *out, *in; /* NULL: not a member */
	struct crit_watched_cpu *watched;
	__u64 now_ns; /* 0: not asked yet */
	__u32 watched_run; /* the members of which waited for it until now; NO_RUN: of none */
	__u32 in_flags; /* of the member, until now */
	__u8 out_flags; /* of the record */
	__u8 out_state;
	bool is_out_told, is_in_told;
};

/* Takes note that out left its CPU, and finds out whether that is to be told. */
static __always_inline void leave_cpu(struct change *c)
{
	struct crit_member *member = c->out;
	struct yield how = { .was_on = !!(member->flags & CRIT_MF_ON_CPU) };
	__u64 tag = member->tag;

	end_wait(member); /* where it was not seen to get its CPU */
	member->flags &= ~CRIT_MF_ON_CPU;
	c->out_flags = CRIT_KF_PREV_MEMBER | refresh_tag(c->prev, member);
	how.is_same_tag = tag == member->tag;
	if (c->out_state == 0) {
		how.can_fold = (c->out_flags & (CRIT_KF_HAS_TAG | CRIT_KF_TAG_STALE)) ==
				       CRIT_KF_HAS_TAG &&
			       crit_sched_is_waiting(member->tag);
		c->out_flags |= CRIT_KF_PREEMPTED;
		member->flags |= CRIT_MF_PREEMPTED;
		if (!how.can_fold)
			c->out_flags |= begin_wait(member, bpf_get_smp_processor_id());
	}
	if (c->watched->waiting || c->watched_run != NO_RUN)
		how.can_fold = 0;
	c->is_out_told = !yields_out(c->prev, member, &how, &c->now_ns);
	if (!how.was_on)
		emit_ran(c->prev, member);
	member->ran_ns = c->prev->se.sum_exec_runtime;
}

/* Tells that out left this CPU, and, where they are of one run and both told, that in got it. */
static __always_inline void tell_out(struct change *c)
{
	__u32 run_number = c->out->run_number;
	int is_of_run = c->in && c->in->run_number == run_number;

	if (is_of_run && c->is_in_told) {
		c->out_flags |= CRIT_KF_NEXT_MEMBER;
		c->is_in_told = false;
		emit_switch(run_number, c->out_flags, c->out_state, c->prev->pid, c->next->pid,
			    c->out->tag);
		return;
	}
	if (!is_of_run && (c->out_state == 0 || is_watched_for(c->watched, run_number)))
		emit_taken(c->prev, c->out, c->out_flags | (__u32)c->out_state << 8, c->next);
	else
		emit_switch(run_number, c->out_flags, c->out_state, c->prev->pid, 0, c->out->tag);
}

/* Tells that in got this CPU: from a task outside its run, or from a thread that yields. */
static __always_inline void tell_in(const struct change *c)
{
	__u8 flags = CRIT_KF_NEXT_MEMBER | take_left_out(c->watched);
	__u32 run_number = c->in->run_number;
	int is_of_run = c->out && c->out->run_number == run_number;
	__u32 was_preempted = (c->in_flags & (CRIT_MF_PREEMPTED | CRIT_MF_WAITS)) ==
			      CRIT_MF_PREEMPTED;

	if (!is_of_run && (was_preempted || (c->watched_run == run_number && c->prev->pid)))
		emit_given_back(c->prev, run_number, flags, c->next);
	else
		emit_switch(run_number, flags, 0, 0, c->next->pid, 0);
}

static __always_inline void tell(struct change *c)
{
	__u32 run_number = c->watched->run_number;

	if (c->out && c->is_out_told)
		tell_out(c);
	if (c->in && c->is_in_told)
		tell_in(c);
	if (!c->watched->waiting || (c->out && c->out->run_number == run_number) ||
	    (c->in && c->in->run_number == run_number))
		return;
	if (has_outside_room(c->watched))
		emit_outside(c->prev, run_number, take_left_out(c->watched), c->next);
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64 *ctx)
{
	struct change c = { .prev = (void *)ctx[1], .next = (void *)ctx[2] };
	__u32 now, prev_state;

	c.in = member_of(c.next);
	if (c.in && (c.in->flags & FIRST_SIGHT) && !admit(c.next, c.in, 0))
		c.in = NULL;
	c.out = living_member_of(c.prev);
	if (c.out && (c.out->flags & FIRST_SIGHT) && !admit(c.prev, c.out, 1))
		c.out = NULL;
	c.watched = watched_cpu_of(bpf_get_smp_processor_id());
	if (!c.in && !c.out && !c.watched->waiting)
		return 0;
	c.watched_run = c.watched->waiting ? c.watched->run_number : NO_RUN;
	if (c.in) {
		c.in_flags = c.in->flags;
		end_wait(c.in);
		c.in->flags &= ~CRIT_MF_PREEMPTED;
		c.in->flags |= CRIT_MF_ON_CPU;
	}
	if (c.out) {
		now = state_now(c.prev);
		prev_state = has_prev_state ? (__u32)ctx[3] : now;
		c.out_state = crit_sched_state(prev_state, now, (__u32)ctx[0] & 1);
		leave_cpu(&c);
	}
	if (c.in)
		c.is_in_told = !yields_in(c.next, c.in,
					  c.watched->waiting || c.watched_run != NO_RUN, &c.now_ns);
	tell(&c);
	if (c.out && crit_sched_is_dead(c.out_state) && !has_task_storage)
		delete_member(c.prev);
	return 0;
}

static __always_inline int wake(struct task_struct *task, __u8 kind)
{
	struct crit_member *member = member_of(task);
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
	set_head(&r->head, kind, sizeof(*r), member->run_number, flags);
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
	return wake((void *)ctx[0], CRIT_K_WAKE);
}

SEC("tp_btf/sched_wakeup_new")
int on_sched_wakeup_new(__u64 *ctx)
{
	return wake((void *)ctx[0], CRIT_K_WAKE_NEW);
}

static __always_inline void emit_fork(struct task_struct *parent, struct task_struct *child,
				      __u32 run_number, __u8 flags, __u64 parent_tag)
{
	struct crit_kernel_fork *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_FORK, sizeof(*r), run_number, flags);
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
	struct crit_member *member = living_member_of(parent);
	struct crit_member init = {};
	__u32 is_thread = child->tgid == parent->tgid;
	__u8 flags;

	if (!member)
		return 0;
	if ((member->flags & FIRST_SIGHT) && !admit(parent, member, 1))
		return 0;
	flags = refresh_tag(parent, member);
	init.run_number = member->run_number;
	init.flags = crit_sched_child_flags(member->flags, is_thread);
	if (is_thread) {
		init.tag_offset = member->tag_offset;
		init.mm = member->mm;
	} else {
		flags |= CRIT_KF_NEW_PROCESS;
	}
	emit_fork(parent, child, init.run_number, flags, member->tag);
	if (create_member(child, &init))
		__sync_fetch_and_add(&counters_of(init.run_number)->live_forked, 1);
	else
		__sync_fetch_and_add(&counters_of(init.run_number)->lost_members, 1);
	return 0;
}

/* Gives the pid-keyed map the number exec took over from the old leader. */
static __always_inline void take_over_tid(struct task_struct *task, __u32 old_tid)
{
	struct crit_member *member = bpf_map_lookup_elem(&members_by_tid, &old_tid);
	struct crit_member copy;

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

	if (!has_task_storage && old_tid != (__u32)task->pid)
		take_over_tid(task, old_tid);
	member = living_member_of(task);
	if (!member)
		return 0;
	end_yields(task, member);
	member->tag = 0;
	member->mm = 0;
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
	struct crit_member *member = living_member_of(task);
	struct crit_kernel_exit *r;
	__u8 flags;

	if (!member || (member->flags & CRIT_MF_EXITED))
		return 0;
	if ((member->flags & FIRST_SIGHT) && !admit(task, member, 1))
		return 0;
	end_yields(task, member);
	flags = refresh_tag(task, member);
	member->flags |= CRIT_MF_EXITED;
	r = reserve(member->run_number, sizeof(*r));
	if (!r) {
		count_out(member);
		return 0;
	}
	set_head(&r->head, CRIT_K_EXIT, sizeof(*r), member->run_number, flags);
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

char LICENSE[] SEC("license") = "Dual BSD/GPL";
