/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Event sched_switch: a CPU goes from one task to another. */
#ifndef CRIT_SCHED_SWITCH_BPF_H
#define CRIT_SCHED_SWITCH_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/admit.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/switch.bpf.h"
#include "bpf/watch.bpf.h"
#include "bpf/yield.bpf.h"

struct change { /* of a CPU, from one task to another */
	struct task_struct *prev, *next;
	struct mm_struct *prev_mm;
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
	note_mm(c->prev_mm, member);
	c->out_flags = CRIT_KF_PREV_MEMBER | refresh_tag(c->prev, c->prev_mm, member);
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
		emit_ran(member->run_number, c->prev->pid,
			 c->prev->se.sum_exec_runtime - member->ran_ns);
	member->ran_ns = c->prev->se.sum_exec_runtime;
}

/* Tells that out left this CPU, and, where they are of one run and both told, that in got it. */
static __always_inline void tell_out(struct change *c)
{
	__u32 run_number = c->out->run_number;
	__u32 how = c->out_flags | (__u32)c->out_state << 8;
	__u32 call = has_task_registers && c->out->flags & CRIT_MF_OWN_MM ? CRIT_KF_CALL : 0;
	int is_of_run = c->in && c->in->run_number == run_number;
	__u32 next_tid = is_of_run && c->is_in_told ? c->next->pid : 0;

	if (call && crit_sched_is_blocked(c->out_state))
		capture_block(c->out);
	if (next_tid) {
		c->is_in_told = false;
		how |= CRIT_KF_NEXT_MEMBER;
	}
	if (is_of_run || (c->out_state && !is_watched_for(c->watched, run_number)))
		emit_switch(run_number, how | call, c->prev->pid, next_tid, c->out->tag);
	else if (call && crit_sched_is_blocked(c->out_state))
		emit_blocked_taken(c->prev, c->out, how | call, c->next);
	else
		emit_preempted(c->prev, c->out, how, c->next);
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
		emit_released(c->prev, run_number, flags, c->next);
	else
		emit_switch(run_number, flags, 0, c->next->pid, 0);
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

	c.prev_mm = c.prev->mm;
	c.in = look_up_member(c.next);
	if (c.in && (c.in->flags & FIRST_SIGHT) && !admit(c.next, c.in, 0))
		c.in = NULL;
	c.out = look_up_living(c.prev);
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
		c.out_state = state_at_switch(ctx, c.prev);
		leave_cpu(&c);
	}
	if (c.in)
		c.is_in_told = !yields_in(c.next, c.in,
					  c.watched->waiting || c.watched_run != NO_RUN, &c.now_ns);
	tell(&c);
	note_active(c.out, c.out_state); /* late: the verifier goes twice through what follows */
	note_active(c.in, 0); /* its wakeup may be hidden */
	if (c.out && crit_sched_is_dead(c.out_state) && !has_task_storage)
		delete_member(c.prev);
	return 0;
}

#endif
