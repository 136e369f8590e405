/* SPDX-License-Identifier: BSD-3-Clause */
/* The report writers: one summary in, one stream out, no words of their own elsewhere. */
#ifndef CRIT_WRITERS_H
#define CRIT_WRITERS_H

#include <stdio.h>

#include "report/tables/summary.h"

struct crit_text_options {
	bool has_colour; /* bold and colours by escape sequences */
	bool is_first_screen_only;
	int columns; /* of the page, brought to 60 to 200; 0: 80 */
};

/* report.txt: a page first (report/formats/screen.h), then the tables. */
void crit_write_text(FILE *out, const struct crit_summary *summary,
		     const struct crit_text_options *options);
/* The first screen's figures for scripts, "window_s: 1.050000" and so on, one a line. */
void crit_write_summary(FILE *out, const struct crit_summary *summary);
void crit_write_details(FILE *out, const struct crit_summary *summary);

/* report.json, schema crit-report/1. Errors: -ENOMEM, -EIO. */
int crit_write_json(FILE *out, const struct crit_summary *summary);

struct crit_csv { /* a table that crit report --csv prints, and a file of it */
	const char *name;
	const char *file;
	void (*write)(FILE *out, const struct crit_summary *summary);
};

#define CRIT_CSV_COUNT 7

extern const struct crit_csv crit_csvs[CRIT_CSV_COUNT];

void crit_write_ranks_csv(FILE *out, const struct crit_summary *summary);
void crit_write_threads_csv(FILE *out, const struct crit_summary *summary);
void crit_write_messages_csv(FILE *out, const struct crit_summary *summary);
void crit_write_collectives_csv(FILE *out, const struct crit_summary *summary);
/* One row per region and thread. */
void crit_write_regions_csv(FILE *out, const struct crit_summary *summary);

#endif
