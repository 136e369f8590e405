/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the processes of a run and their threads; built by the index pass. */
#ifndef CRIT_PROCESSES_H
#define CRIT_PROCESSES_H

#include "analysis/model/model.h"
#include "core/abi/abi_kernel.h"

/*
 * Uses of one number that are looked back on: CRIT_THREADS_MAX over Linux' 32768 numbers, doubled.
 */
#define CRIT_USES_MAX 256u

struct crit_birth {
	uint32_t tgid;
	uint32_t ns_tid;
	uint32_t parent_pid;
	bool is_new; /* certainly not a thread of a process we know */
};

/* A thread began: finds or makes its process and the name shims know it by.  Errors: -ENOMEM. */
int crit_process_thread_began(struct crit_model *model, uint32_t thread,
			      const struct crit_birth *birth);

/* A thread called exec, perhaps under another number than before.  Errors: -ENOMEM. */
int crit_process_thread_execed(struct crit_model *model, uint32_t thread,
			       const struct crit_kernel_exec *record, bool is_adopted);

/* A thread's exit record names it and, were it adopted, its process.  Errors: -ENOMEM. */
int crit_process_thread_named(struct crit_model *model, uint32_t thread,
			      const struct crit_kernel_exit *record);

void crit_process_thread_ended(struct crit_model *model, uint32_t thread, uint64_t time_ns);

/*
 * Adds a process that lives since begin_ns.  Errors: -ENOMEM, or its index (bounded by the file's
 * size).
 */
int64_t crit_process_add(struct crit_model *model, uint32_t node, uint32_t pid, uint64_t begin_ns);

/*
 * The process with this pid that lived at time_ns or was the next to be born; CRIT_NONE, also when
 * the number was used CRIT_USES_MAX times since.
 */
uint32_t crit_process_find(const struct crit_model *model, uint32_t node, uint32_t pid,
			   uint64_t time_ns);

/* The newest process with this pid that registered; CRIT_NONE likewise. */
uint32_t crit_process_find_registered(const struct crit_model *model, uint32_t node, uint32_t pid);

/* The same for the thread with this (pid, number in its own namespace). */
uint32_t crit_process_find_thread(const struct crit_model *model, uint32_t node, uint32_t pid,
				  uint32_t ns_tid, uint64_t time_ns);

/*
 * Files a thread under (its tgid, ns_tid), so that crit_process_find_thread sees it.  Errors:
 * -ENOMEM.
 */
int crit_process_file_thread(struct crit_model *model, uint32_t thread, uint32_t ns_tid);

#endif
