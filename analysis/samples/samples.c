// SPDX-License-Identifier: BSD-3-Clause
// Weighs samples as they come, and divides the CMetric of cells among their addresses at the end.
#include "analysis/samples/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/samples/blocks.h"
#include "analysis/samples/call_paths.h"
#include "analysis/samples/tallies.h"
#include "core/base/array.h"

struct asked { /* a sample whose n is asked for */
	uint32_t tally; /* row */
	uint32_t period_ns;
	uint32_t keep; /* probability times 65536 */
};

struct crit_samples {
	struct crit_engine *engine;
	struct crit_samples_listener listener;
	struct crit_call_paths *paths; /* NULL: there are no samples */
	struct crit_blocks *blocks;
	struct crit_tallies tallies;
	struct asked *asked; /* in their order; those before answered have their weight */
	size_t asked_count, asked_capacity;
	size_t answered;
};

/* Of the window's equal parts. */
static uint32_t batch_of(const struct crit_model *model, uint64_t time_ns)
{
	uint64_t begin_ns = model->window_begin_ns, window_ns = model->window_end_ns - begin_ns;
	uint64_t at_ns = time_ns > begin_ns ? time_ns - begin_ns : 0;

	if (at_ns >= window_ns)
		return CRIT_SAMPLE_BATCHES - 1;
	return (uint32_t)((crit_fix)at_ns * CRIT_SAMPLE_BATCHES / window_ns);
}

/* The first byte behind what ran; 0 is no address. */
static uint64_t address_of(const struct crit_kernel_sample *record)
{
	uint64_t address = record->ip + !(record->head.flags & CRIT_KF_IN_KERNEL);

	return address ? address : 1;
}

static void weigh(struct crit_samples *samples, const struct asked *asked, uint32_t active)
{
	samples->tallies.rows[asked->tally].weight +=
		((crit_fix)asked->period_ns << 48) / ((uint64_t)asked->keep * active);
}

/* Others know n of this instant.  Errors: -ENOMEM. */
static int ask(struct crit_samples *samples, const struct asked *asked,
	       const struct crit_event *event)
{
	const struct crit_step_sink *sink = samples->engine->step_sink;
	struct crit_bucket *bucket = samples->engine->accounts[event->thread].bucket;
	struct crit_run_step step = { .time_ns = event->time_ns,
				      .from = bucket,
				      .to = bucket,
				      .thread = event->thread,
				      .share_before = CRIT_SHARE_ACTIVE,
				      .share_after = CRIT_SHARE_ACTIVE,
				      .is_sample = true };
	int rc;

	if (samples->answered * 2 > samples->asked_count) {
		samples->asked_count -= samples->answered;
		memmove(samples->asked, &samples->asked[samples->answered],
			samples->asked_count * sizeof(*asked));
		samples->answered = 0;
	}
	rc = crit_array_grow(&samples->asked, &samples->asked_capacity, samples->asked_count + 1,
			     sizeof(*asked));
	if (rc)
		return rc;
	samples->asked[samples->asked_count++] = *asked;
	return sink->add(sink->user, &step);
}

void crit_samples_listen(struct crit_samples *samples, const struct crit_samples_listener *listener)
{
	samples->listener = *listener;
}

static int tell(const struct crit_samples *samples, const struct crit_event *event,
		const struct crit_tally *tally)
{
	const struct crit_trace_sample told = { .address = tally->address,
						.tree = crit_call_paths_tree(samples->paths),
						.path = tally->path,
						.cpu_ns = tally->cpu_ns,
						.period_ns = event->sample->period_ns };

	return samples->listener.on_sample(samples->listener.user, event->thread, event->time_ns,
					   &told);
}

static int take(void *user, const struct crit_event *event)
{
	struct crit_samples *samples = user;
	const struct crit_engine *engine = samples->engine;
	const struct crit_kernel_sample *record = event->sample;
	struct asked asked = { .period_ns = record->period_ns ? record->period_ns : 1,
			       .keep = record->keep ? record->keep : 65536 };
	const struct crit_thread_account *account = &engine->accounts[event->thread];
	struct crit_tally sample;
	uint32_t active = crit_scope_active_until(&engine->run, event->time_ns);
	int64_t tally;
	uint32_t path;
	int rc;

	if (account->share == CRIT_SHARE_OUT ||
	    (engine->run.left_out_from && active >= engine->run.left_out_from))
		return 0;
	if (crit_call_paths_find(samples->paths, engine->model->threads[event->thread].node,
				 record->request, &path))
		return -ENOMEM;
	sample = (struct crit_tally){ .cell = account->bucket->key,
				      .address = address_of(record),
				      .cpu_ns = (uint64_t)asked.period_ns * 65536 / asked.keep,
				      .path = path,
				      .batch = batch_of(engine->model, event->time_ns),
				      .count = 1 };
	sample.cell.site = 0;
	rc = samples->listener.on_sample ? tell(samples, event, &sample) : 0;
	if (rc)
		return rc;
	tally = crit_tallies_add(&samples->tallies, &sample);
	if (tally < 0 || account->share != CRIT_SHARE_ACTIVE)
		return tally < 0 ? (int)tally : 0;
	asked.tally = (uint32_t)tally;
	if (engine->step_sink)
		return ask(samples, &asked, event);
	weigh(samples, &asked, active);
	return 0;
}

void crit_samples_weigh(struct crit_samples *samples, uint32_t active)
{
	weigh(samples, &samples->asked[samples->answered++], active);
}

_Static_assert(sizeof(struct crit_tally) == CRIT_SAMPLES_ROW_BYTES, "a row is a tally");

size_t crit_samples_rows(const struct crit_samples *samples, const void **ret_rows)
{
	*ret_rows = samples->tallies.rows;
	return samples->tallies.count;
}

int crit_samples_add_row(struct crit_samples *samples, const void *row)
{
	const struct crit_tally *tally = row;
	int64_t added;

	if (tally->cell.thread >= samples->engine->model->thread_count ||
	    tally->batch >= CRIT_SAMPLE_BATCHES)
		return -EPROTO;
	added = crit_tallies_add(&samples->tallies, tally);
	return added < 0 ? (int)added : 0;
}

int crit_samples_create(struct crit_engine *engine, struct crit_samples **ret_samples)
{
	struct crit_samples *samples = calloc(1, sizeof(*samples));
	struct crit_listener listener = { .user = samples };
	int rc;

	if (!samples)
		return -ENOMEM;
	samples->engine = engine;
	listener.on[CRIT_EVENT_SAMPLE] = take;
	rc = crit_listeners_add(&engine->listeners, &listener);
	if (!rc && engine->model->sample_count)
		rc = crit_call_paths_create(engine->model, &samples->paths);
	if (!rc)
		rc = crit_blocks_create(engine, samples->paths, &samples->blocks);
	if (rc)
		crit_samples_destroy(samples);
	else
		*ret_samples = samples;
	return rc;
}

void crit_samples_destroy(struct crit_samples *samples)
{
	if (!samples)
		return;
	crit_tallies_fini(&samples->tallies);
	free(samples->asked);
	crit_blocks_destroy(samples->blocks);
	crit_call_paths_destroy(samples->paths);
	free(samples);
}

struct cell { /* its key's site is 0 */
	struct crit_bucket_key key;
	crit_fix cmetric;
};

struct division {
	const uint32_t *thread_rows;
	struct crit_sample_results *results;
	struct cell *cells; /* with CMetric; by crit_tallies_compare_cells */
	size_t cell_count;
	struct crit_tally **order;
	size_t count;
};

static int compare_cells(const void *a, const void *b)
{
	const struct cell *left = a, *right = b;

	return crit_tallies_compare_cells(&left->key, &right->key);
}

/* Buckets of one cell differ in their sites. */
static int make_cells(struct division *division, const struct crit_buckets *buckets)
{
	size_t count = 0, used = 0;

	division->cells = calloc(buckets->count + 1, sizeof(*division->cells));
	if (!division->cells)
		return -ENOMEM;
	for (size_t i = 0; i < buckets->count; i++) {
		const struct crit_bucket *bucket = crit_buckets_at(buckets, i);
		struct cell *cell = &division->cells[count];

		cell->key = bucket->key;
		cell->key.site = 0;
		cell->cmetric = bucket->attributed.cmetric[CRIT_UNIT_THREADS];
		count += cell->cmetric != 0;
	}
	qsort(division->cells, count, sizeof(*division->cells), compare_cells);
	for (size_t i = 0; i < count; i++) {
		struct cell *cell = &division->cells[i];

		if (used && compare_cells(&division->cells[used - 1], cell) == 0)
			division->cells[used - 1].cmetric += cell->cmetric;
		else
			division->cells[used++] = *cell;
	}
	division->cell_count = used;
	return 0;
}

static int compare_rows(const void *a, const void *b, void *user)
{
	const struct crit_tally *left = *(struct crit_tally *const *)a;
	const struct crit_tally *right = *(struct crit_tally *const *)b;
	const uint32_t *thread_rows = user;
	int order = crit_by_number(thread_rows[left->cell.thread], thread_rows[right->cell.thread]);

	if (!order)
		order = crit_by_number(left->address, right->address);
	return order ? order : crit_by_number(left->path, right->path);
}

static int compare_tallies(const void *a, const void *b)
{
	const struct crit_tally *left = *(struct crit_tally *const *)a;
	const struct crit_tally *right = *(struct crit_tally *const *)b;
	int order = crit_tallies_compare_cells(&left->cell, &right->cell);

	if (!order)
		order = crit_by_number(left->address, right->address);
	if (!order)
		order = crit_by_number(left->path, right->path);
	return order ? order : crit_by_number(left->batch, right->batch);
}

/* A row for each thread, address and path. */
static int make_rows(const struct division *division)
{
	struct crit_sample_results *results = division->results;

	qsort_r(division->order, division->count, sizeof(struct crit_tally *), compare_rows,
		(void *)division->thread_rows);
	results->rows = calloc(division->count + 1, sizeof(*results->rows));
	if (!results->rows)
		return -ENOMEM;
	for (size_t i = 0; i < division->count; i++) {
		struct crit_tally *tally = division->order[i];
		struct crit_sample_row *row;

		results->count += tally->count;
		if (!tally->address) {
			results->unlisted += tally->count;
			continue;
		}
		if (!results->row_count ||
		    compare_rows(&division->order[i - 1], &division->order[i],
				 (void *)division->thread_rows) != 0)
			results->row_count++;
		tally->row = (uint32_t)results->row_count - 1;
		row = &results->rows[tally->row];
		row->thread = division->thread_rows[tally->cell.thread];
		row->address = tally->address;
		row->path = tally->path;
		row->count += tally->count;
		row->cpu_ns += tally->cpu_ns;
	}
	return 0;
}

/* cmetric * part / whole, at most one bit too little; all of it where part is whole. */
static crit_fix portion(crit_fix cmetric, crit_fix part, crit_fix whole)
{
	while (whole >> 63) {
		whole >>= 1;
		part >>= 1;
	}
	return part == whole ? cmetric : crit_metric_scale(cmetric, (part << 64) / whole);
}

/*
 * What each batch has of an address beyond its share of the cell, per unit of weight: the residuals
 * of a ratio.  Source: Cochran, Sampling Techniques, 3rd ed., 1977, sections 6.3 and 6.10.
 */
static void add_errors(struct crit_sample_row *row, const crit_fix *of_address,
		       const crit_fix *of_cell, double share, double scale, double one_sample)
{
	if ((double)row->one_sample_s < scale * one_sample)
		row->one_sample_s = (float)(scale * one_sample);
	for (uint32_t i = 0; i < CRIT_SAMPLE_BATCHES; i++)
		row->error_s[i] +=
			(float)(scale * ((double)of_address[i] - share * (double)of_cell[i]));
}

/* Divides a cell's CMetric among its tallies, which are sorted by address and path. */
static void divide(const struct division *division, const struct cell *cell,
		   struct crit_tally *const *tallies, size_t count)
{
	crit_fix *not_sampled =
		&division->results->not_sampled[division->thread_rows[cell->key.thread]];
	crit_fix whole = 0, of_cell[CRIT_SAMPLE_BATCHES] = { 0 }, before = 0, given = 0;

	for (size_t i = 0; i < count; i++) {
		whole += tallies[i]->weight;
		of_cell[tallies[i]->batch] += tallies[i]->weight;
	}
	if (!whole) {
		*not_sampled += cell->cmetric;
		return;
	}
	for (size_t i = 0; i < count;) {
		const struct crit_tally *first = tallies[i];
		crit_fix of_address[CRIT_SAMPLE_BATCHES] = { 0 }, up_to = before, sum;
		uint64_t samples = 0;

		for (; i < count && tallies[i]->address == first->address &&
		       tallies[i]->path == first->path;
		     i++) {
			of_address[tallies[i]->batch] = tallies[i]->weight;
			up_to += tallies[i]->weight;
			samples += tallies[i]->count;
		}
		sum = portion(cell->cmetric, up_to, whole);
		*(first->address ? &division->results->rows[first->row].cmetric : not_sampled) +=
			sum - given;
		if (first->address)
			add_errors(&division->results->rows[first->row], of_address, of_cell,
				   (double)(up_to - before) / (double)whole,
				   crit_fix_seconds(cell->cmetric) / (double)whole,
				   (double)(up_to - before) / (double)samples);
		given = sum;
		before = up_to;
	}
}

static void count_batches(const struct division *division)
{
	uint32_t used = 0;

	for (size_t i = 0; i < division->count; i++)
		used |= (uint32_t)(division->order[i]->weight != 0) << division->order[i]->batch;
	division->results->batch_count = (uint32_t)__builtin_popcount(used);
}

static void divide_all(const struct division *division)
{
	size_t at = 0;

	qsort(division->order, division->count, sizeof(struct crit_tally *), compare_tallies);
	for (size_t i = 0; i < division->cell_count; i++) {
		const struct cell *cell = &division->cells[i];
		size_t first;

		while (at < division->count &&
		       crit_tallies_compare_cells(&division->order[at]->cell, &cell->key) < 0)
			at++; /* cells without CMetric */
		first = at;
		while (at < division->count &&
		       crit_tallies_compare_cells(&division->order[at]->cell, &cell->key) == 0)
			at++;
		divide(division, cell, &division->order[first], at - first);
	}
}

struct crit_blocks *crit_samples_blocks(const struct crit_samples *samples)
{
	return samples->blocks;
}

static int fill(const struct crit_samples *samples, const uint32_t *thread_rows,
		struct crit_results *results)
{
	const struct crit_tallies *tallies = &samples->tallies;
	struct division division = { .thread_rows = thread_rows,
				     .results = &results->samples,
				     .count = tallies->count };
	int rc;

	if (!tallies->count)
		return 0;
	results->samples.not_sampled = calloc(results->thread_count + 1, sizeof(crit_fix));
	division.order = calloc(tallies->count, sizeof(struct crit_tally *));
	rc = results->samples.not_sampled && division.order ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i < tallies->count; i++)
		division.order[i] = &tallies->rows[i];
	if (!rc)
		rc = make_cells(&division, &samples->engine->buckets);
	if (!rc)
		rc = make_rows(&division);
	if (!rc) {
		count_batches(&division);
		divide_all(&division);
	}
	free(division.cells);
	free(division.order);
	return rc;
}

int crit_samples_fill(const struct crit_samples *samples, const uint32_t *thread_rows,
		      struct crit_results *results)
{
	int rc = fill(samples, thread_rows, results);

	if (!rc)
		rc = crit_blocks_fill(samples->blocks, thread_rows, results);
	if (!rc && samples->paths)
		crit_call_paths_yield(samples->paths, &results->samples);
	return rc;
}
