/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of profiles, and the file of each. */
#ifndef CRIT_PROFILE_FILES_H
#define CRIT_PROFILE_FILES_H

#include <stdio.h>

#include "core/base/err.h"
#include "report/tables/summary.h"

struct crit_profile;

/* NULL: there is no such format. */
const struct crit_profile *crit_profile_find(const char *name);

const char *crit_profile_file(const struct crit_profile *profile); /* its name */

/* Errors: -ENODATA without samples, -ENOMEM; out says itself whether it failed. */
int crit_profile_put(const struct crit_profile *profile, FILE *out,
		     const struct crit_summary *summary);

/*
 * Writes the file into a directory, to FILE.tmp first and renamed when it is whole.
 * Errors: -errno with a line in err; a file that was there stays.
 */
int crit_profile_write(const struct crit_profile *profile, const char *directory,
		       const struct crit_summary *summary, struct crit_err *err);

#endif
