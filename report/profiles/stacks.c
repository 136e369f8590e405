// SPDX-License-Identifier: BSD-3-Clause
// Frames of the tree are joined by name, so that a function called by many is one frame.
#include "report/profiles/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 4096

/* Names come from foreign programs.  NULL: out of memory. */
static char *tamed(const char *text)
{
	char *copy = strdup(text ? text : "");
	json_t *valid;

	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	valid = copy ? json_string(copy) : NULL;
	for (char *c = copy; c && !valid && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	json_decref(valid);
	return copy;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *name_of(const struct crit_path_node *node, char *text, size_t text_bytes)
{
	if (node->kind == CRIT_HOT_CODE && node->place.function)
		return node->place.function;
	if (node->kind == CRIT_HOT_CODE && node->place.module[0] == '[')
		return node->place.module; /* "[vdso]" */
	if (node->kind == CRIT_HOT_CODE && node->place.function_begin)
		(void)snprintf(text, text_bytes, "[%s+%#" PRIx64 "]", file_name(node->place.module),
			       node->place.function_begin);
	else
		(void)snprintf(text, text_bytes, "[%s]",
			       node->kind == CRIT_HOT_NOT_SAMPLED ? "not sampled"
			       : node->kind == CRIT_HOT_UNKNOWN   ? "in no known file"
								  : file_name(node->place.module));
	return text;
}

static bool is_same(const struct crit_stack_frame *left, const struct crit_stack_frame *right)
{
	return (left->node ? left->node->place.line : 0) ==
		       (right->node ? right->node->place.line : 0) &&
	       strcmp(left->name, right->name) == 0 && strcmp(left->file, right->file) == 0 &&
	       strcmp(left->module, right->module) == 0;
}

static void free_frame(struct crit_stack_frame *frame)
{
	free(frame->name);
	free(frame->file);
	free(frame->module);
}

/* Finds the frame or keeps it.  Takes its texts.  CRIT_NONE: out of memory. */
static uint32_t number_of(struct crit_stacks *stacks, struct crit_stack_frame *wanted)
{
	uint32_t number = CRIT_NONE;
	struct crit_probe probe;
	uint64_t hash;

	if (!wanted->name || !wanted->file || !wanted->module) {
		free_frame(wanted);
		return CRIT_NONE;
	}
	hash = crit_hash_mix(crit_hash_text(wanted->name), crit_hash_text(wanted->module));
	hash = crit_hash_mix(hash, wanted->node ? wanted->node->place.line : 0);
	number = crit_index_first(&stacks->numbers, hash, &probe);
	while (number != CRIT_NONE && !is_same(&stacks->frames[number], wanted))
		number = crit_index_next(&stacks->numbers, &probe);
	if (number != CRIT_NONE ||
	    crit_array_grow(&stacks->frames, &stacks->frame_capacity, stacks->frame_count + 1,
			    sizeof(*stacks->frames)) ||
	    crit_index_put(&stacks->numbers, hash, (uint32_t)stacks->frame_count)) {
		free_frame(wanted);
		return number;
	}
	stacks->frames[stacks->frame_count] = *wanted;
	return (uint32_t)stacks->frame_count++;
}

static int number_nodes(struct crit_stacks *stacks)
{
	char text[NAME_BYTES];

	for (size_t i = 0; i < stacks->tree.count; i++) {
		const struct crit_path_node *node = &stacks->tree.nodes[i];
		struct crit_stack_frame frame = { .name = tamed(name_of(node, text, sizeof(text))),
						  .file = tamed(node->place.file),
						  .module = tamed(node->place.module),
						  .node = node };

		stacks->of_node[i] = number_of(stacks, &frame);
		if (stacks->of_node[i] == CRIT_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int number_ends(struct crit_stacks *stacks, bool has_paths)
{
	for (int end = 0; end < CRIT_PATH_FIRST; end++) {
		struct crit_stack_frame frame = { 0 };
		char text[64];

		stacks->of_end[end] = CRIT_NONE;
		if (!has_paths || end == CRIT_PATH_COMPLETE || !stacks->tree.ends[end].samples)
			continue;
		(void)snprintf(text, sizeof(text), "[%s]",
			       crit_path_end_text((enum crit_path_root)end));
		frame.name = strdup(text);
		frame.file = strdup("");
		frame.module = strdup("");
		stacks->of_end[end] = number_of(stacks, &frame);
		if (stacks->of_end[end] == CRIT_NONE)
			return -ENOMEM;
	}
	return 0;
}

int crit_stacks_init(struct crit_stacks *stacks, const struct crit_summary *summary, bool has_lines)
{
	const struct crit_path_query query = { .has_call_lines = has_lines,
					       .has_lines = has_lines };
	const struct crit_results *results = summary->results;
	int rc = results->samples.count ? 0 : -ENODATA;

	*stacks = (struct crit_stacks){ 0 };
	if (!rc)
		rc = crit_path_tree_init(&stacks->tree, results, &summary->finder, &query);
	if (rc)
		return rc;
	stacks->of_node = calloc(stacks->tree.count + 1, sizeof(*stacks->of_node));
	stacks->stack = calloc(stacks->tree.count + 1, sizeof(*stacks->stack));
	rc = stacks->of_node && stacks->stack ? number_nodes(stacks) : -ENOMEM;
	if (!rc)
		rc = number_ends(stacks, crit_path_tree_is_known(results));
	if (rc)
		crit_stacks_fini(stacks);
	return rc;
}

void crit_stacks_fini(struct crit_stacks *stacks)
{
	for (size_t i = 0; i < stacks->frame_count; i++)
		free_frame(&stacks->frames[i]);
	free(stacks->frames);
	free(stacks->of_node);
	free(stacks->stack);
	crit_index_fini(&stacks->numbers);
	crit_path_tree_fini(&stacks->tree);
	*stacks = (struct crit_stacks){ 0 };
}

static uint64_t whole_ns(crit_fix value)
{
	return (uint64_t)((value + ((crit_fix)1 << 63)) >> 64);
}

bool crit_stacks_next(struct crit_stacks *stacks, struct crit_stack *ret_stack)
{
	const struct crit_path_node *nodes = stacks->tree.nodes, *node;
	const uint64_t before_ns = whole_ns(stacks->cmetric);
	size_t depth = 0;
	uint32_t end;

	while (stacks->at < stacks->tree.count && !nodes[stacks->at].self)
		stacks->at++;
	if (stacks->at == stacks->tree.count)
		return false;
	node = &nodes[stacks->at];
	for (uint32_t at = (uint32_t)stacks->at++; at != CRIT_NONE; at = nodes[at].parent)
		stacks->stack[depth++] = stacks->of_node[at];
	end = stacks->of_end[node->end];
	if (end != CRIT_NONE && node->kind != CRIT_HOT_NOT_SAMPLED)
		stacks->stack[depth++] = end;
	stacks->cmetric += node->self;
	*ret_stack = (struct crit_stack){ .frames = stacks->stack,
					  .frame_count = depth,
					  .cmetric_ns = whole_ns(stacks->cmetric) - before_ns,
					  .samples = node->self_samples };
	return true;
}
