/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles for pprof: the message perftools.profiles.Profile, compressed by gzip. */
#ifndef CRIT_PROFILE_PPROF_H
#define CRIT_PROFILE_PPROF_H

#include <stdio.h>

#include "report/tables/summary.h"

/*
 * A sample per stack of lines, with CMetric in nanoseconds and samples.
 * Errors: -ENODATA without samples, -ENOMEM; out says itself whether it failed.
 */
int crit_pprof_write(FILE *out, const struct crit_summary *summary);

#endif
