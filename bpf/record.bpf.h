/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The ring of records, and the fields of tasks that records carry. */
#ifndef CRIT_RECORD_BPF_H
#define CRIT_RECORD_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/member.bpf.h"
#include "bpf/decide/sched.bpf.h"
#include "core/abi/abi_kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} records SEC(".maps");

/*
 * A function that the verifier goes through by itself, once, and not again with each state that it
 * is called in.  Its arguments are numbers: pointers to tasks cannot be passed to one before 6.9.
 */
#define VERIFIED_ONCE __attribute__((noinline))

/*
 * Never written.  The verifier does not know that it is 0, nor which of 0 and 1 a flag is that it
 * was added to: where it knew, it would go through all that follows once for each.
 */
volatile __u32 unknown_zero;

#define FORGET(flag) ((flag) |= unknown_zero & 1)

/*
 * Twice: from Linux 6.16 the ring's lock gives up after a quarter of a second, as when a hypervisor
 * takes the CPU that holds it away for so long.
 *
 * Callers test what it yields at once: where they do something else before, Linux 6.1 goes through
 * that with a record, tests it, and finds a way out on which it is 0 and not submitted.
 */
static __always_inline void *reserve(__u32 run_number, __u64 size)
{
	void *record = bpf_ringbuf_reserve(&records, size, 0);

	if (!record)
		record = bpf_ringbuf_reserve(&records, size, 0);
	if (!record)
		count_lost(run_number);
	return record;
}

static __always_inline void set_head_at(struct crit_kernel_head *head, __u16 kind, __u32 run_number,
					__u8 flags, __u64 time_ns)
{
	head->kind = kind;
	head->cpu = (__u16)bpf_get_smp_processor_id();
	head->run_slot = (__u16)run_number;
	head->flags = flags;
	head->state = 0;
	head->time_ns = time_ns;
}

static __always_inline void set_head(struct crit_kernel_head *head, __u16 kind, __u32 run_number,
				     __u8 flags)
{
	set_head_at(head, kind, run_number, flags, bpf_ktime_get_ns());
}

static __always_inline void read_comm(char *ret_comm, struct task_struct *task)
{
	(void)bpf_probe_read_kernel(ret_comm, CRIT_COMM_BYTES, task->comm);
}

/*
 * What is read rarely is read by helper: the verifier searches all of the kernel's types at every
 * load of a pointer from a task, which was two thirds of the time to load.
 *
 * Number of the task in its own pid namespace, 0 when it has none any more. */
static __always_inline __u32 ns_tid_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level;
	int nr = 0;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	(void)bpf_probe_read_kernel(&nr, sizeof(nr),
				    (void *)pid + bpf_core_field_offset(struct pid, numbers[0].nr) +
					    level * bpf_core_field_size(struct pid, numbers[0]));
	return nr;
}

static __always_inline __u64 mm_flags_of(struct mm_struct *mm)
{
	struct mm_struct___word *word = (void *)mm;
	struct mm_struct___bitmap *bitmap = (void *)mm;

	if (bpf_core_field_exists(bitmap->flags.__mm_flags))
		return BPF_CORE_READ(bitmap, flags.__mm_flags[0]);
	if (bpf_core_field_exists(word->flags))
		return BPF_CORE_READ(word, flags);
	return 0; /* an unknown layout: not dumpable */
}

/*
 * Returns the task's number; 0, and no name, where the served user may not know it.  ret_comm: at a
 * multiple of 8 bytes, as in all records.
 */
static __always_inline __u32 name_task(char *ret_comm, struct task_struct *task)
{
	__builtin_memset(__builtin_assume_aligned(ret_comm, 8), 0, CRIT_COMM_BYTES);
	if (!crit_sched_may_name(BPF_CORE_READ(task, cred, uid.val), served_uid))
		return 0;
	read_comm(ret_comm, task);
	return task->pid;
}

static __always_inline __u8 expulsion_of(struct task_struct *task, __u32 is_privileged)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	const struct cred *cred = BPF_CORE_READ(task, cred);

	return crit_sched_expulsion(BPF_CORE_READ(cred, uid.val), BPF_CORE_READ(cred, euid.val),
				    served_uid, mm ? mm_flags_of(mm) : 0, is_privileged);
}

static __always_inline bool has_prev_state(void)
{
	return bpf_core_type_exists(btf_trace_sched_switch___state);
}

static __always_inline __u32 state_now(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u32)task->state;
}

/* ctx: of sched_switch. */
static __always_inline __u8 state_at_switch(const __u64 *ctx, struct task_struct *prev)
{
	__u32 now = state_now(prev);

	return crit_sched_state(has_prev_state() ? (__u32)ctx[3] : now, now, (__u32)ctx[0] & 1);
}

#endif
