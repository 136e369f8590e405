/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of any table as lines of report.txt, lines of a CSV and objects of report.json. */
#ifndef CRIT_ROW_WRITER_H
#define CRIT_ROW_WRITER_H

#include <stdio.h>

#include "report/formats/columns.h"
#include "report/formats/json_stream.h"

/* An object with all members of a row. */
void crit_row_json(struct crit_json_stream *json, struct crit_row *row, enum crit_table table);

/* One member of that alone, with its key. */
void crit_member_json(struct crit_json_stream *json, struct crit_row *row, enum crit_table table,
		      const char *key);

/* An array of count rows, side by side. */
void crit_rows_json(struct crit_json_stream *json, const struct crit_summary *summary,
		    enum crit_table table, const void *rows, size_t count);

/* Of objects with a row of each of two tables, in the order of their keys. */
struct crit_json_members {
	size_t count;
	struct {
		const struct crit_column *column;
		bool is_second; /* of the second table */
	} of[2 * CRIT_COLUMNS_MAX];
};

void crit_members_of(struct crit_json_members *members, enum crit_table first,
		     enum crit_table second);

/* An object with them. */
void crit_members_json(struct crit_json_stream *json, const struct crit_json_members *members,
		       struct crit_row *first, struct crit_row *second);

/* The names of a CSV's columns, and one line of it. */
void crit_csv_head(FILE *out, enum crit_table table);
void crit_csv_row(FILE *out, struct crit_row *row, enum crit_table table);

/* A CSV of count rows. */
void crit_rows_csv(FILE *out, const struct crit_summary *summary, enum crit_table table,
		   const void *rows, size_t count);

/* The heads of a table in report.txt, and one line of it, which ends where a value is null. */
void crit_text_head(FILE *out, const char *indent, enum crit_table table);
void crit_text_row(FILE *out, const char *indent, struct crit_row *row, enum crit_table table);

struct crit_rows { /* of a table in report.txt */
	const void *at; /* side by side */
	size_t count;
	const size_t *order; /* order[i] is the index of the i-th one; NULL: as they are */
	size_t max; /* shown at most; 0: all */
};

/* Heads and rows. */
void crit_rows_text(FILE *out, const struct crit_summary *summary, enum crit_table table,
		    const struct crit_rows *rows);

#endif
