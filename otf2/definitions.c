// SPDX-License-Identifier: BSD-3-Clause
/*
 * The global definitions, every reference pointing backwards: clock, strings, paradigm, system
 * tree, location groups, locations, attributes, regions, groups, communicators, metrics.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "otf2/archive/properties.h"
#include "otf2/calls.h"
#include "otf2/writer.h"

struct words { /* strings named by the definitions themselves */
	uint32_t machine, node, machine_name, mpi, comm_template, comm_locations;
	uint32_t openmp, team_template, team_locations;
	uint32_t names[CRIT_OTF2_ATTRIBUTE_COUNT], texts[CRIT_OTF2_ATTRIBUTE_COUNT];
	uint32_t metric, metric_text, seconds;
	uint32_t *hosts; /* by node */
};

static const struct {
	const char *name;
	const char *text;
} attributes[CRIT_OTF2_ATTRIBUTE_COUNT] = {
	[CRIT_OTF2_CMETRIC] = { "cmetric_ns",
				"CMetric earned here, regions inside apart: the integral of dt / n "
				"while active" },
	[CRIT_OTF2_STALL] = { "stall_ns", "share of the time in which nobody was active" },
	[CRIT_OTF2_RUNNING] = { "running_ns", "time on a CPU" },
	[CRIT_OTF2_RUNNABLE] = { "runnable_ns", "time waiting for a CPU" },
	[CRIT_OTF2_BLOCKED] = { "blocked_ns", "time asleep in the kernel" },
	[CRIT_OTF2_POLLED] = { "polled_calls", "failing tests and probes merged into this one" },
	[CRIT_OTF2_SITE] = { "call_site", "function, file and line the call came from" },
};

static uint32_t add_region(struct crit_otf2_writer *writer, const char *name, OTF2_RegionRole role,
			   OTF2_Paradigm paradigm)
{
	uint32_t string = crit_otf2_string(&writer->strings, name);

	if (string == CRIT_NONE ||
	    crit_array_grow(&writer->regions, &writer->region_capacity, writer->region_count + 1,
			    sizeof(*writer->regions)))
		return CRIT_NONE;
	writer->regions[writer->region_count] =
		(struct crit_otf2_region){ string, role, paradigm, CRIT_NONE, 0 };
	return (uint32_t)writer->region_count++;
}

static OTF2_Paradigm paradigm_of(unsigned int call)
{
	if (call < CRIT_CALL_OMP_FIRST)
		return OTF2_PARADIGM_MPI;
	return call == CRIT_CONSTRUCT_PHASE ? OTF2_PARADIGM_USER : OTF2_PARADIGM_OPENMP;
}

uint32_t crit_otf2_add_region(struct crit_otf2_writer *writer, unsigned int call, const char *name,
			      uint32_t file, uint32_t line)
{
	uint32_t region = add_region(writer, name, crit_otf2_role(call), paradigm_of(call));

	if (region != CRIT_NONE) {
		writer->regions[region].file = file;
		writer->regions[region].line = line;
	}
	return region;
}

uint32_t crit_otf2_call_region(struct crit_otf2_writer *writer, unsigned int call)
{
	if (call >= CRIT_OTF2_CALLS)
		return CRIT_NONE;
	writer->has_call[call] = true;
	return writer->first_call + call;
}

int crit_otf2_name_calls(struct crit_otf2_writer *writer)
{
	unsigned int call;

	for (call = 0; call < CRIT_OTF2_CALLS; call++) {
		if (!writer->has_call[call])
			continue;
		writer->call_regions[call] =
			crit_otf2_add_region(writer, call, crit_call_name(call), CRIT_NONE, 0);
		if (writer->call_regions[call] == CRIT_NONE)
			return -ENOMEM;
	}
	return 0;
}

uint32_t crit_otf2_program_region(struct crit_otf2_writer *writer, const char *name)
{
	uint32_t string = crit_otf2_string(&writer->strings, name);
	uint32_t region = string == CRIT_NONE ? CRIT_NONE
					      : crit_map_get(&writer->program_regions, string);

	if (region != CRIT_NONE || string == CRIT_NONE)
		return region;
	region = add_region(writer, name, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
	if (region != CRIT_NONE && crit_map_set(&writer->program_regions, string, region))
		return CRIT_NONE;
	return region;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, whoever found which of them first. */
int crit_otf2_name_sites(struct crit_otf2_writer *writer)
{
	const struct crit_otf2_strings *texts = &writer->site_texts;
	char **sorted = calloc(texts->count + 1, sizeof(*sorted));
	size_t i;
	int rc = 0;

	writer->site_strings = calloc(texts->count + 1, sizeof(*writer->site_strings));
	if (!sorted || !writer->site_strings)
		rc = -ENOMEM;
	for (i = 0; i < texts->count && !rc; i++)
		sorted[i] = texts->texts[i];
	if (!rc)
		qsort(sorted, texts->count, sizeof(*sorted), compare_texts);
	for (i = 0; i < texts->count && !rc; i++)
		rc = crit_otf2_string(&writer->strings, sorted[i]) == CRIT_NONE ? -ENOMEM : 0;
	for (i = 0; i < texts->count && !rc; i++)
		writer->site_strings[i] = crit_otf2_string(&writer->strings, texts->texts[i]);
	free(sorted);
	return rc;
}

/* All strings are known before the first is written.  Errors: -ENOMEM. */
static int find_words(struct crit_otf2_writer *writer, struct words *words)
{
	struct crit_otf2_strings *strings = &writer->strings;
	const struct crit_results *run = writer->run;
	uint32_t worst = 0, i;

	words->hosts = calloc(run->node_count + 1, sizeof(*words->hosts));
	if (!words->hosts)
		return -ENOMEM;
	for (i = 0; i < run->node_count; i++) {
		words->hosts[i] = crit_otf2_string(strings, run->nodes[i].host);
		worst |= words->hosts[i] == CRIT_NONE;
	}
	for (i = 0; i < CRIT_OTF2_ATTRIBUTE_COUNT; i++) {
		words->names[i] = crit_otf2_string(strings, attributes[i].name);
		words->texts[i] = crit_otf2_string(strings, attributes[i].text);
		worst |= words->names[i] == CRIT_NONE || words->texts[i] == CRIT_NONE;
	}
	words->machine = crit_otf2_string(strings, "machine");
	words->node = crit_otf2_string(strings, "node");
	words->machine_name =
		crit_otf2_string(strings, run->node_count > 1 ? "cluster" : "machine");
	words->mpi = crit_otf2_string(strings, "MPI");
	words->comm_template = crit_otf2_string(strings, "Comm ${id}");
	words->comm_locations = crit_otf2_string(strings, "MPI locations");
	words->openmp = crit_otf2_string(strings, "OpenMP");
	words->team_template = crit_otf2_string(strings, "Thread team ${id}");
	words->team_locations = crit_otf2_string(strings, "OpenMP locations");
	words->metric = crit_otf2_string(strings, "CMetric");
	words->metric_text = crit_otf2_string(strings, "CMetric earned so far");
	words->seconds = crit_otf2_string(strings, "s");
	worst |= words->machine == CRIT_NONE || words->node == CRIT_NONE ||
		 words->machine_name == CRIT_NONE || words->mpi == CRIT_NONE ||
		 words->comm_template == CRIT_NONE || words->comm_locations == CRIT_NONE ||
		 words->openmp == CRIT_NONE || words->team_template == CRIT_NONE ||
		 words->team_locations == CRIT_NONE || words->metric == CRIT_NONE ||
		 words->metric_text == CRIT_NONE || words->seconds == CRIT_NONE;
	return worst ? -ENOMEM : 0;
}

static OTF2_ErrorCode write_heads(struct crit_otf2_writer *writer, OTF2_GlobalDefWriter *global)
{
	const struct crit_results *run = writer->run;
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteClockProperties(
		global, 1000000000, writer->first_ns, writer->last_ns - writer->first_ns + 1,
		run->start_real_ns - (run->window_begin_ns - writer->first_ns));
	size_t i;

	for (i = 0; i < writer->strings.count && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteString(global, (uint32_t)i,
							writer->strings.texts[i]);
	return code;
}

static OTF2_ErrorCode write_paradigm(OTF2_GlobalDefWriter *global, OTF2_Paradigm paradigm,
				     OTF2_ParadigmClass class, uint32_t name, uint32_t template)
{
	OTF2_AttributeValue value = { .stringRef = template };
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteParadigm(global, paradigm, name, class);

	if (code == OTF2_SUCCESS)
		code = OTF2_GlobalDefWriter_WriteParadigmProperty(
			global, paradigm, OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
			OTF2_TYPE_STRING, value);
	return code;
}

static OTF2_ErrorCode write_paradigms(struct crit_otf2_writer *writer, OTF2_GlobalDefWriter *global,
				      const struct words *words)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	if (writer->run->has_ranks)
		code = write_paradigm(global, OTF2_PARADIGM_MPI, OTF2_PARADIGM_CLASS_PROCESS,
				      words->mpi, words->comm_template);
	if (code == OTF2_SUCCESS && writer->openmp.has_constructs)
		code = write_paradigm(global, OTF2_PARADIGM_OPENMP,
				      OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN, words->openmp,
				      words->team_template);
	return code;
}

/* Node 0 of the tree is the machine, node 1 + i host i. */
static OTF2_ErrorCode write_tree(struct crit_otf2_writer *writer, OTF2_GlobalDefWriter *global,
				 const struct words *words)
{
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteSystemTreeNode(
		global, 0, words->machine_name, words->machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	uint32_t i;

	if (code == OTF2_SUCCESS)
		code = OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
			global, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	for (i = 0; i < writer->run->node_count && code == OTF2_SUCCESS; i++) {
		code = OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 1 + i, words->hosts[i],
								words->node, 0);
		if (code == OTF2_SUCCESS)
			code = OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
				global, 1 + i, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
	}
	for (i = 0; i < writer->group_count && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteLocationGroup(global, i, writer->groups[i].name,
							       OTF2_LOCATION_GROUP_TYPE_PROCESS,
							       1 + writer->groups[i].node,
							       OTF2_UNDEFINED_LOCATION_GROUP);
	for (i = 0; i < writer->location_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_location *location = &writer->locations[i];

		if (location->is_listed)
			code = OTF2_GlobalDefWriter_WriteLocation(global, location->reference,
								  location->name,
								  OTF2_LOCATION_TYPE_CPU_THREAD,
								  location->event_count,
								  location->group);
	}
	return code;
}

static OTF2_ErrorCode write_regions(struct crit_otf2_writer *writer, OTF2_GlobalDefWriter *global,
				    const struct words *words)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t i;

	for (i = 0; i < CRIT_OTF2_ATTRIBUTE_COUNT && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteAttribute(
			global, i, words->names[i], words->texts[i],
			i == CRIT_OTF2_SITE ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64);
	for (i = 0; i < writer->region_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_region *region = &writer->regions[i];

		code = OTF2_GlobalDefWriter_WriteRegion(global, i, region->name, region->name, 0,
							region->role, region->paradigm,
							OTF2_REGION_FLAG_NONE, region->file,
							region->line, region->line);
	}
	return code;
}

/* Group 0: the location of every rank's MPI thread, the stranger last; all others count in it. */
static OTF2_ErrorCode write_groups(struct crit_otf2_writer *writer, OTF2_GlobalDefWriter *global,
				   const struct words *words)
{
	uint64_t *ranks = calloc(writer->rank_groups + 1, sizeof(*ranks));
	uint32_t count = (uint32_t)writer->rank_groups, i;
	OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;

	for (i = 0; ranks && i < writer->rank_groups; i++)
		ranks[i] = i; /* thread 0 << 32 | group */
	if (ranks && writer->has_stranger)
		ranks[count++] = writer->locations[writer->stranger].reference;
	if (ranks)
		code = OTF2_GlobalDefWriter_WriteGroup(global, 0, words->comm_locations,
						       OTF2_GROUP_TYPE_COMM_LOCATIONS,
						       OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
						       count, ranks);
	free(ranks);
	for (i = 0; i < writer->member_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_members *group = &writer->members[i];

		code = OTF2_GlobalDefWriter_WriteGroup(
			global, 1 + i, group->name,
			group->members ? OTF2_GROUP_TYPE_COMM_GROUP : OTF2_GROUP_TYPE_COMM_SELF,
			OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, group->count, group->members);
	}
	return code;
}

static OTF2_ErrorCode write_communicators(struct crit_otf2_writer *writer,
					  OTF2_GlobalDefWriter *global)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t i;

	for (i = 0; i < writer->communicator_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_communicator *comm = &writer->communicators[i];

		if (comm->is_inter)
			code = OTF2_GlobalDefWriter_WriteInterComm(global, i, comm->name,
								   comm->group, comm->group_b,
								   comm->parent,
								   OTF2_COMM_FLAG_NONE);
		else
			code = OTF2_GlobalDefWriter_WriteComm(global, i, comm->name, comm->group,
							      comm->parent, OTF2_COMM_FLAG_NONE);
	}
	return code;
}

static OTF2_ErrorCode write_metrics(OTF2_GlobalDefWriter *global, const struct words *words)
{
	OTF2_MetricMemberRef member = 0;
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteMetricMember(
		global, member, words->metric, words->metric_text, OTF2_METRIC_TYPE_OTHER,
		OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, -9,
		words->seconds);

	if (code == OTF2_SUCCESS)
		code = OTF2_GlobalDefWriter_WriteMetricClass(global, CRIT_OTF2_METRIC, 1, &member,
							     OTF2_METRIC_ASYNCHRONOUS,
							     OTF2_RECORDER_KIND_CPU);
	return code;
}

/* Names need a namespace and [A-Z0-9_]. */
static OTF2_ErrorCode write_properties(struct crit_otf2_writer *writer)
{
	const struct {
		const char *name;
		bool value;
	} flags[] = {
		{ "OTF2::MPI_COMMUNICATION_COMPLETE", writer->are_messages_whole },
		{ "OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE", writer->are_teams_whole },
		{ "OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", false },
		{ "OTF2::THREAD_LOCK_EVENT_COMPLETE", writer->are_locks_whole },
		{ "OTF2::PTHREAD_LOCATION_REUSED", false },
		{ CRIT_OTF2_HAS_LOSSES, writer->has_losses },
		{ CRIT_OTF2_IS_CUT,
		  writer->end_ns < writer->run->window_begin_ns + writer->run->window_ns },
		{ CRIT_OTF2_HAS_ALL, writer->options->has_all },
		{ CRIT_OTF2_HAS_JOINED, writer->openmp.has_joined },
	};
	char analysis[48];
	OTF2_ErrorCode code = OTF2_Archive_SetCreator(writer->archive, writer->options->creator);
	size_t i;

	if (code == OTF2_SUCCESS && writer->run->node_count)
		code = OTF2_Archive_SetMachineName(writer->archive, writer->run->nodes[0].host);
	(void)snprintf(analysis, sizeof(analysis), "%016llx %llu",
		       (unsigned long long)writer->run->run_id,
		       (unsigned long long)writer->run->window_ns);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_SetProperty(writer->archive, CRIT_OTF2_ANALYSIS, analysis,
						true);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]) && code == OTF2_SUCCESS; i++)
		code = OTF2_Archive_SetBoolProperty(writer->archive, flags[i].name, flags[i].value,
						    true);
	return code;
}

static OTF2_ErrorCode write_all(struct crit_otf2_writer *writer, OTF2_GlobalDefWriter *global,
				const struct words *words)
{
	uint32_t teams = writer->run->has_ranks ? 1u + (uint32_t)writer->member_count : 0;
	OTF2_ErrorCode code = write_heads(writer, global);

	if (code == OTF2_SUCCESS)
		code = write_paradigms(writer, global, words);
	if (code == OTF2_SUCCESS)
		code = write_tree(writer, global, words);
	if (code == OTF2_SUCCESS)
		code = write_regions(writer, global, words);
	if (code == OTF2_SUCCESS && writer->run->has_ranks)
		code = write_groups(writer, global, words);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_write_team_groups(writer, global, teams, words->team_locations);
	if (code == OTF2_SUCCESS)
		code = write_communicators(writer, global);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_write_team_comms(writer, global, teams);
	if (code == OTF2_SUCCESS && writer->options->has_metrics)
		code = write_metrics(global, words);
	return code;
}

int crit_otf2_define(struct crit_otf2_writer *writer)
{
	OTF2_GlobalDefWriter *global;
	struct words words;
	OTF2_ErrorCode code;
	int rc = find_words(writer, &words);

	if (!rc)
		rc = crit_otf2_check(writer, write_properties(writer), "properties");
	if (!rc) {
		global = OTF2_Archive_GetGlobalDefWriter(writer->archive);
		code = global ? write_all(writer, global, &words) : OTF2_ERROR_INVALID;
		if (code == OTF2_SUCCESS)
			code = OTF2_Archive_CloseGlobalDefWriter(writer->archive, global);
		rc = crit_otf2_check(writer, code, "definitions");
	}
	free(words.hosts);
	return rc;
}
