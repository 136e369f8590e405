/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Admits and expels members: checks a task when it is first seen, reads tags. */
#ifndef CRIT_ADMIT_BPF_H
#define CRIT_ADMIT_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/active.bpf.h"
#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"
#include "core/abi/abi_kernel.h"
#include "core/abi/abi_member.h"

/* critd drains the ring seldom, and is woken by what it must know of sooner. */
volatile __u32 is_drained_seldom;

static __always_inline void emit_exec(struct task_struct *task, __u32 run_number, __u32 old_tid,
				      __u8 flags, __u8 expulsion)
{
	struct crit_kernel_exec *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_EXEC, run_number, flags);
	r->head.state = expulsion;
	r->tid = task->pid;
	r->old_tid = old_tid;
	r->tgid = task->tgid;
	r->ns_tid = ns_tid_of(task);
	read_comm(r->comm, task);
	/* a short program is gone soon, and its memory map with it */
	bpf_ringbuf_submit(r, is_drained_seldom ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void emit_enrol(struct task_struct *task, __u32 run_number, __u8 flags)
{
	struct crit_kernel_enrol *r = reserve(run_number, sizeof(*r));

	if (!r)
		return;
	set_head(&r->head, CRIT_K_ENROL, run_number, flags);
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->ns_tid = ns_tid_of(task);
	r->parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
	read_comm(r->comm, task);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* One that is born of a member: init says so, but critd may have found it before. */
static __always_inline struct crit_member *create_born(struct task_struct *task,
						       struct crit_member *init)
{
	struct crit_member *born = create_member(task, init);

	if (born)
		born->flags |= CRIT_MF_FORKED;
	return born;
}

static __always_inline void expel(struct task_struct *task, struct crit_member *member,
				  __u32 old_tid, __u8 expulsion)
{
	__u32 run_number = member->run_number;
	__u32 tgid = task->tgid;

	if (member->flags & CRIT_MF_FORKED)
		__sync_fetch_and_add(&counters_of(run_number)->live_forked, -1);
	set_active(member, 0);
	emit_exec(task, run_number, old_tid, CRIT_KF_EXPELLED, expulsion);
	delete_member(task);
	/* else its process's entry makes it a member again at once */
	if (bpf_map_delete_elem(&registered, &tgid) == 0)
		__sync_fetch_and_add(&registered_count, -1);
}

/*
 * First sight of a task that critd enrolled, in the task's own context when is_current.  The
 * credentials are those of now, so a task that became somebody else between its registration and
 * this moment is expelled, and its memory never read.  Returns 0 when it is no member any more.
 */
static __noinline int admit(struct task_struct *task, struct crit_member *member, int is_current)
{
	__u32 flags = member->flags;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u8 expulsion = expulsion_of(task, 0);

	if (!mm) { /* on its last way out: nothing to read, nobody to expel */
		member->flags = flags & ~CRIT_MF_HAS_TAG;
	} else if (expulsion) {
		expel(task, member, task->pid, expulsion);
		return 0;
	}
	if ((flags & CRIT_MF_NEW) || ((flags & CRIT_MF_ASLEEP) && is_current))
		emit_enrol(task, member->run_number, is_current ? CRIT_KF_RUNNING : 0);
	flags &= ~(CRIT_MF_NEW | CRIT_MF_ASLEEP);
	if (is_current) {
		member->mm = (__u64)mm;
		flags &= ~CRIT_MF_UNVERIFIED;
		flags |= CRIT_MF_ON_CPU; /* since when, nobody knows */
	}
	member->flags = flags;
	return 1;
}

#define FIRST_SIGHT (CRIT_MF_UNVERIFIED | CRIT_MF_NEW | CRIT_MF_ASLEEP)

/*
 * Reads the tag of current, the last one where that fails.  Its address space, mm, must be the one
 * that was verified: between the point where exec installs a new one and on_sched_process_exec,
 * nothing is read.
 */
static __always_inline __u8 read_tag(__u64 thread_pointer, const struct mm_struct *mm,
				     const struct crit_member *member, __u64 *ret_tag)
{
	*ret_tag = member->tag;
	if (!(member->flags & CRIT_MF_HAS_TAG))
		return 0;
	if ((__u64)mm != member->mm || (member->flags & CRIT_MF_UNVERIFIED) ||
	    bpf_probe_read_user(ret_tag, sizeof(*ret_tag),
				(void *)(thread_pointer + member->tag_offset))) {
		*ret_tag = member->tag;
		return CRIT_KF_HAS_TAG | CRIT_KF_TAG_STALE;
	}
	return CRIT_KF_HAS_TAG;
}

/* The verifier, which follows each branch, forgets this one: it does not know what maps hold. */
static __always_inline void note_mm(const struct mm_struct *mm, struct crit_member *member)
{
	member->flags &= ~CRIT_MF_OWN_MM;
	if ((__u64)mm == member->mm)
		member->flags |= CRIT_MF_OWN_MM;
}

static __always_inline __u8 refresh_tag(struct task_struct *task, const struct mm_struct *mm,
					struct crit_member *member)
{
	__u64 tag;
	__u8 flags = read_tag(task->THREAD_POINTER, mm, member, &tag);

	member->tag = tag;
	return flags;
}

#endif
