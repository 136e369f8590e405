/* SPDX-License-Identifier: BSD-3-Clause */
/* The OTF2 archive of a recording, as subcommands and the finisher make it. */
#ifndef CRIT_ARCHIVE_H
#define CRIT_ARCHIVE_H

#include <stdbool.h>

#include "cli/results/recording_set.h"

struct crit_archive_options {
	enum crit_active_rule rule;
	bool has_metrics;
	bool has_all;
	bool has_samples;
	bool has_waits; /* as a metric; with neither has_all nor a transport */
	const struct crit_transport
		*transport; /* who write it together, NULL: this process alone */
	bool has_progress; /* a bar on stderr once the work has taken a second */
	/* Gets an analysis from the same replay, as crit_otf2_export has results; may be NULL. */
	struct crit_analysis **ret_analysis;
};

struct crit_archive_result {
	uint64_t event_count;
	double seconds; /* of the window, from its begin to where the archive ends */
	bool is_cut; /* level trace ended before the window: the archive ends there */
	bool has_losses;
	bool are_messages_whole; /* every message is in it, with its counterpart */
};

/*
 * Writes the archive of a set into directory.  Errors: those of crit_otf2_export; -ENOSYS when
 * crit was built without libotf2.
 * Of several peers, the first has the result.
 */
int crit_archive_write(struct crit_recording_set *set, const char *directory,
		       const struct crit_archive_options *options,
		       struct crit_archive_result *ret_result, struct crit_err *err);

/* Removes the unfinished archive of a process that died at it. */
void crit_archive_discard(const char *directory);

struct crit_archive_check {
	uint64_t fault_count;
	uint64_t location_count;
	uint64_t event_count;
	uint64_t message_count;
};

/*
 * Verifies an archive, as crit_otf2_verify does; where a report.json of the same analysis lies
 * beside it, each MPI call, phase and place of a construct must be entered as often as it says.
 * Errors: -ENOSYS as above.
 */
int crit_archive_verify(const char *anchor, void (*fault)(void *user, const char *text), void *user,
			struct crit_archive_check *ret_check, struct crit_err *err);

/* Was crit built with libotf2? */
bool crit_archive_is_built(void);

/* False when CRIT_OTF2=0, or crit was built without libotf2: no archive after a run. */
bool crit_archive_is_wanted(void);

#endif
