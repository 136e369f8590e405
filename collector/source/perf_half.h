/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in for the kernel half where critd may not load BPF: perf events, which any user may
 * open on processes of its own while kernel.perf_event_paranoid is at most 2.
 *
 * A thread that is enrolled gets one event per CPU, for an event that children inherit can be read
 * only where it is bound to a CPU; all events of a CPU write into one ring of the run.  They tell
 * of switches in and out, births, names and ends, and know neither wakeups nor tags.
 *
 * Samples have rings of their own, so that they take no room from switches.
 */
#ifndef CRIT_COLLECTOR_PERF_HALF_H
#define CRIT_COLLECTOR_PERF_HALF_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/abi/abi_kernel.h"

struct crit_perf_clocks;
struct perf_event_mmap_page;

#define CRIT_PERF_CPUS 8192u

/* What critd may do, asked once. */
struct crit_perf_means {
	int32_t status; /* as perf_status in struct crit_rec_file */
	int32_t paranoid; /* kernel.perf_event_paranoid */
	uint32_t descriptors_max; /* to be taken by events */
	uint64_t cpus[CRIT_PERF_CPUS / 64]; /* those the cpuset grants */
};

struct crit_perf_ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t bytes; /* of the data, a power of two */
	uint64_t tail; /* read so far */
	uint64_t head;
	uint64_t time_ns; /* of the record at tail */
	int fd;
	uint16_t cpu;
	bool has_samples; /* and nothing else */
	uint32_t switches; /* to threads, not yet told to the clocks */
	uint32_t on_tid; /* the member that runs there; 0: none, or it was not told */
	uint32_t last_tid; /* that ran there; we may have taken its CPU to ask */
};

struct crit_perf_thread { /* enrolled by hand; its children inherit */
	uint32_t tid;
	int *fds; /* one per ring */
};

/* The perf events of one run. */
struct crit_perf {
	struct crit_perf_ring *rings; /* of switches; with clocks, then as many of samples */
	struct crit_perf_ring **heap; /* those with records, the oldest first; while draining */
	uint32_t ring_count; /* of each kind */
	struct crit_perf_clocks *clocks; /* NULL: no samples */
	int clock_status; /* of the last clock that a thread could not have, but for its end */
	bool is_clock_status_noted;
	uint32_t thread_count;
	uint32_t thread_room;
	uint32_t threads_max;
	struct crit_perf_thread *threads;
	uint64_t *members; /* bit per task number: its switches are told of */
	uint32_t running_count; /* rings that have a thread on */
	uint32_t stack_count; /* that were told */
	uint64_t random_state;
	uint64_t lost; /* records that found a ring full */
	uint64_t lost_samples;
	struct { /* told last */
		struct crit_kernel_stack head;
		uint8_t bytes[CRIT_STACK_BYTES_MAX + 1024];
	} stack;
	int proc_fd;
	bool is_nested; /* members live in a pid namespace below ours */
};

/* Finds out whether an event can be opened at all.  Cost: a few system calls. */
void crit_perf_probe(struct crit_perf_means *ret_means, int proc_fd);

struct crit_perf_options {
	size_t ring_bytes; /* of all rings of switches together; 0: 1 MiB per CPU, 8 MiB or more */
	uint32_t sample_hz; /* 0: no samples */
	uint32_t stack_budget; /* CRIT_SAMPLE_BUDGET; 0: no stacks */
};

/*
 * Opens the rings of a run, smaller ones where the user's locked memory is used up.
 * Errors: -EPERM when not even small ones are allowed, -EMFILE, -ENOMEM.  Ownership: destroy
 * accepts NULL.
 */
int crit_perf_create(const struct crit_perf_means *means, int proc_fd,
		     const struct crit_perf_options *options, struct crit_perf **ret_perf);
void crit_perf_destroy(struct crit_perf *perf);

/* Is this task seen already, by inheritance?  True only of what was drained. */
bool crit_perf_has(const struct crit_perf *perf, uint32_t tid);
void crit_perf_mark(struct crit_perf *perf, uint32_t tid, bool is_member);

/* Lets a thread be sampled where it runs on the CPU of that ring. */
void crit_perf_sample(struct crit_perf *perf, uint32_t tid, uint32_t ring, uint64_t now_ns);

/* Enrols a thread.  Errors: -ESRCH, -EACCES, -EMFILE when too many descriptors would be taken. */
int crit_perf_add(struct crit_perf *perf, uint32_t tid);

/* Closes the events of a thread that turns out to have inherited some. */
void crit_perf_drop(struct crit_perf *perf, uint32_t tid);

/* Forgets threads that ended with all their descendants; how many have not? */
uint32_t crit_perf_reap(struct crit_perf *perf);

#endif
