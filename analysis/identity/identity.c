// SPDX-License-Identifier: BSD-3-Clause
// Gives each rank and thread of the model its row of the results, with names and numbers.
#include "analysis/identity/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"

struct crit_identity {
	uint32_t *rank_rows, *thread_rows;
};

struct order { /* a row to be and where it comes from */
	const struct crit_model *model;
	uint32_t index;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct order *a = left, *b = right;
	const struct crit_rank *x = &a->model->ranks[a->index], *y = &b->model->ranks[b->index];
	int rc = crit_by_number(x->world_number, y->world_number);

	if (!rc)
		rc = crit_by_number(x->rank, y->rank);
	return rc ? rc : crit_by_number(a->index, b->index);
}

static int compare_threads(const void *left, const void *right)
{
	const struct order *a = left, *b = right;
	const struct crit_thread *x = &a->model->threads[a->index],
				 *y = &b->model->threads[b->index];
	int rc = 0;

	if (x->rank != y->rank) { /* those without rank come last */
		if (x->rank == CRIT_NONE || y->rank == CRIT_NONE)
			return x->rank == CRIT_NONE ? 1 : -1;
		return compare_ranks(&(struct order){ a->model, x->rank },
				     &(struct order){ b->model, y->rank });
	}
	rc = rc ? rc : crit_by_number(x->node, y->node);
	rc = rc ? rc : crit_by_number(x->tgid, y->tgid);
	rc = rc ? rc : crit_by_number(x->tid, y->tid);
	rc = rc ? rc : crit_by_number(x->birth_ns, y->birth_ns);
	return rc ? rc : crit_by_number(a->index, b->index);
}

/* Of a world and in it; 32 bits each. */
static uint64_t key_of_rank(const void *order)
{
	const struct order *at = order;
	const struct crit_rank *rank = &at->model->ranks[at->index];

	return (uint64_t)rank->world_number << 32 | rank->rank;
}

static uint64_t key_of_thread(const void *order)
{
	const struct order *at = order;
	const uint32_t rank = at->model->threads[at->index].rank;

	return rank == CRIT_NONE ? UINT64_MAX : key_of_rank(&(struct order){ at->model, rank });
}

static const struct crit_row_order by_rank = { sizeof(struct order), key_of_rank, compare_ranks };
static const struct crit_row_order by_thread = { sizeof(struct order), key_of_thread,
						 compare_threads };

/* Where each of count things goes in their order.  Errors: NULL when out of memory. */
static uint32_t *rows_of(const struct crit_model *model, size_t count,
			 const struct crit_row_order *order)
{
	struct order *orders = calloc(count + 1, sizeof(*orders));
	uint32_t *rows = calloc(count + 1, sizeof(*rows));

	if (!orders || !rows) {
		free(orders);
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		orders[i] = (struct order){ model, (uint32_t)i };
	crit_array_sort_rows(orders, count, order);
	for (size_t i = 0; i < count; i++)
		rows[orders[i].index] = (uint32_t)i;
	free(orders);
	return rows;
}

struct crit_identity *crit_identity_create(const struct crit_model *model)
{
	struct crit_identity *identity = calloc(1, sizeof(*identity));

	if (!identity)
		return NULL;
	identity->rank_rows = rows_of(model, model->rank_count, &by_rank);
	identity->thread_rows = rows_of(model, model->thread_count, &by_thread);
	if (identity->rank_rows && identity->thread_rows)
		return identity;
	crit_identity_destroy(identity);
	return NULL;
}

void crit_identity_destroy(struct crit_identity *identity)
{
	if (!identity)
		return;
	free(identity->rank_rows);
	free(identity->thread_rows);
	free(identity);
}

const uint32_t *crit_identity_rank_rows(const struct crit_identity *identity)
{
	return identity->rank_rows;
}

const uint32_t *crit_identity_thread_rows(const struct crit_identity *identity)
{
	return identity->thread_rows;
}

static void fill_rank(const struct crit_model *model, const struct crit_rank *rank,
		      struct crit_rank_row *row)
{
	const struct crit_process *process = &model->processes[rank->process];

	row->node = rank->node;
	row->pid = process->pid;
	memcpy(row->program, process->program, sizeof(row->program));
	if (process->arguments)
		(void)snprintf(row->arguments, sizeof(row->arguments), "%s", process->arguments);
	row->world_number = rank->world_number;
	row->rank = rank->rank;
	row->world_size = rank->size;
	row->task = process->task;
	memcpy(row->world, rank->world, sizeof(row->world));
	row->is_open = rank->is_open;
	row->exit_signal = process->exit_signal;
	row->exit_status = process->exit_status;
	row->exit_ns = process->exit_ns;
	row->process_flags = process->flags;
	row->open_ns = rank->open_ns;
	row->close_ns = rank->close_ns;
}

static void fill_thread(const struct crit_model *model, const struct crit_thread *thread,
			struct crit_thread_row *row)
{
	row->node = thread->node;
	row->pid = thread->tgid;
	row->tid = thread->tid;
	row->role = thread->role;
	if (thread->process != CRIT_NONE)
		row->process_flags = model->processes[thread->process].flags;
	memcpy(row->name, thread->name, sizeof(row->name));
	row->name[sizeof(row->name) - 1] = '\0';
	row->birth_ns = thread->birth_ns;
	row->death_ns = thread->death_ns;
	row->switches = thread->switches;
	row->preemptions = thread->preemptions;
	row->unmatched = thread->unmatched;
}

static int fill_ranks_and_threads(const struct crit_identity *identity,
				  const struct crit_model *model, struct crit_results *results)
{
	results->ranks = crit_lines_alloc(model->rank_count + 1, sizeof(*results->ranks));
	results->threads = crit_lines_alloc(model->thread_count + 1, sizeof(*results->threads));
	if (!results->ranks || !results->threads)
		return -ENOMEM;
	results->rank_count = model->rank_count;
	results->thread_count = model->thread_count;
	for (size_t i = 0; i < model->rank_count; i++)
		fill_rank(model, &model->ranks[i], &results->ranks[identity->rank_rows[i]]);
	for (size_t i = 0; i < model->thread_count; i++) {
		const struct crit_thread *thread = &model->threads[i];
		struct crit_thread_row *row = &results->threads[identity->thread_rows[i]];

		fill_thread(model, thread, row);
		row->rank_row = -1;
		if (thread->rank == CRIT_NONE)
			continue;
		row->rank_row = (int32_t)identity->rank_rows[thread->rank];
		results->ranks[row->rank_row].app_threads += row->role == CRIT_THREAD_APP;
	}
	return 0;
}

static int fill_nodes(const struct crit_model *model, struct crit_results *results)
{
	results->nodes = calloc(model->node_count, sizeof(*results->nodes));
	if (!results->nodes)
		return -ENOMEM;
	results->node_count = model->node_count;
	for (size_t i = 0; i < model->node_count; i++) {
		const struct crit_node *node = &model->nodes[i];
		const struct crit_rec_file *file = &node->recording->file;
		struct crit_node_row *row = &results->nodes[i];

		*row = node->row;
		memcpy(row->host, file->host, sizeof(row->host));
		memcpy(row->run_key, file->run_key, sizeof(row->run_key));
		memcpy(row->kernel_release, file->kernel_release, sizeof(row->kernel_release));
		row->cpu_count = file->cpu_count;
		row->kernel_status = file->kernel_status;
		row->perf_status = file->perf_status;
		row->perf_paranoid = file->perf_paranoid;
		row->level = file->level;
		row->end_ns = node->end_ns;
		row->recording_bytes = node->recording->size_bytes;
		row->corrupt_chunks = node->recording->corrupt_chunks;
		row->truncated_bytes = node->recording->truncated_bytes;
		row->missing_chunks = node->recording->missing_chunks;
	}
	return 0;
}

/* The first node whose recording says what it is of; the first one if none does. */
static const struct crit_node *first_told(const struct crit_model *model)
{
	for (size_t i = 0; i < model->node_count; i++)
		if (model->nodes[i].recording->has_file)
			return &model->nodes[i];
	return &model->nodes[0];
}

static void fill_heads(const struct crit_model *model, struct crit_results *results)
{
	const struct crit_node *told = first_told(model);
	const struct crit_rec_file *file = &told->recording->file;
	uint64_t first_ns = CRIT_TIME_MAX, last_ns = 0;

	for (size_t i = 0; i < model->node_count; i++) {
		if (model->nodes[i].first_ns < first_ns)
			first_ns = model->nodes[i].first_ns;
		if (model->nodes[i].end_ns > last_ns)
			last_ns = model->nodes[i].end_ns;
	}
	results->has_ranks = model->rank_count > 0;
	results->window_begin_ns = model->window_begin_ns;
	results->window_ns = model->window_end_ns - model->window_begin_ns;
	results->start_real_ns = file->start_real_ns + (model->window_begin_ns -
							crit_model_time(told, file->start_mono_ns));
	results->elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	results->run_id = file->run_id;
	memcpy(results->exe, file->exe, sizeof(results->exe));
	memcpy(results->arguments, model->arguments, sizeof(results->arguments));
	memcpy(results->library, model->library, sizeof(results->library));
	results->flavour = model->flavour;
	results->job = model->job;
	results->omitted = model->omitted;
	results->losses = model->losses;
}

int crit_identity_fill(const struct crit_identity *identity, const struct crit_model *model,
		       struct crit_results *results)
{
	int rc;

	fill_heads(model, results);
	rc = fill_nodes(model, results);
	return rc ? rc : fill_ranks_and_threads(identity, model, results);
}
