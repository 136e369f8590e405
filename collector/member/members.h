/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes processes members of runs, and notices when they end. */
#ifndef CRIT_COLLECTOR_MEMBERS_H
#define CRIT_COLLECTOR_MEMBERS_H

#include "collector/loop/server.h"

/* A process that asks to become a member. */
struct crit_candidate {
	__u32 pid;
	int pidfd;
	struct crit_shm shm; /* shm.fd -1: none */
	__s64 tls_offset; /* CRIT_TLS_NONE: no tag word */
};

/*
 * Adds a process to a run: its threads become members, its streams are drained from now on.
 * Ownership: takes the candidate's descriptors; on failure they are closed.
 * Errors: -ENOMEM, -ENOSPC when there are too many, -EALREADY, -ESRCH, -EACCES.
 */
int crit_members_add(struct crit_server *server, struct crit_run *run,
		     const struct crit_candidate *candidate,
		     struct crit_client_process **ret_process);

/* The process ended: drains it for the last time, and forgets it. */
void crit_members_remove(struct crit_server *server, struct crit_client_process *process);

/* A record of the kernel half says that tid, of process tgid, is a member now, or was expelled. */
void crit_members_saw_enrol(struct crit_server *server, __u32 tgid, __u32 tid);
void crit_members_saw_expelled(struct crit_server *server, __u32 tgid);

/* Forgets threads that died before BPF could enrol them. */
void crit_members_check_outside(struct crit_server *server);

/* Writes MAPS when they changed since the last time. */
void crit_members_put_maps(const struct crit_server *server, struct crit_client_process *process);

/* Writes NAMES of the threads of the run's processes. */
void crit_members_put_names(const struct crit_server *server, struct crit_run *run);

#endif
