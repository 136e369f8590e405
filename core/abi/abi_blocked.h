/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* What a SWITCH says, besides, of a thread that blocks: the system call it is in. */
#ifndef CRIT_ABI_BLOCKED_H
#define CRIT_ABI_BLOCKED_H

#include "core/abi/abi_kernel.h"

enum crit_kernel_call_flag {
	CRIT_CALL_COMPAT = 1 << 0 /* its number is not of the machine's own table: a 32-bit call */
};

/*
 * The system call that a thread blocks in: at the end of a SWITCH with the flag CALL, which has 48
 * bytes, or 72 where it names the task outside the run.
 */
struct crit_kernel_call {
	__u64 argument; /* the first */
	__u32 argument_2; /* lower half of the second */
	__s16 number; /* -1: none, it was interrupted in user mode, as by a page fault */
	__u16 flags; /* enum crit_kernel_call_flag */
};

struct crit_kernel_blocked {
	struct crit_kernel_switch switched;
	struct crit_kernel_call call;
};

struct crit_kernel_blocked_taken {
	struct crit_kernel_preempted taken;
	struct crit_kernel_call call;
};

#ifndef __VMLINUX_H__
_Static_assert(sizeof(struct crit_kernel_call) == 16, "call");
_Static_assert(sizeof(struct crit_kernel_blocked) == 48, "blocked");
_Static_assert(sizeof(struct crit_kernel_blocked_taken) == 72, "blocked, and taken");
#endif

#endif
