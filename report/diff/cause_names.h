/* SPDX-License-Identifier: BSD-3-Clause */
/* What a row of causes[] is called in two reports, so that it can be paired. */
#ifndef CRIT_CAUSE_NAMES_H
#define CRIT_CAUSE_NAMES_H

#include <jansson.h>
#include <stddef.h>

/*
 * "0.3: between MPI_Recv receive and MPI_Send send", "0.3: wants a CPU and has none": by world and
 * rank, or by the name of a thread, and by calls with their functions.  Lines, which a change of
 * the program moves, and numbers of threads, which each run gives anew, are left out: rows that
 * differ by these have one name.  report: that of the row.
 */
void crit_diff_name_cause(const json_t *report, const json_t *row, char *text, size_t text_bytes);

#endif
