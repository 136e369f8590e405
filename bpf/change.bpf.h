/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A change of a CPU from one task to another, and which of the records of a switch tell of it. */
#ifndef CRIT_CHANGE_BPF_H
#define CRIT_CHANGE_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/sample.bpf.h"
#include "bpf/switch.bpf.h"
#include "bpf/watch.bpf.h"

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
	bool is_out_active; /* from now on, or about to be */
	bool is_out_told, is_in_told;
};

/* Tells that out left this CPU, and, where they are of one run and both told, that in got it. */
static __always_inline void tell_out(struct change *c)
{
	__u32 run_number = c->out->run_number;
	__u32 how = c->out_flags | (__u32)c->out_state << 8;
	__u32 call = has_task_registers && c->out->flags & CRIT_MF_OWN_MM ? CRIT_KF_CALL : 0;
	int is_of_run = c->in && c->in->run_number == run_number;
	__u32 next_tid = is_of_run && c->is_in_told ? c->next->pid : 0;
	__u64 now_ns = bpf_ktime_get_ns(); /* the stack takes its time */

	if (call && crit_sched_is_blocked(c->out_state))
		capture_block(c->out, now_ns);
	if (next_tid) {
		c->is_in_told = false;
		how |= CRIT_KF_NEXT_MEMBER;
	}
	if (is_of_run || (c->out_state && !is_watched_for(c->watched, run_number)))
		emit_switch(run_number, how | call, (__u64)c->prev->pid << 32 | next_tid,
			    c->out->tag, now_ns);
	else if (call && crit_sched_is_blocked(c->out_state))
		emit_blocked_taken(c->prev, c->out, how | call, c->next, now_ns);
	else
		emit_preempted(c->prev, c->out, how, c->next, now_ns);
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
		emit_switch(run_number, flags, (__u32)c->next->pid, 0, bpf_ktime_get_ns());
}

/* A CPU that members of this run wait for goes from one stranger to another. */
static __noinline void emit_outside(struct task_struct *prev, __u32 run_number, __u32 flags,
				    struct task_struct *next)
{
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_outside *r = open_record(ring, run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_OUTSIDE, run_number, (__u8)flags);
	r->prev_tid = name_task(r->prev_comm, prev);
	r->next_tid = name_task(r->next_comm, next);
	close_record(ring, r, sizeof(*r));
}

static __always_inline void tell(struct change *c)
{
	__u32 run_number = c->watched->run_number;

	if (c->out && c->is_out_told)
		tell_out(c);
	if (c->in && c->is_in_told)
		tell_in(c);
	if (!is_watched(c->watched) || (c->out && c->out->run_number == run_number) ||
	    (c->in && c->in->run_number == run_number))
		return;
	if (has_outside_room(c->watched))
		emit_outside(c->prev, run_number, take_left_out(c->watched), c->next);
}

#endif
