/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Records the kernel half puts into the BPF ring buffer, and critd copies unchanged into KERNEL
 * chunks of the recording, but for one field of the head: the ring's own head has the size, so the
 * record says there which run it is of.
 *
 * All times are CLOCK_MONOTONIC nanoseconds of the host.  Task numbers are those of the initial pid
 * namespace; ns_tid is the number in the task's own pid namespace, which is what shims know.
 */
#ifndef CRIT_ABI_KERNEL_H
#define CRIT_ABI_KERNEL_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "core/abi/abi_task.h"

#define CRIT_COMM_BYTES 16

enum crit_kernel_kind {
	CRIT_K_NONE = 0,
	CRIT_K_SWITCH = 1,
	CRIT_K_WAKE = 2, /* in older recordings; see abi_wake.h */
	CRIT_K_WAKE_NEW = 3,
	CRIT_K_FORK = 4,
	CRIT_K_EXEC = 5,
	CRIT_K_EXIT = 6,
	CRIT_K_ENROL = 7, /* a task that lived already became a member */
	CRIT_K_SAMPLE = 8, /* where a thread was when its CPU's sampling clock ticked */
	CRIT_K_STACK = 9, /* in the ring only: struct crit_kernel_stack, and the bytes */
	CRIT_K_WAKING = 10, /* somebody wakes a thread: it wants a CPU from now on */
	CRIT_K_SYSCALL = 11, /* reserved */
	CRIT_K_BLOCK_IO = 12, /* reserved */
	CRIT_K_RAN = 13, /* a thread got its CPU unseen: told when it leaves it */
	CRIT_K_OUTSIDE = 14, /* a switch between tasks outside the run */
	CRIT_K_YIELDS = 15, /* stays on CPUs that are told of together */
	CRIT_K_CAPTURE = 16, /* where a thread is that blocks: like a SAMPLE, before its SWITCH */
	CRIT_K_MIGRATE = 17, /* a thread waits for another CPU from now on */
	CRIT_K_COUNT = 18
};

enum crit_kernel_flag {
	CRIT_KF_PREV_MEMBER = 1 << 0, /* SWITCH: prev_tid belongs to the run */
	CRIT_KF_NEXT_MEMBER = 1 << 1, /* SWITCH: next_tid belongs to the run */
	CRIT_KF_TAG_STALE = 1 << 2, /* the tag could not be read; the old one still holds */
	CRIT_KF_PREEMPTED = 1 << 3, /* SWITCH: involuntary, prev stays runnable */
	CRIT_KF_IN_KERNEL = 1 << 3, /* SAMPLE: it was in the kernel */
	CRIT_KF_RUNNING = 1 << 4, /* ENROL, YIELDS: the task is on a CPU at this stamp */
	CRIT_KF_WATCHED = 1 << 4, /* SWITCH, WAKING, MIGRATE: the CPU is watched, see below */
	CRIT_KF_EXPELLED = 1 << 5, /* EXEC: the kernel half ends for this task, see state */
	CRIT_KF_LEFT_OUT = 1 << 5, /* SWITCH, OUTSIDE: others of this CPU before are left out */
	CRIT_KF_NEW_PROCESS = 1 << 6, /* FORK: not a thread of the parent's process */
	CRIT_KF_CALL = 1 << 6, /* SWITCH: prev blocks in a call; see abi_blocked.h */
	CRIT_KF_HAS_TAG = 1 << 7 /* the task has a registered tag word */
};

/*
 * state in SWITCH: 0 runnable (preempted or yielding), else the low byte of the kernel's task state
 * (1 sleeping, 2 disk sleep, 4 stopped, 8 traced, 0x10/0x20/0x80 dead; other waits read as 2), and
 * 0x40 in it (CRIT_STATE_WOKEN) where somebody was waking it already.
 * In ENROL: not 0 when the task sleeps at this stamp.  In EXEC: enum crit_expulsion.  In WAKING:
 * enum crit_waker.
 */
struct crit_kernel_head {
	__u16 kind;
	union {
		__u16 size; /* in a recording: bytes, a multiple of 8, head included */
		__u16 run_slot; /* in the ring: lowest bits of critd's run number */
	};
	__u16 cpu;
	__u8 flags; /* enum crit_kernel_flag */
	__u8 state;
	__u64 time_ns;
};
struct crit_kernel_head_2 { /* of versions 1 and 2 */
	__u8 kind;
	__u8 size;
	__u16 cpu;
	__u16 reserved;
	__u8 flags;
	__u8 state;
	__u64 time_ns;
};

struct crit_kernel_switch {
	struct crit_kernel_head head;
	__u32 prev_tid; /* 0 when not a member */
	__u32 next_tid; /* 0 when not a member */
	__u64 prev_tag;
};

/*
 * A SWITCH is longer, and names the task outside the run, when that gets the CPU of a thread that
 * stays runnable (PREV_MEMBER), and when it gives one back to a preempted thread (NEXT_MEMBER).  Of
 * other users' tasks nothing is told but that they are there: number 0, no name.
 *
 * A CPU is watched while a thread waits for it: from the preemption there (SWITCH), or since it is
 * woken (WAKING: head.cpu), with the flag WATCHED, until that thread runs, or is to have another
 * CPU (MIGRATE: head.cpu), which is watched, or not, from then on.
 * Meanwhile every switch of the CPU is a record, OUTSIDE where no thread of the run takes part, and
 * each names the task outside the run, except that a short SWITCH to a thread was from the idle
 * task.  Where threads of two runs wait for one CPU, it is watched for the first only, and never
 * for a thread whose tag says that it waits in MPI or OpenMP anyway.  Of more than 8192 OUTSIDE of
 * a CPU in a second those beyond are left out, and its next record says so (LEFT_OUT).
 */
struct crit_kernel_preempted {
	struct crit_kernel_switch switched;
	__u32 taker_tid; /* 0: hidden, or the CPU is idle (comm "swapper...") */
	__u32 taker_tgid;
	char taker_comm[CRIT_COMM_BYTES];
};

struct crit_kernel_outside {
	struct crit_kernel_head head;
	__u32 prev_tid; /* 0: hidden, or the idle task (comm "swapper...") */
	__u32 next_tid;
	char prev_comm[CRIT_COMM_BYTES];
	char next_comm[CRIT_COMM_BYTES];
};

/*
 * The SWITCH that gave a thread its CPU never came, as some kernels have it.  Its SWITCH away from
 * there follows; up to here it ran for so long, by the scheduler's own account.  That leaves out
 * what interrupts and the host took, where the kernel is set up to count these.
 */
struct crit_kernel_ran {
	struct crit_kernel_head head;
	__u32 tid;
	__u32 reserved;
	__u64 ran_ns;
};

/*
 * A thread that yields its CPU, or loses it, while it waits in MPI or OpenMP leaves and gets it
 * many times with one tag.  Its first SWITCH away is told, and from there on none, but where a CPU
 * is watched, until it leaves with another tag or not runnable, or 10 ms are over: then this comes,
 * before the SWITCH.  Up to since_ns before its stamp the thread was on CPUs for running_ns, else
 * runnable; from there on it is on a CPU if RUNNING says so, else still runnable.
 */
struct crit_kernel_yields {
	struct crit_kernel_head head;
	__u32 tid;
	__u32 count; /* of the switches away that are not told */
	__u64 running_ns;
	__u64 runnable_ns;
	__u64 since_ns;
};

struct crit_kernel_fork {
	struct crit_kernel_head head;
	__u32 parent_tid;
	__u32 parent_tgid;
	__u32 tid;
	__u32 tgid;
	__u32 ns_tid;
	__u32 reserved;
	__u64 parent_tag;
	char comm[CRIT_COMM_BYTES];
};

struct crit_kernel_exec {
	struct crit_kernel_head head;
	__u32 tid;
	__u32 old_tid; /* differs when a thread other than the leader calls exec */
	__u32 tgid;
	__u32 ns_tid;
	char comm[CRIT_COMM_BYTES];
};

struct crit_kernel_exit {
	struct crit_kernel_head head;
	__u32 tid;
	__u32 tgid;
	__u32 exit_code; /* as in task_struct: status << 8 | signal */
	__u32 reserved;
	__u64 tag;
	char comm[CRIT_COMM_BYTES];
};

struct crit_kernel_enrol {
	struct crit_kernel_head head;
	__u32 tid;
	__u32 tgid;
	__u32 ns_tid;
	__u32 parent_tgid;
	char comm[CRIT_COMM_BYTES];
};

/*
 * A member thread was on a CPU when the CPU's sampling clock ticked.  Each tick is kept with
 * probability keep / 65536, drawn anew; period_ns is the time that this tick stands for on its CPU.
 */
struct crit_kernel_sample {
	struct crit_kernel_head head; /* flags: HAS_TAG, TAG_STALE, IN_KERNEL */
	__u32 tid;
	__u32 request; /* number of the stack taken with it, its own in the run; 0: none was */
	__u64 tag; /* as in SWITCH */
	__u64 ip; /* in user mode; of the instruction behind the system call where IN_KERNEL */
	__u32 period_ns; /* drawn anew each second; 0: unknown */
	__u16 keep; /* probability times 65536; 0 stands for 1 */
	__u16 active; /* the kernel half's count of active threads, at the last drain; 0: unknown */
};

#define CRIT_STACK_BYTES_MAX (31u << 10)
/* In the ring, before its SAMPLE or CAPTURE: then the bytes from sp upward.  See abi_stacks.h. */
struct crit_kernel_stack {
	struct crit_kernel_head head;
	__u32 tid;
	__u32 request; /* as in the SAMPLE */
	__u32 pid;
	__u32 stack_bytes;
	__u64 ip; /* these four: of user mode */
	__u64 sp;
	__u64 bp;
	__u64 lr; /* of arm64: x30, which has the return address of a function that calls none */
};
#define CRIT_KERNEL_RECORD_MAX 65528 /* bytes */

#ifndef __VMLINUX_H__
_Static_assert(sizeof(struct crit_kernel_head) == 16, "kernel head");
_Static_assert(sizeof(struct crit_kernel_head_2) == 16, "kernel head of version 2");
_Static_assert(__builtin_offsetof(struct crit_kernel_head, size) == 2, "size");
_Static_assert(__builtin_offsetof(struct crit_kernel_head, run_slot) == 2, "run in place of size");
_Static_assert(__builtin_offsetof(struct crit_kernel_head, cpu) == 4, "cpu");
_Static_assert(__builtin_offsetof(struct crit_kernel_head, flags) == 6, "flags");
_Static_assert(__builtin_offsetof(struct crit_kernel_head, time_ns) == 8, "stamp");
_Static_assert(sizeof(struct crit_kernel_switch) == 32, "switch");
_Static_assert(sizeof(struct crit_kernel_preempted) == 56, "taken");
_Static_assert(sizeof(struct crit_kernel_outside) == 56, "outside");
_Static_assert(sizeof(struct crit_kernel_ran) == 32, "ran");
_Static_assert(sizeof(struct crit_kernel_yields) == 48, "yields");
_Static_assert(sizeof(struct crit_kernel_fork) == 64, "fork");
_Static_assert(sizeof(struct crit_kernel_exec) == 48, "exec");
_Static_assert(sizeof(struct crit_kernel_exit) == 56, "exit");
_Static_assert(sizeof(struct crit_kernel_enrol) == 48, "enrol");
_Static_assert(sizeof(struct crit_kernel_sample) == 48, "sample");
_Static_assert(sizeof(struct crit_kernel_stack) == 64, "stack");
#endif

#endif
