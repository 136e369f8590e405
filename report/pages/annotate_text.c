// SPDX-License-Identifier: BSD-3-Clause
// Source files beside the hot lines of a function.
#include "report/pages/annotate_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/cleanup.h"
#include "core/base/line.h"
#include "report/tables/location_fit.h"

#define LINES_AROUND 3u
#define TAB_COLUMNS 8
#define LINE_BYTES 1024 /* of a source line that are shown */
#define BYTES_BEHIND 32 /* the last instruction that was sampled */

struct annotated {
	FILE *out;
	const struct crit_summary *summary;
	const char *function;
	const struct crit_disassembler *disassembler;
};

struct instruction { /* that was sampled */
	uint64_t address; /* as the module has it */
	crit_fix cmetric;
	uint64_t samples;
};

struct instructions { /* of a function in a module, by address */
	struct instruction *rows;
	size_t count, capacity;
	uint64_t begin; /* of the function; UINT64_MAX not known */
};

static const char *file_of(const struct crit_hot_row *row)
{
	return row->place.file && row->place.line ? row->place.file : "";
}

static int compare_lines(const void *a, const void *b)
{
	const struct crit_hot_row *left = *(const struct crit_hot_row *const *)a;
	const struct crit_hot_row *right = *(const struct crit_hot_row *const *)b;
	int order = strcmp(file_of(left), file_of(right));

	return order ? order : crit_by_number(left->place.line, right->place.line);
}

/* Cuts the line's end off and writes tabs as spaces. */
static void put_source(FILE *out, const char *text)
{
	char line[LINE_BYTES];
	size_t columns = 0;

	for (; *text && *text != '\n' && columns + 1 < sizeof(line); text++)
		do
			line[columns++] = *text == '\t' ? ' ' : *text;
		while (*text == '\t' && columns % TAB_COLUMNS && columns + 1 < sizeof(line));
	line[columns] = '\0';
	crit_line_print(out, "%s\n", line);
}

static void put_line(FILE *out, const struct crit_hot_row *row, uint64_t number, const char *text)
{
	char error[24] = "?";

	if (row && row->error_s >= 0)
		(void)snprintf(error, sizeof(error), "%.4f", row->error_s);
	if (row)
		fprintf(out, "%10.4f %8s %5.1f%% %5.1f%% %8llu", crit_fix_seconds(row->cmetric),
			error, 100 * row->share, 100 * row->cpu_share,
			(unsigned long long)row->samples);
	else
		fprintf(out, "%*s", 41, "");
	fprintf(out, " %6llu  ", (unsigned long long)number);
	put_source(out, text);
}

static int compare_instructions(const void *a, const void *b)
{
	const struct instruction *left = a, *right = b;

	return crit_by_number(left->address, right->address);
}

static bool is_of(const struct crit_source_location *place, const char *function)
{
	bool is_named = place->function && crit_name_is(place->function, function);

	for (uint32_t i = 0; i < place->frame_count && !is_named; i++)
		is_named = place->frames[i].function &&
			   crit_name_is(place->frames[i].function, function);
	return is_named;
}

/* Samples of one address become one row. */
static void join(struct instructions *all)
{
	size_t used = 0;

	if (all->count)
		qsort(all->rows, all->count, sizeof(*all->rows), compare_instructions);
	for (size_t i = 0; i < all->count; i++) {
		const struct instruction row = all->rows[i];

		if (!used || all->rows[used - 1].address != row.address) {
			all->rows[used++] = row;
			continue;
		}
		all->rows[used - 1].cmetric += row.cmetric;
		all->rows[used - 1].samples += row.samples;
	}
	all->count = used;
}

/* Errors: -ENOMEM. */
static int find_instructions(const struct annotated *annotated, const char *module,
			     struct instructions *all)
{
	const struct crit_results *results = annotated->summary->results;
	const struct crit_region_finder *finder = &annotated->summary->finder;

	all->begin = UINT64_MAX;
	for (size_t i = 0; i < results->samples.row_count && finder->find; i++) {
		const struct crit_sample_row *row = &results->samples.rows[i];
		const struct crit_thread_row *thread = &results->threads[row->thread];
		struct crit_source_location place = { 0 };

		finder->find(finder->user, thread->node, thread->pid, row->address, &place);
		if (!place.module || strcmp(place.module, module) != 0 ||
		    !is_of(&place, annotated->function))
			continue;
		if (crit_array_grow(&all->rows, &all->capacity, all->count + 1, sizeof(*all->rows)))
			return -ENOMEM;
		/* the place is that of a return address, the next byte */
		all->rows[all->count++] = (struct instruction){ .address = place.offset - 1,
								.cmetric = row->cmetric,
								.samples = row->count };
		if (place.function_offset && place.offset - place.function_offset < all->begin)
			all->begin = place.offset - place.function_offset;
	}
	join(all);
	return 0;
}

struct code_line {
	uint64_t address;
	char *text;
};

struct code { /* as disassembled */
	struct code_line *lines;
	size_t count, capacity;
};

static void free_code(struct code *code)
{
	for (size_t i = 0; i < code->count; i++)
		free(code->lines[i].text);
	free(code->lines);
}

/* Errors: -ENOMEM. */
static int read_code(struct code *code, FILE *in)
{
	crit_autofree char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) > 0) {
		char *end;
		const uint64_t address = strtoull(line, &end, 16);
		struct code_line read = { .address = address };

		if (end == line || *end != ':')
			continue;
		read.text = strdup(end + 1 + strspn(end + 1, "\t "));
		if (!read.text || crit_array_grow(&code->lines, &code->capacity, code->count + 1,
						  sizeof(*code->lines))) {
			free(read.text);
			return -ENOMEM;
		}
		code->lines[code->count++] = read;
	}
	return 0;
}

static void put_instruction(const struct annotated *all, const struct instruction *row,
			    const struct code_line *line)
{
	if (row)
		fprintf(all->out, "%10.4f %8s %5.1f%% %6s %8llu", crit_fix_seconds(row->cmetric),
			"", 100 * crit_fix_seconds(row->cmetric) / all->summary->cmetric_s, "",
			(unsigned long long)row->samples);
	else
		fprintf(all->out, "%*s", 41, "");
	fprintf(all->out, " %6llx  ", (unsigned long long)line->address);
	put_source(all->out, line->text);
}

/* Those far from all that were sampled are left out; a sample may lie inside one, a system call. */
static void put_code(const struct annotated *all, const struct instructions *sampled,
		     const struct code *code)
{
	size_t at = 0, last = 0;
	bool has_gap = false;

	for (size_t i = 0; i < code->count; i++) {
		const bool is_last = i + 1 == code->count;
		const uint64_t next = is_last ? UINT64_MAX : code->lines[i + 1].address;
		const size_t ahead = i + LINES_AROUND + 1 < code->count ? i + LINES_AROUND + 1
									: code->count - 1;
		const bool is_hot = at < sampled->count && sampled->rows[at].address < next;
		const bool is_near = is_hot ||
				     (at < sampled->count &&
				      sampled->rows[at].address < code->lines[ahead].address) ||
				     (at && i <= last + LINES_AROUND);

		if (is_near && has_gap)
			fprintf(all->out, "%*s ...\n", 46, "");
		has_gap = !is_near && at;
		if (is_near)
			put_instruction(all, is_hot ? &sampled->rows[at] : NULL, &code->lines[i]);
		for (; at < sampled->count && sampled->rows[at].address < next; at++)
			last = i;
	}
}

/* The instructions of the function in a module.  Errors: -ENOMEM. */
static int put_disassembly(const struct annotated *all, const char *module)
{
	struct instructions sampled = { 0 };
	struct code code = { 0 };
	int rc = find_instructions(all, module, &sampled);
	FILE *in = NULL;

	if (!rc && sampled.count) {
		in = all->disassembler->open(
			all->disassembler->user, module,
			sampled.begin < sampled.rows[0].address ? sampled.begin
								: sampled.rows[0].address,
			sampled.rows[sampled.count - 1].address + BYTES_BEHIND);
		if (!in)
			fprintf(all->out, "no disassembly: objdump cannot be started (%s); %s\n",
				strerror(errno), "install binutils");
	}
	if (in) {
		rc = read_code(&code, in);
		all->disassembler->close(all->disassembler->user, in);
		put_code(all, &sampled, &code);
	}
	free_code(&code);
	free(sampled.rows);
	return rc;
}

static bool is_first_of_module(const struct crit_hot_row *const *rows, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(rows[i]->place.module, rows[at]->place.module) == 0)
			return false;
	return true;
}

/* Rows of one file, sorted by line; lines far from all of them are left out. */
static int put_file(const struct annotated *annotated, const struct crit_hot_row *const *rows,
		    size_t count)
{
	FILE *out = annotated->out;
	crit_autofclose FILE *in = fopen(file_of(rows[0]), "re");
	crit_autofree char *text = NULL;
	size_t room = 0, at = 0;
	bool has_gap = false;
	int rc = 0;

	crit_line_print(out, "%s, in %s%s\n", annotated->function,
			*file_of(rows[0]) ? file_of(rows[0]) : rows[0]->place.module,
			in || !*file_of(rows[0]) ? "" : ", which cannot be read");
	for (uint64_t number = 1; in && getline(&text, &room, in) > 0; number++) {
		const bool is_hot = at < count && rows[at]->place.line == number;
		const bool is_near =
			(at < count && number + LINES_AROUND >= rows[at]->place.line) ||
			(at && number <= rows[at - 1]->place.line + LINES_AROUND);

		if (is_near && has_gap)
			fprintf(out, "%*s ...\n", 46, "");
		has_gap = !is_near && at;
		if (is_near)
			put_line(out, is_hot ? rows[at] : NULL, number, text);
		at += is_hot;
		for (; is_hot && at < count && rows[at]->place.line == number; at++)
			put_line(out, rows[at], number, ""); /* in another library */
	}
	for (; at < count; at++) /* beyond the file's end, or without one */
		put_line(out, rows[at], rows[at]->place.line, "");
	for (size_t i = 0; !in && i < count && !rc; i++)
		if (is_first_of_module(rows, i))
			rc = put_disassembly(annotated, rows[i]->place.module);
	return rc;
}

static int put_files(const struct annotated *annotated, const struct crit_hot_table *hot)
{
	int rc = 0;
	crit_autofree const struct crit_hot_row **rows =
		calloc(hot->count + 1, sizeof(struct crit_hot_row *));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < hot->count; i++)
		rows[i] = &hot->rows[i];
	qsort(rows, hot->count, sizeof(struct crit_hot_row *), compare_lines);
	fprintf(annotated->out, "%10s %8s %6s %6s %8s %6s\n", "CMetric", "+-", "share", "CPU",
		"samples", "line");
	for (size_t first = 0, end; first < hot->count && !rc; first = end) {
		for (end = first;
		     end < hot->count && !strcmp(file_of(rows[end]), file_of(rows[first]));)
			end++;
		rc = put_file(annotated, &rows[first], end - first);
	}
	return rc;
}

int crit_annotate_text_write(FILE *out, const struct crit_summary *summary, const char *function,
			     const struct crit_disassembler *disassembler)
{
	const struct crit_hot_query query = { .level = CRIT_HOT_LINE, .function = function };
	const struct annotated annotated = { out, summary, function, disassembler };
	struct crit_hot_table hot;
	int rc = summary->results->samples.count ? 0 : -ENODATA;

	if (!rc)
		rc = crit_hot_table_init(&hot, summary->results, &summary->finder, &query);
	if (rc)
		return rc;
	rc = hot.count ? put_files(&annotated, &hot) : -ENOENT;
	crit_hot_table_fini(&hot);
	return rc;
}
