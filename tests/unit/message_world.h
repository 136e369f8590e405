/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random runs full of messages, which are counted as they are made up: blocking, by requests of
 * every kind, on random communicators, with collectives in between, by two threads per rank.
 */
#ifndef CRIT_TESTS_MESSAGE_WORLD_H
#define CRIT_TESTS_MESSAGE_WORLD_H

#include "analysis/schema/trace.h"
#include "tests/lib/analysed.h"
#include "tests/lib/random.h"

#define T0 1000000000ull
#define RANKS 5
#define COMMS 6
#define THREADS 2
#define HANDLES 64
#define INSTANCES 400
#define CALLS 1024

struct comm { /* 0: world, 1: self */
	uint32_t size;
	uint32_t members[RANKS]; /* world ranks in order */
	uint32_t numbers[RANKS]; /* by world rank: how its process calls it */
	int32_t sequence;
};

struct request {
	bool is_live, is_active, is_persistent, is_send;
	uint32_t from, to; /* world ranks */
	uint64_t bytes;
	uint32_t comm;
	bool is_any;
	uint16_t call;
};

struct instance {
	uint32_t comm, call;
	uint64_t at_ns[RANKS];
};

struct volume {
	uint64_t count, bytes, sizes[CRIT_SIZE_BINS];
};

struct message_world {
	struct crit_random random;
	struct crit_maker *m;
	uint32_t ranks;
	uint32_t streams[RANKS][THREADS];
	uint64_t now_ns[RANKS];
	struct comm comms[COMMS];
	uint32_t comm_count;
	struct request requests[RANKS][HANDLES];
	struct instance instances[INSTANCES];
	uint32_t instance_count;
	uint64_t sent_count[RANKS][RANKS], sent_bytes[RANKS][RANKS];
	uint64_t received_count[RANKS][RANKS], received_bytes[RANKS][RANKS];
	struct volume sent[CALLS], received[CALLS];
	uint32_t rank, thread; /* of the open span */
	uint32_t left_out; /* number of the detail that is not recorded, from 1 */
	uint32_t details;
};

/*
 * Makes up and analyses the run of a seed without one of its details (0: whole), telling a sink,
 * which may be NULL.  Ownership: the caller destroys the results.
 */
struct crit_results *message_world_play(struct message_world *w, uint64_t seed, uint32_t left_out,
					const struct crit_trace_sink *sink);

#endif
