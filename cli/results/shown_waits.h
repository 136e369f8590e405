/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands share that show the waits of a run: analyses its recordings, says what failed. */
#ifndef CRIT_SHOWN_WAITS_H
#define CRIT_SHOWN_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct crit_analysis;

struct crit_shown_waits {
	const char *command; /* as the user calls it, "crit waits" */
	unsigned int film; /* bits of enum crit_film_wish */
	/* known_ns: until where the waits are known.  Yields an exit code, or -errno. */
	int (*show)(const struct crit_analysis *analysis, uint64_t known_ns, const void *user,
		    struct crit_err *err);
	const void *user;
};

/*
 * Of recordings and directories of them: yields the exit code of the command; a line on stderr
 * where it failed.
 */
int crit_shown_waits_run(const struct crit_shown_waits *shown, char *const *paths,
			 size_t path_count);

#endif
