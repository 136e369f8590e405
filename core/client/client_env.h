/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRIT_* environment, parsed once. */
#ifndef CRIT_CLIENT_ENV_H
#define CRIT_CLIENT_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_socket.h"
#include "core/base/setting.h"

#define CRIT_SOCKET_PATH_BYTES 108 /* sun_path */
#define CRIT_IGNORED_BYTES 256

struct crit_client_env { /* core/base/settings.def has ranges and defaults */
	bool is_disabled; /* CRIT_DISABLE */
	bool is_quiet; /* CRIT_QUIET */
	char ignored[CRIT_IGNORED_BYTES]; /* says which settings make no sense, and why; "" none */
	uint32_t level; /* enum crit_level */
	uint32_t sample_hz; /* CRIT_SAMPLE_HZ; 0: CRIT_SAMPLE is off */
	uint32_t sample_budget; /* CRIT_SAMPLE_BUDGET */
	uint32_t groups_off; /* CRIT_CALLS: bit 1 << enum crit_call_group */
	uint32_t finish_s; /* CRIT_FINISH_S */
	bool has_finish_s; /* that was set: it holds at the end of a run as well */
	bool is_in_run; /* crit run waits for the report, and speaks of it */
	uint32_t poll_gap_ns; /* CRIT_POLL_GAP */
	uint64_t max_bytes; /* CRIT_MAX_BYTES */
	char directory[CRIT_PATH_BYTES]; /* CRIT_DIR, a template */
	char socket[CRIT_SOCKET_PATH_BYTES]; /* CRIT_SOCKET; "" unset */
	char run[CRIT_RUN_KEY_BYTES]; /* CRIT_RUN; "" unset */
};

#define CRIT_QUIET_IN_RUN "run" /* CRIT_QUIET of what crit run starts: it leaves the line to it */
#define CRIT_END_MS 150 /* who ends with a run waits so long for the report of any size */
#define CRIT_END_MS_PER_MILLION 100 /* and so much more, who knows that, per million slots */

/* Reads the settings. */
void crit_client_env_read(struct crit_client_env *ret_env);

/*
 * Do CRIT_INCLUDE and CRIT_EXCLUDE want the program of this path recorded?  Lists of patterns of
 * fnmatch(3), separated by commas; * matches slashes too.  EXCLUDE wins.
 */
bool crit_client_is_chosen(const char *path);

/* Is one of the two set? */
bool crit_client_has_choice(void);

/* Copies with an end, cutting; answers true when all of it fitted. */
bool crit_client_copy(char *ret_text, size_t size, const char *text);

#endif
