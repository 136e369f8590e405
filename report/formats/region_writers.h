/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions, phases and who took whose CPU, in every format of the report. */
#ifndef CRIT_REGION_WRITERS_H
#define CRIT_REGION_WRITERS_H

#include <stdio.h>

#include "report/tables/summary.h"

/* "rank 1 thread 4242 (solver)", "thread 4242 (solver)": a thread for humans. */
const char *crit_thread_label(const struct crit_results *results, size_t thread, char *text,
			      size_t text_bytes);

/* Who took a CPU: "rank 1 thread 7 (b)", "stress (pid 812)", "another user's program". */
const char *crit_rival_label(const struct crit_results *results, const struct crit_rival_row *row,
			     char *text, size_t text_bytes);

/* The tables of report.txt. */
void crit_regions_write_details(FILE *out, const struct crit_summary *summary);
void crit_rivals_write_details(FILE *out, const struct crit_summary *summary);

#endif
