// SPDX-License-Identifier: BSD-3-Clause
#include "cli/results/shown_waits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/console/syntax.h"
#include "cli/results/recording_set.h"
#include "cli/results/run_waits.h"
#include "core/base/line.h"

static int play(const struct crit_shown_waits *shown, struct crit_recording_set *set,
		struct crit_err *err)
{
	struct crit_analysis *analysis = NULL;
	const struct crit_run_waits *waits;
	int rc;

	crit_recording_set_film(set, shown->film);
	rc = crit_recording_set_analyse(set, CRIT_ACTIVE_DEFAULT, isatty(STDERR_FILENO), NULL,
					&analysis, err);
	if (rc)
		return rc;
	waits = crit_analysis_waits(analysis, err);
	rc = waits ? shown->show(analysis, crit_run_waits_window_ns(waits), shown->user, err)
		   : -ENODATA;
	crit_analysis_destroy(analysis);
	return rc;
}

int crit_shown_waits_run(const struct crit_shown_waits *shown, char *const *paths,
			 size_t path_count)
{
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	struct crit_err err = { { 0 } };
	int rc = 0;

	for (size_t i = 0; i < path_count && !rc; i++)
		rc = crit_recording_set_add(set, paths[i], &err);
	if (!rc)
		rc = play(shown, set, &err);
	crit_recording_set_destroy(set);
	if (rc >= 0)
		return rc;
	crit_line_print(stderr, "%s: %s\n", shown->command, err.text[0] ? err.text : strerror(-rc));
	return CRIT_EXIT_FAILED;
}
