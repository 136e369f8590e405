/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens to a replay, and writes what it tells as an archive. */
#ifndef CRIT_OTF2_ARCHIVE_LISTENER_H
#define CRIT_OTF2_ARCHIVE_LISTENER_H

#include "analysis/schema/trace.h"
#include "core/base/err.h"
#include "otf2/archive_options.h"

struct crit_otf2_listener;

/*
 * The archive is written into directory, and err says why not.  Ownership: all are borrowed.
 * Errors: NULL when out of memory.
 */
struct crit_otf2_listener *crit_otf2_listener_create(const struct crit_otf2_options *options,
						     const char *directory, struct crit_err *err);

/* What the replay tells; the listener is borrowed. */
void crit_otf2_listener_sink(struct crit_otf2_listener *listener, struct crit_trace_sink *ret_sink);

/* Likewise, what is told of waits; they become a metric. */
struct crit_wait_listener crit_otf2_listener_waits(struct crit_otf2_listener *listener);

/* What was written, once the replay has ended; results are those of its end. */
void crit_otf2_listener_summary(const struct crit_otf2_listener *listener,
				const struct crit_results *results,
				struct crit_otf2_archive *ret_archive);

/* Closes what is open and frees all. */
void crit_otf2_listener_destroy(struct crit_otf2_listener *listener);

#endif
