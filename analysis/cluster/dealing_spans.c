// SPDX-License-Identifier: BSD-3-Clause
// What spans of all nodes did goes to peer 0, which takes it in order of time and node.
#include "analysis/cluster/dealing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct packed_span { /* and its slots behind it */
	struct crit_message_span span;
	uint64_t slot_count;
};

struct span_source { /* a peer's parcel from here on */
	struct packed_span next;
	size_t at;
};

int crit_dealing_add_span(void *user, const struct crit_message_span *span,
			  const struct crit_slot *slots, size_t count)
{
	struct crit_dealing *dealing = user;
	struct packed_span packed = { .span = *span, .slot_count = count };
	int rc = crit_parcel_put(&dealing->spans, &packed, sizeof(packed));

	if (!rc)
		rc = crit_parcel_put(&dealing->spans, slots, count * sizeof(*slots));
	if (!rc && dealing->pending)
		rc = crit_pending_add_details(dealing->pending, span->life);
	return rc;
}

int crit_dealing_pack_spans(struct crit_dealing *dealing, uint64_t end_ns)
{
	struct crit_parcel *spans = &dealing->spans;
	struct packed_span packed;
	size_t at = 0, end = 0;
	int rc;

	while (crit_parcel_take(spans, &at, &packed, sizeof(packed)) &&
	       packed.span.leave_ns < end_ns) {
		at += packed.slot_count * sizeof(struct crit_slot);
		end = at;
	}
	rc = crit_parcel_put(&dealing->to[0], spans->bytes, end);
	if (rc)
		return rc;
	spans->size -= end;
	if (spans->size)
		memmove(spans->bytes, spans->bytes + end, spans->size);
	return 0;
}

/* A peer's next span, if there is one, gets its place.  Errors: -EPROTO. */
static int move(struct crit_dealing *dealing, uint32_t peer, struct span_source *source,
		struct crit_merge *merge)
{
	const struct crit_parcel *parcel = &dealing->from[peer];
	uint32_t life;

	if (!crit_parcel_take(parcel, &source->at, &source->next, sizeof(source->next)))
		return 0;
	life = source->next.span.life;
	if (life >= dealing->model->life_count ||
	    source->next.slot_count > (parcel->size - source->at) / sizeof(struct crit_slot))
		return -EPROTO;
	crit_merge_add(merge, dealing->model->lives[life].node, source->next.span.leave_ns);
	return 0;
}

static int take_one(struct crit_dealing *dealing, uint32_t peer, struct span_source *source)
{
	struct crit_pending *pending = dealing->pending;
	size_t count = source->next.slot_count;
	int rc = crit_array_grow(&dealing->slots, &dealing->slot_capacity, count + 1,
				 sizeof(*dealing->slots));

	if (rc)
		return rc;
	if (!crit_parcel_take(&dealing->from[peer], &source->at, dealing->slots,
			      count * sizeof(*dealing->slots)))
		return -EPROTO;
	if (pending)
		rc = crit_pending_open_answer(pending, &dealing->to[peer]);
	if (rc)
		return rc;
	rc = crit_messages_take(dealing->messages, &source->next.span, dealing->slots, count);
	if (pending)
		crit_pending_close_answer(pending);
	return rc;
}

/* No two peers have spans of one node, so its number is as good as the peer's, and breaks ties. */
int crit_dealing_take_spans(struct crit_dealing *dealing, const size_t *ats)
{
	uint32_t peers = dealing->peers->count, peer;
	struct span_source *sources = calloc(peers, sizeof(*sources));
	struct crit_merge merge = { 0 };
	int rc = sources ? crit_merge_init(&merge, (uint32_t)dealing->model->node_count) : -ENOMEM;

	for (peer = 0; peer < peers && !rc; peer++) {
		sources[peer].at = ats[peer];
		rc = move(dealing, peer, &sources[peer], &merge);
	}
	while (!rc && merge.count) {
		uint32_t node = merge.heap[0].order;

		peer = crit_peers_player(dealing->peers, node);
		rc = take_one(dealing, peer, &sources[peer]);
		crit_merge_remove(&merge, node);
		if (!rc)
			rc = move(dealing, peer, &sources[peer], &merge);
	}
	crit_merge_fini(&merge);
	free(sources);
	return rc;
}
