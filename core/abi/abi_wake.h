/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Records of a thread that is woken, and of the CPU that it is to have then. */
#ifndef CRIT_ABI_WAKE_H
#define CRIT_ABI_WAKE_H

#include "core/abi/abi_kernel.h"

/* Who wakes a thread: state in WAKING. */
enum crit_waker {
	CRIT_WAKER_UNKNOWN = 0, /* not asked, or in vain; of WAKE_NEW it is the creator */
	CRIT_WAKER_MEMBER = 1, /* waker_tid */
	CRIT_WAKER_OUTSIDE = 2, /* a task outside the run */
	CRIT_WAKER_INTERRUPT = 3, /* a timer, a device: not the thread that it found */
	CRIT_WAKER_COUNT = 4
};

/*
 * From WAKING on, which is in the context of who wakes it, a thread wants a CPU.  It may come while
 * the thread is on its way to sleep: then its SWITCH away has a later stamp, blocked, and it gets a
 * CPU without another.  That is certain where the SWITCH says so, however long the thread was held
 * up; elsewhere if it is not much later.
 *
 * WAKE of older recordings comes once the thread is in a CPU's queue.
 */
#define CRIT_WOKEN_EARLY_NS 1000000u /* not much later: up to 370 us were seen */
#define CRIT_STATE_WOKEN 0x40u /* in the state of a SWITCH: threads are never parked */

struct crit_kernel_wake { /* WAKING, WAKE_NEW, WAKE */
	struct crit_kernel_head head;
	__u32 tid;
	__u32 waker_tid; /* of CRIT_WAKER_MEMBER, else 0 */
};

struct crit_kernel_migrate { /* of a thread for which a CPU is watched: head.cpu from now on */
	struct crit_kernel_head head;
	__u32 tid;
	__u32 reserved;
};

/* Was a thread that leaves a CPU, blocked, being woken?  woken_ns: its last WAKING, 0: none. */
static inline __u32 crit_wake_was_early(__u8 state, __u64 woken_ns, __u64 time_ns)
{
	return state & CRIT_STATE_WOKEN || (woken_ns && time_ns - woken_ns <= CRIT_WOKEN_EARLY_NS);
}

#ifndef __VMLINUX_H__
_Static_assert(sizeof(struct crit_kernel_wake) == 24, "wake");
_Static_assert(sizeof(struct crit_kernel_migrate) == 24, "migrate");
#endif

#endif
