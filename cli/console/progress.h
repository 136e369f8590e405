/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long analysis is: a line on stderr, drawn once the work has taken a second. */
#ifndef CRIT_PROGRESS_H
#define CRIT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct crit_progress {
	const char *what; /* "analysing" */
	uint64_t begin_ms;
	bool is_drawn;
};

struct crit_progress crit_progress_begin(const char *what);

/* A progress function of the analysis; user is the struct. */
void crit_progress_draw(void *user, uint64_t done_bytes, uint64_t total_bytes);

/* Wipes the line, if one was drawn. */
void crit_progress_end(const struct crit_progress *progress);

#endif
