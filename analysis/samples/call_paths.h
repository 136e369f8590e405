/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths of samples, as recordings have them: a tree and a table of samples per node,
 * joined to one tree.  What makes no sense is refused and counted.
 */
#ifndef CRIT_CALL_PATHS_H
#define CRIT_CALL_PATHS_H

#include "analysis/model/model.h"
#include "core/abi/abi_paths.h"

#define CRIT_CALL_PATHS_MAX (1u << 22) /* of all nodes together */
#define CRIT_CALL_PATH_FRAMES_MAX 4096u /* more than a copy of a stack can hold */
#define CRIT_PATH_FILES_MAX (1u << 16)

struct crit_call_paths;

/*
 * Reads the trees of all nodes; every process that analyses a run numbers them alike.  The model is
 * borrowed until destroy.  Ownership: destroy.  Errors: -ENOMEM.
 */
int crit_call_paths_create(const struct crit_model *model, struct crit_call_paths **ret_paths);
void crit_call_paths_destroy(struct crit_call_paths *paths); /* accepts NULL */

/*
 * The path of the sample that asked for the stack of that number on a node: an index into the tree,
 * or an enum crit_path_root.  Errors: -ENOMEM.
 * Cost: a binary search; the node's table is read when first needed.
 */
int crit_call_paths_find(struct crit_call_paths *paths, uint32_t node, uint32_t request,
			 uint32_t *ret_path);

/* The tree, until it is handed over. */
struct crit_call_tree crit_call_paths_tree(const struct crit_call_paths *paths);

/* Hands the tree over to results, which own it then; find is over. */
void crit_call_paths_yield(struct crit_call_paths *paths, struct crit_sample_results *results);

#endif
