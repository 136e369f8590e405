// SPDX-License-Identifier: BSD-3-Clause
// Packs spans with their details, and merges those of all processes.
#include "analysis/cluster/span_exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/replay/merge.h"
#include "core/base/array.h"

struct packed_span { /* and its slots behind it */
	struct crit_message_span span;
	uint64_t slot_count;
};

struct span_source { /* an analysis process's buffer from here on */
	struct packed_span next;
	size_t at;
};

int crit_span_exchange_add(struct crit_span_exchange *exchange,
			   const struct crit_message_span *span, const struct crit_slot *slots,
			   size_t count)
{
	struct packed_span packed = { .span = *span, .slot_count = count };
	int rc = crit_exchange_buffer_put(&exchange->spans, &packed, sizeof(packed));

	if (!rc)
		rc = crit_exchange_buffer_put(&exchange->spans, slots, count * sizeof(*slots));
	if (!rc && exchange->pending)
		rc = crit_pending_add_details(exchange->pending);
	return rc;
}

int crit_span_exchange_pack(struct crit_span_exchange *exchange, uint64_t end_ns,
			    struct crit_exchange_buffer *to)
{
	struct crit_exchange_buffer *spans = &exchange->spans;
	struct packed_span packed;
	size_t at = 0, end = 0;
	int rc;

	while (crit_exchange_buffer_take(spans, &at, &packed, sizeof(packed)) &&
	       packed.span.leave_ns < end_ns) {
		at += packed.slot_count * sizeof(struct crit_slot);
		end = at;
	}
	rc = crit_exchange_buffer_put(to, spans->bytes, end);
	if (rc)
		return rc;
	spans->size -= end;
	if (spans->size)
		memmove(spans->bytes, spans->bytes + end, spans->size);
	return 0;
}

/* An analysis process's next span, if there is one, gets its place.  Errors: -EPROTO. */
static int move(const struct crit_span_exchange *exchange,
		const struct crit_exchange_buffer *buffer, struct span_source *source,
		struct crit_merge *merge)
{
	uint32_t thread;

	if (!crit_exchange_buffer_take(buffer, &source->at, &source->next, sizeof(source->next)))
		return 0;
	thread = source->next.span.thread;
	if (thread >= exchange->model->thread_count ||
	    source->next.slot_count > (buffer->size - source->at) / sizeof(struct crit_slot))
		return -EPROTO;
	crit_merge_add(merge, exchange->model->threads[thread].node, source->next.span.leave_ns);
	return 0;
}

static int take_one(struct crit_span_exchange *exchange, const struct crit_exchange_buffer *buffer,
		    struct span_source *source, struct crit_exchange_buffer *answer)
{
	struct crit_pending *pending = exchange->pending;
	size_t count = source->next.slot_count;
	int rc = crit_array_grow(&exchange->slots, &exchange->slot_capacity, count + 1,
				 sizeof(*exchange->slots));

	if (rc)
		return rc;
	if (!crit_exchange_buffer_take(buffer, &source->at, exchange->slots,
				       count * sizeof(*exchange->slots)))
		return -EPROTO;
	if (pending)
		rc = crit_pending_open_answer(pending, answer);
	if (rc)
		return rc;
	rc = crit_messages_take(exchange->messages, &source->next.span, exchange->slots, count);
	if (pending)
		crit_pending_close_answer(pending);
	return rc;
}

/*
 * No two analysis processes have spans of one node, so its number is as good as the analysis
 * process's, and breaks ties.
 */
int crit_span_exchange_take(struct crit_span_exchange *exchange,
			    const struct crit_exchange_buffer *from, const size_t *ats,
			    struct crit_exchange_buffer *answers)
{
	uint32_t transport = exchange->transport->count, peer;
	struct span_source *sources = calloc(transport, sizeof(*sources));
	struct crit_merge merge = { 0 };
	int rc = sources ? crit_merge_init(&merge, (uint32_t)exchange->model->node_count) : -ENOMEM;

	for (peer = 0; peer < transport && !rc; peer++) {
		sources[peer].at = ats[peer];
		rc = move(exchange, &from[peer], &sources[peer], &merge);
	}
	while (!rc && merge.count) {
		uint32_t node = crit_merge_first(&merge).source;

		peer = crit_transport_owner(exchange->transport, node);
		rc = take_one(exchange, &from[peer], &sources[peer], &answers[peer]);
		crit_merge_remove(&merge, node);
		if (!rc)
			rc = move(exchange, &from[peer], &sources[peer], &merge);
	}
	crit_merge_fini(&merge);
	free(sources);
	return rc;
}

void crit_span_exchange_fini(struct crit_span_exchange *exchange)
{
	free(exchange->spans.bytes);
	free(exchange->slots);
}
