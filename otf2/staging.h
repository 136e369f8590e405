/* SPDX-License-Identifier: BSD-3-Clause */
/* Staging directory of an archive: an unfinished archive never has its final name. */
#ifndef CRIT_OTF2_STAGING_H
#define CRIT_OTF2_STAGING_H

#include <limits.h>

#include "core/base/err.h"

#define CRIT_OTF2_STAGING ".traces.tmp"

struct crit_otf2_staging {
	const char *directory; /* borrowed: where the archive goes */
	char path[PATH_MAX]; /* of the directory aside, which lies in it */
	int lock_fd;
};

/*
 * Makes the directory aside, empty and locked; what a killed export left there is removed.
 * Errors: -EBUSY another export is at work, -EEXIST a directory traces/ is no archive's, -errno.
 */
int crit_otf2_stage(struct crit_otf2_staging *staging, const char *directory, struct crit_err *err);

/* The same for who writes into what another process has made. */
int crit_otf2_find_stage(struct crit_otf2_staging *staging, const char *directory,
			 struct crit_err *err);

/* Puts the archive in place of an older one, the anchor last.  Errors: -errno. */
int crit_otf2_publish(struct crit_otf2_staging *staging, struct crit_err *err);

/* Removes the directory aside with all that is still in it. */
void crit_otf2_unstage(struct crit_otf2_staging *staging);

#endif
