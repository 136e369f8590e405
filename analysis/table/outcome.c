// SPDX-License-Identifier: BSD-3-Clause
// Rows for threads, ranks and nodes, and the laws they must obey.
#include "analysis/table/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/process_ends.h"

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

static int compare_lives(const void *left, const void *right)
{
	const struct order *a = left, *b = right;
	const struct crit_life *x = &a->model->lives[a->index], *y = &b->model->lives[b->index];
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

static struct order *sorted(const struct crit_model *model, size_t count,
			    int (*compare)(const void *, const void *))
{
	struct order *orders = calloc(count + 1, sizeof(*orders));
	size_t i;

	if (!orders)
		return NULL;
	for (i = 0; i < count; i++)
		orders[i] = (struct order){ model, (uint32_t)i };
	qsort(orders, count, sizeof(*orders), compare);
	return orders;
}

/* Makes the rank rows in their order; *rank_rows maps the model's ranks to them. */
static int fill_ranks(const struct crit_model *model, struct crit_results *results,
		      uint32_t **ret_rank_rows)
{
	struct order *orders = sorted(model, model->rank_count, compare_ranks);
	size_t i;

	*ret_rank_rows = calloc(model->rank_count + 1, sizeof(**ret_rank_rows));
	results->ranks = calloc(model->rank_count + 1, sizeof(*results->ranks));
	if (!orders || !*ret_rank_rows || !results->ranks) {
		free(orders);
		return -ENOMEM;
	}
	results->rank_count = model->rank_count;
	for (i = 0; i < model->rank_count; i++) {
		const struct crit_rank *rank = &model->ranks[orders[i].index];
		struct crit_rank_row *row = &results->ranks[i];

		(*ret_rank_rows)[orders[i].index] = (uint32_t)i;
		row->node = rank->node;
		row->pid = model->processes[rank->process].pid;
		memcpy(row->program, model->processes[rank->process].program, sizeof(row->program));
		if (model->processes[rank->process].arguments)
			(void)snprintf(row->arguments, sizeof(row->arguments), "%s",
				       model->processes[rank->process].arguments);
		row->world_number = rank->world_number;
		row->rank = rank->rank;
		row->world_size = rank->size;
		row->task = model->processes[rank->process].task;
		memcpy(row->world, rank->world, sizeof(row->world));
		row->is_open = rank->is_open;
		row->exit_signal = model->processes[rank->process].exit_signal;
		row->killed_ns = model->processes[rank->process].killed_ns;
		row->process_flags = model->processes[rank->process].flags;
		row->open_ns = rank->open_ns;
		row->close_ns = rank->close_ns;
	}
	free(orders);
	return 0;
}

static void fill_thread(const struct crit_model *model, const struct crit_engine *engine,
			uint32_t index, struct crit_thread_row *row)
{
	const struct crit_life *life = &model->lives[index];
	const struct crit_thread *thread = &engine->threads[index];
	int unit;

	row->node = life->node;
	row->pid = life->tgid;
	row->tid = life->tid;
	row->role = life->role;
	if (life->process != CRIT_NONE)
		row->process_flags = model->processes[life->process].flags;
	memcpy(row->name, life->name, sizeof(row->name));
	row->name[sizeof(row->name) - 1] = '\0';
	row->birth_ns = life->birth_ns;
	row->death_ns = life->death_ns;
	row->life_ns = thread->alive_ns;
	row->cells = thread->cells;
	for (unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		row->node_cmetric[unit] = thread->node_cmetric[unit];
		row->node_stall[unit] = thread->node_stall[unit];
	}
	row->switches = life->switches;
	row->preemptions = life->preemptions;
	row->unmatched = life->unmatched;
}

/* Sums every bucket into its thread's row. */
static void fill_earnings(const struct crit_engine *engine, const uint32_t *thread_rows,
			  struct crit_results *results)
{
	size_t i;

	for (i = 0; i < engine->buckets.count; i++) {
		const struct crit_bucket *bucket = crit_buckets_at(&engine->buckets, i);
		struct crit_thread_row *row = &results->threads[thread_rows[bucket->key.life]];

		crit_earnings_add(&row->run, &bucket->earned);
		if (bucket->key.span_class <= CRIT_CLASS_USER ||
		    bucket->key.span_class == CRIT_CLASS_OMP)
			row->idle_blocked_ns += bucket->earned.waiting_ns;
	}
}

/* One node: its scope is the run's.  Ranks are the sums of their app threads. */
static void finish_threads(const struct crit_engine *engine, struct crit_results *results)
{
	size_t i;
	int span_class;

	for (i = 0; i < results->thread_count; i++) {
		struct crit_thread_row *row = &results->threads[i];

		if (!engine->nodes) {
			memcpy(row->node_cmetric, row->run.cmetric, sizeof(row->node_cmetric));
			memcpy(row->node_stall, row->run.stall, sizeof(row->node_stall));
		}
		for (span_class = 0; span_class < CRIT_CLASS_COUNT; span_class++)
			results->losses.unknown_ns += row->cells.ns[CRIT_STATE_UNKNOWN][span_class];
		if (row->rank_row >= 0 && row->role == CRIT_THREAD_APP) {
			struct crit_rank_row *rank = &results->ranks[row->rank_row];

			rank->app_threads++;
			crit_cells_add(&rank->cells, &row->cells);
			crit_earnings_add(&rank->run, &row->run);
		}
	}
}

/* *ret_thread_rows maps lives to the rows. */
static int fill_threads(const struct crit_model *model, const struct crit_engine *engine,
			const uint32_t *rank_rows, struct crit_results *results,
			uint32_t **ret_thread_rows)
{
	struct order *orders = sorted(model, model->life_count, compare_lives);
	uint32_t *thread_rows = calloc(model->life_count + 1, sizeof(*thread_rows));
	size_t i;

	*ret_thread_rows = thread_rows;
	results->threads = calloc(model->life_count + 1, sizeof(*results->threads));
	if (!orders || !thread_rows || !results->threads) {
		free(orders);
		return -ENOMEM;
	}
	results->thread_count = model->life_count;
	for (i = 0; i < model->life_count; i++) {
		uint32_t rank = model->lives[orders[i].index].rank;

		thread_rows[orders[i].index] = (uint32_t)i;
		fill_thread(model, engine, orders[i].index, &results->threads[i]);
		results->threads[i].rank_row = rank == CRIT_NONE ? -1 : (int32_t)rank_rows[rank];
	}
	fill_earnings(engine, thread_rows, results);
	finish_threads(engine, results);
	free(orders);
	return 0;
}

static double relative_error(crit_fix a, crit_fix b, uint64_t window_ns)
{
	crit_fix apart = a > b ? a - b : b - a;

	return window_ns ? crit_fix_seconds(apart) / (1e-9 * (double)window_ns) : 0.0;
}

/* The sums come from the threads' rows, the times from the integrals: the law compares the two. */
static void add_law(struct crit_results *results, enum crit_unit unit, enum crit_scope scope,
		    uint32_t node, const struct crit_scope_state *state)
{
	struct crit_law *law = &results->laws[results->law_count++];
	double first, second;
	size_t i;

	*law = (struct crit_law){ .unit = unit, .scope = scope, .node = node };
	for (i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *row = &results->threads[i];

		if (scope == CRIT_SCOPE_NODE && row->node != node)
			continue;
		law->cmetric_sum += scope == CRIT_SCOPE_NODE ? row->node_cmetric[unit]
							     : row->run.cmetric[unit];
		law->stall_sum += scope == CRIT_SCOPE_NODE ? row->node_stall[unit]
							   : row->run.stall[unit];
	}
	law->nobody = (crit_fix)state->nobody_ns << 64;
	law->active_ns = state->active_ns;
	law->window_ns = results->window_ns;
	first = relative_error(law->cmetric_sum, (crit_fix)law->active_ns << 64, law->window_ns);
	second = relative_error(law->cmetric_sum + law->stall_sum + law->nobody,
				(crit_fix)law->window_ns << 64, law->window_ns);
	law->error_ratio = first > second ? first : second;
}

static int fill_laws(const struct crit_engine *engine, struct crit_results *results)
{
	int units = results->has_ranks ? CRIT_UNIT_COUNT : 1;
	uint32_t node;
	int unit;

	results->laws = calloc((size_t)units * (1 + results->node_count), sizeof(*results->laws));
	if (!results->laws)
		return -ENOMEM;
	for (unit = 0; unit < units; unit++)
		add_law(results, unit, CRIT_SCOPE_RUN, 0, &engine->run);
	for (node = 0; node < results->node_count; node++) {
		for (unit = 0; unit < units; unit++)
			add_law(results, unit, CRIT_SCOPE_NODE, node,
				engine->nodes ? &engine->nodes[node] : &engine->run);
	}
	return 0;
}

static int fill_nodes(const struct crit_model *model, struct crit_results *results)
{
	size_t i;

	results->nodes = calloc(model->node_count, sizeof(*results->nodes));
	if (!results->nodes)
		return -ENOMEM;
	results->node_count = model->node_count;
	for (i = 0; i < model->node_count; i++) {
		const struct crit_node *node = &model->nodes[i];
		const struct crit_rec_file *file = &node->recording->file;
		struct crit_node_row *row = &results->nodes[i];

		*row = node->row;
		memcpy(row->host, file->host, sizeof(row->host));
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
	size_t i;

	for (i = 0; i < model->node_count; i++) {
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

int crit_outcome_identify(const struct crit_model *model, const struct crit_engine *engine,
			  struct crit_results *results, uint32_t **ret_rank_rows,
			  uint32_t **ret_thread_rows)
{
	int rc;

	fill_heads(model, results);
	rc = fill_nodes(model, results);
	if (!rc)
		rc = fill_ranks(model, results, ret_rank_rows);
	if (!rc)
		rc = fill_threads(model, engine, *ret_rank_rows, results, ret_thread_rows);
	return rc;
}

/* When ranks were active, how busy nodes were, and when CPUs were short there. */
static void fill_activity(const struct crit_model *model, const struct crit_engine *engine,
			  const uint32_t *rank_rows, struct crit_results *results)
{
	const struct crit_rank_state *ranks = engine->nodes ? engine->node_ranks
							    : engine->run_ranks;
	size_t i;

	for (i = 0; i < model->rank_count; i++) {
		results->ranks[rank_rows[i]].idle_in_mpi_ns = engine->rank_idles[i].ns;
		results->ranks[rank_rows[i]].active_ns = ranks[i].active_ns;
	}
	for (i = 0; i < model->life_count; i++)
		results->nodes[model->lives[i].node].busy_ns += engine->threads[i].busy_ns;
	for (i = 0; i < model->node_count; i++)
		results->nodes[i].shortage = engine->nodes ? engine->nodes[i].shortage
							   : engine->run.shortage;
}

/* The same threads as critd counted, and those of processes without shared memory. */
static void count_tag_only(struct crit_model *model)
{
	uint64_t tag_only = 0;
	size_t i;

	for (i = 0; i < model->life_count; i++)
		tag_only += model->lives[i].is_tag_only;
	if (tag_only > model->losses.no_stripe_threads)
		model->losses.no_stripe_threads = tag_only;
}

int crit_outcome_fill(struct crit_model *model, struct crit_engine *engine,
		      struct crit_messages *messages, struct crit_results *results)
{
	uint32_t *rank_rows = NULL, *thread_rows = NULL;
	int rc;

	count_tag_only(model);
	rc = crit_outcome_identify(model, engine, results, &rank_rows, &thread_rows);

	if (!rc)
		fill_activity(model, engine, rank_rows, results);
	if (!rc)
		rc = fill_laws(engine, results);
	if (!rc)
		rc = crit_outcome_fill_calls(model, engine, rank_rows, results);
	if (!rc)
		rc = crit_outcome_fill_regions(model, engine, rank_rows, thread_rows, results);
	if (!rc)
		rc = crit_rivals_fill(&engine->rivals, thread_rows, results);
	if (!rc)
		rc = crit_process_ends_fill(model, results);
	if (!rc)
		rc = crit_messages_fill(messages, rank_rows, results);
	free(rank_rows);
	free(thread_rows);
	return rc;
}
