/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that an archive is made of, each with what it needs of the others. */
#ifndef CRIT_OTF2_ARCHIVE_PARTS_H
#define CRIT_OTF2_ARCHIVE_PARTS_H

#include "otf2/archive/archive_files.h"
#include "otf2/archive/strings.h"
#include "otf2/archive_options.h"
#include "otf2/definitions/call_site_table.h"
#include "otf2/definitions/comm_table.h"
#include "otf2/definitions/context_table.h"
#include "otf2/definitions/layout.h"
#include "otf2/definitions/region_definitions.h"
#include "otf2/events/streams.h"
#include "otf2/openmp/construct_table.h"
#include "otf2/openmp/lock_records.h"
#include "otf2/openmp/task_records.h"
#include "otf2/openmp/team_records.h"

struct crit_otf2_parts {
	struct crit_otf2_files *files;
	struct crit_otf2_strings *strings;
	struct crit_otf2_regions *regions;
	struct crit_otf2_layout *layout;
	struct crit_otf2_call_sites *call_sites;
	struct crit_otf2_contexts *contexts; /* NULL: no samples are asked for */
	struct crit_otf2_comms *comms;
	struct crit_otf2_streams *streams;
	struct crit_otf2_constructs *constructs;
	struct crit_otf2_teams *teams;
	struct crit_otf2_locks *locks;
	struct crit_otf2_tasks *tasks;
};

/*
 * Makes all but the files, which are there.  Spans are told until end_ns.  Options and run are
 * borrowed.  Errors: -ENOMEM; the caller calls fini.
 */
int crit_otf2_parts_init(struct crit_otf2_parts *parts, const struct crit_otf2_options *options,
			 const struct crit_results *run, uint64_t end_ns);
void crit_otf2_parts_fini(struct crit_otf2_parts *parts);

#endif
