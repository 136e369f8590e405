/* SPDX-License-Identifier: BSD-3-Clause */
/* Hot lines, call paths and waits in report.txt, and tables of lines, functions or libraries. */
#ifndef CRIT_HOT_TEXT_H
#define CRIT_HOT_TEXT_H

#include <stdio.h>

#include "report/tables/summary.h"

/* The hottest lines; nothing where there are no samples. */
void crit_hot_text_write(FILE *out, const struct crit_summary *summary);

/* The hottest functions by caller; nothing where the recordings have no call paths. */
void crit_hot_text_write_paths(FILE *out, const struct crit_summary *summary);

/* All paths.  Errors: -ENODATA without samples, -ENOENT without call paths, -ENOMEM. */
int crit_hot_text_write_by_path(FILE *out, const struct crit_summary *summary);

/*
 * System calls in which threads were blocked; where the recordings do not tell of these, that is
 * all it says.
 */
void crit_hot_text_write_waits(FILE *out, const struct crit_summary *summary);

/* All rows of a level.  Errors: -ENODATA without samples, -ENOMEM. */
int crit_hot_text_write_by(FILE *out, const struct crit_summary *summary,
			   enum crit_hot_level level);

#endif
