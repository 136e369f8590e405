/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRIT_* environment, parsed once; and the key that says which run a process belongs to. */
#ifndef CRIT_CLIENT_ENV_H
#define CRIT_CLIENT_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/abi_socket.h"
#include "core/base/setting.h"

#define CRIT_SOCKET_PATH_BYTES 108 /* sun_path */

struct crit_client_env { /* core/base/settings.def has ranges and defaults */
	bool is_disabled; /* CRIT_DISABLE */
	bool is_quiet; /* CRIT_QUIET */
	enum crit_setting_name ignored; /* the first one that makes no sense, else COUNT */
	uint32_t level; /* enum crit_level */
	uint32_t groups_off; /* CRIT_CALLS: bit 1 << enum crit_call_group */
	uint32_t finish_s; /* CRIT_FINISH_S */
	uint32_t poll_gap_ns; /* CRIT_POLL_GAP */
	uint64_t max_bytes; /* CRIT_MAX_BYTES */
	char directory[CRIT_PATH_BYTES]; /* CRIT_DIR, a template */
	char socket[CRIT_SOCKET_PATH_BYTES]; /* CRIT_SOCKET; "" unset */
	char run[CRIT_RUN_KEY_BYTES]; /* CRIT_RUN; "" unset */
};

/* Reads the settings. */
void crit_client_env_read(struct crit_client_env *ret_env);

/*
 * Do CRIT_INCLUDE and CRIT_EXCLUDE want the program of this path recorded?  Lists of patterns of
 * fnmatch(3), separated by commas; * matches slashes too.  EXCLUDE wins.
 */
bool crit_client_is_chosen(const char *path);

/* Is one of the two set? */
bool crit_client_has_choice(void);

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
 * The scheduler's job, step and task this process belongs to; false where there is none, and then
 * all is "" and CRIT_TASK_NONE.
 */
bool crit_client_job(struct crit_job *ret_job);

/*
 * Parent and start time (clock ticks since boot) of a process; 0 or -errno.  Outputs may be
 * NULL.
 */
int crit_client_process_stat(pid_t pid, char ret_comm[16], pid_t *ret_parent,
			     uint64_t *ret_start_ticks);

/* Copies with an end, cutting; answers true when all of it fitted. */
bool crit_client_copy(char *ret_text, size_t size, const char *text);

#endif
