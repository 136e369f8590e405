// SPDX-License-Identifier: BSD-3-Clause
// One replay of the recordings into an archive aside, then into place.
#include "otf2/export.h"

#include <errno.h>

#include "analysis/analyse.h"
#include "otf2/staging.h"
#include "otf2/together.h"

static int write_archive(struct crit_otf2_writer *writer, const char *const *paths,
			 size_t path_count, struct crit_otf2_archive *ret_archive)
{
	struct crit_trace_sink sink;
	struct crit_analysis_options options = {
		.rule = writer->options->rule,
		.peers = writer->options->peers,
		.index = writer->options->index,
		.progress = writer->options->progress,
		.user = writer->options->progress_user,
		.trace = &sink,
	};
	struct crit_results *results = NULL;
	int rc;

	crit_otf2_sink(writer, &sink);
	rc = crit_analyse(paths, path_count, &options, &results, writer->err);
	if (rc || !results)
		return rc;
	*ret_archive = (struct crit_otf2_archive){
		.event_count = writer->event_count,
		.location_count = writer->location_count,
		.begin_ns = results->window_begin_ns,
		.end_ns = writer->end_ns,
		.window_end_ns = results->window_begin_ns + results->window_ns,
		.has_losses = writer->has_losses,
		.are_messages_whole = writer->are_messages_whole,
	};
	crit_results_destroy(results);
	return 0;
}

int crit_otf2_export(const char *const *paths, size_t path_count, const char *directory,
		     const struct crit_otf2_options *options, struct crit_otf2_archive *ret_archive,
		     struct crit_err *err)
{
	struct crit_otf2_writer writer = { .options = options, .err = err };
	struct crit_otf2_archive archive = { 0 };
	struct crit_otf2_staging staging;
	bool leads = crit_otf2_leads(&writer);
	int rc = leads ? crit_otf2_stage(&staging, directory, err)
		       : crit_otf2_find_stage(&staging, directory, err);

	rc = crit_otf2_agree(&writer, rc);
	writer.directory = staging.path;
	if (!rc)
		rc = write_archive(&writer, paths, path_count, &archive);
	crit_otf2_writer_fini(&writer);
	if (!rc && leads)
		rc = crit_otf2_publish(&staging, err);
	crit_otf2_unstage(&staging);
	if (!rc)
		*ret_archive = archive;
	return rc;
}
