/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Where the current task goes on in user mode, and the system call that it is in. */
#ifndef CRIT_REGISTERS_BPF_H
#define CRIT_REGISTERS_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/decide/sched.bpf.h"
#include "core/abi/abi_blocked.h"
#include "core/abi/abi_kernel.h"

/* Words of the registers as ptrace(2) has them, with which the kernel's own begin. */
#if defined(__TARGET_ARCH_arm64)
#define WORD_BP 29 /* x29 */
#define WORD_LR 30 /* x30 */
#define WORD_SP 31
#define WORD_IP 32
#define WORD_MODE 33 /* pstate */
#define IS_USER_MODE(word) ((0xf & (word)) == 0)
#define WORD_ARGUMENT 34 /* orig_x0 */
#define WORD_ARGUMENT_2 1
#define WORD_CALL 35 /* in its lower half */
#define MODE_COMPAT 0x10u /* in pstate: AArch32 */
#elif defined(__TARGET_ARCH_x86)
#define WORD_BP 4
#define WORD_IP 16
#define WORD_MODE 17 /* cs */
#define WORD_SP 19
#define IS_USER_MODE(word) ((3 & (word)) != 0)
#define WORD_ARGUMENT 14 /* di */
#define WORD_ARGUMENT_2 13
#define WORD_CALL 15 /* orig_ax: -1 where it was no system call that entered the kernel */
#define WORDS 21
#define KERNEL_STACK_BYTES 16384 /* no kernel without KASAN has others */
#else
#error "this architecture: which words of the registers say the address and the mode?"
#endif

/* Set by critd before load: the kernel says where a task's registers lie. */
const volatile bool has_task_registers;

struct user_registers {
	__u64 ip; /* these: 0 where it is not known */
	__u64 sp;
	__u64 bp;
#if defined(WORD_LR)
	__u64 lr;
#endif
};

static __always_inline __u64 read_word(const __u64 *registers, __u32 word)
{
	__u64 value = 0;

	(void)bpf_probe_read_kernel(&value, sizeof(value), registers + word);
	return value;
}

/* Those that the kernel saved at its entry. */
static __always_inline void read_saved(struct user_registers *ret_user)
{
	const __u64 *registers = NULL;

	if (has_task_registers)
		registers = (const __u64 *)bpf_task_pt_regs(bpf_get_current_task_btf());
#if defined(WORDS)
	else
		registers = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), stack) +
			    KERNEL_STACK_BYTES - WORDS * sizeof(*registers);
#endif
	ret_user->ip = registers ? read_word(registers, WORD_IP) : 0;
	ret_user->sp = registers ? read_word(registers, WORD_SP) : 0;
	ret_user->bp = registers ? read_word(registers, WORD_BP) : 0;
#if defined(WORD_LR)
	ret_user->lr = registers ? read_word(registers, WORD_LR) : 0;
#endif
}

#if defined(__TARGET_ARCH_arm64)
static __always_inline bool is_compat(struct task_struct *task, __u32 number)
{
	(void)number;
	return *((const __u64 *)bpf_task_pt_regs(task) + WORD_MODE) & MODE_COMPAT;
}
#else
#define X32_CALL 0x40000000u /* in the number of a call */
#define STATUS_COMPAT 2u /* TS_COMPAT of x86: in a call of 32 bits */

static __always_inline bool is_compat(struct task_struct *task, __u32 number)
{
	if (number != ~0u && (number & X32_CALL))
		return true;
	return bpf_core_field_exists(task->thread_info.status) &&
	       (task->thread_info.status & STATUS_COMPAT);
}
#endif

/* The system call that current is in; only where has_task_registers. */
static __always_inline void read_call(struct crit_kernel_call *ret_call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const __u64 *registers = (const __u64 *)bpf_task_pt_regs(task);
	const __u32 number = *(const __u32 *)&registers[WORD_CALL];

	ret_call->argument = registers[WORD_ARGUMENT];
	ret_call->argument_2 = (__u32)registers[WORD_ARGUMENT_2];
	ret_call->number = (__s16)number;
	ret_call->flags = is_compat(task, number) ? CRIT_CALL_COMPAT : 0;
}

/* interrupted: what the clock interrupted.  Returns false when that was in the kernel. */
static __always_inline bool read_registers(const __u64 *interrupted,
					   struct user_registers *ret_user)
{
	if (!IS_USER_MODE(interrupted[WORD_MODE])) {
		read_saved(ret_user);
		return false;
	}
	ret_user->ip = interrupted[WORD_IP];
	ret_user->sp = interrupted[WORD_SP];
	ret_user->bp = interrupted[WORD_BP];
#if defined(WORD_LR)
	ret_user->lr = interrupted[WORD_LR];
#endif
	return true;
}

static __always_inline void tell_registers(const struct user_registers *user,
					   struct crit_kernel_stack *ret_stack)
{
	ret_stack->ip = user->ip;
	ret_stack->sp = user->sp;
	ret_stack->bp = user->bp;
#if defined(WORD_LR)
	ret_stack->lr = user->lr;
#endif
}

#endif
