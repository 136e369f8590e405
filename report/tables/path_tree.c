// SPDX-License-Identifier: BSD-3-Clause
// Callers come before those they call in the results, so each path extends a node that is there.
#include "report/tables/path_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX (1u << 22) /* then callers have what would be those they call */

struct builder {
	struct crit_path_tree *tree;
	const struct crit_results *results;
	const struct crit_region_finder *finder;
	const struct crit_path_query *query;
	uint32_t *of_path; /* node; CRIT_NONE: root, or of no sample */
	uint32_t *of_row; /* node, by row of the results */
};

bool crit_path_tree_is_known(const struct crit_results *results)
{
	return results->samples.path_count > CRIT_PATH_FIRST;
}

static bool is_same_text(const char *left, const char *right)
{
	return left == right || (left && right && strcmp(left, right) == 0);
}

static bool is_same(const struct crit_path_node *left, const struct crit_path_node *right)
{
	return left->parent == right->parent && left->end == right->end &&
	       left->kind == right->kind && left->place.line == right->place.line &&
	       left->place.function_begin == right->place.function_begin &&
	       is_same_text(left->place.function, right->place.function) &&
	       is_same_text(left->place.file, right->place.file) &&
	       is_same_text(left->place.module, right->place.module);
}

static uint64_t hash_of(const struct crit_path_node *node)
{
	const struct crit_source_location *place = &node->place;
	uint64_t hash = crit_hash_mix((uint64_t)node->parent << 32 | place->line,
				      (uint64_t)node->end << 32 | node->kind);

	hash = crit_hash_mix(hash, crit_hash_text(place->function ? place->function : ""));
	hash = crit_hash_mix(hash, place->function_begin);
	return crit_hash_mix(hash, crit_hash_text(place->module ? place->module : ""));
}

/* Finds the node, or adds it. */
static int find(struct crit_path_tree *tree, const struct crit_path_node *wanted,
		uint32_t *ret_node)
{
	const uint64_t hash = hash_of(wanted);
	struct crit_probe probe;
	uint32_t number = crit_index_first(&tree->numbers, hash, &probe);

	while (number != CRIT_NONE && !is_same(&tree->nodes[number], wanted))
		number = crit_index_next(&tree->numbers, &probe);
	*ret_node = number;
	if (number != CRIT_NONE)
		return 0;
	*ret_node = wanted->parent;
	if (tree->count >= NODES_MAX && wanted->parent != CRIT_NONE)
		return 0;
	if (crit_array_grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes)) ||
	    crit_index_put(&tree->numbers, hash, (uint32_t)tree->count))
		return -ENOMEM;
	*ret_node = (uint32_t)tree->count;
	tree->nodes[tree->count++] = *wanted;
	return 0;
}

static void see_frame(struct crit_source_location *place, const struct crit_source_frame *frame,
		      bool is_outermost)
{
	place->function = frame->function;
	place->file = frame->file;
	place->line = frame->line;
	if (is_outermost)
		place->outer = NULL;
}

/* The node of a place that parent called: its last one, where calls were inlined. */
static int extend(struct builder *builder, uint32_t parent, enum crit_path_root end,
		  const struct crit_source_location *place, bool is_leaf, uint32_t *ret_node)
{
	const bool has_lines = is_leaf ? builder->query->has_lines : builder->query->has_call_lines;
	const uint32_t levels = place->frame_count ? place->frame_count : 1;
	uint32_t node = parent;
	int rc = 0;

	for (uint32_t i = levels; !rc && i--;) {
		struct crit_path_node wanted = {
			.kind = place->module ? CRIT_HOT_CODE : CRIT_HOT_UNKNOWN,
			.end = end,
			.parent = node,
			.place = *place,
		};

		if (place->frame_count)
			see_frame(&wanted.place, &place->frames[i], i + 1 == levels);
		wanted.place.frames = NULL;
		wanted.place.frame_count = 0;
		if (!(i ? builder->query->has_call_lines : has_lines) && wanted.place.function) {
			wanted.place.file = NULL;
			wanted.place.line = 0;
		}
		rc = find(builder->tree, &wanted, &node);
	}
	*ret_node = node;
	return rc;
}

/* Where a chain ends, and the node of its innermost caller. */
static uint32_t caller_of(const struct builder *builder, uint32_t path,
			  enum crit_path_root *ret_end)
{
	if (path < CRIT_PATH_FIRST) {
		*ret_end = (enum crit_path_root)path;
		return CRIT_NONE;
	}
	*ret_end = builder->tree->nodes[builder->of_path[path]].end;
	return builder->of_path[path];
}

static int add_path(struct builder *builder, uint32_t number)
{
	const struct crit_sample_results *samples = &builder->results->samples;
	const struct crit_path_row *path = &samples->paths[number];
	struct crit_source_location place = { .offset = path->offset + 1 };
	enum crit_path_root end;
	const uint32_t parent = caller_of(builder, path->parent, &end);

	if (path->file != CRIT_NONE) {
		place.module = samples->path_files[path->file];
		if (builder->finder->find_in_file)
			builder->finder->find_in_file(builder->finder->user, place.module,
						      path->offset, &place);
	}
	return extend(builder, parent, end, &place, false, &builder->of_path[number]);
}

/* Marks the paths that samples have, and adds these. */
static int add_paths(struct builder *builder)
{
	const struct crit_sample_results *samples = &builder->results->samples;
	bool *is_used = calloc(samples->path_count + 1, sizeof(*is_used));
	int rc = is_used ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < samples->row_count; i++)
		for (uint32_t path = samples->rows[i].path;
		     path >= CRIT_PATH_FIRST && !is_used[path]; path = samples->paths[path].parent)
			is_used[path] = true;
	for (uint32_t i = CRIT_PATH_FIRST; !rc && i < samples->path_count; i++)
		if (is_used[i])
			rc = add_path(builder, i);
	free(is_used);
	return rc;
}

static int add_row(struct builder *builder, size_t index)
{
	const struct crit_results *results = builder->results;
	const struct crit_sample_row *row = &results->samples.rows[index];
	const struct crit_thread_row *thread = &results->threads[row->thread];
	struct crit_source_location place = { 0 };
	enum crit_path_root end;
	const uint32_t parent = caller_of(builder, row->path, &end);
	struct crit_path_node *node;

	if (builder->finder->find)
		builder->finder->find(builder->finder->user, thread->node, thread->pid,
				      row->address, &place);
	if (extend(builder, parent, end, &place, true, &builder->of_row[index]))
		return -ENOMEM;
	node = &builder->tree->nodes[builder->of_row[index]];
	node->self += row->cmetric;
	node->self_samples += row->count;
	builder->tree->ends[end].cmetric += row->cmetric;
	builder->tree->ends[end].samples += row->count;
	return 0;
}

static int add_not_sampled(struct builder *builder)
{
	struct crit_path_node wanted = { .kind = CRIT_HOT_NOT_SAMPLED, .parent = CRIT_NONE };
	uint32_t node;

	for (size_t i = 0; i < builder->results->thread_count; i++)
		wanted.self += builder->results->samples.not_sampled[i];
	return wanted.self ? find(builder->tree, &wanted, &node) : 0;
}

/* Each has what it called, and its share of all. */
static void add_up(struct crit_path_tree *tree)
{
	double all_s = 0, sampled_s = 0;

	for (size_t i = tree->count; i--;) {
		struct crit_path_node *node = &tree->nodes[i];

		node->cmetric += node->self;
		node->samples += node->self_samples;
		all_s += crit_fix_seconds(node->self);
		if (node->parent == CRIT_NONE)
			continue;
		tree->nodes[node->parent].cmetric += node->cmetric;
		tree->nodes[node->parent].samples += node->samples;
	}
	for (size_t i = 0; i < tree->count && all_s > 0; i++) {
		tree->nodes[i].share = crit_fix_seconds(tree->nodes[i].cmetric) / all_s;
		tree->nodes[i].self_share = crit_fix_seconds(tree->nodes[i].self) / all_s;
	}
	for (int end = 0; end < CRIT_PATH_FIRST; end++)
		sampled_s += crit_fix_seconds(tree->ends[end].cmetric);
	for (int end = 0; end < CRIT_PATH_FIRST; end++) {
		tree->ends[end].end = (enum crit_path_root)end;
		if (sampled_s > 0)
			tree->ends[end].share =
				crit_fix_seconds(tree->ends[end].cmetric) / sampled_s;
	}
}

static int compare_nodes(const void *a, const void *b, void *user)
{
	const uint32_t *left = a, *right = b;
	const struct crit_path_node *nodes = user;

	if (nodes[*left].cmetric != nodes[*right].cmetric)
		return nodes[*left].cmetric < nodes[*right].cmetric ? 1 : -1;
	return crit_by_number(*left, *right); /* a caller first: it has no less */
}

static int compare_of_rows(const void *a, const void *b, void *user)
{
	const uint32_t *left = a, *right = b, *of_row = user;

	return crit_by_number(of_row[*left], of_row[*right]);
}

static uint32_t *numbers_up_to(size_t count)
{
	uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));

	for (size_t i = 0; numbers && i < count; i++)
		numbers[i] = (uint32_t)i;
	return numbers;
}

static double error_of(const double *batches_s, uint32_t batch_count)
{
	double squares = 0;

	if (batch_count < 2)
		return -1;
	for (uint32_t i = 0; i < CRIT_SAMPLE_BATCHES; i++)
		squares += batches_s[i] * batches_s[i];
	return sqrt(squares * batch_count / (batch_count - 1));
}

/* As docs/metric.md has it of lines: residuals of the rows of a node add up. */
static int find_errors(struct builder *builder)
{
	const struct crit_sample_results *samples = &builder->results->samples;
	uint32_t *order = numbers_up_to(samples->row_count);
	double batches_s[CRIT_SAMPLE_BATCHES] = { 0 };

	if (!order)
		return -ENOMEM;
	qsort_r(order, samples->row_count, sizeof(*order), compare_of_rows, builder->of_row);
	for (size_t i = 0; i < samples->row_count; i++) {
		const uint32_t node = builder->of_row[order[i]];

		for (uint32_t b = 0; b < CRIT_SAMPLE_BATCHES; b++)
			batches_s[b] += (double)samples->rows[order[i]].error_s[b];
		if (i + 1 < samples->row_count && builder->of_row[order[i + 1]] == node)
			continue;
		builder->tree->nodes[node].error_s = error_of(batches_s, samples->batch_count);
		memset(batches_s, 0, sizeof(batches_s));
	}
	free(order);
	return 0;
}

/* By CMetric; a caller stays before those it called. */
static int sort(struct crit_path_tree *tree)
{
	uint32_t *order = numbers_up_to(tree->count);
	uint32_t *places = numbers_up_to(tree->count);
	struct crit_path_node *sorted = malloc((tree->count + 1) * sizeof(*sorted));
	const int rc = order && places && sorted ? 0 : -ENOMEM;

	if (!rc) {
		qsort_r(order, tree->count, sizeof(*order), compare_nodes, tree->nodes);
		for (size_t i = 0; i < tree->count; i++)
			places[order[i]] = (uint32_t)i;
		for (size_t i = 0; i < tree->count; i++) {
			sorted[i] = tree->nodes[order[i]];
			if (sorted[i].parent != CRIT_NONE)
				sorted[i].parent = places[sorted[i].parent];
		}
		free(tree->nodes);
		tree->nodes = sorted;
		tree->capacity = tree->count + 1;
	} else {
		free(sorted);
	}
	free(order);
	free(places);
	return rc;
}

static int build(struct builder *builder)
{
	const struct crit_sample_results *samples = &builder->results->samples;
	int rc;

	builder->of_path = calloc(samples->path_count + 1, sizeof(*builder->of_path));
	builder->of_row = calloc(samples->row_count + 1, sizeof(*builder->of_row));
	rc = builder->of_path && builder->of_row ? add_paths(builder) : -ENOMEM;
	for (size_t i = 0; !rc && i < samples->row_count; i++)
		rc = add_row(builder, i);
	if (!rc)
		rc = add_not_sampled(builder);
	if (!rc)
		rc = find_errors(builder);
	if (!rc)
		add_up(builder->tree);
	free(builder->of_path);
	free(builder->of_row);
	return rc ? rc : sort(builder->tree);
}

int crit_path_tree_init(struct crit_path_tree *tree, const struct crit_results *results,
			const struct crit_region_finder *finder,
			const struct crit_path_query *query)
{
	struct builder builder = {
		.tree = tree, .results = results, .finder = finder, .query = query
	};
	int rc;

	*tree = (struct crit_path_tree){ 0 };
	if (!results->samples.count)
		return 0;
	rc = build(&builder);
	crit_index_fini(&tree->numbers);
	if (rc)
		crit_path_tree_fini(tree);
	return rc;
}

void crit_path_tree_fini(struct crit_path_tree *tree)
{
	free(tree->nodes);
	crit_index_fini(&tree->numbers);
	*tree = (struct crit_path_tree){ 0 };
}

const char *crit_path_text(const struct crit_path_node *node, char *text, size_t text_bytes)
{
	const struct crit_hot_row row = { .kind = node->kind,
					  .level = CRIT_HOT_LINE,
					  .place = node->place };

	return crit_hot_text(&row, text, text_bytes);
}

const char *crit_path_end_key(enum crit_path_root end)
{
	static const char *const keys[CRIT_PATH_FIRST] = { "not_captured", "complete", "cut_memory",
							   "cut_no_cfi", "cut_maps" };

	return end < CRIT_PATH_FIRST ? keys[end] : "?";
}

const char *crit_path_end_text(enum crit_path_root end)
{
	static const char *const texts[CRIT_PATH_FIRST] = { "not captured", "complete",
							    "cut: memory", "cut: no CFI",
							    "cut: maps unknown" };

	return end < CRIT_PATH_FIRST ? texts[end] : "?";
}
