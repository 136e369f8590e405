/* SPDX-License-Identifier: BSD-3-Clause */
/* The function in which the rank or thread that the verdict names works more than the others. */
#ifndef CRIT_VERDICT_EXCESS_H
#define CRIT_VERDICT_EXCESS_H

#include "report/tables/summary.h"

/*
 * ", most of the excess in assemble heat.c:22 (0.52 +- 0.02 s) (main > assemble)": where its CPU
 * time, by samples, is beyond the mean of all units.  While the others wait for it, it is long past
 * what made it late, so this need not be where it earns most CMetric.
 * "": there is no evidence, or it is that very function, and is_said.
 */
void crit_verdict_excess(const struct crit_summary *summary, size_t unit_row, bool is_said,
			 char *text, size_t text_bytes);

#endif
