/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The records that a switch of a CPU from one task to another is told by. */
#ifndef CRIT_SWITCH_BPF_H
#define CRIT_SWITCH_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/cpu_ring.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/registers.bpf.h"

struct switched { /* how: the record's flags, and the state above them */
	__u32 run_number, how, prev_tid, next_tid;
	__u64 prev_tag, time_ns;
};

static __always_inline void set_switch(struct crit_kernel_switch *r, const struct switched *s)
{
	set_head_at(&r->head, CRIT_K_SWITCH, s->run_number, (__u8)s->how, s->time_ns);
	r->head.state = (__u8)(s->how >> 8);
	r->prev_tid = s->prev_tid;
	r->next_tid = s->next_tid;
	r->prev_tag = s->prev_tag;
}

/* With the system call that prev, which is current, blocks in. */
static __always_inline void emit_blocked(const struct switched *s)
{
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_blocked *r = open_record(ring, s->run_number, sizeof(*r));

	if (!r)
		return;
	set_switch(&r->switched, s);
	read_call(&r->call);
	close_record(ring, r, sizeof(*r));
}

/*
 * how: with CALL the system call may be told, if there is one to tell.  tids: of prev, and in the
 * lower half of next.
 */
VERIFIED_ONCE int emit_switch(__u32 run_number, __u32 how, __u64 tids, __u64 prev_tag,
			      __u64 time_ns)
{
	struct switched s = { run_number, how, tids >> 32, (__u32)tids, prev_tag, time_ns };
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_switch *r;

	if (has_task_registers && (how & CRIT_KF_CALL) && crit_sched_is_blocked((__u8)(how >> 8))) {
		emit_blocked(&s);
		return 0;
	}
	s.how &= ~CRIT_KF_CALL;
	r = open_record(ring, run_number, sizeof(*r));
	if (!r)
		return 0;
	set_switch(r, &s);
	close_record(ring, r, sizeof(*r));
	return 0;
}

/* The switch to prev was not seen: how long it ran tells when that was. */
VERIFIED_ONCE int emit_ran(__u32 run_number, __u32 prev_tid, __u64 ran_ns)
{
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_ran *r = open_record(ring, run_number, sizeof(*r));

	if (!r)
		return 0;
	set_head(&r->head, CRIT_K_RAN, run_number, 0);
	r->tid = prev_tid;
	r->reserved = 0;
	r->ran_ns = ran_ns;
	close_record(ring, r, sizeof(*r));
	return 0;
}

static __always_inline void name_taker(struct crit_kernel_preempted *r, struct task_struct *taker)
{
	r->taker_tid = name_task(r->taker_comm, taker);
	r->taker_tgid = r->taker_tid ? taker->tgid : 0;
}

static __always_inline void set_preempted(struct crit_kernel_preempted *r, struct task_struct *prev,
					  const struct crit_member *member, __u32 how,
					  struct task_struct *next, __u64 time_ns)
{
	const struct switched s = { member->run_number, how, prev->pid, 0, member->tag, time_ns };

	set_switch(&r->switched, &s);
	name_taker(r, next);
}

/* Like emit_switch, when a stranger gets a CPU that members wait for. */
static __noinline void emit_preempted(struct task_struct *prev, struct crit_member *member,
				      __u32 how, struct task_struct *next, __u64 time_ns)
{
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_preempted *r = open_record(ring, member->run_number, sizeof(*r));

	if (!r)
		return;
	set_preempted(r, prev, member, how, next, time_ns);
	close_record(ring, r, sizeof(*r));
}

/* Likewise, with the system call that prev, which is current, blocks in. */
static __noinline void emit_blocked_taken(struct task_struct *prev, struct crit_member *member,
					  __u32 how, struct task_struct *next, __u64 time_ns)
{
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_blocked_taken *r = open_record(ring, member->run_number, sizeof(*r));

	if (!r)
		return;
	set_preempted(&r->taken, prev, member, how, next, time_ns);
	read_call(&r->call);
	close_record(ring, r, sizeof(*r));
}

/* Likewise, when a member gets a CPU from a stranger, and waited for it or others do. */
static __noinline void emit_released(struct task_struct *prev, __u32 run_number, __u32 flags,
				     struct task_struct *next)
{
	struct crit_cpu_ring *ring = ring_here();
	struct crit_kernel_preempted *r = open_record(ring, run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->switched.head, CRIT_K_SWITCH, run_number, (__u8)flags);
	r->switched.prev_tid = 0;
	r->switched.next_tid = next->pid;
	r->switched.prev_tag = 0;
	name_taker(r, prev);
	close_record(ring, r, sizeof(*r));
}

#endif
