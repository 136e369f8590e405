// SPDX-License-Identifier: BSD-3-Clause
// Call paths of a hand-filled run as a tree of frames, and what the report shows of it.
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "report/findings/summarise.h"
#include "report/pages/hot_text.h"
#include "report/pages/report_json.h"
#include "report/pages/report_text.h"
#include "report/tables/path_tree.h"
#include "tests/lib/check.h"
#include "tests/unit/report/path_sample.h"

#define PART PATH_SAMPLE_PART
#define BATCHES CRIT_SAMPLE_BATCHES

static struct results_sample sample;

static struct crit_path_tree tree_of(bool has_call_lines, bool has_lines)
{
	const struct crit_path_query query = { has_call_lines, has_lines };
	struct crit_path_tree tree;
	crit_fix self = 0, outermost = 0;

	CHECK_INT_EQ(crit_path_tree_init(&tree, &sample.results, &path_sample_finder, &query), 0);
	for (size_t i = 0; i < tree.count; i++) {
		const struct crit_path_node *node = &tree.nodes[i];

		self += node->self;
		if (node->parent == CRIT_NONE)
			outermost += node->cmetric;
		else
			CHECK(node->parent < i &&
			      tree.nodes[node->parent].cmetric >= node->cmetric);
	}
	CHECK(self == 20 * PART && outermost == 20 * PART);
	return tree;
}

/* "relax a.c:10 < sweep a.c:20": finds the node of such a path. */
static const struct crit_path_node *find(const struct crit_path_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++) {
		char text[512] = "", name[128];

		for (uint32_t at = (uint32_t)i; at != CRIT_NONE; at = tree->nodes[at].parent) {
			const size_t used = strlen(text);

			(void)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " < " : "",
				       crit_path_text(&tree->nodes[at], name, sizeof(name)));
		}
		if (strcmp(text, path) == 0)
			return &tree->nodes[i];
	}
	CHECK_MSG(false, "no path %s", path);
	return NULL;
}

static void check_node(const struct crit_path_tree *tree, const char *path, unsigned int parts,
		       unsigned int self_parts, double error_s)
{
	const struct crit_path_node *node = find(tree, path);

	CHECK_CASE("%s", path);
	if (!node)
		return;
	CHECK(node->cmetric == parts * PART);
	CHECK(node->self == self_parts * PART);
	CHECK_UINT_EQ(node->samples, node->kind == CRIT_HOT_NOT_SAMPLED ? 0 : 10 * parts);
	CHECK_UINT_EQ(node->self_samples, node->kind == CRIT_HOT_NOT_SAMPLED ? 0 : 10 * self_parts);
	CHECK_REL(node->share, parts / 20.0, 1e-12, 0);
	CHECK_REL(node->error_s, error_s * BATCHES / sqrt(BATCHES - 1), 1e-6, 1e-9);
	CHECK_CASE("%s", "");
}

static void test_lines(void)
{
	struct crit_path_tree tree = tree_of(true, true);

	CHECK_UINT_EQ(tree.count, 14);
	check_node(&tree, "start (libc.so.6)", 16, 0, 0);
	check_node(&tree, "main a.c:90 < start (libc.so.6)", 11, 0, 0);
	check_node(&tree, "main a.c:91 < start (libc.so.6)", 5, 1, 0);
	check_node(&tree, "relax a.c:10 < sweep a.c:20 < main a.c:90 < start (libc.so.6)", 6, 6,
		   0.002);
	check_node(&tree, "sweep a.c:20 < sweep a.c:20 < main a.c:90 < start (libc.so.6)", 3, 0, 0);
	check_node(&tree, "inner i.h:5 < relax a.c:12 < main a.c:91 < start (libc.so.6)", 4, 4, 0);
	check_node(&tree, "in no known file < in no known file", 1, 1, 0);
	check_node(&tree, "relax a.c:10", 2, 2, 0);
	check_node(&tree, "not sampled", 1, 1, 0);
	for (int end = 0; end < CRIT_PATH_FIRST; end++) {
		static const unsigned int parts[CRIT_PATH_FIRST] = { 2, 16, 0, 1, 0 };

		CHECK(tree.ends[end].cmetric == parts[end] * PART);
		CHECK_UINT_EQ(tree.ends[end].samples, 10 * parts[end]);
		CHECK_REL(tree.ends[end].share, parts[end] / 19.0, 1e-12, 0);
	}
	crit_path_tree_fini(&tree);
}

static void test_functions(void)
{
	struct crit_path_tree tree = tree_of(false, false);

	check_node(&tree, "main (solver) < start (libc.so.6)", 16, 1, 0);
	check_node(&tree, "relax (solver) < sweep (solver) < main (solver) < start (libc.so.6)", 8,
		   8, 0.001);
	check_node(&tree, "inner (solver) < relax (solver) < main (solver) < start (libc.so.6)", 4,
		   4, 0);
	crit_path_tree_fini(&tree);
}

static char *text_of(int (*write)(FILE *out, const struct crit_summary *summary))
{
	struct crit_summary summary;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK_INT_EQ(
		crit_summarise(&summary, &sample.results,
			       &(struct crit_summary_options){ .finder = &path_sample_finder }),
		0);
	CHECK_INT_EQ(write(out, &summary), 0);
	(void)fclose(out);
	crit_summary_fini(&summary);
	return text;
}

static int write_text(FILE *out, const struct crit_summary *summary)
{
	crit_write_text(out, summary, &(struct crit_text_options){ 0 });
	return 0;
}

static void check_has(int (*write)(FILE *out, const struct crit_summary *summary), const char *part,
		      bool is_there)
{
	char *text = text_of(write);

	CHECK_MSG(!strstr(text, part) != is_there, "\"%s\":\n%s", part, text);
	free(text);
}

#define INDENT "                                       "

static void test_text(void)
{
	check_has(write_text,
		  "    0.4000   0.0057  40.0%       80  relax (solver)\n" INDENT
		  "sweep a.c:20\n" INDENT "main a.c:90\n" INDENT "start (libc.so.6)\n",
		  true);
	check_has(write_text,
		  "       30  relax (solver)\n" INDENT "sweep a.c:20, 2 times\n" INDENT
		  "main a.c:90\n",
		  true);
	check_has(write_text, "       40  inner (solver)\n" INDENT "relax a.c:12\n", true);
	check_has(write_text, "       20  relax (solver)\n" INDENT "(not captured)\n", true);
	check_has(write_text,
		  "in no known file\n" INDENT "in no known file\n" INDENT "(cut: no CFI)\n", true);
	check_has(write_text,
		  "  of the CMetric sampled: complete 84.2%, cut: no CFI 5.3%, not captured "
		  "10.5%\n",
		  true);
	sample.results.samples.refused_paths = 3;
	check_has(write_text, "  3 entries of call paths", true);
}

static void test_by_path(void)
{
	check_has(crit_hot_text_write_by_path,
		  "       20  relax (solver)\n" INDENT "(not captured)\n", true);
	check_has(crit_hot_text_write_by_path, "        0  not sampled\n  of the CMetric", true);
	check_has(crit_hot_text_write_by_path, "Hot paths", false);
}

static void test_json(void)
{
	json_t *report, *row;
	char *text = text_of(crit_write_json);

	report = json_loads(text, 0, NULL);
	CHECK_UINT_EQ(json_array_size(json_object_get(report, "paths")), 14);
	CHECK_UINT_EQ(json_array_size(json_object_get(report, "path_ends")), CRIT_PATH_FIRST);
	CHECK_INT_EQ(json_integer_value(json_object_get(report, "paths_unlisted")), 0);
	row = json_array_get(json_object_get(report, "paths"), 0);
	CHECK_STR_EQ(json_string_value(json_object_get(row, "function")), "start");
	CHECK_STR_EQ(json_string_value(json_object_get(row, "end")), "complete");
	CHECK(json_is_null(json_object_get(row, "parent")));
	row = json_array_get(json_object_get(report, "paths"), 1);
	CHECK_STR_EQ(json_string_value(json_object_get(row, "function")), "main");
	CHECK_INT_EQ(json_integer_value(json_object_get(row, "parent")), 0);
	CHECK_REL(json_real_value(json_object_get(row, "cmetric_s")), 0.55, 1e-9, 0);
	json_decref(report);
	free(text);
}

/* Samples whose recordings have no paths yield none, nor what tells of them. */
static void test_without(void)
{
	const struct crit_summary_options options = { .finder = &path_sample_finder };
	struct crit_summary summary;

	sample.results.samples.path_count = CRIT_PATH_FIRST;
	for (size_t i = 0; i < sample.results.samples.row_count; i++)
		sample.results.samples.rows[i].path = CRIT_PATH_NONE;
	check_has(write_text, "Hot paths", false);
	check_has(crit_write_json, "\"paths\"", false);
	check_has(crit_write_json, "\"path_ends\"", false);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	CHECK_INT_EQ(crit_hot_text_write_by_path(stdout, &summary), -ENOENT);
	sample.results.samples.count = 0;
	CHECK_INT_EQ(crit_hot_text_write_by_path(stdout, &summary), -ENODATA);
	crit_summary_fini(&summary);
}

int main(void)
{
	path_sample_fill(&sample);
	test_lines();
	test_functions();
	test_text();
	test_by_path();
	test_json();
	test_without();
	return check_done();
}
