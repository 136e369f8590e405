// SPDX-License-Identifier: BSD-3-Clause
// The program's begin on each location, and MPI_Init and MPI_Finalize around what is analysed.
#include <errno.h>
#include <stdlib.h>

#include "otf2/writer.h"

#define SITE_BYTES 160
#define SITE_BITS 47u /* of a user address; the group's number goes above */

uint32_t crit_otf2_site(struct crit_otf2_writer *writer, uint32_t group_number, uint64_t site)
{
	const struct crit_otf2_options *options = writer->options;
	const struct crit_otf2_group *group = &writer->groups[group_number];
	uint64_t key = (uint64_t)group_number << SITE_BITS ^ (site & ((1ull << SITE_BITS) - 1));
	uint32_t known = crit_map_get(&writer->sites, key);
	char text[SITE_BYTES];
	struct crit_place place;

	if (known != CRIT_NONE)
		return known - 1;
	if (options->site_place && writer->site_texts.count < CRIT_OTF2_SITES_MAX &&
	    options->site_place(options->site_user, group->node, group->pid, site, &place))
		known = crit_otf2_string(&writer->site_texts,
					 crit_place_text(&place, text, sizeof(text)));
	if (known != CRIT_NONE)
		known += writer->first_text;
	(void)crit_map_set(&writer->sites, key, known + 1); /* without memory: asked again */
	return known;
}

/* The program of a rank begins.  Errors: -ENOMEM, -EIO. */
static int begin_program(struct crit_otf2_writer *writer, const struct crit_otf2_group *group,
			 OTF2_EvtWriter *events, uint64_t time_ns)
{
	uint32_t arguments[CRIT_OTF2_ARGUMENTS_MAX];
	int count = crit_otf2_arguments(writer, group, arguments);

	if (count < 0)
		return count;
	return crit_otf2_check(writer,
			       OTF2_EvtWriter_ProgramBegin(events, NULL, time_ns,
							   writer->regions[group->program].name,
							   (uint32_t)count, arguments),
			       "an event");
}

int crit_otf2_begin_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			     uint64_t time_ns)
{
	const struct crit_otf2_group *group = &writer->groups[location->group];
	int rc = 0;

	if (location->is_begun)
		return 0;
	location->is_begun = true;
	if (crit_otf2_is_main(group, location))
		rc = begin_program(writer, group, location->events, time_ns);
	return rc ? rc
		  : crit_otf2_check(writer,
				    OTF2_EvtWriter_Enter(location->events, NULL, time_ns,
							 group->program),
				    "an event");
}

/* Nothing is earned in it. */
static OTF2_ErrorCode write_call(struct crit_otf2_writer *writer,
				 const struct crit_otf2_location *location,
				 const struct crit_trace_setup *setup)
{
	uint32_t region = crit_otf2_call_region(writer, setup->call), site = CRIT_NONE;
	OTF2_AttributeList *attributes = writer->attributes;
	OTF2_ErrorCode code = OTF2_EvtWriter_Enter(location->events, NULL, setup->begin_ns, region);

	if (setup->site)
		site = crit_otf2_site(writer, location->group, setup->site);
	if (code == OTF2_SUCCESS)
		code = OTF2_AttributeList_AddUint64(attributes, CRIT_OTF2_CMETRIC, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_AttributeList_AddUint64(attributes, CRIT_OTF2_STALL, 0);
	if (code == OTF2_SUCCESS && site != CRIT_NONE)
		code = OTF2_AttributeList_AddStringRef(attributes, CRIT_OTF2_SITE, site);
	if (code == OTF2_SUCCESS)
		code = OTF2_EvtWriter_Leave(location->events, attributes, setup->end_ns, region);
	return code;
}

int crit_otf2_setup(void *user, uint32_t thread, const struct crit_trace_setup *setup)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location = &writer->locations[thread];
	bool is_over = location->is_over;
	struct crit_trace_setup told = *setup;
	const OTF2_EvtWriter *events;
	int rc;

	location->is_over = false;
	events = crit_otf2_writer_of(writer, thread, &location, &told.begin_ns, &rc);
	if (events)
		events = crit_otf2_writer_of(writer, thread, &location, &told.end_ns, &rc);
	location->is_over = is_over;
	if (!events)
		return rc;
	location->has_init = true;
	if (told.begin_ns < writer->first_ns)
		writer->first_ns = told.begin_ns;
	if (told.end_ns > writer->last_ns)
		writer->last_ns = told.end_ns;
	rc = crit_otf2_begin_location(writer, location, told.begin_ns);
	if (!rc)
		rc = crit_otf2_check(writer, write_call(writer, location, &told), "an event");
	if (!rc && is_over)
		rc = crit_otf2_end_location(writer, location, told.end_ns, location->last_sums);
	return rc;
}
