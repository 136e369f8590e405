/* SPDX-License-Identifier: BSD-3-Clause */
/* The function in which the rank or thread that the verdict names earns its CMetric. */
#ifndef CRIT_VERDICT_HOT_H
#define CRIT_VERDICT_HOT_H

#include "report/tables/summary.h"

#define CRIT_HOT_SENTENCE 448 /* bytes */

/*
 * ", 71 +- 4% of its CMetric in smooth (solver), 40 +- 3% at solver.c:42", without the line where
 * samples do not tell the first from the second, "in smooth solver.c:42" where the line is all of
 * it, followed by who calls it (verdict_path.h); ", mostly in smooth (solver) or relax (solver)":
 * there is no telling which of two; "": there is no evidence.  True: it is a single one.
 */
bool crit_verdict_hot(struct crit_summary *summary, size_t unit_row, char *text, size_t text_bytes);

#endif
