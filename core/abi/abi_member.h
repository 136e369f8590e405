/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What the kernel half keeps per member task and per run, shared between bpf/ and critd in memory
 * only; nothing of it reaches a recording.
 */
#ifndef CRIT_ABI_MEMBER_H
#define CRIT_ABI_MEMBER_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define CRIT_RUN_SLOTS 1024u /* runs one critd can hold side by side; a power of two */

enum crit_member_flag {
	CRIT_MF_HAS_TAG = 1 << 0, /* tag_offset is valid */
	CRIT_MF_UNVERIFIED = 1 << 1, /* enrolled from user space, credentials not yet checked */
	CRIT_MF_NEW = 1 << 2, /* ENROL is due at first sight */
	CRIT_MF_ASLEEP = 1 << 3, /* critd wrote ENROL for a sleeping task; due only if it ran */
	CRIT_MF_FORKED = 1 << 4, /* born a member: counted in live_forked */
	CRIT_MF_EXITED = 1 << 5,
	CRIT_MF_PREEMPTED = 1 << 6, /* lost its CPU, and has not got it back */
	CRIT_MF_ON_CPU = 1 << 7, /* was seen to get its CPU */
	CRIT_MF_WAITS = 1 << 8, /* its CPU is watched until it runs */
	CRIT_MF_OWN_MM = 1 << 9 /* last left a CPU with the address space that was verified */
};

/* Value of the maps `members`, `members_by_tid` and `registered`. */
struct crit_member {
	__u32 run_number; /* of the run it belongs to; its lowest bits are the slot */
	__u32 flags; /* enum crit_member_flag */
	__s64 tag_offset; /* tag word minus thread pointer */
	__u64 tag; /* last one read */
	__u64 mm; /* the address space whose owner was verified */
	__u64 ran_ns; /* CPU time when it last left a CPU */
	__u32 cpu; /* it waits for */
	__u32 yield_count; /* switches away since yields_ns that are not told of */
	__u64 yields_ns; /* left its CPU then, and has yielded since; 0: does not */
	__u64 yield_mark_ns; /* last left or got a CPU */
	__u64 yield_running_ns; /* on CPUs, between yields_ns and yield_mark_ns */
	__u64 captured_ns; /* a stack was wanted then where it blocked, whatever was drawn */
	__u16 is_active; /* counted as one that has work to do */
	__u16 reserved;
	__u32 blocked_jiffies; /* the kernel's time when it last blocked, lower half */
};

#define CRIT_MEMBER_TIDS 65536u /* how many numbers of tasks are told apart; a power of two */
#define CRIT_WATCHED_CPUS 8192u /* the most a kernel can have; a power of two */

struct crit_watched_cpu {
	__u32 run_number; /* of the members that wait for it */
	__s32 here; /* more began to wait for it than ceased to, by its own doing */
	__s32 elsewhere; /* by that of all others */
	__u32 is_left_out; /* one OUTSIDE was, since the last record of this CPU */
	__u64 since_ns; /* OUTSIDE records are counted since then */
	__u32 outside_count;
	__u32 reserved;
};

/* Per run slot, written by BPF with atomic adds, read by critd through the mapped .bss. */
struct crit_run_counters {
	__u64 lost; /* records that found the ring full */
	__s64 live_forked; /* living members that were born as such */
	__u64 lost_members; /* children whose membership could not be stored */
	__u32 run_number; /* which run has the slot, 0: none; members of others are none */
	__u32 is_sampled; /* written by critd */
	__u32 stack_budget; /* likewise: CRIT_SAMPLE_BUDGET; 0: no stacks */
	__u32 reserved_0;
	__u64 reserved_1[3];

	/* On a line of its own: every CPU reads the one above at each switch of a member. */
	__u64 counted_ns;
	__s32 active_count; /* members that had work to do then */
	__u32 reserved_2;
	__u64 stacks_refused; /* samples without one, as the budget is used up or the ring full */
	__u64 reserved_3[5];
};

#ifndef __VMLINUX_H__
_Static_assert(sizeof(struct crit_member) == 88, "member");
_Static_assert(sizeof(struct crit_watched_cpu) == 32, "watched CPU");
_Static_assert(sizeof(struct crit_run_counters) == 128, "run counters");
#endif

#endif
