// SPDX-License-Identifier: BSD-3-Clause
// Rows for messages, communicators and collectives.
#include "analysis/table/message_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/group_by.h"
#include "core/abi/abi_shim.h"
#include "core/base/call.h"

#define MESSAGE_GROUPS                                                                             \
	(1ull << CRIT_GROUP_POINT_TO_POINT | 1ull << CRIT_GROUP_REQUEST |                          \
	 1ull << CRIT_GROUP_COLLECTIVE | 1ull << CRIT_GROUP_COMMUNICATOR)

static int fill_traffic(const struct crit_traffic *traffic, struct crit_message_results *out)
{
	out->traffic = calloc(CRIT_TRAFFIC_CALLS, sizeof(*out->traffic));
	if (!out->traffic)
		return -ENOMEM;
	for (size_t i = 0; i < CRIT_TRAFFIC_CALLS; i++) {
		if (traffic->calls[i])
			out->traffic[out->traffic_count++] = *traffic->calls[i];
	}
	return 0;
}

static int fill_failed(const struct crit_traffic *traffic, struct crit_message_results *out)
{
	out->failed = calloc(CRIT_TRAFFIC_CALLS, sizeof(*out->failed));
	if (!out->failed)
		return -ENOMEM;
	for (uint32_t call = 0; call < CRIT_TRAFFIC_CALLS; call++) {
		if (traffic->failed[call])
			out->failed[out->failed_count++] =
				(struct crit_failed_row){ call, traffic->failed[call] };
	}
	return 0;
}

static int compare_pairs(const void *left, const void *right)
{
	const struct crit_pair_row *a = left, *b = right;
	int rc = crit_by_number(a->from_row, b->from_row);

	return rc ? rc : crit_by_number(a->to_row, b->to_row);
}

static void begin_pair(void *to, const void *from)
{
	const struct crit_pair_row *pair = from;

	*(struct crit_pair_row *)to =
		(struct crit_pair_row){ .from_row = pair->from_row, .to_row = pair->to_row };
}

static void add_pair(void *to, const void *from)
{
	const struct crit_pair_row *pair = from;
	struct crit_pair_row *row = to;

	row->sent_count += pair->sent_count;
	row->sent_bytes += pair->sent_bytes;
	row->received_count += pair->received_count;
	row->received_bytes += pair->received_bytes;
}

static const struct crit_grouping by_pair = { sizeof(struct crit_pair_row),
					      sizeof(struct crit_pair_row),
					      compare_pairs,
					      begin_pair,
					      add_pair,
					      NULL };

/* Each pair tells of two directions; whose other end never announced itself is in no pair. */
static int fill_pairs(const struct crit_messages *messages, const uint32_t *rank_rows,
		      struct crit_message_results *out)
{
	const struct crit_traffic *traffic = &messages->traffic;
	struct crit_pair_row *pairs = calloc(2 * traffic->pair_count + 1, sizeof(*pairs));
	size_t used = 0;

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < traffic->pair_count; i++) {
		const struct crit_traffic_pair *pair = &traffic->pairs[i];
		uint32_t rank = messages->communicators.members[pair->member].rank;

		if (rank == CRIT_NONE) {
			out->losses.unresolved += pair->sent_count + pair->received_count;
			continue;
		}
		if (pair->sent_count)
			pairs[used++] = (struct crit_pair_row){ .from_row = rank_rows[pair->rank],
								.to_row = rank_rows[rank],
								.sent_count = pair->sent_count,
								.sent_bytes = pair->sent_bytes };
		if (pair->received_count)
			pairs[used++] =
				(struct crit_pair_row){ .from_row = rank_rows[rank],
							.to_row = rank_rows[pair->rank],
							.received_count = pair->received_count,
							.received_bytes = pair->received_bytes };
	}
	out->pairs = crit_group_by(&by_pair, pairs, used, &out->pair_count);
	free(pairs);
	return out->pairs ? 0 : -ENOMEM;
}

static int fill_communicators(const struct crit_communicators *all,
			      struct crit_message_results *out)
{
	out->communicators = calloc(all->count + 1, sizeof(*out->communicators));
	if (!out->communicators)
		return -ENOMEM;
	out->communicator_count = all->model->rank_count || all->count > 1 ? all->count : 0;
	for (size_t i = 0; i < out->communicator_count; i++) {
		const struct crit_communicator *row = &all->rows[i];
		struct crit_communicator_row *to = &out->communicators[i];

		to->kind = row->kind;
		to->world_number = row->world;
		to->size = row->size[0];
		to->remote_size = row->size[1];
		to->known_members = row->known[0] + row->known[1];
		to->parent = row->parent;
		crit_communicators_name(all, (uint32_t)i, to->name, sizeof(to->name));
		out->losses.foreign += row->kind == CRIT_COMMUNICATOR_FOREIGN;
		if (row->kind != CRIT_COMMUNICATOR_SELF && row->kind != CRIT_COMMUNICATOR_FOREIGN)
			out->losses.missing_members +=
				(uint64_t)row->size[0] + row->size[1] - to->known_members;
	}
	return 0;
}

struct indexed { /* a collective row to be sorted */
	struct crit_collective_row row;
	uint32_t index;
};

static int compare_collectives(const void *left, const void *right)
{
	const struct indexed *a = left, *b = right;
	int rc = crit_by_number(a->row.communicator, b->row.communicator);

	return rc ? rc : crit_by_number(a->row.call, b->row.call);
}

/* Sorts the rows; new_places says where each went. */
static int fill_collectives(const struct crit_collectives *all, struct crit_message_results *out,
			    uint32_t *new_places)
{
	struct indexed *rows = calloc(all->row_count + 1, sizeof(*rows));

	out->collectives = calloc(all->row_count + 1, sizeof(*out->collectives));
	if (!rows || !out->collectives) {
		free(rows);
		return -ENOMEM;
	}
	for (size_t i = 0; i < all->row_count; i++)
		rows[i] = (struct indexed){ all->rows[i], (uint32_t)i };
	qsort(rows, all->row_count, sizeof(*rows), compare_collectives);
	for (size_t i = 0; i < all->row_count; i++) {
		out->collectives[i] = rows[i].row;
		new_places[rows[i].index] = (uint32_t)i;
	}
	out->collective_count = all->row_count;
	free(rows);
	return 0;
}

static int compare_lasts(const void *left, const void *right)
{
	const struct crit_collective_last *a = left, *b = right;
	int rc = crit_by_number(a->row, b->row);

	rc = rc ? rc : crit_by_number(b->sums.count, a->sums.count);
	rc = rc ? rc : crit_by_number(a->sums.rank_row, b->sums.rank_row);
	return rc ? rc : crit_by_number(a->member, b->member);
}

static int fill_lasts(struct crit_messages *messages, const uint32_t *rank_rows,
		      const uint32_t *new_places, struct crit_message_results *out)
{
	struct crit_collectives *all = &messages->collectives;

	out->lasts = calloc(all->last_count + 1, sizeof(*out->lasts));
	if (!out->lasts)
		return -ENOMEM;
	for (size_t i = 0; i < all->last_count; i++) {
		uint32_t rank = messages->communicators.members[all->lasts[i].member].rank;

		all->lasts[i].row = new_places[all->lasts[i].row];
		all->lasts[i].sums.rank_row = rank == CRIT_NONE ? CRIT_NONE : rank_rows[rank];
	}
	if (all->last_count)
		qsort(all->lasts, all->last_count, sizeof(*all->lasts), compare_lasts);
	for (size_t i = 0; i < all->last_count; i++) {
		struct crit_collective_row *row = &out->collectives[all->lasts[i].row];

		if (!row->last_count++)
			row->first_last = i;
		out->lasts[i] = all->lasts[i].sums;
	}
	out->last_count = all->last_count;
	return 0;
}

static void fill_losses(struct crit_messages *messages, struct crit_results *results)
{
	struct crit_message_losses *losses = &results->messages.losses;

	losses->details += messages->losses.details;
	losses->stray += messages->losses.stray;
	losses->unfinished +=
		messages->losses.unfinished + crit_requests_active(&messages->requests);
	losses->freed += messages->losses.freed;
	losses->unresolved += messages->losses.unresolved;
	losses->estimated += messages->losses.estimated;
	losses->unusable_statuses += messages->losses.unusable_statuses;
	losses->unknown_sources += messages->losses.unknown_sources;
	losses->late_arrivals += messages->collectives.late_arrivals;
	losses->communicators += messages->communicators.dropped;
	losses->early = crit_match_early(&messages->match, &losses->early_max_ns);
	results->messages.is_whole =
		!losses->details && !losses->unresolved && !losses->communicators &&
		!results->losses.shim_spans && !results->losses.missing_chunks &&
		!results->losses.corrupt_chunks && !results->losses.no_buffer_threads;
	results->messages.has_order = results->messages.is_whole && !messages->lost_sends &&
				      !(results->omitted & MESSAGE_GROUPS);
	messages->trace.is_whole =
		results->messages.is_whole && !messages->trace.untold && !losses->freed &&
		!losses->unfinished && /* what a receive got is not told then */
		!losses->stray && !losses->estimated && !(results->omitted & MESSAGE_GROUPS);
}

int crit_message_rows_fill(struct crit_messages *messages, const uint32_t *rank_rows,
			   struct crit_results *results)
{
	struct crit_message_results *out = &results->messages;
	uint32_t *new_places;
	int rc = crit_collectives_finish(&messages->collectives);

	if (rc)
		return rc;
	new_places = calloc(messages->collectives.row_count + 1, sizeof(*new_places));
	if (!new_places)
		return -ENOMEM;
	out->until_ns = crit_model_traced_until_ns(messages->model);
	rc = fill_traffic(&messages->traffic, out);
	if (!rc)
		rc = fill_failed(&messages->traffic, out);
	if (!rc)
		rc = fill_pairs(messages, rank_rows, out);
	if (!rc)
		rc = fill_communicators(&messages->communicators, out);
	if (!rc)
		rc = fill_collectives(&messages->collectives, out, new_places);
	if (!rc)
		rc = fill_lasts(messages, rank_rows, new_places, out);
	free(new_places);
	if (!rc)
		rc = crit_message_trace_finish(&messages->trace, rank_rows);
	fill_losses(messages, results);
	return rc;
}
