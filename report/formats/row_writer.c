// SPDX-License-Identifier: BSD-3-Clause
// Writes the values of rows: seconds, counts, shares and texts, each in the way of its format.
#include "report/formats/row_writer.h"

#include <math.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "core/base/line.h"
#include "report/formats/json_stream.h"
#include "report/tables/labels.h"

/* Those of a table that are where, or in report.txt in the order of their places. */
static size_t columns_of(enum crit_table table, enum crit_where where,
			 const struct crit_column **ret_list)
{
	size_t all, count = 0;
	const struct crit_column *columns = crit_columns(&all);

	for (size_t i = crit_table_heads[table].first; i < all && columns[i].table == table; i++) {
		size_t at = count;

		if (where ? !(columns[i].where & where) : !columns[i].shown.place)
			continue;
		for (; !where && at && ret_list[at - 1]->shown.place > columns[i].shown.place; at--)
			ret_list[at] = ret_list[at - 1];
		ret_list[at] = &columns[i];
		if (++count == CRIT_COLUMNS_MAX)
			break;
	}
	return count;
}

static void get(const struct crit_column *column, struct crit_row *row, struct crit_value *value)
{
	value->is_null = false;
	value->text = NULL;
	column->get(row, value);
	if (column->kind == CRIT_KIND_WORD || column->kind == CRIT_KIND_TEXT)
		value->is_null = !value->text;
}

static void put_rank(struct crit_json_stream *json, const struct crit_results *results,
		     int64_t index)
{
	if (index >= 0 && (size_t)index < results->rank_count)
		crit_json_integer(json, results->ranks[index].rank);
	else
		crit_json_null(json);
}

static void put_value(struct crit_json_stream *json, const struct crit_column *column,
		      const struct crit_row *row, const struct crit_value *value)
{
	switch (column->kind) {
	case CRIT_KIND_COUNT:
		crit_json_integer(json, (int64_t)value->count);
		break;
	case CRIT_KIND_NUMBER:
		crit_json_integer(json, value->number);
		break;
	case CRIT_KIND_NS:
		crit_json_real(json, (double)value->count * 1e-9);
		break;
	case CRIT_KIND_BOOL:
		crit_json_bool(json, value->count);
		break;
	case CRIT_KIND_RANK:
		put_rank(json, row->summary->results, value->number);
		break;
	case CRIT_KIND_WORD:
	case CRIT_KIND_TEXT:
	case CRIT_KIND_FIELD:
		crit_json_text(json, value->text, value->text_bytes);
		break;
	case CRIT_KIND_JSON: /* is written */
		break;
	default:
		crit_json_real(json, value->real);
		break;
	}
}

static void put_member(struct crit_json_stream *json, const struct crit_column *column,
		       struct crit_row *row)
{
	struct crit_value value;

	value.json = json;
	crit_json_key(json, column->key);
	get(column, row, &value);
	if (!value.is_null)
		put_value(json, column, row, &value);
	else if (column->where != CRIT_IN_SOME)
		crit_json_null(json);
}

static void add_members(struct crit_json_members *members, enum crit_table table, bool is_second)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];
	const size_t count = columns_of(table, CRIT_IN_JSON, list);

	for (size_t i = 0; i < count; i++) {
		size_t at = members->count++;

		for (; at && strcmp(members->of[at - 1].column->key, list[i]->key) > 0; at--)
			members->of[at] = members->of[at - 1];
		members->of[at].column = list[i];
		members->of[at].is_second = is_second;
	}
}

void crit_members_of(struct crit_json_members *members, enum crit_table first,
		     enum crit_table second)
{
	members->count = 0;
	add_members(members, first, false);
	if (second != first)
		add_members(members, second, true);
}

void crit_members_json(struct crit_json_stream *json, const struct crit_json_members *members,
		       struct crit_row *first, struct crit_row *second)
{
	crit_json_object(json);
	for (size_t i = 0; i < members->count; i++)
		put_member(json, members->of[i].column, members->of[i].is_second ? second : first);
	crit_json_close(json);
}

void crit_row_json(struct crit_json_stream *json, struct crit_row *row, enum crit_table table)
{
	struct crit_json_members members;

	crit_members_of(&members, table, table);
	crit_members_json(json, &members, row, NULL);
}

void crit_member_json(struct crit_json_stream *json, struct crit_row *row, enum crit_table table,
		      const char *key)
{
	struct crit_json_members members;

	crit_members_of(&members, table, table);
	for (size_t i = 0; i < members.count; i++)
		if (strcmp(members.of[i].column->key, key) == 0)
			put_member(json, members.of[i].column, row);
}

static struct crit_row row_of(const struct crit_summary *summary, enum crit_table table,
			      const void *rows, size_t index)
{
	return (struct crit_row){
		.summary = summary,
		.at = (const char *)rows + index * crit_table_heads[table].row_bytes,
		.index = index,
	};
}

void crit_rows_json(struct crit_json_stream *json, const struct crit_summary *summary,
		    enum crit_table table, const void *rows, size_t count)
{
	struct crit_json_members members;

	crit_members_of(&members, table, table);
	crit_json_array(json);
	for (size_t i = 0; i < count; i++) {
		struct crit_row row = row_of(summary, table, rows, i);

		crit_members_json(json, &members, &row, NULL);
	}
	crit_json_close(json);
}

/* A text in quotes, cut at text_bytes. */
static void quote(FILE *out, const char *text, size_t text_bytes)
{
	crit_autofree char *plain = strndup(text, text_bytes);

	if (plain)
		crit_line_tame(plain, strlen(plain), false);
	(void)fputc('"', out);
	for (const char *at = plain ? plain : ""; *at; at++) {
		if (*at == '"')
			(void)fputc('"', out);
		(void)fputc(*at, out);
	}
	(void)fputc('"', out);
}

/* Without rank there is nothing in a CSV. */
static const char *rank_of(const struct crit_row *row, struct crit_value *value, const char *none)
{
	if (value->number < 0)
		return none;
	return crit_rank_label(row->summary->results, (int32_t)value->number, value->room,
			       sizeof(value->room));
}

static void csv_value(FILE *out, const struct crit_column *column, const struct crit_row *row,
		      struct crit_value *value)
{
	switch (column->kind) {
	case CRIT_KIND_COUNT:
	case CRIT_KIND_BOOL:
		fprintf(out, "%llu", (unsigned long long)value->count);
		break;
	case CRIT_KIND_NUMBER:
		fprintf(out, "%lld", (long long)value->number);
		break;
	case CRIT_KIND_NS:
		fprintf(out, "%llu.%09llu", (unsigned long long)(value->count / 1000000000u),
			(unsigned long long)(value->count % 1000000000u));
		break;
	case CRIT_KIND_RANK:
		(void)fputs(rank_of(row, value, ""), out);
		break;
	case CRIT_KIND_WORD:
		(void)fputs(value->text, out);
		break;
	case CRIT_KIND_TEXT:
	case CRIT_KIND_FIELD:
		quote(out, value->text, value->text_bytes);
		break;
	default:
		fprintf(out, "%.9f", value->real);
		break;
	}
}

static void csv_line(FILE *out, struct crit_row *row, const struct crit_column **list, size_t count)
{
	struct crit_value value;

	for (size_t i = 0; i < count; i++) {
		if (i)
			(void)putc_unlocked(',', out);
		get(list[i], row, &value);
		if (!value.is_null)
			csv_value(out, list[i], row, &value);
		else if (list[i]->kind == CRIT_KIND_TEXT)
			(void)fputs("\"\"", out);
	}
	(void)fputc('\n', out);
}

void crit_csv_head(FILE *out, enum crit_table table)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];
	const size_t count = columns_of(table, CRIT_IN_CSV, list);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", list[i]->key);
	(void)fputc('\n', out);
}

void crit_csv_row(FILE *out, struct crit_row *row, enum crit_table table)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];

	csv_line(out, row, list, columns_of(table, CRIT_IN_CSV, list));
}

void crit_rows_csv(FILE *out, const struct crit_summary *summary, enum crit_table table,
		   const void *rows, size_t count)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];
	const size_t columns = columns_of(table, CRIT_IN_CSV, list);

	crit_csv_head(out, table);
	for (size_t i = 0; i < count; i++) {
		struct crit_row row = row_of(summary, table, rows, i);

		csv_line(out, &row, list, columns);
	}
}

/* A cell of text: to the left and cut, to the right, or the rest of the line. */
static void text_cell(FILE *out, const struct crit_column *column, const char *text, size_t bytes)
{
	const int width = column->shown.width;
	const size_t length = strnlen(text, bytes);

	if (width < 0)
		crit_line_print(out, "%*.*s", width, length < (size_t)-width ? (int)length : -width,
				text);
	else
		crit_line_print(out, "%*.*s", width, (int)length, text);
}

/* What is shown as 0 has no sign: a gain of less than nothing by rounding alone. */
static double without_sign_of_0(double value, int digits)
{
	return fabs(value) * pow(10, digits) < 0.5 ? 0 : value;
}

static void text_value(FILE *out, const struct crit_column *column, const struct crit_row *row,
		       struct crit_value *value)
{
	const int width = column->shown.width;
	const int digits = column->shown.digits;

	switch (column->kind) {
	case CRIT_KIND_COUNT:
	case CRIT_KIND_BOOL:
		fprintf(out, "%*llu", width, (unsigned long long)value->count);
		break;
	case CRIT_KIND_NUMBER:
		fprintf(out, "%*lld", width, (long long)value->number);
		break;
	case CRIT_KIND_NS:
		fprintf(out, "%*.*f", width, digits, (double)value->count * 1e-9);
		break;
	case CRIT_KIND_SHARE:
		fprintf(out, "%*.*f%%", width - 1, digits,
			without_sign_of_0(100 * value->real, digits));
		break;
	case CRIT_KIND_PERCENT:
		fprintf(out, "%*.*f%%", width - 1, digits, value->real);
		break;
	case CRIT_KIND_ERROR:
		fprintf(out, "%*.*e", width, digits, value->real);
		break;
	case CRIT_KIND_RANK:
		text_cell(out, column, rank_of(row, value, "-"), SIZE_MAX);
		break;
	case CRIT_KIND_WORD:
	case CRIT_KIND_TEXT:
	case CRIT_KIND_FIELD:
		text_cell(out, column, value->text, value->text_bytes);
		break;
	default:
		fprintf(out, "%*.*f", width, digits, without_sign_of_0(value->real, digits));
		break;
	}
}

/* Without the columns at its end that have no value. */
static void text_line(FILE *out, const char *indent, struct crit_row *row,
		      const struct crit_column **list, size_t count)
{
	struct crit_value value;

	for (; count; count--) {
		get(list[count - 1], row, &value);
		if (!value.is_null)
			break;
	}
	(void)fputs(indent, out);
	for (size_t i = 0; i < count; i++) {
		get(list[i], row, &value);
		if (i)
			(void)fputs(list[i]->shown.width ? " " : "  ", out);
		if (value.is_null)
			text_cell(out, list[i], "-", SIZE_MAX);
		else
			text_value(out, list[i], row, &value);
	}
	(void)fputc('\n', out);
}

void crit_text_head(FILE *out, const char *indent, enum crit_table table)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];
	const size_t count = columns_of(table, CRIT_IN_TEXT, list);

	(void)fputs(indent, out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%*s",
			!i                     ? ""
			: list[i]->shown.width ? " "
					       : "  ",
			list[i]->shown.width, list[i]->shown.head);
	(void)fputc('\n', out);
}

void crit_text_row(FILE *out, const char *indent, struct crit_row *row, enum crit_table table)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];

	text_line(out, indent, row, list, columns_of(table, CRIT_IN_TEXT, list));
}

void crit_rows_text(FILE *out, const struct crit_summary *summary, enum crit_table table,
		    const struct crit_rows *rows)
{
	const struct crit_column *list[CRIT_COLUMNS_MAX];
	const size_t columns = columns_of(table, CRIT_IN_TEXT, list);

	crit_text_head(out, "", table);
	for (size_t i = 0; i < rows->count && (!rows->max || i < rows->max); i++) {
		struct crit_row row =
			row_of(summary, table, rows->at, rows->order ? rows->order[i] : i);

		text_line(out, "", &row, list, columns);
	}
}
