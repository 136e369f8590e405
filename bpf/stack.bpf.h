/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Copies what the current task has on its stack, so that its callers can be told.
 *
 * Each CPU has a slot, as a copy is too large for the stack of BPF and for a per-CPU value, and a
 * credit of time there, which copies use up.
 */
#ifndef CRIT_STACK_BPF_H
#define CRIT_STACK_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/decide/credit.bpf.h"
#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/decide/sched.bpf.h"

#define PIECE_BYTES 4096ull /* at most; none crosses a page: a piece is there or is not */

struct stack_slot {
	struct crit_stack_credit credit;
	__u32 copy_count;
	__u32 reserved;
	struct crit_kernel_stack stack;
	__u8 bytes[CRIT_STACK_BYTES_MAX + 2 * PIECE_BYTES]; /* just behind it, as in the ring */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* critd sets it */
	__type(key, __u32);
	__type(value, struct stack_slot);
} stack_slots SEC(".maps");

/*
 * Bytes from sp on that may be wanted.  Above a program's first frame lies its environment, and
 * above that of a thread what its thread pointer points at: C libraries put it into the memory of
 * the stack, where other stacks may follow.
 */
static __always_inline __u64 wanted_bytes(struct mm_struct *mm, __u64 sp)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const __u64 program = BPF_CORE_READ((struct mm_struct___word *)mm, start_stack) - sp;
	const __u64 thread = BPF_CORE_READ(task, THREAD_POINTER) - sp;
	const __u64 wanted = program < thread ? program : thread; /* of what lies below, immense */

	return wanted < CRIT_STACK_BYTES_MAX ? wanted : CRIT_STACK_BYTES_MAX;
}

/*
 * Up to the first piece that is not in memory.  The middle pieces have one size, or the verifier
 * would follow each of two ways through each of them.
 */
static __always_inline __u64 copy_stack(struct stack_slot *slot, __u64 sp, __u64 wanted)
{
	__u64 first = PIECE_BYTES - (sp & (PIECE_BYTES - 1));
	__u64 done, rest;

	if (first > wanted)
		first = wanted;
	barrier_var(first); /* or the compiler leaves out what only the verifier needs */
	if (first > PIECE_BYTES || bpf_probe_read_user(slot->bytes, first, (void *)sp))
		return 0;
	done = first;
	for (__u32 i = 0; i < CRIT_STACK_BYTES_MAX / PIECE_BYTES; i++) {
		if (wanted - done < PIECE_BYTES)
			break;
		if (bpf_probe_read_user(slot->bytes + done, PIECE_BYTES, (void *)(sp + done)))
			return done;
		done += PIECE_BYTES;
	}
	rest = wanted - done;
	barrier_var(rest);
	if (rest >= PIECE_BYTES ||
	    bpf_probe_read_user(slot->bytes + done, rest, (void *)(sp + done)))
		return done;
	return done + rest;
}

/* Puts the slot's copy into the ring.  Returns its number, or 0. */
static __always_inline __u32 put_stack(struct stack_slot *slot, __u32 cpu)
{
	/* read again: so the verifier goes on once, not for each way out of the copying */
	const __u64 bytes = *(volatile __u32 *)&slot->stack.stack_bytes;

	slot->stack.request = slot->copy_count++ * slot_count + cpu + 1;
	if (bytes > CRIT_STACK_BYTES_MAX ||
	    bpf_ringbuf_output(&records, &slot->stack, sizeof(slot->stack) + bytes,
			       BPF_RB_NO_WAKEUP))
		return 0;
	return slot->stack.request;
}

/* The number of copies of blocks is used up; what time there is, is asked for later. */
static __always_inline __u32 has_enough_blocks(__u32 run_number, __u64 now_ns)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	const struct stack_slot *slot = bpf_map_lookup_elem(&stack_slots, &cpu);

	if (!slot || slot->credit.block_ns <= now_ns)
		return 0;
	__sync_fetch_and_add(&counters_of(run_number)->stacks_refused, 1);
	return 1;
}

/*
 * Copies the stack of current, if its run wants that.  mm: the memory that was verified, unless it
 * is closed to its owner now: who takes other credentials, or asks for that by prctl(2), closes it.
 * Returns the copy's number, or 0.
 */
static __always_inline __u32 take_stack(__u32 run_number, struct mm_struct *mm,
					const struct user_registers *user, __u32 is_block)
{
	struct crit_run_counters *counters = counters_of(run_number);
	const __u32 cpu = bpf_get_smp_processor_id();
	const __u64 pid_tid = bpf_get_current_pid_tgid();
	struct stack_slot *slot;
	__u32 request = 0;

	if (!counters->stack_budget || !crit_sched_is_readable(served_uid, mm_flags_of(mm)))
		return 0;
	slot = bpf_map_lookup_elem(&stack_slots, &cpu);
	if (!slot)
		return 0;
	set_head(&slot->stack.head, CRIT_K_STACK, run_number, 0);
	crit_stack_earn(&slot->credit, slot->stack.head.time_ns, counters->stack_budget);
	if (crit_stack_is_affordable(&slot->credit, is_block) &&
	    (!is_block || crit_stack_take_block(&slot->credit, slot->stack.head.time_ns))) {
		slot->stack.tid = (__u32)pid_tid;
		slot->stack.pid = (__u32)(pid_tid >> 32);
		tell_registers(user, &slot->stack);
		slot->stack.stack_bytes =
			(__u32)copy_stack(slot, user->sp, wanted_bytes(mm, user->sp));
		request = put_stack(slot, cpu);
		crit_stack_pay(&slot->credit,
			       (__s64)(bpf_ktime_get_ns() - slot->stack.head.time_ns), is_block);
	}
	if (!request)
		__sync_fetch_and_add(&counters->stacks_refused, 1);
	return request;
}

#endif
