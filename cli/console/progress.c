// SPDX-License-Identifier: BSD-3-Clause
// Draws the line that says how far an analysis is.
#include "cli/console/progress.h"

#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"

#define BAR_COLUMNS 30u
#define WAIT_MS 1000u

struct crit_progress crit_progress_begin(const char *what)
{
	return (struct crit_progress){ .what = what, .begin_ms = crit_clock_ms() };
}

void crit_progress_draw(void *user, uint64_t done_bytes, uint64_t total_bytes)
{
	static const char full[] = "##############################";
	struct crit_progress *progress = user;
	double done = total_bytes ? (double)done_bytes / (double)total_bytes : 1.0;
	unsigned int columns;

	if (crit_clock_ms() - progress->begin_ms < WAIT_MS)
		return;
	if (done > 1.0)
		done = 1.0;
	columns = (unsigned int)(done * BAR_COLUMNS);
	progress->is_drawn = true;
	fprintf(stderr, "\r%s [%-*.*s] %3.0f %%", progress->what, (int)BAR_COLUMNS, (int)columns,
		full, done * 100);
}

void crit_progress_end(const struct crit_progress *progress)
{
	if (progress->is_drawn)
		fprintf(stderr, "\r%*s\r", (int)(strlen(progress->what) + BAR_COLUMNS + 9), "");
}
