/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The kernel types crit reads, field by field; CO-RE finds the real offsets at load time.  Fields
 * of several versions share a type where they can: libbpf searches all types for each of ours.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
	kuid_t suid;
	kuid_t euid;
};

struct mm_struct;

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

#if defined(__TARGET_ARCH_arm64)
struct thread_uw {
	unsigned long tp_value;
};
struct thread_struct {
	struct thread_uw uw;
};
#define THREAD_POINTER thread.uw.tp_value
#else
struct thread_struct {
	unsigned long fsbase;
};
#define THREAD_POINTER thread.fsbase
#endif

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct thread_info {
#if defined(__TARGET_ARCH_arm64)
	__u64 preempt_count;
#else
	__u32 status; /* of x86 */
#endif
	__u32 cpu;
};

struct pt_regs {
	unsigned long orig_ax; /* x86 */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int cpu; /* before 5.16, not in thread_info */
	unsigned int __state;
	long state; /* its name before 5.14 */
	unsigned int flags;
	int pid;
	int tgid;
	int exit_code;
	void *stack;
	struct sched_entity se;
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct pid *thread_pid;
	const struct cred *cred;
	char comm[16];
	struct thread_struct thread;
};

/* mm->flags: one word until 6.17, a bitmap in a type of its own since. */
struct mm_struct___word {
	unsigned long start_stack; /* in both; libbpf takes its time for each type */
	unsigned long flags;
};

struct mm_flags_bitmap {
	unsigned long __mm_flags[1];
};

struct mm_struct___bitmap {
	struct mm_flags_bitmap flags;
};

struct linux_binprm {
	unsigned int secureexec : 1;
};

/* What sched_switch passes since 5.18, or a backport of that; before, prev_state is missing. */
typedef void (*btf_trace_sched_switch___state)(void *context, bool preempt,
					       struct task_struct *prev, struct task_struct *next,
					       unsigned int prev_state);

#pragma clang attribute pop

#endif
