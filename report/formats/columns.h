/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables and objects of a report and their columns, as columns.def has them. */
#ifndef CRIT_COLUMNS_H
#define CRIT_COLUMNS_H

#include "report/tables/summary.h"

struct crit_json_stream;

#define CRIT_COLUMNS_MAX 64 /* of a table */
#define CRIT_VALUE_TEXT 1056

enum crit_table {
#define TABLE(table, type, path, file, doc) CRIT_TABLE_##table,
#include "report/formats/columns.def"
	CRIT_TABLE_COUNT
};

enum crit_kind {
	CRIT_KIND_COUNT = 0,
	CRIT_KIND_NUMBER, /* may be less than 0 */
	CRIT_KIND_REAL,
	CRIT_KIND_NS, /* written in seconds */
	CRIT_KIND_FIX, /* nanoseconds, written in seconds */
	CRIT_KIND_SHARE, /* per cent in report.txt */
	CRIT_KIND_PERCENT,
	CRIT_KIND_ERROR,
	CRIT_KIND_BOOL,
	CRIT_KIND_RANK, /* index of a rank's row, less than 0: none */
	CRIT_KIND_WORD, /* one of ours: no quotes in a CSV */
	CRIT_KIND_TEXT,
	CRIT_KIND_FIELD, /* an array of characters */
	CRIT_KIND_JSON /* in report.json only */
};

enum crit_where {
	CRIT_IN_TEXT = 0, /* report.txt alone */
	CRIT_IN_JSON = 1,
	CRIT_IN_CSV = 2,
	CRIT_IN_BOTH = 3,
	CRIT_IN_SOME = 5 /* in report.json, absent without a value */
};

struct crit_value {
	bool is_null;
	uint64_t count; /* COUNT, NS, BOOL */
	int64_t number; /* NUMBER, RANK */
	double real; /* REAL, FIX, SHARE, PERCENT, ERROR */
	const char *text; /* WORD, TEXT, FIELD; NULL: none */
	size_t text_bytes;
	struct crit_json_stream *json; /* JSON: where it is written, unless it is null */
	char room[CRIT_VALUE_TEXT]; /* of text, where it is made */
};

struct crit_row { /* of any table, with what its columns need */
	const struct crit_summary *summary;
	const void *at; /* of the table's type */
	size_t index;
	const struct crit_region_line *owner; /* SHARES: the region */
	const char *label; /* SHARES: of a sum; IMBALANCE: the slowest */
	const struct crit_cells *used; /* those that usage is of */
	struct crit_usage usage;
};

#define CRIT_ROW(of_summary, row_at) ((struct crit_row){ .summary = (of_summary), .at = (row_at) })

struct crit_column {
	enum crit_table table;
	enum crit_kind kind;
	enum crit_where where;
	const char *key;
	void (*get)(struct crit_row *row, struct crit_value *v);
	struct { /* in report.txt; place 0: not there */
		int place;
		const char *head;
		int width;
		int digits;
	} shown;
	const char *doc;
};

struct crit_table_head {
	size_t row_bytes;
	size_t first; /* index of its first column; they lie side by side */
	const char *path; /* in report.json, "" not there */
	const char *file; /* "" none */
	const char *doc;
};

extern const struct crit_table_head crit_table_heads[CRIT_TABLE_COUNT];

/* All columns, by table, in the order of its file. */
const struct crit_column *crit_columns(size_t *ret_count);

#endif
