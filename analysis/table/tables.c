// SPDX-License-Identifier: BSD-3-Clause
// Fills the rows of threads, ranks and nodes, and the consistency checks.
#include "analysis/table/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/engine.h"
#include "analysis/identity/identity.h"
#include "analysis/model/model.h"
#include "analysis/model/process_ends.h"
#include "analysis/mpi/messages.h"
#include "analysis/table/call_rows.h"
#include "analysis/table/message_rows.h"
#include "analysis/table/region_rows.h"

static void fill_thread(const struct crit_engine *engine, size_t thread,
			struct crit_thread_row *row)
{
	const struct crit_node_account *of_node;

	row->life_ns = engine->accounts[thread].alive_ns;
	row->cells = engine->accounts[thread].cells;
	if (!engine->nodes)
		return;
	of_node = &engine->node_accounts[thread];
	memcpy(row->node_cmetric, of_node->cmetric, sizeof(row->node_cmetric));
	memcpy(row->node_all_waiting, of_node->all_waiting, sizeof(row->node_all_waiting));
}

/* Sums every bucket into its thread's row. */
static void fill_attribution(const struct crit_engine *engine, const uint32_t *thread_rows,
			     struct crit_results *results)
{
	for (size_t i = 0; i < engine->buckets.count; i++) {
		const struct crit_bucket *bucket = crit_buckets_at(&engine->buckets, i);
		struct crit_thread_row *row = &results->threads[thread_rows[bucket->key.thread]];

		crit_attribution_add(&row->run, &bucket->attributed);
		if (bucket->key.span_class <= CRIT_CLASS_USER ||
		    bucket->key.span_class == CRIT_CLASS_OMP)
			row->idle_blocked_ns += bucket->attributed.waiting_ns;
	}
}

/* One node: its scope is the run's.  Ranks are the sums of their app threads. */
static void finish_threads(const struct crit_engine *engine, struct crit_results *results)
{
	for (size_t i = 0; i < results->thread_count; i++) {
		struct crit_thread_row *row = &results->threads[i];

		if (!engine->nodes) {
			memcpy(row->node_cmetric, row->run.cmetric, sizeof(row->node_cmetric));
			memcpy(row->node_all_waiting, row->run.all_waiting,
			       sizeof(row->node_all_waiting));
		}
		for (int span_class = 0; span_class < CRIT_CLASS_COUNT; span_class++)
			results->losses.unknown_ns += row->cells.ns[CRIT_STATE_UNKNOWN][span_class];
		if (row->rank_row >= 0 && row->role == CRIT_THREAD_APP) {
			struct crit_rank_row *rank = &results->ranks[row->rank_row];

			crit_cells_add(&rank->cells, &row->cells);
			crit_attribution_add(&rank->run, &row->run);
		}
	}
}

static void fill_threads(const struct crit_engine *engine, const uint32_t *thread_rows,
			 struct crit_results *results)
{
	for (size_t i = 0; i < results->thread_count; i++)
		fill_thread(engine, i, &results->threads[thread_rows[i]]);
	fill_attribution(engine, thread_rows, results);
	finish_threads(engine, results);
}

static double relative_error(crit_fix a, crit_fix b, uint64_t window_ns)
{
	crit_fix apart = a > b ? a - b : b - a;

	return window_ns ? crit_fix_seconds(apart) / (1e-9 * (double)window_ns) : 0.0;
}

static void begin_check(struct crit_results *results, enum crit_unit unit, enum crit_scope scope,
			uint32_t node, const struct crit_scope_state *state)
{
	results->checks[results->check_count++] = (struct crit_consistency_check){
		.unit = unit,
		.scope = scope,
		.node = node,
		.nobody = (crit_fix)state->nobody_ns << 64,
		.active_ns = state->active_ns,
		.window_ns = results->window_ns,
	};
}

/* Adds a thread to the checks of the run, the first ones, and to those of its node. */
static void add_to_checks(struct crit_results *results, const struct crit_thread_row *row,
			  size_t units)
{
	for (size_t unit = 0; unit < units; unit++) {
		struct crit_consistency_check *run = &results->checks[unit];
		struct crit_consistency_check *node =
			&results->checks[(1 + row->node) * units + unit];

		run->cmetric_sum += row->run.cmetric[unit];
		run->all_waiting_sum += row->run.all_waiting[unit];
		node->cmetric_sum += row->node_cmetric[unit];
		node->all_waiting_sum += row->node_all_waiting[unit];
	}
}

static void end_check(struct crit_consistency_check *check)
{
	double first = relative_error(check->cmetric_sum, (crit_fix)check->active_ns << 64,
				      check->window_ns);
	double second = relative_error(check->cmetric_sum + check->all_waiting_sum + check->nobody,
				       (crit_fix)check->window_ns << 64, check->window_ns);

	check->error_ratio = first > second ? first : second;
}

/*
 * The sums come from the threads' rows, the times from the integrals: the check compares the two.
 */
static int fill_checks(const struct crit_engine *engine, struct crit_results *results)
{
	int units = results->has_ranks ? CRIT_UNIT_COUNT : 1;

	results->checks =
		calloc((size_t)units * (1 + results->node_count), sizeof(*results->checks));
	if (!results->checks)
		return -ENOMEM;
	for (int unit = 0; unit < units; unit++)
		begin_check(results, unit, CRIT_SCOPE_RUN, 0, &engine->run);
	for (uint32_t node = 0; node < results->node_count; node++) {
		for (int unit = 0; unit < units; unit++)
			begin_check(results, unit, CRIT_SCOPE_NODE, node,
				    engine->nodes ? &engine->nodes[node] : &engine->run);
	}
	for (size_t i = 0; i < results->thread_count; i++)
		add_to_checks(results, &results->threads[i], (size_t)units);
	for (size_t i = 0; i < results->check_count; i++)
		end_check(&results->checks[i]);
	return 0;
}

/* When ranks were active, how busy nodes were, and when CPUs were short there. */
static void fill_activity(const struct crit_model *model, const struct crit_engine *engine,
			  const uint32_t *rank_rows, struct crit_results *results)
{
	const struct crit_rank_state *ranks = engine->nodes ? engine->node_ranks
							    : engine->run_ranks;

	for (size_t i = 0; i < model->rank_count; i++) {
		results->ranks[rank_rows[i]].idle_in_mpi_ns = engine->rank_idles[i].ns;
		results->ranks[rank_rows[i]].active_ns = ranks[i].active_ns;
		results->ranks[rank_rows[i]].may_wait_cmetric =
			engine->run_ranks[i].may_wait.cmetric;
		results->ranks[rank_rows[i]].last_call = engine->last_calls[i];
	}
	for (size_t i = 0; i < model->thread_count; i++)
		results->nodes[model->threads[i].node].busy_ns += engine->accounts[i].busy_ns;
	for (size_t i = 0; i < model->node_count; i++)
		results->nodes[i].shortage = engine->nodes ? engine->nodes[i].shortage
							   : engine->run.shortage;
}

/* The same threads as critd counted, and those of processes without shared memory. */
static void count_tag_only(struct crit_model *model)
{
	uint64_t tag_only = 0;

	for (size_t i = 0; i < model->thread_count; i++)
		tag_only += model->threads[i].is_tag_only;
	if (tag_only > model->losses.no_buffer_threads)
		model->losses.no_buffer_threads = tag_only;
}

int crit_tables_fill(struct crit_model *model, struct crit_engine *engine,
		     struct crit_messages *messages, const struct crit_identity *identity,
		     struct crit_results *results)
{
	const uint32_t *rank_rows = crit_identity_rank_rows(identity);
	const uint32_t *thread_rows = crit_identity_thread_rows(identity);
	int rc;

	count_tag_only(model);
	rc = crit_identity_fill(identity, model, results);
	if (rc)
		return rc;
	fill_threads(engine, thread_rows, results);
	fill_activity(model, engine, rank_rows, results);
	rc = fill_checks(engine, results);
	if (!rc)
		rc = crit_call_rows_fill(model, engine, rank_rows, results);
	if (!rc)
		rc = crit_region_rows_fill(model, engine, rank_rows, thread_rows, results);
	if (!rc)
		rc = crit_preemptors_fill(&engine->preemptors, thread_rows, results);
	if (!rc)
		rc = crit_process_ends_fill(model, results);
	if (!rc)
		rc = crit_message_rows_fill(messages, rank_rows, results);
	return rc;
}
