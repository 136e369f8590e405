// SPDX-License-Identifier: BSD-3-Clause
// Parses KERNEL chunks and puts their nearly ordered records in order.
#include "analysis/recording/kernel_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define NEVER_NS (1ull << 63) /* later than any stamp */
#define DIGIT_BITS 8u

struct crit_kernel_place { /* of a record that is held back */
	uint64_t time_ns;
	union crit_kernel_record *record;
};

static uint32_t queue_count(const struct crit_kernel_feed *feed)
{
	return (uint32_t)(feed->end - feed->first);
}

/* Doubles what can be held back.  Errors: -ENOMEM, with all as it was. */
static int grow(struct crit_kernel_feed *feed)
{
	uint32_t capacity = feed->capacity ? 2 * feed->capacity : CRIT_REORDER_LEAST;
	uint32_t count = queue_count(feed), more = capacity - feed->capacity;
	union crit_kernel_record *slots = crit_lines_room(more, sizeof(*slots));
	struct crit_kernel_place *order = crit_lines_room(capacity, 2 * sizeof(*order));
	struct crit_kernel_place *strays = crit_lines_room(capacity, 2 * sizeof(*strays));

	if (!slots || !order || !strays) {
		free(slots);
		free(order);
		free(strays);
		return -ENOMEM;
	}
	if (count)
		memcpy(order, feed->first, count * sizeof(*order));
	if (feed->stray_count)
		memcpy(strays, feed->strays, feed->stray_count * sizeof(*strays));
	for (uint32_t i = more; i > 0; i--) {
		slots[i - 1].next_vacant = feed->vacant;
		feed->vacant = &slots[i - 1];
	}
	free(feed->order);
	free(feed->strays);
	feed->blocks[feed->block_count++] = slots;
	feed->order = order;
	feed->first = order;
	feed->end = order + count;
	feed->strays = strays;
	feed->capacity = capacity;
	return 0;
}

int crit_kernel_feed_init(struct crit_kernel_feed *feed, const struct crit_recording *recording,
			  const struct crit_node_clock *clock, uint32_t first_ref)
{
	*feed = (struct crit_kernel_feed){ .recording = recording,
					   .clock = clock,
					   .next_ref = first_ref,
					   .first_stray_ns = NEVER_NS };
	/* room behind it, so that a record may be copied at the size of a slot */
	feed->payload = malloc(CRIT_CHUNK_PAYLOAD_MAX + sizeof(*feed->vacant));
	if (!feed->payload || grow(feed)) {
		crit_kernel_feed_fini(feed);
		return -ENOMEM;
	}
	return 0;
}

static inline void drop(struct crit_kernel_feed *feed, union crit_kernel_record *record)
{
	if (record->head.size <= sizeof(*record)) {
		record->next_vacant = feed->vacant;
		feed->vacant = record;
	} else {
		feed->long_bytes -= record->head.size;
		free(record);
	}
}

void crit_kernel_feed_fini(struct crit_kernel_feed *feed)
{
	while (feed->first != feed->end)
		drop(feed, (feed->first++)->record);
	while (feed->stray_count)
		drop(feed, feed->strays[--feed->stray_count].record);
	for (uint32_t i = 0; i < feed->block_count; i++)
		free(feed->blocks[i]);
	free(feed->payload);
	free(feed->order);
	free(feed->strays);
	feed->payload = NULL;
	feed->order = NULL;
	feed->first = NULL;
	feed->end = NULL;
	feed->strays = NULL;
	feed->block_count = 0;
}

static size_t least_bytes(unsigned int kind)
{
	static const unsigned char bytes[CRIT_K_COUNT] = {
		[CRIT_K_SWITCH] = sizeof(struct crit_kernel_switch),
		[CRIT_K_WAKE] = sizeof(struct crit_kernel_wake),
		[CRIT_K_WAKE_NEW] = sizeof(struct crit_kernel_wake),
		[CRIT_K_WAKING] = sizeof(struct crit_kernel_wake),
		[CRIT_K_MIGRATE] = sizeof(struct crit_kernel_migrate),
		[CRIT_K_FORK] = sizeof(struct crit_kernel_fork),
		[CRIT_K_EXEC] = sizeof(struct crit_kernel_exec),
		[CRIT_K_EXIT] = sizeof(struct crit_kernel_exit),
		[CRIT_K_ENROL] = sizeof(struct crit_kernel_enrol),
		[CRIT_K_RAN] = sizeof(struct crit_kernel_ran),
		[CRIT_K_YIELDS] = sizeof(struct crit_kernel_yields),
		[CRIT_K_OUTSIDE] = sizeof(struct crit_kernel_outside),
		[CRIT_K_SAMPLE] = sizeof(struct crit_kernel_sample),
		[CRIT_K_CAPTURE] = sizeof(struct crit_kernel_sample),
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

/* There is room for so many more behind the queue's end; the capacity suffices. */
static inline void make_room(struct crit_kernel_feed *feed, uint32_t count)
{
	uint32_t held = queue_count(feed);

	if (feed->order + 2 * (size_t)feed->capacity - feed->end >= count)
		return;
	memmove(feed->order, feed->first, held * sizeof(*feed->order));
	feed->first = feed->order;
	feed->end = feed->order + held;
}

static void stray(struct crit_kernel_feed *feed, struct crit_kernel_place place)
{
	if (feed->stray_count && place.time_ns < feed->strays[feed->stray_count - 1].time_ns)
		feed->has_unsorted = true;
	feed->strays[feed->stray_count++] = place;
	if (place.time_ns < feed->first_stray_ns)
		feed->first_stray_ns = place.time_ns;
}

/*
 * Puts a record among those held back, after all that are not younger.  All strays are older than
 * each of the queue's last records, so what stands in the queue with the time of a stray came
 * before it.
 */
static inline void insert(struct crit_kernel_feed *feed, struct crit_kernel_place place)
{
	uint32_t near = queue_count(feed);
	struct crit_kernel_place *at;

	make_room(feed, 1);
	if (near > CRIT_REORDER_NEAR)
		near = CRIT_REORDER_NEAR;
	at = feed->end;
	if (near && at[-(int)near].time_ns > place.time_ns) {
		stray(feed, place);
		return;
	}
	for (; near && at[-1].time_ns > place.time_ns; at--)
		*at = at[-1];
	*at = place;
	feed->end++;
}

/* Sorts the strays by one digit of their times. */
static void sort_by_digit(const struct crit_kernel_feed *feed, const struct crit_kernel_place *from,
			  struct crit_kernel_place *to, unsigned int shift)
{
	const uint64_t mask = (1u << DIGIT_BITS) - 1, first_ns = feed->first_stray_ns;
	uint32_t ends[1u << DIGIT_BITS] = { 0 };

	for (uint32_t i = 0; i < feed->stray_count; i++)
		ends[(from[i].time_ns - first_ns) >> shift & mask]++;
	for (uint32_t digit = 1; digit <= mask; digit++)
		ends[digit] += ends[digit - 1];
	for (uint32_t i = feed->stray_count; i > 0; i--)
		to[--ends[(from[i - 1].time_ns - first_ns) >> shift & mask]] = from[i - 1];
}

/* Those of equal time stay in the order they came. */
static const struct crit_kernel_place *sorted_strays(const struct crit_kernel_feed *feed)
{
	struct crit_kernel_place *from = feed->strays, *to = feed->strays + feed->capacity;
	uint64_t range_ns = feed->newest_ns - feed->first_stray_ns;

	for (unsigned int shift = 0; feed->has_unsorted && range_ns >> shift; shift += DIGIT_BITS) {
		struct crit_kernel_place *sorted = to;

		sort_by_digit(feed, from, to, shift);
		to = from;
		from = sorted;
	}
	return from;
}

static void merge_strays(struct crit_kernel_feed *feed)
{
	const struct crit_kernel_place *strays = sorted_strays(feed);
	struct crit_kernel_place *at;

	make_room(feed, feed->stray_count);
	at = feed->end;
	feed->end += feed->stray_count;
	for (uint32_t left = feed->stray_count; left > 0;) {
		if (at != feed->first && at[-1].time_ns > strays[left - 1].time_ns) {
			at--;
			at[left] = *at;
		} else {
			left--;
			at[left] = strays[left];
		}
	}
	feed->stray_count = 0;
	feed->has_unsorted = false;
	feed->first_stray_ns = NEVER_NS;
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
	record = feed->vacant;
	feed->vacant = record->next_vacant;
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
	insert(feed, (struct crit_kernel_place){ time_ns, record });
	return true;
}

/* No more records can be held back. */
static inline bool is_full(struct crit_kernel_feed *feed)
{
	if (feed->long_bytes >= CRIT_REORDER_BYTES)
		return true;
	if (queue_count(feed) + feed->stray_count < feed->capacity)
		return false;
	return feed->capacity == CRIT_REORDER_RECORDS || grow(feed);
}

const union crit_kernel_record *crit_kernel_feed_find(struct crit_kernel_feed *feed)
{
	do {
		uint64_t first_ns = feed->first != feed->end ? feed->first->time_ns : NEVER_NS;

		if (feed->first_stray_ns < first_ns) {
			merge_strays(feed);
			first_ns = feed->first->time_ns;
		}
		if (first_ns + CRIT_REORDER_NS <= feed->newest_ns || is_full(feed))
			break;
	} while (push(feed));
	feed->front = feed->first != feed->end ? feed->first->record : NULL;
	return feed->front;
}

void crit_kernel_feed_pop(struct crit_kernel_feed *feed)
{
	feed->given_ns = feed->first->time_ns;
	feed->front = NULL;
	drop(feed, (feed->first++)->record);
}
