/* SPDX-License-Identifier: BSD-3-Clause */
/* Which run, launch and node a process belongs to, found without MPI. */
#ifndef CRIT_CLIENT_KEY_H
#define CRIT_CLIENT_KEY_H

#include <stdint.h>
#include <sys/types.h>

#include "core/abi/abi_socket.h"
#include "core/client/client_env.h"

/*
 * Finds the run key: env->run; SLURM job and step; PMIX_NAMESPACE without its last 16 bits; the
 * peer of PMI_FD; else the nearest ancestor that is neither shell nor interpreter.  Range: NUL-
 * terminated.
 */
void crit_client_run_key(const struct crit_client_env *env, char ret_key[CRIT_RUN_KEY_BYTES]);

/* PMIX_NAMESPACE as it stands, else "<run key>": the name of this process's MPI_COMM_WORLD. */
void crit_client_world_name(const char *run_key, char ret_name[CRIT_WORLD_BYTES]);

/* What a node is called in recordings and their file names; "node" where it has no such name. */
void crit_client_host(char ret_host[CRIT_WORLD_BYTES]);

/*
 * Parent and start time (clock ticks since boot) of a process; 0 or -errno.  Outputs may be
 * NULL.
 */
int crit_client_process_stat(pid_t pid, char ret_comm[16], pid_t *ret_parent,
			     uint64_t *ret_start_ticks);

#endif
