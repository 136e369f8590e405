// SPDX-License-Identifier: BSD-3-Clause
// Joins the cells of all threads: a descriptor by its number, a futex by its process and address.
#include "report/tables/wait_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "analysis/symbols/system_calls.h"

static bool is_futex(const struct crit_block_cell *cell)
{
	return cell->call.object_kind == CRIT_BLOCK_OBJECT_FUTEX;
}

static int compare_keys(const struct crit_block_cell *a, const struct crit_block_cell *b,
			const struct crit_thread_row *threads)
{
	const struct crit_thread_row *left = &threads[a->thread], *right = &threads[b->thread];
	int order = (a->call.number > b->call.number) - (a->call.number < b->call.number);

	if (!order)
		order = a->call.is_compat - b->call.is_compat;
	if (!order)
		order = crit_by_number(a->call.object_kind, b->call.object_kind);
	if (!order)
		order = crit_by_number(a->call.object, b->call.object);
	if (!order && is_futex(a))
		order = crit_by_number(left->node, right->node);
	return order || !is_futex(a) ? order : crit_by_number(left->pid, right->pid);
}

static int compare_cells(const void *a, const void *b, void *user)
{
	const struct crit_block_cell *left = *(const struct crit_block_cell *const *)a;
	const struct crit_block_cell *right = *(const struct crit_block_cell *const *)b;
	int order = compare_keys(left, right, user);

	return order ? order : crit_by_number(left->thread, right->thread);
}

static int compare_rows(const void *a, const void *b)
{
	const struct crit_wait_row *left = a, *right = b;

	if (left->blocked_ns != right->blocked_ns)
		return left->blocked_ns < right->blocked_ns ? 1 : -1;
	return crit_by_number(left->first_cell, right->first_cell);
}

static void add_cell(struct crit_wait_table *table, size_t at, const struct crit_thread_row *thread)
{
	const struct crit_block_cell *cell = table->cells[at];
	struct crit_wait_row *row = &table->rows[table->count - 1];

	if (!row->cell_count++) {
		row->call = cell->call;
		row->first_cell = at;
		row->node = is_futex(cell) ? thread->node : 0;
		row->pid = is_futex(cell) ? thread->pid : 0;
	}
	row->thread_count += row->cell_count == 1 || table->cells[at - 1]->thread != cell->thread;
	row->count += cell->count;
	row->blocked_ns += cell->blocked_ns;
	row->not_captured_ns += cell->not_captured_ns;
	table->blocked_ns += cell->blocked_ns;
	if (cell->call.number == CRIT_BLOCK_NOT_TOLD)
		table->not_told_ns += cell->blocked_ns;
}

/* Threads that were blocked, for some time, in what no system call is told of. */
static uint32_t count_untold(const struct crit_results *results)
{
	const struct crit_block_results *blocks = &results->blocks;
	uint32_t count = 0;
	size_t at = 0;

	for (size_t i = 0; i < results->thread_count; i++) {
		uint64_t untold_ns = 0;

		for (int c = 0; c < CRIT_CLASS_COUNT; c++)
			if (c != CRIT_CLASS_SETUP && results->threads[i].role == CRIT_THREAD_APP)
				untold_ns += results->threads[i].cells.ns[CRIT_STATE_BLOCKED][c];
		for (; at < blocks->cell_count && blocks->cells[at].thread == i; at++)
			if (blocks->cells[at].call.number != CRIT_BLOCK_NOT_TOLD)
				untold_ns -= blocks->cells[at].blocked_ns;
		count += untold_ns > 0;
	}
	return count;
}

/* What no system call is told of: beside the cells that say so, of those of which some are. */
static void add_untold(struct crit_wait_table *table, const struct crit_results *results)
{
	const struct crit_block_results *blocks = &results->blocks;
	struct crit_wait_row *row = table->rows; /* its number is the least */

	if (!blocks->untold_ns)
		return;
	if (!table->count || row->call.number != CRIT_BLOCK_NOT_TOLD) {
		row = &table->rows[table->count++];
		row->call.number = CRIT_BLOCK_NOT_TOLD;
	}
	row->thread_count = count_untold(results);
	row->count += blocks->untold_count;
	row->blocked_ns += blocks->untold_ns;
	row->not_captured_ns += blocks->untold_ns;
	table->blocked_ns += blocks->untold_ns;
	table->not_told_ns += blocks->untold_ns;
}

static void number_objects(struct crit_wait_table *table)
{
	uint32_t futexes = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct crit_wait_row *row = &table->rows[i];

		if (row->call.object_kind == CRIT_BLOCK_OBJECT_FUTEX)
			row->object_number = ++futexes;
		row->share = table->blocked_ns ? (double)row->blocked_ns / (double)table->blocked_ns
					       : 0;
	}
}

int crit_wait_table_init(struct crit_wait_table *table, const struct crit_results *results)
{
	const struct crit_block_results *blocks = &results->blocks;

	*table = (struct crit_wait_table){ 0 };
	table->cells = calloc(blocks->cell_count + 1, sizeof(struct crit_block_cell *));
	table->rows = calloc(blocks->cell_count + 2, sizeof(*table->rows));
	if (!table->cells || !table->rows) {
		crit_wait_table_fini(table);
		return -ENOMEM;
	}
	for (size_t i = 0; i < blocks->cell_count; i++)
		table->cells[i] = &blocks->cells[i];
	qsort_r(table->cells, blocks->cell_count, sizeof(struct crit_block_cell *), compare_cells,
		results->threads);
	for (size_t i = 0; i < blocks->cell_count; i++) {
		table->count += !i || compare_keys(table->cells[i - 1], table->cells[i],
						   results->threads) != 0;
		add_cell(table, i, &results->threads[table->cells[i]->thread]);
	}
	add_untold(table, results);
	qsort(table->rows, table->count, sizeof(*table->rows), compare_rows);
	number_objects(table);
	return 0;
}

void crit_wait_table_fini(struct crit_wait_table *table)
{
	free(table->cells);
	free(table->rows);
	*table = (struct crit_wait_table){ 0 };
}

/* A path of a cell as one of samples, which stands for nanoseconds instead of CMetric. */
static void add_paths(struct crit_sample_results *samples, const struct crit_block_cell *cell,
		      const struct crit_block_path *paths)
{
	for (size_t i = 0; i < cell->path_count; i++) {
		samples->rows[samples->row_count++] =
			(struct crit_sample_row){ .address = paths[i].address,
						  .thread = cell->thread,
						  .path = paths[i].path,
						  .count = paths[i].count,
						  .cmetric = (crit_fix)paths[i].blocked_ns << 64 };
		samples->count += paths[i].count;
	}
}

int crit_wait_paths_init(struct crit_path_tree *tree, const struct crit_wait_table *table,
			 const struct crit_wait_row *row, const struct crit_results *results,
			 const struct crit_region_finder *finder)
{
	static const struct crit_path_query lines = { .has_call_lines = true, .has_lines = true };
	const struct crit_block_cell *const *cells = &table->cells[row->first_cell];
	struct crit_results view = *results;
	size_t count = 0;
	int rc = -ENOMEM;

	for (size_t i = 0; i < row->cell_count; i++)
		count += cells[i]->path_count;
	view.samples.row_count = view.samples.count = view.samples.batch_count = 0;
	view.samples.rows = calloc(count + 1, sizeof(*view.samples.rows));
	view.samples.not_sampled = calloc(results->thread_count + 1, sizeof(crit_fix));
	if (view.samples.rows && view.samples.not_sampled) {
		for (size_t i = 0; i < row->cell_count; i++)
			add_paths(&view.samples, cells[i],
				  &results->blocks.paths[cells[i]->first_path]);
		view.samples.not_sampled[0] = (crit_fix)row->not_captured_ns << 64;
		rc = crit_path_tree_init(tree, &view, finder, &lines);
	}
	free(view.samples.rows);
	free(view.samples.not_sampled);
	return rc;
}

const char *crit_wait_call(const struct crit_wait_row *row, char *text, size_t text_bytes)
{
	const int number = row->call.number;
	const char *name = row->call.is_compat ? NULL : crit_system_call_name(number);

	if (number == CRIT_BLOCK_NOT_TOLD)
		return "not recorded";
	if (number < 0)
		return "page fault";
	if (name)
		return name;
	(void)snprintf(text, text_bytes, "%scall %d", row->call.is_compat ? "32-bit " : "", number);
	return text;
}

const char *crit_wait_object(const struct crit_wait_row *row, char *text, size_t text_bytes)
{
	switch ((enum crit_block_object)row->call.object_kind) {
	case CRIT_BLOCK_OBJECT_FUTEX:
		(void)snprintf(text, text_bytes, "object %u", row->object_number);
		return text;
	case CRIT_BLOCK_OBJECT_DESCRIPTOR:
		(void)snprintf(text, text_bytes, "fd %lld", (long long)(int32_t)row->call.object);
		return text;
	case CRIT_BLOCK_OBJECT_OTHERS:
		return "others";
	default:
		return NULL;
	}
}
