// SPDX-License-Identifier: BSD-3-Clause
// Rows for calls and call sites, summed from the buckets of app threads.
#include "analysis/table/call_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/group_by.h"
#include "core/base/array.h"
#include "core/base/call.h"
#include "core/base/hash.h"

static int add_counter(const struct crit_model *model, struct crit_engine *engine, uint32_t thread,
		       const struct crit_counter *counter)
{
	uint32_t call = counter->call & 1023u;
	struct crit_bucket_key key = { .site = counter->site,
				       .thread = thread,
				       .call = (uint16_t)call,
				       .span_class = (uint8_t)crit_call_class(call) };
	struct crit_bucket *bucket;

	if (!call || model->threads[thread].role != CRIT_THREAD_APP)
		return 0;
	bucket = crit_buckets_get(&engine->buckets, &key);
	if (!bucket)
		return -ENOMEM;
	bucket->visits += counter->count;
	bucket->folded_visits += counter->folded_count;
	bucket->folded_ns += counter->folded_ns;
	bucket->bytes += counter->bytes;
	bucket->polled += counter->polled_count;
	return 0;
}

int crit_call_rows_add_counters(const struct crit_model *model, struct crit_engine *engine)
{
	int rc = 0;

	for (size_t i = 0; i < model->stream_count; i++) {
		const struct crit_stream *stream = &model->streams[i];
		const struct crit_recording *recording = model->nodes[stream->node].recording;
		/* each chunk holds all counters as they were: the last one counts */
		uint32_t ref = stream->thread == CRIT_NONE ? CRIT_NONE : stream->last_counters;
		struct crit_counter counter;
		size_t at;

		if (ref == CRIT_NONE)
			continue;
		for (at = 0;
		     !rc && crit_recording_read(recording, &recording->refs[ref], at, &counter,
						sizeof(counter)) == (ssize_t)sizeof(counter);
		     at += sizeof(counter))
			rc = add_counter(model, engine, stream->thread, &counter);
	}
	return rc;
}

struct call_item { /* a bucket with what its row is chosen by */
	const struct crit_bucket *bucket;
	uint64_t site;
	uint32_t node;
	uint32_t pid;
	uint32_t rank_row; /* or CRIT_NONE */
};

static int compare_call_sites(const void *left, const void *right)
{
	const struct call_item *a = left, *b = right;
	int rc = crit_by_number(a->bucket->key.call, b->bucket->key.call);

	rc = rc ? rc : crit_by_number(a->node, b->node);
	rc = rc ? rc : crit_by_number(a->pid, b->pid);
	return rc ? rc : crit_by_number(a->site, b->site);
}

static int compare_calls(const void *left, const void *right)
{
	const struct call_item *a = left, *b = right;

	return crit_by_number(a->bucket->key.call, b->bucket->key.call);
}

static int compare_rank_calls(const void *left, const void *right)
{
	const struct call_item *a = left, *b = right;
	int rc = crit_by_number(a->rank_row, b->rank_row);

	return rc ? rc : compare_calls(left, right);
}

static uint64_t hash_call_site(const void *item)
{
	const struct call_item *piece = item;

	return crit_hash_mix((uint64_t)piece->pid << 32 | piece->node,
			     crit_hash_mix(piece->site, piece->bucket->key.call));
}

static uint64_t hash_call(const void *item)
{
	return ((const struct call_item *)item)->bucket->key.call;
}

static uint64_t hash_rank_call(const void *item)
{
	return crit_hash_mix(((const struct call_item *)item)->rank_row, hash_call(item));
}

static uint64_t loss_ns(const struct crit_call_row *row)
{
	return (uint64_t)(row->run.all_waiting[CRIT_UNIT_THREADS] >> 64) + row->run.waiting_ns;
}

static int compare_rows(const void *left, const void *right)
{
	const struct crit_call_row *a = left, *b = right;
	int rc = crit_by_number(loss_ns(b), loss_ns(a));

	rc = rc ? rc : crit_by_number(a->call, b->call);
	rc = rc ? rc : crit_by_number(a->node, b->node);
	rc = rc ? rc : crit_by_number(a->pid, b->pid);
	return rc ? rc : crit_by_number(a->site, b->site);
}

static uint64_t key_of_loss(const void *item)
{
	return ~loss_ns(item);
}

static const struct crit_row_order by_loss = { sizeof(struct crit_call_row), key_of_loss,
					       compare_rows };

static int compare_call_rows(const void *left, const void *right)
{
	const struct crit_call_row *a = left, *b = right;

	return crit_by_number(a->call, b->call);
}

static int compare_rank_call_rows(const void *left, const void *right)
{
	const struct crit_rank_call_row *a = left, *b = right;
	int rc = crit_by_number(a->rank_row, b->rank_row);

	return rc ? rc : crit_by_number(a->call, b->call);
}

static uint64_t rank_row_of(const void *item)
{
	return ((const struct crit_rank_call_row *)item)->rank_row;
}

static const struct crit_row_order by_rank_row = { sizeof(struct crit_rank_call_row), rank_row_of,
						   compare_rank_call_rows };

static void begin_call(void *to, const void *from)
{
	const struct call_item *piece = from;
	struct crit_call_row *row = to;

	row->call = piece->bucket->key.call;
	row->top_rank_row = -1;
}

static void begin_call_site(void *to, const void *from)
{
	const struct call_item *piece = from;
	struct crit_call_row *row = to;

	begin_call(to, from);
	row->node = piece->node;
	row->pid = piece->pid;
	row->site = piece->site;
}

static void add_bucket(void *to, const void *from)
{
	const struct crit_bucket *bucket = ((const struct call_item *)from)->bucket;
	struct crit_call_row *row = to;

	row->visits += bucket->visits;
	row->folded_visits += bucket->folded_visits;
	row->folded_ns += bucket->folded_ns;
	row->polled_calls += bucket->polled;
	row->counted_bytes += bucket->bytes;
	row->time_ns += bucket->time_ns;
	if (crit_metric_is_waiting_class(bucket->key.span_class))
		row->wait_ns += bucket->time_ns;
	crit_attribution_add(&row->run, &bucket->attributed);
}

static void begin_rank_call(void *to, const void *from)
{
	const struct call_item *piece = from;
	struct crit_rank_call_row *row = to;

	row->rank_row = piece->rank_row;
	row->call = piece->bucket->key.call;
}

static void add_rank_bucket(void *to, const void *from)
{
	const struct crit_bucket *bucket = ((const struct call_item *)from)->bucket;
	struct crit_rank_call_row *row = to;

	row->visits += bucket->visits;
	row->time_ns += bucket->time_ns;
	if (crit_metric_is_waiting_class(bucket->key.span_class))
		row->wait_ns += bucket->time_ns;
	crit_durations_add(&row->durations, &bucket->durations);
}

static const struct crit_grouping by_call = { sizeof(struct call_item),
					      sizeof(struct crit_call_row),
					      compare_calls,
					      begin_call,
					      add_bucket,
					      hash_call };
static const struct crit_grouping by_call_site = { sizeof(struct call_item),
						   sizeof(struct crit_call_row),
						   compare_call_sites,
						   begin_call_site,
						   add_bucket,
						   hash_call_site };
static const struct crit_grouping by_rank_call = {
	sizeof(struct call_item), sizeof(struct crit_rank_call_row),
	compare_rank_calls,       begin_rank_call,
	add_rank_bucket,          hash_rank_call
};

/*
 * Where a call was made, or a construct is: OMPT names no address to the workers of a team, whose
 * constructs are where their region is.
 */
static uint64_t site_of(const struct crit_engine *engine, const struct crit_bucket_key *key,
			uint32_t process)
{
	if (key->site || key->call < CRIT_CALL_OMP_FIRST || key->call == CRIT_CONSTRUCT_PHASE)
		return key->site;
	return crit_regions_call_site(&engine->teams.regions, process, key->region);
}

/* The buckets of calls, by app threads, that were visited at all. */
static struct call_item *collect(const struct crit_model *model, const struct crit_engine *engine,
				 const uint32_t *rank_rows, size_t *ret_count)
{
	struct call_item *pieces = crit_lines_alloc(engine->buckets.count + 1, sizeof(*pieces));

	*ret_count = 0;
	for (size_t i = 0; pieces && i < engine->buckets.count; i++) {
		const struct crit_bucket *bucket = crit_buckets_at(&engine->buckets, i);
		const struct crit_thread *thread = &model->threads[bucket->key.thread];

		if (bucket->key.call && thread->role == CRIT_THREAD_APP &&
		    (bucket->visits || bucket->time_ns))
			pieces[(*ret_count)++] = (struct call_item){
				bucket, site_of(engine, &bucket->key, thread->process),
				thread->node, thread->tgid,
				thread->rank == CRIT_NONE ? CRIT_NONE : rank_rows[thread->rank]
			};
	}
	return pieces;
}

/* Of MPI calls of ranks; the pieces are these then. */
static int fill_rank_calls(struct call_item *pieces, size_t count, struct crit_results *results)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (pieces[i].rank_row != CRIT_NONE &&
		    pieces[i].bucket->key.call < CRIT_CALL_OMP_FIRST)
			pieces[kept++] = pieces[i];
	results->rank_calls = crit_group_by(&by_rank_call, pieces, kept, &results->rank_call_count);
	if (!results->rank_calls)
		return -ENOMEM;
	crit_array_sort_rows(results->rank_calls, results->rank_call_count, &by_rank_row);
	return 0;
}

int crit_call_rows_fill(const struct crit_model *model, const struct crit_engine *engine,
			const uint32_t *rank_rows, struct crit_results *results)
{
	size_t count;
	struct call_item *pieces = collect(model, engine, rank_rows, &count);
	int64_t top;
	int rc;

	if (!pieces)
		return -ENOMEM;
	results->call_sites =
		crit_group_by(&by_call_site, pieces, count, &results->call_site_count);
	results->calls = crit_group_by(&by_call, pieces, count, &results->call_count);
	rc = fill_rank_calls(pieces, count, results);
	free(pieces);
	if (rc || !results->call_sites || !results->calls)
		return -ENOMEM;
	qsort(results->calls, results->call_count, sizeof(*results->calls), compare_call_rows);
	for (size_t i = 0; i < results->call_count; i++) {
		top = crit_blame_top(&engine->blame, results->calls[i].call);
		results->calls[i].top_rank_row = top < 0 ? -1 : (int32_t)rank_rows[top];
	}
	crit_array_sort_rows(results->call_sites, results->call_site_count, &by_loss);
	return 0;
}
