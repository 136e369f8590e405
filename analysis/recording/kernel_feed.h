/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel records of one node in order of time.
 *
 * CPUs take their stamps before they get their place in the ring buffer, so records are nearly
 * ordered.  A sorted queue holds back what is younger than the newest record by less than a
 * window; whatever comes later still is counted and clamped to the time already given out.
 * A record that belongs more than CRIT_REORDER_NEAR places before the queue's end strays: it is put
 * aside, and all strays are sorted and merged when the first of them is due.  So the cost of a
 * record hardly depends on how many are held back.
 *
 * Records may have any size.  Those up to CRIT_FEED_RECORD_BYTES, which is all of today, lie in
 * slots; a longer one gets memory of its own, and few are held back where that takes much.
 */
#ifndef CRIT_KERNEL_FEED_H
#define CRIT_KERNEL_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/recording/node_clock.h"
#include "analysis/recording/recording.h"
#include "analysis/schema/block_results.h"
#include "core/abi/abi_blocked.h"
#include "core/abi/abi_wake.h"

#define CRIT_REORDER_NS 1000000u
#define CRIT_REORDER_RECORDS 65536u /* held back at most: LEAST, doubled some times */
#define CRIT_REORDER_LEAST 1024u /* that there is room for from the begin on */
#define CRIT_REORDER_BLOCKS 7u
#define CRIT_REORDER_NEAR 8u
#define CRIT_REORDER_BYTES (16u << 20) /* of records that do not fit a slot */
#define CRIT_FEED_RECORD_BYTES 72u

union crit_kernel_record { /* and what follows, up to head.size */
	struct crit_kernel_head head; /* of this version, time_ns on the run clock */
	struct crit_kernel_switch switched;
	struct crit_kernel_preempted taken; /* as head.size says */
	struct crit_kernel_blocked blocked; /* these two: with CALL, likewise */
	struct crit_kernel_blocked_taken blocked_taken;
	struct crit_kernel_outside outside;
	struct crit_kernel_ran ran;
	struct crit_kernel_yields yields;
	struct crit_kernel_wake wake;
	struct crit_kernel_migrate migrate;
	struct crit_kernel_fork forked;
	struct crit_kernel_exec exec;
	struct crit_kernel_exit exited;
	struct crit_kernel_enrol enrol;
	struct crit_kernel_sample sample; /* CAPTURE as well */
	union crit_kernel_record *next_vacant; /* of a slot without a record */
	unsigned char bytes[CRIT_FEED_RECORD_BYTES];
};

#define CRIT_KERNEL_STOPPED_BITS 0x0cu /* of the state in a SWITCH: stopped, traced */

/*
 * The system call that the thread blocks in which a SWITCH takes off its CPU; NULL: not told.  One
 * that is stopped does not wait for what it was interrupted in: CRIT_BLOCK_STOPPED.
 */
static inline const struct crit_kernel_call *
crit_kernel_record_call(const union crit_kernel_record *record)
{
	static const struct crit_kernel_call stopped = { .number = CRIT_BLOCK_STOPPED };

	if (record->head.state & CRIT_KERNEL_STOPPED_BITS)
		return &stopped;
	if (!(record->head.flags & CRIT_KF_CALL) || record->head.size < sizeof(record->blocked))
		return NULL;
	return record->head.size < sizeof(record->blocked_taken) ? &record->blocked.call
								 : &record->blocked_taken.call;
}

static inline bool crit_kernel_is_wake(uint16_t kind)
{
	return kind == CRIT_K_WAKING || kind == CRIT_K_WAKE_NEW || kind == CRIT_K_WAKE;
}

struct crit_kernel_place;

struct crit_kernel_feed {
	const struct crit_recording *recording;
	const struct crit_node_clock *clock;
	uint32_t next_ref;
	unsigned char *payload;
	size_t payload_length;
	size_t payload_at;
	const union crit_kernel_record *front; /* NULL: to be found */
	union crit_kernel_record *blocks[CRIT_REORDER_BLOCKS]; /* of slots */
	uint32_t block_count;
	union crit_kernel_record *vacant; /* slots, linked */
	uint32_t capacity; /* of queue and strays together */
	struct crit_kernel_place *order; /* twice the capacity; in it the queue, sorted by time */
	struct crit_kernel_place *first, *end;
	struct crit_kernel_place *strays; /* twice the capacity: sorted to and fro */
	uint32_t stray_count;
	bool has_unsorted; /* strays are not in order of time */
	uint64_t first_stray_ns; /* the least of their times; if none, later than any */
	size_t long_bytes; /* of records held back outside the slots */
	uint64_t newest_ns;
	uint64_t given_ns; /* time of the last record given out */
	uint64_t late_records;
	uint64_t bad_chunks;
	uint64_t record_count;
	uint64_t unknown_records; /* of unknown kind, or shorter than their kind */
	uint64_t bytes_read;
};

/* first_ref: of the KERNEL chunks.  Ownership: all is borrowed until fini.  Errors: -ENOMEM. */
int crit_kernel_feed_init(struct crit_kernel_feed *feed, const struct crit_recording *recording,
			  const struct crit_node_clock *clock, uint32_t first_ref);
void crit_kernel_feed_fini(struct crit_kernel_feed *feed);

/* Finds the next record.  NULL at the end. */
const union crit_kernel_record *crit_kernel_feed_find(struct crit_kernel_feed *feed);

/* The next record, or NULL at the end.  Borrowed until the next call of pop. */
static inline const union crit_kernel_record *crit_kernel_feed_front(struct crit_kernel_feed *feed)
{
	return feed->front ? feed->front : crit_kernel_feed_find(feed);
}

void crit_kernel_feed_pop(struct crit_kernel_feed *feed);

#endif
