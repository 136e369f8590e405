/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of an archive, and what was written. */
#ifndef CRIT_OTF2_ARCHIVE_OPTIONS_H
#define CRIT_OTF2_ARCHIVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/schema/results.h"
#include "analysis/schema/trace.h"
#include "otf2/definitions/call_site_table.h"
#include "otf2/definitions/context_table.h"

struct crit_otf2_options {
	enum crit_active_rule rule;
	const struct crit_transport *transport; /* NULL: this process does all */
	struct crit_run_index *index; /* of analyses before; NULL: made for this archive */
	struct crit_results **ret_results; /* takes those of the replay; NULL: nobody wants them */
	/* Told of the replay as well, as of an analysis; NULL: nobody.  Not with has_all. */
	const struct crit_trace_sink *second_trace;
	const struct crit_listener *listener;
	/*
	 * Gets who is to be told of waits, before the replay begins; they become a metric.  Told
	 * during what second_trace is told of, which is first then.  NULL: no such metric.
	 */
	struct crit_wait_listener *ret_waits;
	bool has_metrics; /* CMetric as a metric too, not only as attribute */
	bool has_all; /* service threads, launchers and processes without a rank as well */
	bool has_samples; /* as calling contexts, events of regions with them; of one process */
	const char *creator; /* "crit 0.1.0" */
	/* Finds source locations; NULL: none. */
	crit_otf2_site_place *source_location_of;
	crit_otf2_frame_place *frame_location_of; /* of callers of samples; NULL: none */
	/* Told of regions before their places are asked for.  NULL: nobody.  Errors: -ENOMEM. */
	int (*know_regions)(void *site_user, const struct crit_region_results *regions);
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

#endif
