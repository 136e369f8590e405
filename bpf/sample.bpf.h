/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The sampling clock of a CPU ticks: where in its code is the member that runs there? */
#ifndef CRIT_SAMPLE_BPF_H
#define CRIT_SAMPLE_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/active.bpf.h"
#include "bpf/admit.bpf.h"
#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/decide/sched.bpf.h"
#include "bpf/stack.bpf.h"

/* Set by critd before load: CPUs that are online, and 65535 at most. */
const volatile __u32 cpu_count;

/* Time between two ticks of each CPU; critd writes it with each new period of a clock. */
__u32 sample_periods_ns[CRIT_WATCHED_CPUS];

/* The member that runs, if its run has samples; not before it was verified, nor after its EXIT. */
static __always_inline struct crit_member *look_up_sampled(void)
{
	struct crit_run_counters *counters;
	struct crit_member *member;
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (!may_be_member(tid))
		return NULL;
	if (has_task_storage)
		member = bpf_task_storage_get(&members, bpf_get_current_task_btf(), NULL, 0);
	else
		member = bpf_map_lookup_elem(&members_by_tid, &tid);
	if (!member || (member->flags & (CRIT_MF_UNVERIFIED | CRIT_MF_EXITED)))
		return NULL;
	counters = counters_of(member->run_number);
	return counters->run_number == member->run_number && counters->is_sampled ? member : NULL;
}

/* ctx has the registers of what the tick interrupted. */
SEC("perf_event")
int on_cpu_clock(__u64 *ctx)
{
	struct crit_member *member = look_up_sampled();
	struct user_registers user;
	struct task_struct *task;
	struct mm_struct *mm;
	struct crit_kernel_sample *r;
	__u16 active, keep;
	__u32 request;
	__u64 tag;
	__u8 flags;

	if (!member)
		return 0;
	task = (void *)bpf_get_current_task();
	mm = BPF_CORE_READ(task, mm);
	flags = read_tag(BPF_CORE_READ(task, THREAD_POINTER), mm, member, &tag);
	set_active(member, crit_sample_is_active(0, tag));
	active = crit_sample_active(active_threads(member->run_number));
	keep = crit_sample_keep(tag, active, cpu_count);
	if (!crit_sample_is_kept(keep, bpf_get_prandom_u32()))
		return 0;
	if (!read_registers(ctx, &user))
		flags |= CRIT_KF_IN_KERNEL;
	request = mm && (__u64)mm == member->mm ? take_stack(member->run_number, mm, &user, 0) : 0;
	r = reserve(member->run_number, sizeof(*r));
	if (!r)
		return 0;
	set_head(&r->head, CRIT_K_SAMPLE, member->run_number, flags);
	r->tid = (__u32)bpf_get_current_pid_tgid();
	r->request = request;
	r->tag = tag;
	r->ip = user.ip;
	r->period_ns = sample_periods_ns[r->head.cpu & (CRIT_WATCHED_CPUS - 1)];
	r->keep = keep;
	r->active = active;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Copies the stack of current, which blocks with its own memory; keep: its probability. */
VERIFIED_ONCE int emit_capture(__u32 run_number, __u16 keep, __u64 tag, __u64 time_ns)
{
	struct crit_kernel_sample *r;
	struct user_registers user;
	struct mm_struct *mm;
	__u32 request;

	if (has_enough_blocks(run_number, time_ns))
		return 0;
	mm = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm);
	read_saved(&user);
	request = take_stack(run_number, mm, &user, 1);
	if (!request)
		return 0;
	r = reserve(run_number, sizeof(*r));
	if (!r)
		return 0;
	set_head_at(&r->head, CRIT_K_CAPTURE, run_number, CRIT_KF_IN_KERNEL, time_ns);
	r->tid = (__u32)bpf_get_current_pid_tgid();
	r->request = request;
	r->tag = tag;
	r->ip = user.ip;
	r->period_ns = 0;
	r->keep = keep;
	r->active = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Is this the member's first block in CRIT_CAPTURE_NS? */
static __always_inline bool is_first_block(struct crit_member *member, __u64 now_ns)
{
	const __u32 jiffies = (__u32)bpf_jiffies64();

	if (jiffies == member->blocked_jiffies)
		return false;
	member->blocked_jiffies = jiffies;
	if (now_ns - member->captured_ns < CRIT_CAPTURE_NS)
		return false;
	member->captured_ns = now_ns;
	return true;
}

/* The member, which is current, blocks: is its way there to be known? */
static __always_inline void capture_block(struct crit_member *member, __u64 now_ns)
{
	if (!counters_of(member->run_number)->stack_budget)
		return;
	if (is_first_block(member, now_ns))
		emit_capture(member->run_number, 0, member->tag, now_ns);
	else if (crit_capture_is_drawn(now_ns))
		emit_capture(member->run_number, 65536u / CRIT_CAPTURE_OTHERS, member->tag, now_ns);
}

#endif
