/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the results that tells of messages: what was moved, from whom to whom, and who
 * arrived last.  As far as level trace reached; docs/metric.md says what each figure means.
 */
#ifndef CRIT_MESSAGE_RESULTS_H
#define CRIT_MESSAGE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRIT_COMMUNICATOR_BYTES 64
#define CRIT_SIZE_BINS 65u /* bin 0: no byte; bin k: 2^(k-1) to 2^k - 1 bytes */

/* What was moved one way; messages, or parts in collectives, one-sided and file operations. */
struct crit_volume {
	uint64_t count;
	uint64_t bytes;
	uint64_t unknown_count; /* of these, size unknown: no bytes and no bin */
	uint64_t sizes[CRIT_SIZE_BINS];
};

/* One per call that moved data.  What a request moves belongs to the call that started it. */
struct crit_traffic_row {
	uint32_t call;
	struct crit_volume sent; /* also: put, accumulated, written */
	struct crit_volume received; /* also: got, read */
};

/* A call that returned an error, as far as level trace reached. */
struct crit_failed_row {
	uint32_t call;
	uint64_t count;
};

/* The communication matrix: point-to-point messages from one rank to another, as each saw it. */
struct crit_pair_row {
	uint32_t from_row; /* index into ranks */
	uint32_t to_row;
	uint64_t sent_count;
	uint64_t sent_bytes;
	uint64_t received_count;
	uint64_t received_bytes;
};

enum crit_communicator_kind {
	CRIT_COMMUNICATOR_WORLD = 0,
	CRIT_COMMUNICATOR_SELF, /* one for all ranks */
	CRIT_COMMUNICATOR_INTRA,
	CRIT_COMMUNICATOR_INTER,
	CRIT_COMMUNICATOR_WINDOW,
	CRIT_COMMUNICATOR_FILE,
	CRIT_COMMUNICATOR_FOREIGN, /* has members of another world: each process's own */
	CRIT_COMMUNICATOR_KIND_COUNT
};

struct crit_communicator_row {
	enum crit_communicator_kind kind;
	uint32_t world_number;
	uint32_t size; /* SELF: 1 */
	uint32_t remote_size; /* INTER only */
	uint32_t known_members; /* of both sides, that announced themselves */
	uint32_t parent; /* index into communicators, CRIT_NONE: none or unknown */
	char name[CRIT_COMMUNICATOR_BYTES];
};

/* One per (communicator, call).  Arrival: when a member entered the call. */
struct crit_collective_row {
	uint32_t communicator; /* index into communicators */
	uint32_t call;
	uint64_t visits; /* by members */
	uint64_t sent_bytes; /* by all of them */
	uint64_t received_bytes;
	uint64_t instances; /* in which the last arrival is known */
	uint64_t inferred; /* of these, last is who waited too little to be recorded */
	uint64_t incomplete; /* a member's arrival is not known */
	uint64_t spread_sum_ns, spread_max_ns; /* last - first arrival */
	uint64_t late_sum_ns, late_max_ns; /* last - mean arrival */
	size_t first_last, last_count; /* its part of lasts */
};

/* How often a rank arrived last; per collective row, most often first. */
struct crit_last_row {
	uint32_t rank_row; /* index into ranks, CRIT_NONE: a process without rank */
	uint64_t count;
	uint64_t spread_sum_ns, spread_max_ns;
	uint64_t late_sum_ns, late_max_ns;
};

struct crit_message_losses {
	uint64_t details; /* found no room in the ring, or none here */
	uint64_t stray; /* completions of requests nobody started, or that move nothing */
	uint64_t unfinished; /* requests still active at the end, or overwritten */
	uint64_t freed; /* requests given up while active: their end is not known */
	uint64_t unresolved; /* messages whose other end is not known: not in the matrix */
	uint64_t estimated; /* receives whose size is that of the buffer */
	uint64_t unusable_statuses; /* of receives: empty, stale, or not as posted */
	uint64_t unknown_sources; /* posted to any source, with such a status: unresolved */
	uint64_t late_arrivals; /* at collectives already closed */
	uint64_t communicators; /* that found no room */
	uint64_t foreign; /* communicators with members of another world */
	uint64_t missing_members; /* of communicators: who did not announce themselves */
	uint64_t early; /* messages received before they were sent */
	uint64_t early_max_ns; /* by so much at most */
};

struct crit_message_results {
	uint64_t until_ns; /* run clock; every span was recorded to here, the window's end: all */
	bool is_whole; /* every message to until_ns is in */
	bool has_order; /* and its counterpart as well: losses.early means something */
	struct crit_message_losses losses;
	struct crit_traffic_row *traffic; /* sorted by call */
	size_t traffic_count;
	struct crit_failed_row *failed; /* sorted by call */
	size_t failed_count;
	struct crit_pair_row *pairs; /* sorted by (from, to) */
	size_t pair_count;
	struct crit_communicator_row *communicators; /* in order of first appearance */
	size_t communicator_count;
	struct crit_collective_row *collectives; /* sorted by (communicator, call) */
	size_t collective_count;
	struct crit_last_row *lasts;
	size_t last_count;
};

#endif
