// SPDX-License-Identifier: BSD-3-Clause
// Parses KERNEL chunks and puts their nearly ordered records in order.
#include "analysis/recording/kernel_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define RING_MASK (CRIT_REORDER_RECORDS - 1)

struct crit_kernel_place { /* of a record that is held back */
	uint64_t time_ns;
	union crit_kernel_record *record;
};

int crit_kernel_feed_init(struct crit_kernel_feed *feed, const struct crit_recording *recording,
			  const struct crit_node_clock *clock, uint32_t first_ref)
{
	*feed = (struct crit_kernel_feed){ .recording = recording,
					   .clock = clock,
					   .next_ref = first_ref };
	/* room behind it, so that a record may be copied at the size of a slot */
	feed->payload = calloc(1, CRIT_CHUNK_PAYLOAD_MAX + sizeof(*feed->slots));
	feed->slots = calloc(CRIT_REORDER_RECORDS, sizeof(*feed->slots));
	feed->order = calloc(CRIT_REORDER_RECORDS, sizeof(*feed->order));
	feed->vacant = calloc(CRIT_REORDER_RECORDS, sizeof(*feed->vacant));
	if (!feed->payload || !feed->slots || !feed->order || !feed->vacant) {
		crit_kernel_feed_fini(feed);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < CRIT_REORDER_RECORDS; i++)
		feed->vacant[i] = CRIT_REORDER_RECORDS - 1 - i;
	feed->vacant_count = CRIT_REORDER_RECORDS;
	return 0;
}

void crit_kernel_feed_fini(struct crit_kernel_feed *feed)
{
	while (feed->count)
		crit_kernel_feed_pop(feed);
	free(feed->payload);
	free(feed->slots);
	free(feed->order);
	free(feed->vacant);
	feed->payload = NULL;
	feed->slots = NULL;
	feed->order = NULL;
	feed->vacant = NULL;
}

static size_t least_bytes(unsigned int kind)
{
	static const unsigned char bytes[CRIT_K_COUNT] = {
		[CRIT_K_SWITCH] = sizeof(struct crit_kernel_switch),
		[CRIT_K_WAKE] = sizeof(struct crit_kernel_wake),
		[CRIT_K_WAKE_NEW] = sizeof(struct crit_kernel_wake),
		[CRIT_K_FORK] = sizeof(struct crit_kernel_fork),
		[CRIT_K_EXEC] = sizeof(struct crit_kernel_exec),
		[CRIT_K_EXIT] = sizeof(struct crit_kernel_exit),
		[CRIT_K_ENROL] = sizeof(struct crit_kernel_enrol),
		[CRIT_K_RAN] = sizeof(struct crit_kernel_ran),
		[CRIT_K_YIELDS] = sizeof(struct crit_kernel_yields),
		[CRIT_K_OUTSIDE] = sizeof(struct crit_kernel_outside),
	};

	return kind < CRIT_K_COUNT ? bytes[kind] : 0;
}

/* Rewrites the heads of records of versions 1 and 2, up to one whose size makes no sense. */
static void renew_heads(unsigned char *bytes, size_t left)
{
	struct crit_kernel_head_2 old;

	while (left >= sizeof(old)) {
		struct crit_kernel_head head;

		memcpy(&old, bytes, sizeof(old));
		head = (struct crit_kernel_head){ .kind = old.kind,
						  .size = old.size,
						  .cpu = old.cpu,
						  .flags = old.flags,
						  .state = old.state,
						  .time_ns = old.time_ns };
		memcpy(bytes, &head, sizeof(head));
		if (old.size < sizeof(old) || old.size > left)
			return;
		bytes += old.size;
		left -= old.size;
	}
}

static bool next_chunk(struct crit_kernel_feed *feed)
{
	while (feed->next_ref != CRIT_NONE) {
		const struct crit_recording *recording = feed->recording;
		const struct crit_chunk_ref *ref = &recording->refs[feed->next_ref];
		ssize_t got = crit_recording_read(recording, ref, 0, feed->payload, ref->length);

		feed->next_ref = ref->next;
		feed->payload_at = 0;
		feed->payload_length = got < 0 ? 0 : (size_t)got;
		feed->bytes_read += ref->length;
		if (feed->payload_length < ref->length)
			feed->bad_chunks++;
		if (ref->version < 3)
			renew_heads(feed->payload, feed->payload_length);
		if (feed->payload_length)
			return true;
	}
	return false;
}

/* The next record this room knows, as it stands in the payload; NULL at the end. */
static const unsigned char *parse(struct crit_kernel_feed *feed)
{
	for (;;) {
		size_t left = feed->payload_length - feed->payload_at;
		const unsigned char *bytes = feed->payload + feed->payload_at;
		struct crit_kernel_head head;
		size_t least;

		if (left < sizeof(head)) {
			feed->bad_chunks += left != 0;
			if (!next_chunk(feed))
				return NULL;
			continue;
		}
		memcpy(&head, bytes, sizeof(head));
		if (head.size < sizeof(head) || head.size % 8 || head.size > left) {
			feed->bad_chunks++; /* the rest of this chunk makes no sense */
			feed->payload_at = feed->payload_length;
			continue;
		}
		feed->payload_at += head.size;
		feed->record_count++;
		least = least_bytes(head.kind);
		if (least && head.size >= least)
			return bytes;
		feed->unknown_records++;
	}
}

/* Puts a record among those held back, after all that are not younger. */
static void insert(struct crit_kernel_feed *feed, uint64_t time_ns,
		   union crit_kernel_record *record)
{
	uint32_t place = feed->head + feed->count++;

	for (; place != feed->head; place--) {
		const struct crit_kernel_place *before = &feed->order[(place - 1) & RING_MASK];

		if (before->time_ns <= time_ns)
			break;
		feed->order[place & RING_MASK] = *before;
	}
	feed->order[place & RING_MASK] = (struct crit_kernel_place){ time_ns, record };
}

/* Copies a record.  Where there is no memory for a long one, it is cut to the size of a slot. */
static union crit_kernel_record *keep(struct crit_kernel_feed *feed, const unsigned char *bytes)
{
	union crit_kernel_record *record;
	struct crit_kernel_head head;

	memcpy(&head, bytes, sizeof(head));
	if (head.size > sizeof(*record)) {
		record = malloc(head.size);
		if (record) {
			feed->long_bytes += head.size;
			return memcpy(record, bytes, head.size);
		}
	}
	record = &feed->slots[feed->vacant[--feed->vacant_count]];
	memcpy(record, bytes, sizeof(*record));
	if (head.size > sizeof(*record))
		record->head.size = sizeof(*record);
	return record;
}

static bool push(struct crit_kernel_feed *feed)
{
	const unsigned char *bytes = parse(feed);
	union crit_kernel_record *record;
	uint64_t time_ns;

	if (!bytes)
		return false;
	record = keep(feed, bytes);
	time_ns = crit_node_clock_time(feed->clock, record->head.time_ns);
	if (time_ns < feed->given_ns) {
		feed->late_records++;
		time_ns = feed->given_ns;
	}
	record->head.time_ns = time_ns;
	if (time_ns > feed->newest_ns)
		feed->newest_ns = time_ns;
	insert(feed, time_ns, record);
	return true;
}

const union crit_kernel_record *crit_kernel_feed_front(struct crit_kernel_feed *feed)
{
	const struct crit_kernel_place *first;

	do {
		first = &feed->order[feed->head & RING_MASK];
		if (feed->count &&
		    (feed->newest_ns - first->time_ns >= CRIT_REORDER_NS ||
		     feed->count == CRIT_REORDER_RECORDS || feed->long_bytes >= CRIT_REORDER_BYTES))
			break;
	} while (push(feed));
	first = &feed->order[feed->head & RING_MASK];
	return feed->count ? first->record : NULL;
}

void crit_kernel_feed_pop(struct crit_kernel_feed *feed)
{
	const struct crit_kernel_place *first = &feed->order[feed->head & RING_MASK];
	union crit_kernel_record *record = first->record;

	feed->given_ns = first->time_ns;
	feed->head++;
	feed->count--;
	if (record->head.size <= sizeof(*record)) {
		feed->vacant[feed->vacant_count++] = (uint32_t)(record - feed->slots);
	} else {
		feed->long_bytes -= record->head.size;
		free(record);
	}
}
