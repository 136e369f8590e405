/* SPDX-License-Identifier: BSD-3-Clause */
/* What critd gives the sources of kernel records, and is told of them. */
#ifndef CRIT_COLLECTOR_SOURCE_OPTIONS_H
#define CRIT_COLLECTOR_SOURCE_OPTIONS_H

#include <stdint.h>
#include <stdbool.h>

struct crit_kernel_head;
struct crit_run;

struct crit_source_options {
	uint32_t served_uid;
	uint64_t ring_bytes; /* 0: 1 MiB per CPU, at least 8 MiB */
	bool is_bpf_refused; /* as if critd had no privileges */
	bool is_storage_refused; /* as if task storage were missing */
	bool is_sampling_refused; /* as if perf events of whole CPUs were */
	bool is_pidfd_thread_refused; /* as if pidfds of threads were missing */
};

/* What clients and recordings are told of the sources. */
struct crit_source_status {
	int32_t kernel; /* as kernel_status in struct crit_rec_file */
	int32_t perf; /* as perf_status there; -errno beside a kernel half: it has no samples */
	int32_t perf_paranoid;
};

/* What a source uses of critd: borrowed, and valid as long as the source. */
struct crit_source_context {
	struct crit_run *runs; /* CRIT_RUN_SLOTS */
	int proc_fd; /* O_PATH /proc */
	void (*on_expelled)(void *user,
			    uint32_t tgid); /* the kernel ended a process's membership */
	/* a thread or process of the run was born, enrolled, became another program, or ends */
	void (*on_life)(void *user, struct crit_run *run, const struct crit_kernel_head *record,
			uint64_t time_ns);
	void *user; /* their argument */
};

#endif
