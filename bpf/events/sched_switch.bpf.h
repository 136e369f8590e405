/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Event sched_switch: a CPU goes from one task to another. */
#ifndef CRIT_SCHED_SWITCH_BPF_H
#define CRIT_SCHED_SWITCH_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/admit.bpf.h"
#include "bpf/change.bpf.h"
#include "bpf/cpu_ring.bpf.h"
#include "bpf/watch.bpf.h"
#include "bpf/yield.bpf.h"
#include "core/abi/abi_wake.h"

/* Is somebody waking it, while it is on its way to sleep? */
static __always_inline bool is_being_woken(const struct change *c)
{
	return crit_sched_is_blocked(c->out_state) && c->out_state & CRIT_STATE_WOKEN;
}

/* Takes note that out left its CPU, and finds out whether that is to be told. */
static __always_inline void leave_cpu(struct change *c)
{
	struct crit_member *member = c->out;
	struct yield how = { .was_on = !!(member->flags & CRIT_MF_ON_CPU) };
	__u64 tag = member->tag;

	end_wait(member); /* where it was not seen to get its CPU */
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
	} else if (is_being_woken(c)) {
		c->is_out_active = true;
		if (!crit_sched_is_waiting(member->tag))
			c->out_flags |= begin_wait(member, bpf_get_smp_processor_id());
	}
	member->flags &= ~CRIT_MF_ON_CPU; /* last: from here on others may write them */
	if (is_watched(c->watched) || c->watched_run != NO_RUN)
		how.can_fold = 0;
	FORGET(how.can_fold);
	c->is_out_told = !yields_out(c->prev, member, &how, &c->now_ns);
	if (!how.was_on)
		emit_ran(member->run_number, c->prev->pid,
			 c->prev->se.sum_exec_runtime - member->ran_ns);
	member->ran_ns = c->prev->se.sum_exec_runtime;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64 *ctx)
{
	struct change c = { .prev = (void *)ctx[1], .next = (void *)ctx[2] };
	struct crit_cpu_ring *ring;

	c.prev_mm = c.prev->mm;
	c.in = look_up_member(c.next);
	if (c.in && (c.in->flags & FIRST_SIGHT) && !admit(c.next, c.in, 0))
		c.in = NULL;
	c.out = look_up_living(c.prev);
	if (c.out && (c.out->flags & FIRST_SIGHT) && !admit(c.prev, c.out, 1))
		c.out = NULL;
	c.watched = watched_cpu_of(bpf_get_smp_processor_id());
	if (!c.in) {
		barrier(); /* or the compiler makes one number of two pointers, to test it once */
		if (!c.out && !is_watched(c.watched))
			return 0;
	}
	ring = begin_telling(c.in    ? c.in->run_number
			     : c.out ? c.out->run_number
				     : c.watched->run_number);
	if (!ring)
		return 0;
	c.watched_run = is_watched(c.watched) ? c.watched->run_number : NO_RUN;
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
		c.is_in_told = !yields_in(
			c.next, c.in, is_watched(c.watched) || c.watched_run != NO_RUN, &c.now_ns);
	FORGET(c.is_out_active);
	FORGET(c.is_in_told);
	tell(&c);
	end_telling(ring);
	/* late: the verifier goes twice through what follows */
	note_active(c.out, c.is_out_active ? 0 : c.out_state);
	note_active(c.in, 0); /* its wakeup may be hidden */
	if (c.out && crit_sched_is_dead(c.out_state) && !has_task_storage)
		delete_member(c.prev);
	return 0;
}

#endif
