/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of processes that are members of runs. */
#ifndef CRIT_COLLECTOR_MEMBERS_H
#define CRIT_COLLECTOR_MEMBERS_H

#include <stdint.h>

#include "collector/member/client_process.h"

#define CRIT_PROCESSES_MAX 4096u

struct crit_members;
struct crit_sources;

/* A process that asks to become a member. */
struct crit_candidate {
	uint32_t pid;
	int pidfd;
	struct crit_shm shm; /* shm.fd -1: none */
	int64_t tls_offset; /* CRIT_TLS_NONE: no tag word */
};

/* Ownership: all is borrowed; destroy accepts NULL, and leaves processes that are left. */
int crit_members_create(const struct crit_sources *sources, struct crit_meter *meter, int proc_fd,
			int epoll_fd, struct crit_members **ret_members);
void crit_members_destroy(struct crit_members *members);

/*
 * Adds a process to a run: its threads become members, its streams are drained from now on.
 * Ownership: takes the candidate's descriptors; on failure they are closed.
 * Errors: -ENOMEM, -ENOSPC when there are too many, -EALREADY, -ESRCH, -EACCES.
 */
int crit_members_add(struct crit_members *members, struct crit_run *run,
		     const struct crit_candidate *candidate,
		     struct crit_client_process **ret_process);

/* A round of the main loop begins: what it fetches is not about processes added in it. */
void crit_members_begin_round(struct crit_members *members);

/* Has any run a process, with thread buffers to be drained?  Cost: that of the first one found. */
bool crit_members_exist(const struct crit_members *members);

/* The process at index of the table ended: drains it for the last time, and forgets it. */
void crit_members_end(struct crit_members *members, uint32_t index);

/* The run ends: stops its processes and forgets them as if they had ended. */
void crit_members_end_run(struct crit_members *members, const struct crit_run *run);

/* The kernel ended the membership of a process. */
void crit_members_expel(struct crit_members *members, uint32_t tgid);

/*
 * Drains all processes, as far as the meter allows, at most slots_max of a thread buffer.  Returns
 * what the fullest thread buffer had.
 */
uint32_t crit_members_drain(struct crit_members *members, uint64_t now_ns, uint32_t slots_max);

/* Drains and flushes the processes of a run, whatever it costs; with counters, their values. */
void crit_members_drain_run(const struct crit_members *members, const struct crit_run *run,
			    bool has_counters);

/* Tells the ranks of a run what to record. */
void crit_members_write_level(const struct crit_members *members, const struct crit_run *run);

/*
 * May a process of the run still belong to its window, which a rank's CLOSE or end made due due_ns
 * ago?
 */
bool crit_members_hold_window(const struct crit_members *members, const struct crit_run *run,
			      uint64_t due_for_ns);

/* Looks at the CPUs that processes may use: of one, or, bounded per call, of those that are due. */
void crit_members_look_at_cpus_of(struct crit_members *members, struct crit_client_process *process,
				  uint64_t now_ns);
void crit_members_look_at_cpus(struct crit_members *members, uint64_t now_ns);

/* Writes MAPS when they changed since the last time.  Returns their digest; 0: none were read. */
uint64_t crit_members_put_maps(const struct crit_members *members,
			       struct crit_client_process *process);

/* Writes NAMES of the threads of the run's processes. */
void crit_members_put_names(const struct crit_members *members, struct crit_run *run);

#endif
