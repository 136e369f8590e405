// SPDX-License-Identifier: BSD-3-Clause
// Reads SHIM chunks slot by slot and turns them into span events.
#include "analysis/shim_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"

void crit_shim_feed_init(struct crit_shim_feed *feed, const struct crit_node *node,
			 const struct crit_stream *stream)
{
	*feed = (struct crit_shim_feed){ .node = node,
					 .stream = stream,
					 .ref = stream->first_ref,
					 .floor_ns = stream->claim_ns,
					 .applied = stream->claim_pos };
}

void crit_shim_feed_fini(struct crit_shim_feed *feed)
{
	free(feed->slots);
	feed->slots = NULL;
}

static int fill(struct crit_shim_feed *feed)
{
	if (!feed->slots) {
		feed->slots = malloc(CRIT_SHIM_FEED_SLOTS * sizeof(*feed->slots));
		if (!feed->slots)
			return -ENOMEM;
	}
	while (feed->ref != CRIT_NONE) {
		const struct crit_chunk_ref *ref = &feed->node->recording->refs[feed->ref];
		ssize_t got = crit_recording_read(feed->node->recording, ref, feed->ref_at,
						  feed->slots,
						  CRIT_SHIM_FEED_SLOTS * sizeof(*feed->slots));

		if (got >= (ssize_t)sizeof(*feed->slots)) {
			feed->slot_number = ref->position + feed->ref_at / sizeof(*feed->slots);
			feed->slot_count = (uint32_t)((size_t)got / sizeof(*feed->slots));
			feed->slot_at = 0;
			feed->ref_at += feed->slot_count * sizeof(*feed->slots);
			return 1;
		}
		feed->ref = ref->next;
		feed->ref_at = 0;
	}
	return 0;
}

/* Errors: 0 at the end, 1 with *ret_slot, -ENOMEM. */
static inline int take_slot(struct crit_shim_feed *feed, struct crit_slot *ret_slot)
{
	if (feed->slot_at >= feed->slot_count) {
		int rc = fill(feed);

		if (rc <= 0)
			return rc;
	}
	*ret_slot = feed->slots[feed->slot_at++];
	feed->slot_number++;
	feed->slots_read++;
	return 1;
}

static inline uint64_t stamp(struct crit_shim_feed *feed, uint64_t stamp_ns)
{
	uint64_t time_ns = crit_model_time(feed->node, stamp_ns);

	if (time_ns < feed->floor_ns) {
		feed->late_records++;
		time_ns = feed->floor_ns;
	}
	feed->floor_ns = time_ns;
	return time_ns;
}

static uint8_t class_of(unsigned int call)
{
	return (uint8_t)(call < CRIT_CALL_OMP_FIRST ? crit_call_class(call) : CRIT_CLASS_OMP);
}

/* A poll span: waits when it is long, works when it is short (design: 20 us). */
static void set_poll(struct crit_shim_feed *feed, const struct crit_span_event *enter,
		     uint64_t end_ns)
{
	uint64_t next_slot = enter->next_slot;

	feed->event = *enter;
	feed->event.kind = CRIT_SPAN_ENTER;
	feed->event.next_slot = feed->applied; /* the record is written when the span is over */
	end_ns = stamp(feed, end_ns);
	feed->event.span_class = end_ns - enter->time_ns >= CRIT_POLL_INACTIVE_NS
					 ? CRIT_CLASS_MPI_POLL
					 : CRIT_CLASS_MPI;
	feed->pending = feed->event;
	feed->pending.kind = CRIT_SPAN_LEAVE;
	feed->pending.time_ns = end_ns;
	feed->pending.next_slot = next_slot;
	feed->has_pending = true;
}

static int take_poll(struct crit_shim_feed *feed, const struct crit_slot *first)
{
	struct crit_span_event enter = { .time_ns = stamp(feed, first->time_ns),
					 .call = first->call & 1023u,
					 .site = first->site,
					 .polled = first->region };
	struct crit_slot second;
	struct crit_slot_poll2 more;
	int rc = take_slot(feed, &second);

	if (rc < 0)
		return rc;
	if (rc == 1 && second.kind == CRIT_S_CONTINUED) {
		memcpy(&more, &second, sizeof(more));
		enter.polled = more.count;
	} else {
		feed->unbalanced++;
		if (rc == 1) { /* not ours: look at it again */
			feed->slot_at--;
			feed->slot_number--;
			feed->slots_read--;
		}
	}
	enter.next_slot = feed->slot_number;
	set_poll(feed, &enter, first->arg);
	return 1;
}

/*
 * What stood open in the stripe's head when its owner ended.  It lasted until its last failing
 * call.
 */
static int take_open_span(struct crit_shim_feed *feed)
{
	const struct crit_rec_stream_end *end = &feed->stream->end;
	struct crit_span_event enter = { .call = end->open_call & 1023u,
					 .site = end->open_site,
					 .polled = end->open_count,
					 .next_slot = feed->applied };

	feed->is_over = true;
	crit_shim_feed_fini(feed);
	if (!feed->stream->has_end || !end->open_call)
		return 0;
	enter.time_ns = stamp(feed, end->open_first_ns);
	if (end->open_class == CRIT_CLASS_MPI_POLL) {
		set_poll(feed, &enter, end->open_last_ns);
		return 1;
	}
	/* a wait that level profile held back: it lasts until death */
	enter.kind = CRIT_SPAN_ENTER;
	enter.span_class = class_of(enter.call);
	enter.polled = 0;
	feed->event = enter;
	return 1;
}

int crit_shim_feed_next(struct crit_shim_feed *feed)
{
	struct crit_slot slot;
	int rc;

	feed->has_event = true;
	if (feed->has_pending) {
		feed->event = feed->pending;
		feed->has_pending = false;
		return 1;
	}
	rc = feed->is_over ? 0 : take_slot(feed, &slot);
	if (rc == 0 && !feed->is_over)
		rc = take_open_span(feed);
	else if (rc == 1 && slot.kind == CRIT_S_POLL)
		rc = take_poll(feed, &slot);
	else if (rc == 1)
		feed->event = (struct crit_span_event){
			.time_ns = slot.kind == CRIT_S_CONTINUED ? feed->floor_ns
								 : stamp(feed, slot.time_ns),
			.site = slot.site,
			.next_slot = feed->slot_number,
			.region = slot.region & ((1u << CRIT_TAG_REGION_BITS) - 1),
			.call = slot.call & 1023u,
			.kind = slot.kind == CRIT_S_ENTER   ? CRIT_SPAN_ENTER
				: slot.kind == CRIT_S_LEAVE ? CRIT_SPAN_LEAVE
							    : CRIT_SPAN_NONE,
			.span_class = class_of(slot.call & 1023u),
		};
	feed->has_event = rc == 1;
	return rc;
}
