// SPDX-License-Identifier: BSD-3-Clause
// Creates the tables of an archive, and frees them in reverse order.
#include "otf2/archive_parts.h"

#include <errno.h>

int crit_otf2_parts_init(struct crit_otf2_parts *parts, const struct crit_otf2_options *options,
			 const struct crit_results *run, uint64_t end_ns)
{
	const struct crit_otf2_layout_options layout = { options->has_all, options->transport };
	struct crit_otf2_definitions named;
	const unsigned int metrics = (options->has_metrics ? 1u << CRIT_OTF2_METRIC_CMETRIC : 0) |
				     (options->ret_waits ? 1u << CRIT_OTF2_METRIC_WAITING : 0);
	size_t count;

	parts->strings = crit_otf2_strings_create();
	parts->regions = crit_otf2_regions_create(parts->strings);
	if (!parts->strings || !parts->regions ||
	    crit_otf2_layout_create(run, &layout, parts->strings, parts->regions, &parts->layout))
		return -ENOMEM;
	count = crit_otf2_layout_location_count(parts->layout);
	parts->call_sites = crit_otf2_call_sites_create(parts->layout, options->source_location_of,
							options->site_user);
	if (options->has_samples)
		parts->contexts = crit_otf2_contexts_create(
			&(struct crit_otf2_context_tables){ parts->layout, parts->regions,
							    parts->call_sites, parts->strings },
			options->frame_location_of, options->site_user);
	named = (struct crit_otf2_definitions){ parts->layout, parts->regions, parts->call_sites,
						parts->contexts };
	parts->comms = crit_otf2_comms_create(run, parts->layout, parts->strings);
	parts->streams = crit_otf2_streams_create(parts->files, &named, run->window_begin_ns,
						  end_ns, metrics);
	parts->constructs = crit_otf2_constructs_create(&named);
	parts->teams = crit_otf2_teams_create(parts->files, parts->layout);
	parts->locks = crit_otf2_locks_create(parts->files, parts->layout);
	parts->tasks = crit_otf2_tasks_create(parts->files, parts->teams, count);
	return parts->call_sites && !parts->contexts == !options->has_samples && parts->comms &&
			       parts->streams && parts->constructs && parts->teams &&
			       parts->locks && parts->tasks
		       ? 0
		       : -ENOMEM;
}

void crit_otf2_parts_fini(struct crit_otf2_parts *parts)
{
	crit_otf2_tasks_destroy(parts->tasks);
	crit_otf2_locks_destroy(parts->locks);
	crit_otf2_teams_destroy(parts->teams);
	crit_otf2_constructs_destroy(parts->constructs);
	crit_otf2_streams_destroy(parts->streams); /* its event files first, then the archive */
	crit_otf2_files_destroy(parts->files);
	crit_otf2_comms_destroy(parts->comms);
	crit_otf2_contexts_destroy(parts->contexts);
	crit_otf2_call_sites_destroy(parts->call_sites);
	crit_otf2_layout_destroy(parts->layout);
	crit_otf2_regions_destroy(parts->regions);
	crit_otf2_strings_destroy(parts->strings);
	*parts = (struct crit_otf2_parts){ 0 };
}
