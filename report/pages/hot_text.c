// SPDX-License-Identifier: BSD-3-Clause
// Hot lines in the tables of report.txt, and other levels by themselves; call paths from the
// function on in which CMetric was earned, a caller a line; and where threads were blocked.
#include "report/pages/hot_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats/row_writer.h"
#include "report/tables/path_tree.h"

#define LINES_MAX 20
#define PATHS_MAX 8
#define WAITS_MAX 20
#define WAIT_PATHS_MAX 4 /* of one system call and object */
#define CALLERS_MAX 24 /* lines; beyond it those in the middle are counted */
#define CALLERS_LAST 6 /* lines kept for the outermost ones */
#define INDENT 39 /* two columns behind the begin of the last one */
#define PLACE_BYTES 256

/* Without privileges ticks in the kernel are not told. */
static bool has_user_mode_only(const struct crit_results *results)
{
	for (size_t i = 0; i < results->node_count; i++)
		if (results->nodes[i].kernel_half == CRIT_HALF_PERF)
			return true;
	return false;
}

void crit_hot_text_write(FILE *out, const struct crit_summary *summary)
{
	const struct crit_sample_results *samples = &summary->results->samples;
	const struct crit_hot_table *hot = &summary->hot;

	if (!hot->count)
		return;
	fprintf(out,
		"\nHot lines (all threads; unit threads)\n"
		"  CMetric that was earned in a line, by samples, and its standard error; CPU = "
		"share of the samples,\n"
		"  as a plain profile has it; not sampled = in calls or regions without a "
		"sample\n%s",
		has_user_mode_only(summary->results)
			? "  Without privileges samples are of user mode only: system calls have "
			  "none.\n"
			: "");
	crit_rows_text(
		out, summary, CRIT_TABLE_HOT,
		&(struct crit_rows){ .at = hot->rows, .count = hot->count, .max = LINES_MAX });
	if (hot->count > LINES_MAX)
		fprintf(out, "  and %zu more, all in hot.csv\n", hot->count - LINES_MAX);
	if (samples->unlisted)
		fprintf(out, "  %llu samples of %llu found no room: their part is not sampled\n",
			(unsigned long long)samples->unlisted, (unsigned long long)samples->count);
}

int crit_hot_text_write_by(FILE *out, const struct crit_summary *summary, enum crit_hot_level level)
{
	const struct crit_hot_query query = { .level = level };
	struct crit_hot_table table;
	int rc = summary->results->samples.count ? 0 : -ENODATA;

	if (!rc)
		rc = crit_hot_table_init(&table, summary->results, &summary->finder, &query);
	if (rc)
		return rc;
	crit_rows_text(out, summary, CRIT_TABLE_HOT,
		       &(struct crit_rows){ .at = table.rows, .count = table.count });
	crit_hot_table_fini(&table);
	return 0;
}

static int compare_self(const void *a, const void *b)
{
	const struct crit_path_node *left = *(const struct crit_path_node *const *)a;
	const struct crit_path_node *right = *(const struct crit_path_node *const *)b;

	if (left->self != right->self)
		return left->self < right->self ? 1 : -1;
	return (left > right) - (left < right); /* of one array */
}

/* Nodes where CMetric was earned, by that.  Ownership: the caller's.  NULL: out of memory. */
static const struct crit_path_node **leaves_of(const struct crit_path_tree *tree, size_t *ret_count)
{
	const struct crit_path_node **leaves =
		calloc(tree->count + 1, sizeof(const struct crit_path_node *));

	*ret_count = 0;
	for (size_t i = 0; leaves && i < tree->count; i++)
		if (tree->nodes[i].self)
			leaves[(*ret_count)++] = &tree->nodes[i];
	if (leaves)
		qsort(leaves, *ret_count, sizeof(const struct crit_path_node *), compare_self);
	return leaves;
}

struct lines { /* of the callers of one node */
	FILE *out; /* NULL: they are counted */
	size_t count, left_out;
	size_t all; /* as counted */
};

static void put_line(struct lines *lines, const struct crit_path_node *node, size_t times)
{
	const size_t at = lines->count++;
	char text[PLACE_BYTES];

	if (!lines->out)
		return;
	if (lines->all > CALLERS_MAX && at >= CALLERS_MAX - CALLERS_LAST &&
	    at + CALLERS_LAST < lines->all) {
		if (!lines->left_out++)
			fprintf(lines->out, "%*s... %zu lines\n", INDENT, "",
				lines->all - CALLERS_MAX);
		return;
	}
	fprintf(lines->out, "%*s%s", INDENT, "", crit_path_text(node, text, sizeof(text)));
	if (times > 1)
		fprintf(lines->out, ", %zu times", times);
	(void)fputc('\n', lines->out);
}

static bool is_same_place(const struct crit_path_node *left, const struct crit_path_node *right)
{
	const char *left_name = left->place.function ? left->place.function : left->place.module;
	const char *right_name = right->place.function ? right->place.function
						       : right->place.module;

	return left_name && right_name && left->place.line == right->place.line &&
	       strcmp(left_name, right_name) == 0;
}

/* What a function calls of itself is told once, and so is code of a file that has no names. */
static void put_callers(struct lines *lines, const struct crit_path_tree *tree,
			const struct crit_path_node *leaf)
{
	uint32_t at = leaf->parent;

	while (at != CRIT_NONE) {
		struct crit_path_node node = tree->nodes[at];
		size_t times = 0;

		do {
			at = tree->nodes[at].parent;
			times++;
		} while (at != CRIT_NONE && is_same_place(&tree->nodes[at], &node));
		if (times > 1) /* not all in that one */
			node.place.function_begin = 0;
		put_line(lines, &node, times);
	}
}

static void put_path(FILE *out, const struct crit_summary *summary,
		     const struct crit_path_tree *tree, const struct crit_path_node *leaf)
{
	struct lines counted = { 0 }, lines = { .out = out };

	crit_text_row(out, "", &CRIT_ROW(summary, leaf), CRIT_TABLE_PATHS);
	put_callers(&counted, tree, leaf);
	lines.all = counted.count;
	put_callers(&lines, tree, leaf);
	if (leaf->end != CRIT_PATH_COMPLETE && leaf->kind != CRIT_HOT_NOT_SAMPLED)
		fprintf(out, "%*s(%s)\n", INDENT, "", crit_path_end_text(leaf->end));
}

static void put_ends(FILE *out, const struct crit_summary *summary,
		     const struct crit_path_tree *tree)
{
	const char *separator = "  of the CMetric sampled: ";

	for (int end = 1; end <= CRIT_PATH_FIRST; end++) {
		const struct crit_path_end *row = &tree->ends[end % CRIT_PATH_FIRST];

		if (!row->samples)
			continue;
		fprintf(out, "%s%s %.1f%%", separator, crit_path_end_text(row->end),
			100 * row->share);
		separator = ", ";
	}
	(void)fputc('\n', out);
	if (summary->results->samples.refused_paths)
		fprintf(out, "  %llu entries of call paths in the recordings made no sense\n",
			(unsigned long long)summary->results->samples.refused_paths);
}

/* At most max of the paths; 0: all.  Errors: -ENOMEM. */
static int put_paths(FILE *out, const struct crit_summary *summary, size_t max)
{
	static const struct crit_path_query query = { .has_call_lines = true };
	const struct crit_path_node **leaves;
	struct crit_path_tree tree;
	size_t count;
	int rc;

	if (crit_path_tree_init(&tree, summary->results, &summary->finder, &query))
		return -ENOMEM;
	leaves = leaves_of(&tree, &count);
	if (leaves) {
		const size_t shown = max && max < count ? max : count;

		crit_text_head(out, "", CRIT_TABLE_PATHS);
		for (size_t i = 0; i < shown; i++)
			put_path(out, summary, &tree, leaves[i]);
		if (shown < count)
			fprintf(out, "  and %zu more, by crit report --by=path\n", count - shown);
		put_ends(out, summary, &tree);
	}
	crit_path_tree_fini(&tree);
	rc = leaves ? 0 : -ENOMEM;
	free(leaves);
	return rc;
}

void crit_hot_text_write_paths(FILE *out, const struct crit_summary *summary)
{
	if (!crit_path_tree_is_known(summary->results))
		return;
	fprintf(out,
		"\nHot paths (all threads; unit threads)\n"
		"  CMetric that was earned in a function when it was called so, and its standard "
		"error; below it\n"
		"  its callers, the innermost first\n");
	(void)put_paths(out, summary, PATHS_MAX); /* the others are no worse without */
}

int crit_hot_text_write_by_path(FILE *out, const struct crit_summary *summary)
{
	if (!summary->results->samples.count)
		return -ENODATA;
	return crit_path_tree_is_known(summary->results) ? put_paths(out, summary, 0) : -ENOENT;
}

/* The longest paths of a system call, each from the function on that made it. */
static void put_wait_paths(FILE *out, const struct crit_summary *summary,
			   const struct crit_wait_row *row)
{
	const struct crit_path_node **leaves;
	struct crit_path_tree tree;
	size_t count;

	if (row->not_captured_ns == row->blocked_ns ||
	    crit_wait_paths_init(&tree, &summary->waits, row, summary->results, &summary->finder))
		return;
	leaves = leaves_of(&tree, &count);
	for (size_t i = 0; leaves && i < count && i < WAIT_PATHS_MAX; i++) {
		struct lines counted = { 0 }, lines = { .out = out };
		char text[PLACE_BYTES];

		fprintf(out, "%10.4f %5.1f%%%*s%s\n", crit_fix_seconds(leaves[i]->self),
			100 * leaves[i]->self_share, INDENT - 17, "",
			leaves[i]->kind == CRIT_HOT_NOT_SAMPLED
				? "(not captured)"
				: crit_path_text(leaves[i], text, sizeof(text)));
		put_callers(&counted, &tree, leaves[i]);
		lines.all = counted.count;
		put_callers(&lines, &tree, leaves[i]);
	}
	free(leaves);
	crit_path_tree_fini(&tree);
}

void crit_hot_text_write_waits(FILE *out, const struct crit_summary *summary)
{
	const struct crit_wait_table *waits = &summary->waits;
	const size_t shown = waits->count < WAITS_MAX ? waits->count : WAITS_MAX;

	if (waits->not_told_ns == waits->blocked_ns) {
		if (waits->blocked_ns)
			fprintf(out,
				"\nWaits by path: not known; BPF on Linux 5.15 or later tells in "
				"which system calls threads are blocked\n");
		return;
	}
	fprintf(out,
		"\nWaits by path (all threads)\n"
		"  time in which threads were blocked, by the system call they were in; objects "
		"are "
		"futexes, fd = open\n"
		"  file, page fault = outside system calls; below it the paths that were captured, "
		"with their callers\n");
	crit_text_head(out, "", CRIT_TABLE_WAIT_PATHS);
	for (size_t i = 0; i < shown; i++) {
		crit_text_row(out, "", &CRIT_ROW(summary, &waits->rows[i]), CRIT_TABLE_WAIT_PATHS);
		put_wait_paths(out, summary, &waits->rows[i]);
	}
	if (shown < waits->count)
		fprintf(out, "  and %zu more, all in report.json\n", waits->count - shown);
}
