/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The span events of one shim stream in order of time: enters and leaves, poll records taken apart.
 *
 * A stream is one thread's stay in a thread buffer.  Its slots are in order; a stamp that goes back
 * is counted and clamped.  After the last slot comes the poll span that stood open when the thread
 * ended.
 *
 * Slots without a stamp tell what a span did and come before the slot that ends it; they are
 * collected and belong to the event they come with.  Definitions of regions are handed over as they
 * are read.
 */
#ifndef CRIT_SHIM_FEED_H
#define CRIT_SHIM_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/recording/node_clock.h"
#include "analysis/recording/recording.h"
#include "analysis/schema/stream.h"
#include "core/abi/abi_slot.h"
#include "core/base/array.h"

#define CRIT_SHIM_FEED_SLOTS 256u

struct crit_shim_source { /* of a feed; all is borrowed */
	const struct crit_recording *recording;
	const struct crit_node_clock *clock;
	const struct crit_stream *stream;
	/* Takes the definition of a region of the stream's process.  Errors: -ENOMEM. */
	int (*define_region)(void *user, const struct crit_stream *stream,
			     const struct crit_slot_region *slot, const char *name,
			     size_t name_bytes);
	void *user;
	struct crit_slot *buffer; /* of crit_shim_feed_buffer_slots(stream) */
};

/* How many slots are read at once at most. */
static inline uint32_t crit_shim_feed_buffer_slots(const struct crit_stream *stream)
{
	return stream->slot_count < CRIT_SHIM_FEED_SLOTS ? (uint32_t)stream->slot_count
							 : CRIT_SHIM_FEED_SLOTS;
}

/* Room for the buffers of all these one after the other.  Errors: NULL, out of memory. */
struct crit_slot *crit_shim_feed_buffers(const struct crit_stream *streams, size_t count);

struct crit_shim_feed { /* what each event needs comes first */
	struct crit_span_event event; /* the next one */
	uint32_t slot_at, slot_count;
	const struct crit_slot *slots; /* the buffer */
	uint64_t slot_number; /* of slots[slot_at] */
	uint64_t slots_read;
	uint64_t floor_ns; /* stamps never go back behind this */
	uint64_t applied; /* slots applied, as a thread buffer position */
	uint64_t applied_ns; /* when the last enter or leave was applied */
	uint32_t last_slots; /* of the last two records applied; the tag may not tell of them yet */
	uint32_t slots_before;
	uint32_t thread; /* the stream's */
	bool has_event;
	bool has_pending;
	bool is_over; /* slots are spent, and the open span too */
	size_t detail_count, detail_capacity;
	struct crit_slot *details; /* of the present event, kind DETAIL and COMM */
	struct crit_shim_source source;
	size_t ref_at; /* bytes of the chunk that are in the buffer or behind it */
	uint32_t ref; /* the chunk being read, or CRIT_NONE */
	uint32_t buffer_slots;
	struct crit_span_event pending; /* the leave of a poll span */
	uint64_t details_lost; /* here or by the shim */
	uint64_t late_records;
	uint64_t unbalanced;
	uint64_t unknown_records; /* of unknown kind */
} CRIT_LINE_ALIGNED;

/* The stream's thread is known.  Ownership: all is borrowed until fini. */
void crit_shim_feed_init(struct crit_shim_feed *feed, const struct crit_shim_source *source);
void crit_shim_feed_fini(struct crit_shim_feed *feed);

/* Makes feed->event the first or next event.  Errors: 0 there is none, 1 there is, -ENOMEM. */
int crit_shim_feed_next(struct crit_shim_feed *feed);

#endif
