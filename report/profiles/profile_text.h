/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles for other programs: stacks with the CMetric that was earned there. */
#ifndef CRIT_PROFILE_TEXT_H
#define CRIT_PROFILE_TEXT_H

#include <stdio.h>

#include "report/tables/summary.h"

/*
 * A line per stack of functions, the outermost first: names with ";" between, a blank, and
 * microseconds.  For flamegraph.pl and what reads the like.
 * Errors: -ENODATA without samples, -ENOMEM; out says itself whether it failed.
 */
int crit_collapsed_write(FILE *out, const struct crit_summary *summary);

/* The file format of speedscope: one sampled profile in seconds.  Errors: as above. */
int crit_speedscope_write(FILE *out, const struct crit_summary *summary);

#endif
