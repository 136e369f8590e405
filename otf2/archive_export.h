/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the recordings of a run as an OTF2 archive. */
#ifndef CRIT_OTF2_ARCHIVE_EXPORT_H
#define CRIT_OTF2_ARCHIVE_EXPORT_H

#include <stddef.h>

#include "core/base/err.h"
#include "otf2/archive_options.h"

#define CRIT_OTF2_ANCHOR "traces.otf2"

/*
 * Replays the recordings and puts traces.otf2, traces.def and traces/ into directory, in place of
 * what bears these names there.  Nothing unfinished is ever found under them.
 * Errors: those of crit_analyse; -ENODATA no spans were recorded (level profile); -EBUSY somebody
 * else exports into directory; -EIO, -ENOSPC.  err says why.
 * Ownership: who asks for the results destroys them; they are there as well where all that failed
 * was to put the archive into place.
 * Cost: as crit_analyse; memory O(threads that live at one time).
 */
int crit_otf2_export(const char *const *paths, size_t path_count, const char *directory,
		     const struct crit_otf2_options *options, struct crit_otf2_archive *ret_archive,
		     struct crit_err *err);

#endif
