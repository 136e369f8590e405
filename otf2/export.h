/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the recordings of a run as an OTF2 archive. */
#ifndef CRIT_OTF2_EXPORT_H
#define CRIT_OTF2_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/peers.h"
#include "analysis/schema/results.h"
#include "analysis/symbols/symbols.h"
#include "core/base/err.h"

#define CRIT_OTF2_ANCHOR "traces.otf2"

struct crit_otf2_options {
	enum crit_active_rule rule;
	const struct crit_peers *peers; /* NULL: this process does all */
	struct crit_run_index *index; /* of analyses before; NULL: made for this archive */
	bool has_metrics; /* CMetric as a metric too, not only as attribute */
	bool has_all; /* service threads, launchers and processes without a rank as well */
	const char *creator; /* "crit 0.1.0" */
	/* Where a process's address is, false: nobody knows; texts live until all is written. */
	bool (*site_place)(void *user, uint32_t node, uint32_t pid, uint64_t site,
			   struct crit_place *ret_place);
	void *site_user;
	void (*progress)(void *user, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *progress_user;
};

struct crit_otf2_archive { /* what was written */
	uint64_t event_count;
	uint64_t location_count;
	uint64_t begin_ns; /* run clock */
	uint64_t end_ns;
	uint64_t window_end_ns; /* later than end_ns when level trace ended before the run */
	bool has_losses; /* records were lost: the archive is not all there was */
	bool are_messages_whole; /* every message is in it, with its counterpart */
};

/*
 * Replays the recordings and puts traces.otf2, traces.def and traces/ into directory, in place of
 * what bears these names there.  Nothing unfinished is ever found under them.
 * Errors: those of crit_analyse; -ENODATA no spans were recorded (level profile); -EBUSY somebody
 * else exports into directory; -EIO, -ENOSPC.  err says why.
 * Cost: as crit_analyse; memory O(threads that live at one time).
 */
int crit_otf2_export(const char *const *paths, size_t path_count, const char *directory,
		     const struct crit_otf2_options *options, struct crit_otf2_archive *ret_archive,
		     struct crit_err *err);

#endif
