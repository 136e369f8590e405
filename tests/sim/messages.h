/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random runs full of messages, which are counted as they are made up: blocking, by requests of
 * every kind, on random communicators, with collectives in between, by two threads per rank.
 */
#ifndef CRIT_TESTS_SIM_MESSAGES_H
#define CRIT_TESTS_SIM_MESSAGES_H

#include "analysis/schema/results.h"
#include "tests/maker/maker.h"
#include "tests/maker/random.h"
#include "tests/sim/edges.h"

#define SIM_T0 1000000000ull
#define SIM_RANKS 5
#define SIM_COMMS 6
#define SIM_THREADS 2
#define SIM_HANDLES 64
#define SIM_INSTANCES 400
#define SIM_CALLS 1024
#define SIM_ENDS 16384 /* messages sent, and received */

struct sim_comm { /* 0: world, 1: self */
	uint32_t size;
	uint32_t members[SIM_RANKS]; /* world ranks in order */
	uint32_t numbers[SIM_RANKS]; /* by world rank: how its process calls it */
	int32_t sequence;
};

struct sim_request {
	bool is_live, is_active, is_persistent, is_send;
	uint32_t from, to; /* world ranks */
	uint64_t bytes;
	uint32_t comm;
	bool is_any;
	uint16_t call;
	uint32_t send; /* of a send: index into sends */
	uint32_t posted; /* of a receive: running number */
	uint64_t posted_ns;
	bool is_collective;
	uint32_t instance, member;
};

struct sim_stay { /* of a thread in a call */
	uint64_t begin_ns, end_ns;
	uint32_t tid, call;
	uint32_t completes; /* messages and requests, in the call */
};

struct sim_instance {
	uint32_t comm, call;
	int32_t root; /* CRIT_PEER_ANY: none */
	uint64_t at_ns[SIM_RANKS];
	uint32_t tids[SIM_RANKS]; /* that began it */
	struct sim_stay stays[SIM_RANKS]; /* where the members wait */
};

struct sim_end { /* of a message */
	uint32_t comm, from, to; /* world ranks */
	uint32_t posted;
	uint64_t posted_ns;
	uint64_t bytes;
	struct sim_stay stay;
	struct sim_stay done; /* of a send by a request: where that is waited for */
};

struct sim_volume {
	uint64_t count, bytes, sizes[CRIT_SIZE_BINS];
};

struct sim_messages {
	struct crit_random random;
	struct crit_maker *m;
	uint32_t ranks;
	uint32_t streams[SIM_RANKS][SIM_THREADS];
	uint64_t now_ns[SIM_RANKS];
	struct sim_comm comms[SIM_COMMS];
	uint32_t comm_count;
	struct sim_request requests[SIM_RANKS][SIM_HANDLES];
	struct sim_instance instances[SIM_INSTANCES];
	uint32_t instance_count;
	uint64_t sent_count[SIM_RANKS][SIM_RANKS], sent_bytes[SIM_RANKS][SIM_RANKS];
	uint64_t received_count[SIM_RANKS][SIM_RANKS], received_bytes[SIM_RANKS][SIM_RANKS];
	struct sim_volume sent[SIM_CALLS], received[SIM_CALLS];
	uint32_t rank, thread; /* of the open span */
	uint32_t left_out; /* number of the detail that is not recorded, from 1 */
	uint32_t details;
	struct sim_end sends[SIM_ENDS], receives[SIM_ENDS]; /* in each rank's order */
	uint32_t send_count, receive_count, posted;
	uint64_t begin_ns; /* of the open span */
	struct sim_stay *left[2 * SIM_HANDLES]; /* of the open span: they end with it */
	uint32_t left_count, completes;
	struct sim_edges edges; /* all that there are */
};

/*
 * Makes up the run of a seed without one of its details (0: whole).  Ownership: the caller destroys
 * w->m and w->edges.
 */
void sim_messages_make(struct sim_messages *w, uint64_t seed, uint32_t left_out);

#endif
