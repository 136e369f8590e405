/* SPDX-License-Identifier: BSD-3-Clause */
/* Who called whom where CMetric was earned: the paths of samples as a tree of named frames. */
#ifndef CRIT_PATH_TREE_H
#define CRIT_PATH_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/index.h"
#include "report/tables/hot_rows.h"

struct crit_path_node { /* a frame, itself or inlined, as called by its parent */
	enum crit_hot_kind kind;
	enum crit_path_root end; /* of its chain; CRIT_PATH_NONE not captured */
	uint32_t parent; /* index, smaller than its own; CRIT_NONE the outermost */
	struct crit_source_location place; /* without frames: they are nodes */
	crit_fix cmetric; /* in it and all it called; unit threads, scope run */
	crit_fix self; /* in it */
	uint64_t samples;
	uint64_t self_samples;
	double share; /* of all CMetric of the run */
	double self_share;
	double error_s; /* the standard error of self; less than 0: not known */
};

struct crit_path_end { /* what hangs from a root */
	enum crit_path_root end;
	crit_fix cmetric;
	uint64_t samples;
	double share; /* of the CMetric that was sampled */
};

struct crit_path_tree {
	struct crit_path_node *nodes; /* by CMetric, descending */
	size_t count, capacity;
	struct crit_index numbers;
	struct crit_path_end ends[CRIT_PATH_FIRST];
};

/* Frames that differ in what is not kept apart are one. */
struct crit_path_query {
	bool has_call_lines; /* lines of calls are kept apart, else functions */
	bool has_lines; /* the same where CMetric was earned */
};

/* Do the recordings have any? */
bool crit_path_tree_is_known(const struct crit_results *results);

/*
 * Without paths all nodes are outermost ones, or inlined.  What was not sampled is a node.
 * finder->find NULL: all is unknown.  Ownership: fini frees; texts are of the finder and results.
 * Errors: -ENOMEM.  Cost: a name per path and sample row; a few hashes per frame.
 */
int crit_path_tree_init(struct crit_path_tree *tree, const struct crit_results *results,
			const struct crit_region_finder *finder,
			const struct crit_path_query *query);
void crit_path_tree_fini(struct crit_path_tree *tree);

/* "smooth solver.c:42", "smooth (libm.so.6)", "in no known file": the frame alone. */
const char *crit_path_text(const struct crit_path_node *node, char *text, size_t text_bytes);

/* "complete", "cut_memory", "cut_no_cfi", "cut_maps", "not_captured"; for people or as a key. */
const char *crit_path_end_key(enum crit_path_root end);
const char *crit_path_end_text(enum crit_path_root end);

#endif
