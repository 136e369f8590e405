// SPDX-License-Identifier: BSD-3-Clause
// Decodes the slots of SHIM chunks into span events.
#include "analysis/recording/shim_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/call.h"

struct crit_slot *crit_shim_feed_buffers(const struct crit_stream *streams, size_t count)
{
	size_t slots = 1;

	for (size_t i = 0; i < count; i++)
		slots += crit_shim_feed_buffer_slots(&streams[i]);
	return crit_lines_room(slots, sizeof(struct crit_slot));
}

void crit_shim_feed_init(struct crit_shim_feed *feed, const struct crit_shim_source *source)
{
	*feed = (struct crit_shim_feed){ .source = *source,
					 .slots = source->buffer,
					 .buffer_slots =
						 crit_shim_feed_buffer_slots(source->stream),
					 .thread = source->stream->thread,
					 .ref = source->stream->first_ref,
					 .floor_ns = source->stream->claim_ns,
					 .applied = source->stream->claim_pos };
}

void crit_shim_feed_fini(struct crit_shim_feed *feed)
{
	free(feed->details);
	feed->details = NULL;
	feed->detail_count = 0;
	feed->detail_capacity = 0;
}

static int fill(struct crit_shim_feed *feed)
{
	while (feed->ref != CRIT_NONE) {
		const struct crit_chunk_ref *ref = &feed->source.recording->refs[feed->ref];
		ssize_t got = crit_recording_read(feed->source.recording, ref, feed->ref_at,
						  feed->source.buffer,
						  feed->buffer_slots * sizeof(*feed->slots));

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

/* Range: it is in the buffer, and there until the next one is taken. */
static inline const struct crit_slot *step_slot(struct crit_shim_feed *feed)
{
	feed->slot_number++;
	feed->slots_read++;
	return &feed->slots[feed->slot_at++];
}

/* Errors: 0 at the end, 1 with *ret_slot, -ENOMEM. */
static inline int take_slot(struct crit_shim_feed *feed, struct crit_slot *ret_slot)
{
	if (feed->slot_at >= feed->slot_count) {
		int rc = fill(feed);

		if (rc <= 0)
			return rc;
	}
	*ret_slot = *step_slot(feed);
	return 1;
}

/* A span's details lay in a ring together: more of them than it holds are nonsense. */
static int keep_detail(struct crit_shim_feed *feed, const struct crit_slot *slot)
{
	int rc;

	if (feed->detail_count >= CRIT_RING_SLOTS) {
		feed->details_lost++;
		return 0;
	}
	rc = crit_array_grow(&feed->details, &feed->detail_capacity, feed->detail_count + 1,
			     sizeof(*feed->details));
	if (!rc)
		feed->details[feed->detail_count++] = *slot;
	return rc;
}

/* The slot taken last is not what was expected: it will be taken again. */
static void untake_slot(struct crit_shim_feed *feed)
{
	feed->slot_at--;
	feed->slot_number--;
	feed->slots_read--;
}

/* A region, and its name if it has one.  Errors: -ENOMEM. */
static int take_region(struct crit_shim_feed *feed, const struct crit_slot *first)
{
	struct crit_slot_region region;
	struct crit_slot_text text;
	char name[CRIT_REGION_NAME_MAX];
	size_t size = 0;
	struct crit_slot slot;
	int rc = 1;

	memcpy(&region, first, sizeof(region));
	while (size < region.name_bytes && size < sizeof(name)) {
		rc = take_slot(feed, &slot);
		if (rc != 1)
			break;
		if (slot.kind != CRIT_S_CONTINUED) {
			untake_slot(feed);
			break;
		}
		memcpy(&text, &slot, sizeof(text));
		memcpy(name + size, text.head, sizeof(text.head));
		memcpy(name + size + sizeof(text.head), text.tail, sizeof(text.tail));
		size += CRIT_REGION_TEXT_BYTES;
	}
	if (size < region.name_bytes && rc >= 0)
		feed->unbalanced++;
	if (size > region.name_bytes)
		size = region.name_bytes;
	return rc < 0 ? rc
		      : feed->source.define_region(feed->source.user, feed->source.stream, &region,
						   name, size);
}

static inline bool is_stampless(uint8_t kind)
{
	return kind == CRIT_S_DETAIL || kind == CRIT_S_COMM || kind == CRIT_S_REGION;
}

/* The next slot that has a stamp.  Errors: as take_slot. */
static inline int take_stamped(struct crit_shim_feed *feed, struct crit_slot *ret_slot)
{
	int rc = take_slot(feed, ret_slot);

	while (rc == 1 && is_stampless(ret_slot->kind)) {
		rc = ret_slot->kind == CRIT_S_REGION ? take_region(feed, ret_slot)
						     : keep_detail(feed, ret_slot);
		if (!rc)
			rc = take_slot(feed, ret_slot);
	}
	return rc;
}

static inline uint64_t stamp(struct crit_shim_feed *feed, uint64_t stamp_ns)
{
	uint64_t time_ns = crit_node_clock_time(feed->source.clock, stamp_ns);

	if (time_ns < feed->floor_ns) {
		feed->late_records++;
		time_ns = feed->floor_ns;
	}
	feed->floor_ns = time_ns;
	return time_ns;
}

/* A count of lost details, which may be any number. */
static uint64_t sane(uint64_t count)
{
	return count < CRIT_RING_SLOTS ? count : CRIT_RING_SLOTS;
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
		feed->details_lost += sane(more.details_lost);
	} else {
		feed->unbalanced++;
		if (rc == 1)
			untake_slot(feed);
	}
	enter.next_slot = feed->slot_number;
	set_poll(feed, &enter, first->arg);
	return 1;
}

static void lose_details(struct crit_shim_feed *feed)
{
	for (size_t i = 0; i < feed->detail_count; i++)
		feed->details_lost += feed->details[i].kind == CRIT_S_DETAIL;
}

/*
 * What stood open in the thread buffer's head when its owner ended.  It lasted until its last
 * failing call.
 */
static int take_open_span(struct crit_shim_feed *feed)
{
	const struct crit_rec_stream_end *end = &feed->source.stream->end;
	struct crit_span_event enter = { .call = end->open_call & 1023u,
					 .site = end->open_site,
					 .polled = end->open_count,
					 .next_slot = feed->applied };

	feed->is_over = true;
	lose_details(feed); /* what ends their span is not there */
	crit_shim_feed_fini(feed);
	if (!feed->source.stream->has_end || !end->open_call)
		return 0;
	enter.time_ns = stamp(feed, end->open_first_ns);
	if (end->open_class == CRIT_CLASS_MPI_POLL) {
		set_poll(feed, &enter, end->open_last_ns);
		return 1;
	}
	/* a wait that level profile held back: it lasts until death */
	enter.kind = CRIT_SPAN_ENTER;
	enter.span_class = (uint8_t)crit_call_class(enter.call);
	enter.polled = 0;
	feed->event = enter;
	return 1;
}

static enum crit_span_event_kind event_kind(uint8_t slot_kind)
{
	switch (slot_kind) {
	case CRIT_S_ENTER:
		return CRIT_SPAN_ENTER;
	case CRIT_S_LEAVE:
		return CRIT_SPAN_LEAVE;
	case CRIT_S_RELEASE:
		return CRIT_SPAN_RELEASE;
	case CRIT_S_TASK:
		return CRIT_SPAN_TASK;
	case CRIT_S_WORKER:
		return CRIT_SPAN_WORKER;
	default:
		return CRIT_SPAN_NONE;
	}
}

static void set_plain(struct crit_shim_feed *feed, const struct crit_slot *slot)
{
	uint16_t call = slot->call & 1023u;

	if (slot->kind == CRIT_S_LEAVE)
		feed->details_lost += sane(slot->arg);
	feed->event = (struct crit_span_event){
		.time_ns = crit_slot_has_stamp(slot->kind) ? stamp(feed, slot->time_ns)
							   : feed->floor_ns,
		.site = slot->site,
		.arg = slot->arg,
		.next_slot = feed->slot_number,
		.region = slot->region & ((1u << CRIT_TAG_REGION_BITS) - 1),
		.call = call,
		.kind = (uint8_t)event_kind(slot->kind),
		.span_class = (uint8_t)crit_call_class(call),
	};
}

/* Its slots are counted as those of any record, so that tags are understood. */
static int take_unknown(struct crit_shim_feed *feed)
{
	struct crit_slot slot;
	int rc;

	feed->unknown_records++;
	do {
		rc = take_slot(feed, &slot);
	} while (rc == 1 && slot.kind == CRIT_S_CONTINUED);
	if (rc < 0)
		return rc;
	if (rc == 1)
		untake_slot(feed);
	feed->event = (struct crit_span_event){ .time_ns = feed->floor_ns,
						.next_slot = feed->slot_number };
	return 1;
}

static inline bool is_of_span(uint8_t kind)
{
	return kind == CRIT_S_ENTER || kind == CRIT_S_LEAVE;
}

static __attribute__((noinline)) int take_any(struct crit_shim_feed *feed)
{
	struct crit_slot slot;
	int rc = feed->is_over ? 0 : take_stamped(feed, &slot);
	if (rc == 0 && !feed->is_over)
		rc = take_open_span(feed);
	else if (rc == 1 && slot.kind == CRIT_S_POLL)
		rc = take_poll(feed, &slot);
	else if (rc == 1 && !crit_slot_is_known(slot.kind))
		rc = take_unknown(feed);
	else if (rc == 1)
		set_plain(feed, &slot);
	feed->has_event = rc == 1;
	return rc;
}

/* Most often it is a span's begin or end that lies in the buffer. */
int crit_shim_feed_next(struct crit_shim_feed *feed)
{
	feed->has_event = true;
	if (feed->has_pending) {
		feed->event = feed->pending;
		feed->has_pending = false;
		return 1;
	}
	if (feed->event.kind >= CRIT_SPAN_ENTER)
		feed->detail_count = 0;
	if (feed->slot_at >= feed->slot_count || !is_of_span(feed->slots[feed->slot_at].kind))
		return take_any(feed);
	set_plain(feed, step_slot(feed));
	return 1;
}
