// SPDX-License-Identifier: BSD-3-Clause
// The global definitions, every reference pointing backwards: clock, strings, paradigm, system
// tree, location groups, locations, attributes, regions, groups, communicators, metrics.
#include "otf2/global_definitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "otf2/archive/properties.h"

struct definer {
	struct crit_otf2_parts *parts;
	const struct crit_otf2_options *options;
	const struct crit_results *run;
	const struct crit_otf2_claims *claims;
	OTF2_GlobalDefWriter *global;
};

struct words { /* strings named by the definitions themselves */
	uint32_t machine, node, machine_name, mpi, comm_template, comm_locations;
	uint32_t openmp, team_template, team_locations;
	uint32_t names[CRIT_OTF2_ATTRIBUTE_COUNT], texts[CRIT_OTF2_ATTRIBUTE_COUNT];
	uint32_t metrics[CRIT_OTF2_METRIC_COUNT], metric_texts[CRIT_OTF2_METRIC_COUNT], seconds;
	uint32_t *hosts; /* by node */
};

static const struct {
	const char *name;
	const char *text;
} attributes[CRIT_OTF2_ATTRIBUTE_COUNT] = {
	[CRIT_OTF2_CMETRIC] = { "cmetric_ns",
				"CMetric earned here, regions inside apart: the integral of dt / n "
				"while active" },
	[CRIT_OTF2_ALL_WAITING] = { "all_waiting_ns",
				    "share of the time in which nobody was active" },
	[CRIT_OTF2_RUNNING] = { "running_ns", "time on a CPU" },
	[CRIT_OTF2_RUNNABLE] = { "runnable_ns", "time waiting for a CPU" },
	[CRIT_OTF2_BLOCKED] = { "blocked_ns", "time asleep in the kernel" },
	[CRIT_OTF2_POLLED] = { "polled_calls", "failing tests and probes merged into this one" },
	[CRIT_OTF2_CALL_SITE] = { "call_site", "function, file and line the call came from" },
};

static const struct {
	const char *name;
	const char *text;
} metrics[CRIT_OTF2_METRIC_COUNT] = {
	[CRIT_OTF2_METRIC_CMETRIC] = { "CMetric", "CMetric earned so far" },
	[CRIT_OTF2_METRIC_WAITING] = { "waiting", "time waited so far, as crit waits counts it" },
};

/* All strings are known before the first is written.  Errors: -ENOMEM. */
static int find_words(const struct definer *definer, struct words *words)
{
	struct crit_otf2_strings *strings = definer->parts->strings;
	const struct crit_results *run = definer->run;
	uint32_t worst = 0;

	words->hosts = calloc(run->node_count + 1, sizeof(*words->hosts));
	if (!words->hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < run->node_count; i++) {
		words->hosts[i] = crit_otf2_string(strings, run->nodes[i].host);
		worst |= words->hosts[i] == CRIT_NONE;
	}
	for (uint32_t i = 0; i < CRIT_OTF2_ATTRIBUTE_COUNT; i++) {
		words->names[i] = crit_otf2_string(strings, attributes[i].name);
		words->texts[i] = crit_otf2_string(strings, attributes[i].text);
		worst |= words->names[i] == CRIT_NONE || words->texts[i] == CRIT_NONE;
	}
	for (uint32_t i = 0; i < CRIT_OTF2_METRIC_COUNT; i++) {
		words->metrics[i] = crit_otf2_string(strings, metrics[i].name);
		words->metric_texts[i] = crit_otf2_string(strings, metrics[i].text);
		worst |= words->metrics[i] == CRIT_NONE || words->metric_texts[i] == CRIT_NONE;
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
	words->seconds = crit_otf2_string(strings, "s");
	worst |= words->machine == CRIT_NONE || words->node == CRIT_NONE ||
		 words->machine_name == CRIT_NONE || words->mpi == CRIT_NONE ||
		 words->comm_template == CRIT_NONE || words->comm_locations == CRIT_NONE ||
		 words->openmp == CRIT_NONE || words->team_template == CRIT_NONE ||
		 words->team_locations == CRIT_NONE || words->seconds == CRIT_NONE;
	return worst ? -ENOMEM : 0;
}

static OTF2_ErrorCode write_heads(const struct definer *definer)
{
	const struct crit_otf2_strings *strings = definer->parts->strings;
	const struct crit_results *run = definer->run;
	struct crit_otf2_extent events = crit_otf2_streams_extent(definer->parts->streams);
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteClockProperties(
		definer->global, 1000000000, events.first_ns, events.last_ns - events.first_ns + 1,
		run->start_real_ns - (run->window_begin_ns - events.first_ns));

	for (uint32_t i = 0; i < crit_otf2_strings_count(strings) && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteString(definer->global, i,
							crit_otf2_strings_text(strings, i));
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

static OTF2_ErrorCode write_paradigms(const struct definer *definer, const struct words *words)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	if (definer->run->has_ranks)
		code = write_paradigm(definer->global, OTF2_PARADIGM_MPI,
				      OTF2_PARADIGM_CLASS_PROCESS, words->mpi,
				      words->comm_template);
	if (code == OTF2_SUCCESS && crit_otf2_constructs_has_openmp(definer->parts->constructs))
		code = write_paradigm(definer->global, OTF2_PARADIGM_OPENMP,
				      OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN, words->openmp,
				      words->team_template);
	return code;
}

/* Node 0 of the tree is the machine, node 1 + i host i. */
static OTF2_ErrorCode write_tree(const struct definer *definer, const struct words *words)
{
	OTF2_GlobalDefWriter *global = definer->global;
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteSystemTreeNode(
		global, 0, words->machine_name, words->machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);

	if (code == OTF2_SUCCESS)
		code = OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
			global, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	for (uint32_t i = 0; i < definer->run->node_count && code == OTF2_SUCCESS; i++) {
		code = OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 1 + i, words->hosts[i],
								words->node, 0);
		if (code == OTF2_SUCCESS)
			code = OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
				global, 1 + i, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
	}
	if (code == OTF2_SUCCESS)
		code = crit_otf2_layout_write(
			definer->parts->layout, global,
			crit_otf2_streams_event_counts(definer->parts->streams));
	return code;
}

static OTF2_ErrorCode write_attributes(OTF2_GlobalDefWriter *global, const struct words *words)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (uint32_t i = 0; i < CRIT_OTF2_ATTRIBUTE_COUNT && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteAttribute(
			global, i, words->names[i], words->texts[i],
			i == CRIT_OTF2_CALL_SITE ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64);
	return code;
}

/* All of them, where one is asked for: references begin at 0. */
static OTF2_ErrorCode write_metrics(OTF2_GlobalDefWriter *global, const struct words *words)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (OTF2_MetricMemberRef i = 0; i < CRIT_OTF2_METRIC_COUNT && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteMetricMember(
			global, i, words->metrics[i], words->metric_texts[i],
			OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
			OTF2_BASE_DECIMAL, -9, words->seconds);
	for (OTF2_MetricRef i = 0; i < CRIT_OTF2_METRIC_COUNT && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteMetricClass(
			global, i, 1, &i, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
	return code;
}

/* Names need a namespace and [A-Z0-9_]. */
static OTF2_ErrorCode write_properties(const struct definer *definer)
{
	const struct {
		const char *name;
		bool value;
	} flags[] = {
		{ "OTF2::MPI_COMMUNICATION_COMPLETE", definer->claims->are_messages_whole },
		{ "OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE", definer->claims->are_teams_whole },
		{ "OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", false },
		{ "OTF2::THREAD_LOCK_EVENT_COMPLETE", definer->claims->are_locks_whole },
		{ "OTF2::PTHREAD_LOCATION_REUSED", false },
		{ CRIT_OTF2_HAS_LOSSES, definer->claims->has_losses },
		{ CRIT_OTF2_IS_CUT, definer->claims->is_cut },
		{ CRIT_OTF2_HAS_ALL, definer->options->has_all },
		{ CRIT_OTF2_HAS_JOINED,
		  crit_otf2_constructs_has_joined(definer->parts->constructs) },
	};
	OTF2_Archive *archive = crit_otf2_files_archive(definer->parts->files);
	char analysis[48];
	OTF2_ErrorCode code = OTF2_Archive_SetCreator(archive, definer->options->creator);

	if (code == OTF2_SUCCESS && definer->run->node_count)
		code = OTF2_Archive_SetMachineName(archive, definer->run->nodes[0].host);
	(void)snprintf(analysis, sizeof(analysis), "%016llx %llu",
		       (unsigned long long)definer->run->run_id,
		       (unsigned long long)definer->run->window_ns);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_SetProperty(archive, CRIT_OTF2_ANALYSIS, analysis, true);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]) && code == OTF2_SUCCESS; i++)
		code = OTF2_Archive_SetBoolProperty(archive, flags[i].name, flags[i].value, true);
	return code;
}

static uint32_t final_region(const void *user, uint32_t region)
{
	const struct crit_otf2_parts *parts = user;

	return crit_otf2_regions_is_call(parts->regions, region)
		       ? crit_otf2_regions_final(parts->regions, region)
		       : crit_otf2_constructs_final(parts->constructs, region);
}

static OTF2_ErrorCode write_all(const struct definer *definer, const struct words *words)
{
	const struct crit_otf2_parts *parts = definer->parts;
	OTF2_GlobalDefWriter *global = definer->global;
	uint32_t first_team = 0; /* group */
	OTF2_ErrorCode code = write_heads(definer);

	if (definer->run->has_ranks)
		first_team = 1u + (uint32_t)crit_otf2_comms_group_count(parts->comms);
	if (code == OTF2_SUCCESS)
		code = write_paradigms(definer, words);
	if (code == OTF2_SUCCESS)
		code = write_tree(definer, words);
	if (code == OTF2_SUCCESS)
		code = write_attributes(global, words);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_regions_write(parts->regions, global);
	if (code == OTF2_SUCCESS && definer->run->has_ranks)
		code = crit_otf2_comms_write_groups(parts->comms, global, words->comm_locations);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_teams_write_groups(parts->teams, global, first_team,
						    words->team_locations);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_comms_write(parts->comms, global);
	if (code == OTF2_SUCCESS)
		code = crit_otf2_teams_write(parts->teams, global, first_team);
	if (code == OTF2_SUCCESS && (definer->options->has_metrics || definer->options->ret_waits))
		code = write_metrics(global, words);
	if (code == OTF2_SUCCESS && parts->contexts)
		code = crit_otf2_contexts_write(parts->contexts, global, final_region, parts);
	return code;
}

int crit_otf2_define(struct crit_otf2_parts *parts, const struct crit_otf2_options *options,
		     const struct crit_results *run, const struct crit_otf2_claims *claims)
{
	OTF2_Archive *archive = crit_otf2_files_archive(parts->files);
	struct definer definer = {
		.parts = parts, .options = options, .run = run, .claims = claims
	};
	struct words words;
	OTF2_ErrorCode code;
	int rc = find_words(&definer, &words);

	if (!rc)
		rc = crit_otf2_check(parts->files, write_properties(&definer), "properties");
	if (!rc) {
		definer.global = OTF2_Archive_GetGlobalDefWriter(archive);
		code = definer.global ? write_all(&definer, &words) : OTF2_ERROR_INVALID;
		if (code == OTF2_SUCCESS)
			code = OTF2_Archive_CloseGlobalDefWriter(archive, definer.global);
		rc = crit_otf2_check(parts->files, code, "definitions");
	}
	free(words.hosts);
	return rc;
}
