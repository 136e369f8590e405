/* SPDX-License-Identifier: BSD-3-Clause */
/* In which system calls, on which objects, threads were blocked, and by which paths they came. */
#ifndef CRIT_WAIT_TABLE_H
#define CRIT_WAIT_TABLE_H

#include <stddef.h>

#include "analysis/schema/results.h"
#include "report/tables/path_tree.h"

struct crit_wait_row { /* over all threads */
	struct crit_block_call call;
	uint32_t node, pid; /* of a futex: whose address it is; else 0 */
	uint32_t object_number; /* of a futex, from 1 on in the order of rows */
	uint32_t thread_count;
	uint64_t count; /* times */
	uint64_t blocked_ns;
	uint64_t not_captured_ns;
	double share; /* of the time that threads were blocked */
	size_t first_cell, cell_count; /* in the table's */
};

struct crit_wait_table {
	struct crit_wait_row *rows; /* by time, descending */
	size_t count;
	const struct crit_block_cell **cells; /* of the results, by row */
	uint64_t blocked_ns;
	uint64_t not_told_ns; /* of these: the recordings do not say in which calls */
};

/* Ownership: fini frees; results are borrowed until then.  Errors: -ENOMEM. */
int crit_wait_table_init(struct crit_wait_table *table, const struct crit_results *results);
void crit_wait_table_fini(struct crit_wait_table *table);

/*
 * The paths by which threads came there: of a node its time is cmetric and self, its samples are
 * captures; what was not captured is not sampled.  As crit_path_tree_init.
 */
int crit_wait_paths_init(struct crit_path_tree *tree, const struct crit_wait_table *table,
			 const struct crit_wait_row *row, const struct crit_results *results,
			 const struct crit_region_finder *finder);

/* "read", "page fault", "call 999", "32-bit call 162", "not recorded". */
const char *crit_wait_call(const struct crit_wait_row *row, char *text, size_t text_bytes);

/* "fd 3", "object 1"; NULL: the call has none. */
const char *crit_wait_object(const struct crit_wait_row *row, char *text, size_t text_bytes);

#endif
