/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a run that crit run prints at its end: first screen of the report, and one line. */
#ifndef CRIT_RUN_END_H
#define CRIT_RUN_END_H

#include <stdbool.h>
#include <stdint.h>

#define CRIT_END_BY_SIZE (-1) /* CRIT_END_MS, and CRIT_END_MS_PER_MILLION of what was recorded */

struct crit_run_end {
	const char *directory; /* of the run, by the name it began with */
	int directory_fd; /* open since then: it may have been renamed; -1: not to be had */
	int finish_ms; /* how long to wait for the report, or CRIT_END_BY_SIZE; 0: not */
	bool is_quiet; /* nothing is printed */
};

/*
 * Waits for the finisher; makes the report where that died without one; and prints on stderr where
 * the report is, or why there is none, in the last line.
 */
void crit_run_end_print(const struct crit_run_end *end);

#endif
