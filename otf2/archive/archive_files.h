/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of an archive being written: opens and closes them, keeps their memory bounded. */
#ifndef CRIT_OTF2_ARCHIVE_FILES_H
#define CRIT_OTF2_ARCHIVE_FILES_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "core/base/err.h"

struct crit_otf2_files;

/*
 * Ownership: directory, peers (NULL: one process writes all) and err are borrowed.
 * Errors: NULL when out of memory.
 */
struct crit_otf2_files *crit_otf2_files_create(const char *directory,
					       const struct crit_transport *transport,
					       struct crit_err *err);

/* Opens the archive.  Errors: -EIO, -ENOSPC, -ENOMEM. */
int crit_otf2_files_open(struct crit_otf2_files *files, size_t location_count);

/* The library failed: answers -EIO or -ENOSPC, with its last message in err. */
int crit_otf2_fail(struct crit_otf2_files *files, const char *what);

/* Answers 0, or as above. */
static inline int crit_otf2_check(struct crit_otf2_files *files, OTF2_ErrorCode code,
				  const char *what)
{
	return code == OTF2_SUCCESS ? 0 : crit_otf2_fail(files, what);
}

/*
 * The event writer of a location.  Range: row below the number of locations.  Errors: NULL, with
 * words in err.  Cost: that of other locations open among 512.
 */
OTF2_EvtWriter *crit_otf2_files_events(struct crit_otf2_files *files, uint32_t row,
				       uint64_t location);

/* Ends a location's events.  Errors: -EIO, -ENOSPC. */
int crit_otf2_files_close_events(struct crit_otf2_files *files, uint32_t row,
				 OTF2_EvtWriter *events, uint64_t *ret_event_count);

/* The same after a failure. */
void crit_otf2_files_drop_events(struct crit_otf2_files *files, uint32_t row,
				 OTF2_EvtWriter *events);

/* What a location's definitions are written to.  Errors: NULL, with words in err. */
OTF2_Archive *crit_otf2_files_batch(struct crit_otf2_files *files, uint32_t row);

/*
 * Makes the definitions of another location, which are closed, those of this one too: a name more
 * for their file, which costs half of what a file does.  Errors: false where that cannot be (not
 * every file system has links, and a file only so many names).
 */
bool crit_otf2_files_share_definitions(const struct crit_otf2_files *files, uint64_t location,
				       uint64_t other);

/* Ends all that belongs to locations.  Errors: -EIO, -ENOSPC. */
int crit_otf2_files_close_batches(struct crit_otf2_files *files);

/* What global definitions are written to; NULL: not open. */
OTF2_Archive *crit_otf2_files_archive(struct crit_otf2_files *files);

/* Writes the anchor, when this process is the first, and closes the archive.  Errors: as above. */
int crit_otf2_files_close(struct crit_otf2_files *files);

/* Closes what is open and frees all. */
void crit_otf2_files_destroy(struct crit_otf2_files *files);

#endif
