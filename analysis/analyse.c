// SPDX-License-Identifier: BSD-3-Clause
// The front door: opens the recordings, surveys, plays, and hands out the results.
#include <errno.h>
#include <stdlib.h>

#include "analysis/outcome.h"
#include "analysis/results.h"
#include "analysis/survey.h"
#include "analysis/timeline.h"
#include "core/err.h"

void crit_model_fini(struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->node_count; i++) {
		crit_recording_close(model->nodes[i].recording);
		crit_map_fini(&model->nodes[i].stream_numbers);
		crit_map_fini(&model->nodes[i].pids);
		crit_map_fini(&model->nodes[i].threads);
	}
	free(model->nodes);
	free(model->lives);
	free(model->processes);
	free(model->ranks);
	free(model->streams);
	free(model->unknowns);
	free(model->parts);
}

static int open_nodes(struct crit_model *model, const char *const *paths, size_t path_count,
		      struct crit_err *err)
{
	size_t i;

	model->nodes = calloc(path_count, sizeof(*model->nodes));
	if (!model->nodes)
		return -ENOMEM;
	for (i = 0; i < path_count; i++) {
		int rc = crit_recording_open(paths[i], &model->nodes[i].recording, err);

		if (rc)
			return rc;
		model->node_count++;
	}
	return 0;
}

/* GAPP's own rule needs the kernel half everywhere: mixed figures would mean nothing. */
static int check_rule(const struct crit_model *model, enum crit_active_rule rule,
		      struct crit_err *err)
{
	size_t i;

	if (rule >= CRIT_ACTIVE_COUNT)
		return crit_err_set(err, -EINVAL, "cannot analyse: rule %d is unknown", (int)rule);
	for (i = 0; i < model->node_count && rule == CRIT_ACTIVE_KERNEL; i++) {
		const struct crit_rec_file *file = &model->nodes[i].recording->file;

		if (file->kernel_status)
			return crit_err_set(err, -EINVAL,
					    "cannot count by kernel state alone: the recording of "
					    "%s has no kernel half; use the default rule",
					    file->host[0] ? file->host : "one node");
	}
	return 0;
}

static int compute(struct crit_model *model, const struct crit_analysis_options *options,
		   struct crit_results *results)
{
	struct crit_engine engine;
	int rc = crit_survey(model);

	if (rc)
		return rc;
	rc = crit_engine_init(&engine, model, results->rule);
	if (rc)
		return rc;
	rc = crit_timeline_play(model, &engine, options);
	if (!rc)
		rc = crit_outcome_add_counters(model, &engine);
	if (!rc)
		rc = crit_outcome_fill(model, &engine, results);
	crit_engine_fini(&engine);
	return rc;
}

int crit_analyse(const char *const *paths, size_t path_count,
		 const struct crit_analysis_options *options, struct crit_results **ret_results,
		 struct crit_err *err)
{
	struct crit_model model = { 0 };
	struct crit_results *results;
	int rc;

	if (!path_count)
		return crit_err_set(err, -EINVAL, "cannot analyse: no recording was named");
	results = calloc(1, sizeof(*results));
	if (!results)
		return crit_err_set(err, -ENOMEM, "cannot analyse: out of memory");
	results->rule = options ? options->rule : CRIT_ACTIVE_DEFAULT;
	rc = open_nodes(&model, paths, path_count, err);
	if (!rc)
		rc = check_rule(&model, results->rule, err);
	if (!rc)
		rc = compute(&model, options, results);
	if (rc == -ENOMEM)
		(void)crit_err_set(err, rc, "cannot analyse %s: out of memory", paths[0]);
	crit_model_fini(&model);
	if (rc) {
		crit_results_destroy(results);
		return rc;
	}
	*ret_results = results;
	return 0;
}

void crit_results_destroy(struct crit_results *results)
{
	if (!results)
		return;
	free(results->nodes);
	free(results->ranks);
	free(results->threads);
	free(results->calls);
	free(results->sites);
	free(results->laws);
	free(results);
}
