// SPDX-License-Identifier: BSD-3-Clause
#include "cli/results/predicted.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/console/syntax.h"
#include "cli/results/recording_set.h"
#include "cli/results/run_waits.h"
#include "core/base/line.h"
#include "report/diff/difference.h"
#include "report/fixes/prediction.h"
#include "report/tables/summary.h"

#define WORTH_SAYING_RATIO 0.001 /* of the code's time */

struct side {
	struct crit_recording_set *set;
	struct crit_analysis *analysis;
	bool is_incomplete;
};

static int open_side(struct side *side, const char *path, struct crit_err *err)
{
	const struct crit_run_waits *waits;
	struct crit_summary summary;
	int rc;

	side->set = crit_recording_set_create(NULL);
	rc = crit_recording_set_add(side->set, path, err);
	crit_recording_set_film(side->set, CRIT_FILM_NEEDS);
	if (!rc)
		rc = crit_recording_set_analyse(side->set, CRIT_ACTIVE_DEFAULT,
						isatty(STDERR_FILENO), NULL, &side->analysis, err);
	if (rc)
		return rc;
	waits = crit_analysis_waits(side->analysis, err);
	if (!waits)
		return -ENODATA;
	rc = crit_analysis_summarise(side->analysis, false, &summary);
	if (rc)
		return rc;
	side->is_incomplete = summary.is_incomplete ||
			      crit_run_waits_window_ns(waits) < summary.results->window_ns;
	crit_summary_fini(&summary);
	return 0;
}

static double error_of(const struct crit_prediction *prediction)
{
	return prediction->measured_ns
		       ? (double)prediction->predicted_ns / (double)prediction->measured_ns - 1
		       : 0;
}

static void print_text(const struct crit_prediction *prediction)
{
	const double named_ns = WORTH_SAYING_RATIO * prediction->code_ns;

	printf("with the times that its code takes in B, A would end after %.4f s; B ended after "
	       "%.4f s: %+.1f%% off\n"
	       "  A ended after %.4f s; code between calls takes %.4f s in A, %.4f s in B (sum "
	       "over "
	       "threads)\n",
	       1e-9 * (double)prediction->predicted_ns, 1e-9 * (double)prediction->measured_ns,
	       100 * error_of(prediction), 1e-9 * (double)prediction->recorded_ns,
	       1e-9 * prediction->code_ns, 1e-9 * prediction->other_code_ns);
	if (prediction->unnamed_ns > named_ns || prediction->other_unnamed_ns > named_ns)
		printf("  of that, %.4f s in A and %.4f s in B are in code that the other one has "
		       "not by name: taken together\n",
		       1e-9 * prediction->unnamed_ns, 1e-9 * prediction->other_unnamed_ns);
}

static json_t *side_json(const char *path, uint64_t end_ns, double code_ns, double unnamed_ns)
{
	return json_pack("{s:o, s:f, s:f, s:f}", "path", crit_difference_path(path), "end_s",
			 1e-9 * (double)end_ns, "code_s", 1e-9 * code_ns, "unnamed_s",
			 1e-9 * unnamed_ns);
}

static int print_json(const struct crit_prediction *prediction, char *const paths[2])
{
	json_t *root = json_pack("{s:s, s:o, s:o, s:f, s:f}", "schema", "crit-diff-predicted/1",
				 "a",
				 side_json(paths[0], prediction->recorded_ns, prediction->code_ns,
					   prediction->unnamed_ns),
				 "b",
				 side_json(paths[1], prediction->measured_ns,
					   prediction->other_code_ns, prediction->other_unnamed_ns),
				 "predicted_s", 1e-9 * (double)prediction->predicted_ns,
				 "error_ratio", error_of(prediction));
	int rc = root ? json_dumpf(root, stdout, JSON_SORT_KEYS | JSON_INDENT(1)) : -1;

	(void)fputc('\n', stdout);
	json_decref(root);
	return rc ? -EIO : 0;
}

static int predict(const struct side sides[2], char *const paths[2], bool is_json,
		   struct crit_err *err)
{
	struct crit_prediction prediction;
	int rc = crit_analysis_predict(sides[0].analysis, sides[1].analysis, &prediction, err);

	if (rc)
		return rc;
	if (is_json)
		rc = print_json(&prediction, paths);
	else
		print_text(&prediction);
	return ferror(stdout) ? 0 : rc; /* main tells */
}

int crit_predicted_run(char *const paths[2], bool is_json)
{
	struct side sides[2] = { 0 };
	struct crit_err err = { { 0 } };
	const char *of = NULL; /* what could not be read */
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		rc = open_side(&sides[i], paths[i], &err);
		of = rc ? paths[i] : NULL;
	}
	if (!rc)
		rc = predict(sides, paths, is_json, &err);
	if (rc)
		crit_line_print(stderr, "crit diff: %s%s%s\n", of ? of : "", of ? ": " : "",
				err.text[0] ? err.text : strerror(-rc));
	else if (sides[0].is_incomplete || sides[1].is_incomplete)
		fputs("crit diff: records were lost or not taken one by one, so waits are missing "
		      "and the prediction is not sure; crit report tells which\n",
		      stderr);
	for (int i = 0; i < 2; i++) {
		crit_analysis_destroy(sides[i].analysis);
		crit_recording_set_destroy(sides[i].set);
	}
	if (rc)
		return CRIT_EXIT_FAILED;
	return sides[0].is_incomplete || sides[1].is_incomplete ? CRIT_EXIT_INCOMPLETE
								: CRIT_EXIT_OK;
}
