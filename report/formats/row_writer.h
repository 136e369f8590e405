/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of any table as lines of report.txt, lines of a CSV and objects of report.json. */
#ifndef CRIT_ROW_WRITER_H
#define CRIT_ROW_WRITER_H

#include <stdio.h>

#include "report/formats/columns.h"

/* An object with all members of a row.  Ownership: the caller's; NULL: no memory. */
json_t *crit_row_json(struct crit_row *row, enum crit_table table);

/* Adds those of a row of another table.  Ownership: takes object; NULL: no memory. */
json_t *crit_row_add(json_t *object, struct crit_row *row, enum crit_table table);

/* An array of count rows, side by side.  Ownership: as above. */
json_t *crit_rows_json(const struct crit_summary *summary, enum crit_table table, const void *rows,
		       size_t count);

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
