// SPDX-License-Identifier: BSD-3-Clause
// Takes the last block of each thread and the OpenMP wait that it is in at its end.
#include "analysis/samples/last_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/samples/call_paths.h"

static int append(struct crit_last_waits *waits, const struct crit_last_wait *row)
{
	if (waits->count == CRIT_LAST_WAITS_MAX) {
		crit_last_waits_fini(waits);
		waits->is_beyond = true;
	}
	if (waits->is_beyond)
		return 0;
	if (crit_array_grow(&waits->rows, &waits->capacity, waits->count + 1, sizeof(*waits->rows)))
		return -ENOMEM;
	waits->rows[waits->count++] = *row;
	return 0;
}

/*
 * A wait of OpenMP that is not left lasts to the thread's end, whether it spins there or sleeps.  A
 * worker outside its region has nothing to do.
 */
static void note_construct(const struct crit_engine *engine, uint32_t thread,
			   struct crit_last_wait *row)
{
	const struct crit_thread_account *account = &engine->accounts[thread];
	const struct crit_model *model = engine->model;
	const struct crit_span_frame *frame = account->depth ? &account->spans[account->depth - 1]
							     : NULL;
	struct crit_cut_span span = account->cut;

	if (frame)
		span = (struct crit_cut_span){ .bucket = frame->bucket,
					       .since_ns = frame->enter_ns,
					       .until_ns = model->threads[thread].death_ns };
	if (!span.bucket ||
	    span.until_ns <= row->since_ns) { /* it went on, and blocked elsewhere */
		row->is_idle = account->base->key.span_class == CRIT_CLASS_OMP_IDLE;
		return;
	}
	if (span.bucket->key.span_class != CRIT_CLASS_OMP_WAIT)
		return;
	row->construct = span.bucket->key.call;
	row->site = span.bucket->key.site;
	row->since_ns = span.since_ns;
	row->until_ns = span.until_ns;
	if (row->until_ns > model->window_end_ns)
		row->until_ns = model->window_end_ns;
}

/* It is blocked for nearly all it lives, in a call that it was in before it was recorded. */
static void note_untold(const struct crit_engine *engine, uint32_t thread,
			struct crit_last_wait *row)
{
	const struct crit_thread_account *account = &engine->accounts[thread];
	uint64_t blocked_ns = 0;

	for (int i = 0; i < CRIT_CLASS_COUNT; i++)
		blocked_ns += account->cells.ns[CRIT_STATE_BLOCKED][i];
	if (blocked_ns < account->alive_ns - account->alive_ns / CRIT_LAST_BLOCK_PARTS)
		return;
	row->since_ns = engine->model->threads[thread].birth_ns;
	row->until_ns = row->since_ns + account->alive_ns;
}

int crit_last_waits_note(struct crit_last_waits *waits, const struct crit_engine *engine,
			 struct crit_call_paths *paths, uint32_t thread,
			 const struct crit_last_block *block)
{
	const struct crit_model *model = engine->model;
	const uint32_t process = model->threads[thread].process;
	struct crit_last_wait row = { .thread = thread, .call.number = CRIT_BLOCK_NOT_TOLD };

	if (!block || !block->until_ns) {
		note_untold(engine, thread, &row);
	} else {
		row.since_ns = block->since_ns;
		row.until_ns = block->until_ns;
		row.call = block->call;
		row.operation = block->operation;
		row.address = block->address;
	}
	if (row.address && paths &&
	    crit_call_paths_find(paths, model->threads[thread].node, block->request, &row.path))
		return -ENOMEM;
	if (process != CRIT_NONE) {
		row.is_end_seen = model->processes[process].exit_ns != 0;
		row.exit_signal = model->processes[process].exit_signal;
	}
	note_construct(engine, thread, &row);
	return row.until_ns > row.since_ns ? append(waits, &row) : 0;
}

int crit_last_waits_add(struct crit_last_waits *waits, const struct crit_model *model,
			const struct crit_last_wait *row)
{
	return row->thread < model->thread_count ? append(waits, row) : -EPROTO;
}

static int compare_threads(const void *a, const void *b)
{
	const struct crit_last_wait *left = a, *right = b;

	return crit_by_number(left->thread, right->thread);
}

void crit_last_waits_yield(struct crit_last_waits *waits, const uint32_t *thread_rows,
			   struct crit_results *results)
{
	for (size_t i = 0; i < waits->count; i++)
		waits->rows[i].thread = thread_rows[waits->rows[i].thread];
	if (waits->count)
		qsort(waits->rows, waits->count, sizeof(*waits->rows), compare_threads);
	results->blocks.last_waits = waits->rows;
	results->blocks.last_wait_count = waits->count;
	*waits = (struct crit_last_waits){ 0 };
}

void crit_last_waits_fini(struct crit_last_waits *waits)
{
	free(waits->rows);
	*waits = (struct crit_last_waits){ 0 };
}
