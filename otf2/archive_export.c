// SPDX-License-Identifier: BSD-3-Clause
// Replays the recordings into an archive in a staging directory, then renames it into place.
#include "otf2/archive_export.h"

#include <errno.h>

#include "analysis/analyse.h"
#include "otf2/archive_listener.h"
#include "otf2/shares.h"
#include "otf2/staging.h"

static int write_archive(struct crit_otf2_listener *listener, const char *const *paths,
			 size_t path_count, const struct crit_otf2_options *wanted,
			 struct crit_otf2_archive *ret_archive, struct crit_err *err)
{
	struct crit_trace_sink sink;
	struct crit_analysis_options options = {
		.rule = wanted->rule,
		.transport = wanted->transport,
		.index = wanted->index,
		.progress = wanted->progress,
		.user = wanted->progress_user,
		.trace = &sink,
		.second_trace = wanted->second_trace,
		.listener = wanted->listener,
		.has_no_blame = !wanted->ret_results,
	};
	struct crit_results *results = NULL;
	int rc;

	crit_otf2_listener_sink(listener, &sink);
	if (wanted->ret_waits) {
		*wanted->ret_waits = crit_otf2_listener_waits(listener);
		options.trace = wanted->second_trace; /* a thread's last wait ends before it does */
		options.second_trace = &sink;
	}
	rc = crit_analyse(paths, path_count, &options, &results, err);
	if (rc || !results)
		return rc;
	crit_otf2_listener_summary(listener, results, ret_archive);
	if (wanted->ret_results)
		*wanted->ret_results = results;
	else
		crit_results_destroy(results);
	return 0;
}

int crit_otf2_export(const char *const *paths, size_t path_count, const char *directory,
		     const struct crit_otf2_options *options, struct crit_otf2_archive *ret_archive,
		     struct crit_err *err)
{
	struct crit_otf2_listener *listener;
	struct crit_otf2_archive archive = { 0 };
	struct crit_otf2_staging staging;
	bool leads = crit_otf2_leads(options->transport);
	int rc = leads ? crit_otf2_stage(&staging, directory, err)
		       : crit_otf2_find_stage(&staging, directory, err);

	listener = crit_otf2_listener_create(options, staging.path, err);
	if (!rc && !listener)
		rc = -ENOMEM;
	rc = crit_otf2_agree(options->transport, rc);
	if (!rc)
		rc = write_archive(listener, paths, path_count, options, &archive, err);
	crit_otf2_listener_destroy(listener);
	if (!rc && leads)
		rc = crit_otf2_publish(&staging, err);
	crit_otf2_unstage(&staging);
	if (!rc)
		*ret_archive = archive;
	return rc;
}
