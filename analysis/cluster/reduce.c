// SPDX-License-Identifier: BSD-3-Clause
// Packs the sums of a process and adds them up on process 0.  Nothing comes twice: each thread,
// rank and node is replayed by one process, and each time slice of blame is charged by one.
#include "analysis/cluster/reduce.h"

#include <errno.h>
#include <string.h>

#include "analysis/samples/blocks.h"

struct gathered_head { /* counts of what follows, and what adds up */
	uint64_t thread_count;
	uint64_t rank_count;
	uint64_t node_count;
	uint64_t bucket_count;
	uint64_t region_count;
	uint64_t preemptor_count;
	uint64_t charge_count;
	uint64_t sample_row_count;
	uint64_t block_row_count;
	uint64_t last_wait_count;
	uint64_t end_count;
	uint64_t tag_disagreements;
	uint64_t tag_stale;
	uint64_t late_records;
	uint64_t unbalanced_spans;
	uint64_t unknown_records;
	uint64_t details;
	int64_t rc;
};

struct gathered_thread {
	uint32_t thread;
	uint32_t is_tag_only;
	uint64_t switches;
	uint64_t preemptions;
	uint64_t unmatched;
	uint64_t alive_ns;
	uint64_t busy_ns;
	struct crit_cells cells;
	crit_fix node_cmetric[CRIT_UNIT_COUNT];
	crit_fix node_all_waiting[CRIT_UNIT_COUNT];
};

struct gathered_rank {
	uint32_t rank;
	uint32_t reserved;
	uint64_t idle_in_mpi_ns;
	uint64_t active_ns;
	crit_fix may_wait_cmetric;
	struct crit_last_call last_call;
};

struct gathered_node {
	uint32_t node;
	uint32_t reserved;
	uint64_t slot_count;
	struct crit_scope_state scope;
};

struct gathered_region { /* and its name behind it */
	uint32_t process;
	uint32_t number;
	uint32_t parent;
	uint32_t call;
	uint64_t site;
	uint64_t caller;
	uint32_t team_max;
	uint32_t name_bytes;
	uint64_t scheduling_ns;
	uint64_t imbalance_ns;
	uint64_t runnable_ns;
};

struct gathered_end {
	uint64_t row; /* of the thread */
	struct crit_thread_end end;
};

struct gathered_charge {
	uint32_t call;
	uint32_t rank;
	crit_fix charge;
};

static int put_threads(const struct crit_rounds *rounds, struct crit_exchange_buffer *buffer,
		       uint64_t *ret_count)
{
	int rc = 0;

	for (size_t i = 0; i < rounds->model->thread_count && !rc; i++) {
		const struct crit_thread *thread = &rounds->model->threads[i];
		const struct crit_thread_account *account = &rounds->engine->accounts[i];
		const struct crit_node_account *of_node = &rounds->engine->node_accounts[i];
		struct gathered_thread row = { .thread = (uint32_t)i,
					       .is_tag_only = thread->is_tag_only,
					       .switches = thread->switches,
					       .preemptions = thread->preemptions,
					       .unmatched = thread->unmatched,
					       .alive_ns = account->alive_ns,
					       .busy_ns = account->busy_ns,
					       .cells = account->cells };

		if (!crit_rounds_plays(rounds, thread->node))
			continue;
		memcpy(row.node_cmetric, of_node->cmetric, sizeof(row.node_cmetric));
		memcpy(row.node_all_waiting, of_node->all_waiting, sizeof(row.node_all_waiting));
		rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
		++*ret_count;
	}
	return rc;
}

static int put_ranks_and_nodes(const struct crit_rounds *rounds,
			       struct crit_exchange_buffer *buffer, struct gathered_head *head)
{
	const struct crit_model *model = rounds->model;
	int rc = 0;

	for (size_t i = 0; i < model->rank_count && !rc; i++) {
		struct gathered_rank row = { .rank = (uint32_t)i,
					     .idle_in_mpi_ns = rounds->engine->rank_idles[i].ns,
					     .active_ns = rounds->engine->node_ranks[i].active_ns,
					     .may_wait_cmetric =
						     rounds->engine->run_ranks[i].may_wait.cmetric,
					     .last_call = rounds->engine->last_calls[i] };

		if (!crit_rounds_plays(rounds, model->ranks[i].node))
			continue;
		rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
		head->rank_count++;
	}
	for (size_t i = 0; i < model->node_count && !rc; i++) {
		struct gathered_node row = { .node = (uint32_t)i,
					     .slot_count = model->nodes[i].row.slot_count,
					     .scope = rounds->engine->nodes[i] };

		if (!crit_rounds_plays(rounds, (uint32_t)i))
			continue;
		rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
		head->node_count++;
	}
	return rc;
}

static int put_buckets(const struct crit_rounds *rounds, struct crit_exchange_buffer *buffer,
		       uint64_t *ret_count)
{
	const struct crit_buckets *buckets = &rounds->engine->buckets;
	int rc = 0;

	for (size_t i = 0; i < buckets->count && !rc; i++) {
		struct crit_bucket bucket = *crit_buckets_at(buckets, i);

		if (!crit_rounds_plays(rounds, rounds->model->threads[bucket.key.thread].node))
			continue;
		bucket.follower = NULL;
		rc = crit_exchange_buffer_put(buffer, &bucket, sizeof(bucket));
		++*ret_count;
	}
	return rc;
}

static int put_regions(const struct crit_regions *regions, struct crit_exchange_buffer *buffer,
		       uint64_t *ret_count)
{
	int rc = 0;

	for (size_t i = 0; i < regions->count && !rc; i++) {
		const struct crit_region *region = &regions->rows[i];
		struct gathered_region row = {
			.process = region->process,
			.number = region->number,
			.parent = region->parent,
			.call = region->call,
			.site = region->site,
			.caller = region->caller,
			.team_max = region->team_max,
			.name_bytes = region->name ? (uint32_t)strlen(region->name) : 0,
			.scheduling_ns = region->scheduling_ns,
			.imbalance_ns = region->imbalance_ns,
			.runnable_ns = region->runnable_ns,
		};

		rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
		if (!rc)
			rc = crit_exchange_buffer_put(buffer, region->name, row.name_bytes);
		++*ret_count;
	}
	return rc;
}

static int put_preemptors(const struct crit_preemptors *preemptors,
			  struct crit_exchange_buffer *buffer, uint64_t *ret_count)
{
	int rc = 0;

	for (size_t i = 0; i < preemptors->count && !rc; i++)
		rc = crit_exchange_buffer_put(buffer, &preemptors->rows[i].row,
					      sizeof(preemptors->rows[i].row));
	*ret_count = preemptors->count;
	return rc;
}

static int put_charges(const struct crit_blame *blame, struct crit_exchange_buffer *buffer,
		       uint64_t *ret_count)
{
	int rc = 0;

	for (uint32_t call = 0; call < CRIT_BLAME_CALLS; call++) {
		const struct crit_blame_call *row =
			blame->slots[call] ? &blame->calls[blame->slots[call] - 1] : NULL;

		for (uint32_t rank = 0; row && rank < blame->rank_count && !rc; rank++) {
			struct gathered_charge charge = { call, rank, row->cells[rank].charge };

			if (!charge.charge)
				continue;
			rc = crit_exchange_buffer_put(buffer, &charge, sizeof(charge));
			++*ret_count;
		}
	}
	return rc;
}

static int put_samples(const struct crit_samples *samples, struct crit_exchange_buffer *buffer,
		       uint64_t *ret_count)
{
	const void *rows;

	*ret_count = crit_samples_rows(samples, &rows);
	return crit_exchange_buffer_put(buffer, rows, *ret_count * CRIT_SAMPLES_ROW_BYTES);
}

static int put_blocks(const struct crit_blocks *blocks, struct crit_exchange_buffer *buffer,
		      uint64_t *ret_count)
{
	const void *rows;

	*ret_count = crit_blocks_rows(blocks, &rows);
	return crit_exchange_buffer_put(buffer, rows, *ret_count * CRIT_BLOCKS_ROW_BYTES);
}

static int put_last_waits(struct crit_blocks *blocks, struct crit_exchange_buffer *buffer,
			  uint64_t *ret_count)
{
	struct crit_last_waits *waits;
	int rc = crit_blocks_find_last(blocks, &waits);

	*ret_count = rc ? 0 : waits->count;
	return rc ? rc
		  : crit_exchange_buffer_put(buffer, waits->rows,
					     waits->count * sizeof(*waits->rows));
}

static int put_ends(const struct crit_rounds *rounds, struct crit_exchange_buffer *buffer,
		    uint64_t *ret_count)
{
	int rc = 0;

	for (size_t row = 0; row < rounds->model->thread_count && !rc; row++) {
		const struct crit_thread_end *end = crit_thread_ends_at(rounds->ends, row);
		struct gathered_end gathered;

		if (!end)
			continue;
		gathered = (struct gathered_end){ row, *end };
		rc = crit_exchange_buffer_put(buffer, &gathered, sizeof(gathered));
		++*ret_count;
	}
	return rc;
}

static int pack(const struct crit_rounds *rounds, struct crit_exchange_buffer *buffer)
{
	const struct crit_losses *now = &rounds->model->losses;
	const struct crit_losses *before = &rounds->index_losses;
	struct gathered_head head = {
		.tag_disagreements = now->tag_disagreements - before->tag_disagreements,
		.tag_stale = now->tag_stale - before->tag_stale,
		.late_records = now->late_records - before->late_records,
		.unbalanced_spans = now->unbalanced_spans - before->unbalanced_spans,
		.unknown_records = now->unknown_records - before->unknown_records,
		.details = rounds->spans.messages->losses.details,
	};
	int rc = crit_exchange_buffer_put(buffer, &head, sizeof(head));

	if (!rc)
		rc = put_threads(rounds, buffer, &head.thread_count);
	if (!rc)
		rc = put_ranks_and_nodes(rounds, buffer, &head);
	if (!rc)
		rc = put_buckets(rounds, buffer, &head.bucket_count);
	if (!rc)
		rc = put_regions(&rounds->engine->teams.regions, buffer, &head.region_count);
	if (!rc)
		rc = put_preemptors(&rounds->engine->preemptors, buffer, &head.preemptor_count);
	if (!rc)
		rc = put_charges(&rounds->engine->blame, buffer, &head.charge_count);
	if (!rc)
		rc = put_samples(rounds->samples, buffer, &head.sample_row_count);
	if (!rc)
		rc = put_blocks(crit_samples_blocks(rounds->samples), buffer,
				&head.block_row_count);
	if (!rc)
		rc = put_last_waits(crit_samples_blocks(rounds->samples), buffer,
				    &head.last_wait_count);
	if (!rc)
		rc = put_ends(rounds, buffer, &head.end_count);
	head.rc = rc;
	if (buffer->size >= sizeof(head))
		memcpy(buffer->bytes, &head, sizeof(head));
	return rc;
}

struct unpacking {
	struct crit_rounds *rounds;
	const struct crit_exchange_buffer *buffer;
	size_t at;
};

static int take_thread(struct unpacking *u)
{
	struct gathered_thread row;
	struct crit_thread *thread;
	struct crit_thread_account *account;
	struct crit_node_account *of_node;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.thread >= u->rounds->model->thread_count)
		return -EPROTO;
	thread = &u->rounds->model->threads[row.thread];
	account = &u->rounds->engine->accounts[row.thread];
	of_node = &u->rounds->engine->node_accounts[row.thread];
	thread->is_tag_only = row.is_tag_only != 0;
	thread->switches = row.switches;
	thread->preemptions = row.preemptions;
	thread->unmatched = row.unmatched;
	account->alive_ns = row.alive_ns;
	account->busy_ns = row.busy_ns;
	account->cells = row.cells;
	memcpy(of_node->cmetric, row.node_cmetric, sizeof(row.node_cmetric));
	memcpy(of_node->all_waiting, row.node_all_waiting, sizeof(row.node_all_waiting));
	return 0;
}

static int take_rank(struct unpacking *u)
{
	struct gathered_rank row;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.rank >= u->rounds->model->rank_count)
		return -EPROTO;
	u->rounds->engine->rank_idles[row.rank].ns = row.idle_in_mpi_ns;
	u->rounds->engine->node_ranks[row.rank].active_ns = row.active_ns;
	u->rounds->engine->run_ranks[row.rank].may_wait.cmetric = row.may_wait_cmetric;
	u->rounds->engine->last_calls[row.rank] = row.last_call;
	return 0;
}

static int take_node(struct unpacking *u)
{
	struct gathered_node row;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.node >= u->rounds->model->node_count)
		return -EPROTO;
	u->rounds->model->nodes[row.node].row.slot_count = row.slot_count;
	u->rounds->engine->nodes[row.node] = row.scope;
	return 0;
}

static int take_bucket(struct unpacking *u)
{
	struct crit_bucket row, *bucket;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.key.thread >= u->rounds->model->thread_count)
		return -EPROTO;
	bucket = crit_buckets_get(&u->rounds->engine->buckets, &row.key);
	if (!bucket)
		return -ENOMEM;
	crit_bucket_add(bucket, &row);
	return 0;
}

static int take_region(struct unpacking *u)
{
	struct crit_regions *regions = &u->rounds->engine->teams.regions;
	char name[CRIT_REGION_NAME_MAX + 1] = "";
	struct gathered_region row;
	struct crit_region *region;
	int64_t index;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.process >= u->rounds->model->process_count ||
	    row.name_bytes > CRIT_REGION_NAME_MAX ||
	    !crit_exchange_buffer_take(u->buffer, &u->at, name, row.name_bytes))
		return -EPROTO;
	index = crit_regions_get(regions, row.process, row.number);
	if (index < 0)
		return (int)index;
	region = &regions->rows[index];
	region->parent = row.parent;
	region->call = row.call;
	region->site = row.site;
	region->caller = row.caller;
	region->team_max = row.team_max;
	region->scheduling_ns = row.scheduling_ns;
	region->imbalance_ns = row.imbalance_ns;
	region->runnable_ns = row.runnable_ns;
	if (row.name_bytes && !region->name)
		region->name = strndup(name, row.name_bytes);
	return row.name_bytes && !region->name ? -ENOMEM : 0;
}

static int take_preemptor(struct unpacking *u)
{
	size_t threads = u->rounds->model->thread_count;
	struct crit_preemptor_row row;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.thread >= threads || (row.by_thread >= 0 && (size_t)row.by_thread >= threads))
		return -EPROTO;
	return crit_preemptors_add(&u->rounds->engine->preemptors, &row);
}

static int take_charge(struct unpacking *u)
{
	struct gathered_charge row;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)) ||
	    row.rank >= u->rounds->model->rank_count)
		return -EPROTO;
	return crit_blame_add(&u->rounds->engine->blame, row.call, row.rank, row.charge);
}

static int take_sample(struct unpacking *u)
{
	_Alignas(crit_fix) unsigned char row[CRIT_SAMPLES_ROW_BYTES];

	if (!crit_exchange_buffer_take(u->buffer, &u->at, row, sizeof(row)))
		return -EPROTO;
	return crit_samples_add_row(u->rounds->samples, row);
}

static int take_block(struct unpacking *u)
{
	_Alignas(uint64_t) unsigned char row[CRIT_BLOCKS_ROW_BYTES];

	if (!crit_exchange_buffer_take(u->buffer, &u->at, row, sizeof(row)))
		return -EPROTO;
	return crit_blocks_add_row(crit_samples_blocks(u->rounds->samples), row);
}

static int take_last_wait(struct unpacking *u)
{
	struct crit_last_waits *waits;
	struct crit_last_wait row;
	int rc = crit_blocks_find_last(crit_samples_blocks(u->rounds->samples), &waits);

	if (!rc && !crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)))
		rc = -EPROTO;
	return rc ? rc : crit_last_waits_add(waits, u->rounds->model, &row);
}

static int take_end(struct unpacking *u)
{
	struct gathered_end row;

	if (!crit_exchange_buffer_take(u->buffer, &u->at, &row, sizeof(row)))
		return -EPROTO;
	return crit_thread_ends_take(u->rounds->ends, row.row, &row.end);
}

static int take_all(struct unpacking *u, uint64_t count, int (*take)(struct unpacking *u))
{
	int rc = 0;

	for (; count && !rc; count--)
		rc = take(u);
	return rc;
}

static int unpack(struct crit_rounds *rounds, uint32_t process)
{
	const struct crit_exchange_buffer *buffer = &rounds->from[process];
	struct unpacking u = { .rounds = rounds, .buffer = buffer };
	struct crit_losses *losses = &rounds->model->losses;
	struct gathered_head head;
	int rc;

	if (!crit_exchange_buffer_take(buffer, &u.at, &head, sizeof(head)))
		return -EPROTO;
	losses->tag_disagreements += head.tag_disagreements;
	losses->tag_stale += head.tag_stale;
	losses->late_records += head.late_records;
	losses->unbalanced_spans += head.unbalanced_spans;
	losses->unknown_records += head.unknown_records;
	rounds->spans.messages->losses.details += head.details;
	rc = (int)head.rc;
	if (!rc)
		rc = take_all(&u, head.thread_count, take_thread);
	if (!rc)
		rc = take_all(&u, head.rank_count, take_rank);
	if (!rc)
		rc = take_all(&u, head.node_count, take_node);
	if (!rc)
		rc = take_all(&u, head.bucket_count, take_bucket);
	if (!rc)
		rc = take_all(&u, head.region_count, take_region);
	if (!rc)
		rc = take_all(&u, head.preemptor_count, take_preemptor);
	if (!rc)
		rc = take_all(&u, head.charge_count, take_charge);
	if (!rc)
		rc = take_all(&u, head.sample_row_count, take_sample);
	if (!rc)
		rc = take_all(&u, head.block_row_count, take_block);
	if (!rc)
		rc = take_all(&u, head.last_wait_count, take_last_wait);
	if (!rc)
		rc = take_all(&u, head.end_count, take_end);
	if (!rc)
		crit_rounds_take_told(rounds, process, u.at);
	return rc;
}

int crit_reduce(struct crit_rounds *rounds)
{
	const struct crit_transport *transport = rounds->transport;
	const struct crit_replay_place over = CRIT_REPLAY_OVER;
	int rc = 0;
	int failed;

	crit_exchange_buffers_empty(rounds->to, transport->count);
	if (transport->rank)
		rc = pack(rounds, &rounds->to[0]);
	if (!rc)
		crit_rounds_pack_told(rounds, &over);
	failed = transport->exchange(transport->user, rounds->to, rounds->from);
	if (failed)
		return failed;
	for (uint32_t i = 1; i < transport->count && !transport->rank && !rc; i++)
		rc = unpack(rounds, i);
	if (!rc)
		crit_rounds_tell(rounds, &over);
	return rc ? rc : rounds->told_rc;
}
