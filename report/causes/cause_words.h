/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes of waiting in words. */
#ifndef CRIT_CAUSE_WORDS_H
#define CRIT_CAUSE_WORDS_H

#include <stdio.h>

#include "analysis/schema/results.h"

struct crit_cause_row;
struct crit_cause_table;
struct crit_code_place;
struct crit_late_row;
struct crit_who;

#define CRIT_CAUSE_UNIT_BYTES 64
#define CRIT_CAUSE_WHO_BYTES (CRIT_CAUSE_UNIT_BYTES + 208)
#define CRIT_CAUSE_WHAT_BYTES 448
#define CRIT_CAUSE_BYTES (CRIT_CAUSE_UNIT_BYTES + CRIT_CAUSE_WHAT_BYTES)
#define CRIT_CAUSE_BOUND_BYTES 32
#define CRIT_LATE_BYTES (2 * CRIT_CAUSE_BYTES + CRIT_CAUSE_BOUND_BYTES)

/* Each answers text, or a static word. */

/* "rank 3", "thread 42 (worker)", "nobody of the run", "rank 3 in phase solve". */
const char *crit_cause_who(const struct crit_results *results, const struct crit_who *who,
			   char text[CRIT_CAUSE_WHO_BYTES]);

/*
 * "between MPI_Recv receive heat.c:22 and MPI_Send send heat.c:27", "between MPI_Barrier step
 * heat.c:9 and the next", "in smooth (solver.c)".
 */
const char *crit_code_place_text(const struct crit_code_place *place,
				 char text[CRIT_CAUSE_WHAT_BYTES]);

/* The same, "wants a CPU and has none", "blocked between ..."; "" where no code is told. */
const char *crit_cause_what(const struct crit_cause_row *row, char text[CRIT_CAUSE_WHAT_BYTES]);

/* Both: "rank 3: between ..."; of all together "all: ...". */
const char *crit_cause_text(const struct crit_results *results, const struct crit_cause_row *row,
			    char text[CRIT_CAUSE_BYTES]);

/* A line where delays are of meetings and messages of which not all code is known. */
void crit_cause_cut_write(FILE *out, const struct crit_cause_table *table);

/*
 * "rank 3: in MPI_Recv exchange heat.c:40, for rank 0: between ... and ..."; between nodes with
 * what their clocks leave open of the longest wait, in seconds.
 */
const char *crit_late_text(const struct crit_results *results, const struct crit_late_row *row,
			   char text[CRIT_LATE_BYTES]);

#endif
