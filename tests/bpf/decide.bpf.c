// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
// Runs the kernel half's decisions inside the kernel, on arguments from user space.
#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/decide/sched.bpf.h"

struct decide_arguments {
	__u32 prev_state;
	__u32 state_now;
	__u32 is_preempted;
	__u32 uid;
	__u32 euid;
	__u32 served_uid;
	__u64 mm_flags;
	__u32 is_privileged;
	__u32 ret_state;
	__u32 ret_expulsion;
	__u32 active;
	__u64 tag;
	__u32 cpu_count;
	__u32 ret_keep;
};

SEC("syscall")
int decide(struct decide_arguments *a)
{
	a->ret_state = crit_sched_state(a->prev_state, a->state_now, a->is_preempted);
	a->ret_expulsion =
		crit_sched_expulsion(a->uid, a->euid, a->served_uid, a->mm_flags, a->is_privileged);
	a->ret_keep = crit_sample_keep(a->tag, a->active, a->cpu_count);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
