/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Tells what a task does from what interrupts do on its CPU. */
#ifndef CRIT_INTERRUPT_BPF_H
#define CRIT_INTERRUPT_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/decide/sched.bpf.h"
#include "bpf/registers.bpf.h"

#if defined(__TARGET_ARCH_arm64)
#define IN_INTERRUPT 0xff0100u /* in preempt_count: NMIs, interrupts, and a softirq that runs */

/*
 * Is the current task only what an interrupt found?  Softirqs run on its stack before 6.1, so its
 * count of what interrupts it says that.  context: the program's.
 */
static __always_inline bool is_interrupt(const __u64 *context, struct task_struct *current)
{
	(void)context;
	return (__u32)current->thread_info.preempt_count & IN_INTERRUPT;
}
#else
static __always_inline bool is_system_call(struct task_struct *current)
{
	return (long)((struct pt_regs *)bpf_task_pt_regs(current))->orig_ax >= 0;
}

/*
 * Is the current task only what an interrupt found?  Then the hook's arguments lie on a stack that
 * is not the task's; or it was interrupted in user mode, where x86 stays on the task's stack and a
 * page fault looks the same.  context: the program's, which points to the arguments.
 */
static __always_inline bool is_interrupt(const __u64 *context, struct task_struct *current)
{
	__u64 at = (__u64)context - (__u64)current;

	/* the difference of two pointers is a number to the verifier, a pointer is none */
	asm volatile("" : "+r"(at));
	at += bpf_get_current_task();
	if (at - (__u64)current->stack >= KERNEL_STACK_BYTES)
		return true;
	return !(current->flags & CRIT_PF_KTHREAD) && !is_system_call(current);
}
#endif

#endif
