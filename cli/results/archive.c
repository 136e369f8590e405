// SPDX-License-Identifier: BSD-3-Clause
// Hands recordings to the OTF2 writer, with the call sites' names.
#include "cli/results/archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analysis/symbols/symbols.h"
#include "cli/console/progress.h"
#include "core/base/setting.h"

#ifdef CRIT_HAS_OTF2
#include "cli/results/run_waits.h"
#include "cli/results/visits.h"
#include "otf2/archive_export.h"
#include "otf2/staging.h"
#include "otf2/verify/verify_archive.h"

static bool source_location_of(void *user, uint32_t node, uint32_t pid, uint64_t site,
			       struct crit_source_location *ret_place)
{
	crit_symbols_find(user, node, pid, site, ret_place);
	return ret_place->module != NULL;
}

static void frame_location_of(void *user, const char *path, uint64_t offset,
			      struct crit_source_location *ret_place)
{
	crit_symbols_find_in_file(user, path, offset, ret_place);
}

static int know_regions(void *user, const struct crit_region_results *regions)
{
	return crit_symbols_know_regions(user, regions);
}

/* One file per thread that lives at one time. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* what is there will do */
	}
}

/* Names the results, if there are any.  Answers rc, or why that failed. */
static int conclude(struct crit_recording_set *set, struct crit_results *results,
		    struct crit_run_waits *waits, int rc,
		    const struct crit_archive_options *options, struct crit_err *err)
{
	int named = 0;

	if (results)
		named = crit_recording_set_name(set, results, waits, options->ret_analysis,
						rc ? NULL : err);
	else
		crit_run_waits_destroy(waits);
	return rc ? rc : named;
}

/* None where nobody wants them, or, but for a metric of them, where they cannot be. */
static int begin_waits(struct crit_recording_set *set, const struct crit_archive_options *options,
		       struct crit_run_waits **ret_waits, struct crit_err *err)
{
	if (options->has_waits)
		crit_recording_set_film(set, CRIT_FILM_WAITS);
	else if (!options->ret_analysis || options->transport || options->has_all)
		return 0;
	*ret_waits = crit_recording_set_begin_waits(set, err);
	return *ret_waits || !options->has_waits ? 0 : -EIO;
}

int crit_archive_write(struct crit_recording_set *set, const char *directory,
		       const struct crit_archive_options *options,
		       struct crit_archive_result *ret_result, struct crit_err *err)
{
	const char *const *paths = crit_recording_set_paths(set);
	struct crit_progress progress = crit_progress_begin("exporting");
	struct crit_symbols *symbols = NULL;
	struct crit_results *results = NULL;
	struct crit_run_waits *waits = NULL;
	struct crit_otf2_options write = {
		.rule = options->rule,
		.transport = options->transport,
		.index = crit_recording_set_index(set),
		.ret_results = options->ret_analysis ? &results : NULL,
		.has_metrics = options->has_metrics,
		.has_all = options->has_all,
		.has_samples = options->has_samples,
		.creator = "crit " CRIT_VERSION,
		.source_location_of = source_location_of,
		.frame_location_of = frame_location_of,
		.know_regions = know_regions,
		.progress = options->has_progress ? crit_progress_draw : NULL,
		.progress_user = &progress,
	};
	struct crit_wait_listener listener;
	struct crit_otf2_archive archive = { 0 };
	int rc = crit_recording_set_symbols(set, &symbols, err);

	write.site_user = symbols;
	if (!rc)
		rc = begin_waits(set, options, &waits, err);
	if (waits)
		crit_run_waits_listen(waits, &write.second_trace, &write.listener);
	if (waits && options->has_waits) {
		crit_run_waits_tell(waits, &listener);
		write.ret_waits = &listener;
	}
	raise_file_limit();
	if (options->transport)
		rc = crit_transport_agree(options->transport, 0, rc);
	if (!rc)
		rc = crit_otf2_export(paths, crit_recording_set_count(set), directory, &write,
				      &archive, err);
	crit_progress_end(&progress);
	rc = conclude(set, results, waits, rc, options, err);
	if (rc)
		return rc;
	*ret_result = (struct crit_archive_result){
		.event_count = archive.event_count,
		.seconds = (double)(archive.end_ns - archive.begin_ns) * 1e-9,
		.is_cut = archive.end_ns < archive.window_end_ns,
		.has_losses = archive.has_losses,
		.are_messages_whole = archive.are_messages_whole,
	};
	return 0;
}

void crit_archive_discard(const char *directory)
{
	struct crit_otf2_staging staging;

	if (crit_otf2_stage(&staging, directory, NULL) == 0) /* takes what was left there over */
		crit_otf2_unstage(&staging);
}

int crit_archive_verify(const char *anchor, void (*fault)(void *user, const char *text), void *user,
			struct crit_archive_check *ret_check, struct crit_err *err)
{
	struct crit_otf2_entered_list entered = { 0 };
	struct crit_otf2_verified verified;
	int rc = crit_otf2_verify(anchor, fault, user, &verified, &entered, err);
	int64_t more;

	if (rc)
		return rc;
	more = crit_visits_compare(anchor, &entered, fault, user);
	crit_otf2_entered_fini(&entered);
	if (more < 0)
		return (int)more;
	*ret_check =
		(struct crit_archive_check){ .fault_count = verified.fault_count + (uint64_t)more,
					     .location_count = verified.location_count,
					     .event_count = verified.event_count,
					     .message_count = verified.message_count };
	return 0;
}

bool crit_archive_is_built(void)
{
	return true;
}

#else

static int refuse(const char *place, struct crit_err *err)
{
	return crit_err_set(err, -ENOSYS,
			    "cannot handle the archive in %.120s: crit was built without libotf2; "
			    "install libopen-trace-format2-dev and build again",
			    place);
}

int crit_archive_write(struct crit_recording_set *set, const char *directory,
		       const struct crit_archive_options *options,
		       struct crit_archive_result *ret_result, struct crit_err *err)
{
	(void)set;
	(void)options;
	(void)ret_result;
	return refuse(directory, err);
}

void crit_archive_discard(const char *directory)
{
	(void)directory; /* nothing is made there */
}

int crit_archive_verify(const char *anchor, void (*fault)(void *user, const char *text), void *user,
			struct crit_archive_check *ret_check, struct crit_err *err)
{
	(void)fault;
	(void)user;
	(void)ret_check;
	return refuse(anchor, err);
}

bool crit_archive_is_built(void)
{
	return false;
}

#endif

bool crit_archive_is_wanted(void)
{
	const char *otf2 = crit_setting_text(CRIT_SETTING_OTF2, NULL);

	return crit_archive_is_built() && strcmp(otf2, "0") != 0;
}
