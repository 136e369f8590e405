/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Which tasks are members of which run: the maps, the counters of runs, and their look-up. */
#ifndef CRIT_MEMBER_BPF_H
#define CRIT_MEMBER_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/decide/sched.bpf.h"
#include "core/abi/abi_member.h"

#define NO_RUN (~0u)

/* Set by critd before load; dead code goes with them. */
const volatile bool has_task_storage;
const volatile __u32 served_uid;
const volatile __u32 slot_count; /* CPUs that there are, on line or not */

/* Number of keys in `registered`; critd keeps it. */
volatile __u32 registered_count;
struct crit_run_counters run_counters[CRIT_RUN_SLOTS] __attribute__((aligned(64)));

/* 1: a task with such a number has become a member, here or by critd, since there were none. */
__u8 member_tids[CRIT_MEMBER_TIDS];

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct crit_member);
} members SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct crit_member);
} members_by_tid SEC(".maps");

/* Processes some of whose threads are still outside: tgid to what they shall become. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct crit_member);
} registered SEC(".maps");

static __always_inline struct crit_run_counters *counters_of(__u32 run_number)
{
	return &run_counters[run_number & (CRIT_RUN_SLOTS - 1)];
}

static __always_inline void count_lost(__u32 run_number)
{
	__sync_fetch_and_add(&counters_of(run_number)->lost, 1);
}

static __always_inline void note_tid(__u32 tid)
{
	member_tids[tid & (CRIT_MEMBER_TIDS - 1)] = 1;
}

static __always_inline bool may_be_member(__u32 tid)
{
	return member_tids[tid & (CRIT_MEMBER_TIDS - 1)];
}

static __always_inline struct crit_member *create_member(struct task_struct *task,
							 struct crit_member *init)
{
	__u32 tid = task->pid;

	note_tid(tid);
	if (has_task_storage)
		return bpf_task_storage_get(&members, task, init, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (bpf_map_update_elem(&members_by_tid, &tid, init, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&members_by_tid, &tid);
}

static __always_inline void delete_member(struct task_struct *task)
{
	__u32 tid;

	if (has_task_storage) {
		(void)bpf_task_storage_delete(&members, task);
		return;
	}
	tid = task->pid;
	(void)bpf_map_delete_elem(&members_by_tid, &tid);
}

static struct crit_member *lookup_registered(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct crit_member *found = bpf_map_lookup_elem(&registered, &tgid);
	struct crit_member init = {};

	if (!found)
		return NULL;
	init.run_number = found->run_number;
	init.flags = found->flags;
	init.tag_offset = found->tag_offset;
	return create_member(task, &init);
}

/*
 * A number tells most strangers, without a helper.  Whether a task has storage would tell all, but
 * the verifier searches all of the kernel's types at each load of a pointer from a task.
 */
static __always_inline struct crit_member *look_up_member(struct task_struct *task)
{
	struct crit_member *member = NULL;
	__u32 tid = task->pid;

	if (may_be_member(tid) && has_task_storage)
		member = bpf_task_storage_get(&members, task, NULL, 0);
	else if (may_be_member(tid))
		member = bpf_map_lookup_elem(&members_by_tid, &tid);
	if (!member && registered_count)
		member = lookup_registered(task);
	return member;
}

/*
 * Like look_up_member, for the task that runs: one whose run is over is a member no more.  Until it
 * is seen here its records carry the old run's number, which critd drops.
 */
static __always_inline struct crit_member *look_up_living(struct task_struct *task)
{
	struct crit_member *member = look_up_member(task);

	if (!member || counters_of(member->run_number)->run_number == member->run_number)
		return member;
	delete_member(task);
	return NULL;
}

#endif
