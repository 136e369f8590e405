/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and attaches the kernel half, and speaks to its maps. */
#ifndef CRIT_COLLECTOR_KERNEL_HALF_H
#define CRIT_COLLECTOR_KERNEL_HALF_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/source/kernel_object.h"
#include "collector/source/kernel_rings.h"
#include "collector/source/source.h"
#include "core/abi/abi_member.h"
#include "core/base/err.h"

struct crit_kernel {
	struct crit_kernel_object object;
	struct crit_kernel_rings rings;
	uint32_t run_count; /* that have a slot */
	bool has_had_runs;
	bool has_task_storage;
	bool has_pidfd_thread;
};

/*
 * Loads, attaches and maps everything.  Ownership: kernel is the caller's memory, closed by
 * crit_kernel_close (which accepts a zeroed or half-opened one).
 * Errors: -errno of the step that failed, with the reason in err; needs CAP_BPF and CAP_PERFMON.
 * A kernel that refuses no more than the program of the sampling clock goes without that.
 * Cost: that of crit_kernel_object_load, and 2 ms to attach.
 */
int crit_kernel_open(struct crit_kernel *kernel, const struct crit_source_options *options,
		     struct crit_err *err);

void crit_kernel_close(struct crit_kernel *kernel);

/* The counters of a run: lost records, living members.  Threads: BPF adds atomically. */
struct crit_run_counters *crit_kernel_counters(const struct crit_kernel *kernel,
					       uint32_t run_number);

/* Gives a run its slot; takes it away: tasks that are still members then are none any more. */
void crit_kernel_begin_run(struct crit_kernel *kernel, uint32_t run_number, bool is_sampled,
			   uint32_t stack_budget);
void crit_kernel_end_run(struct crit_kernel *kernel, uint32_t run_number);

/*
 * Looks up or sets what a thread is a member of, or adds a thread that is none yet.
 * Errors: -ENOENT no member, -EEXIST it is one already, -ESRCH no such task, -EINVAL the kernel has
 * no pidfd for a thread that leads no process.
 */
int crit_kernel_member_get(const struct crit_kernel *kernel, uint32_t tid, struct crit_member *ret);
int crit_kernel_member_set(const struct crit_kernel *kernel, uint32_t tid,
			   const struct crit_member *member);
int crit_kernel_member_add(const struct crit_kernel *kernel, uint32_t tid,
			   const struct crit_member *member);

/* Does this thread live as a member of the run?  Also true where the kernel does not tell. */
bool crit_kernel_is_member(const struct crit_kernel *kernel, uint32_t tid, uint32_t run_number);

/* Does what must go on working after privileges are dropped.  Errors: -EPERM. */
int crit_kernel_try_maps(const struct crit_kernel *kernel);

/* Adds or removes a process whose threads BPF shall enrol at their next switch. */
int crit_kernel_register_tgid(const struct crit_kernel *kernel, uint32_t tgid,
			      const struct crit_member *member);
void crit_kernel_forget_tgid(const struct crit_kernel *kernel, uint32_t tgid);

#endif
