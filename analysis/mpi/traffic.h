/* SPDX-License-Identifier: BSD-3-Clause */
/* Message counts and bytes: per call with a histogram of sizes, and from rank to rank. */
#ifndef CRIT_TRAFFIC_H
#define CRIT_TRAFFIC_H

#include "core/base/index.h"
#include "analysis/schema/results.h"

#define CRIT_TRAFFIC_CALLS 1024u

struct crit_traffic_pair { /* what one rank knows of its messages with one member */
	uint32_t rank; /* of the model */
	uint32_t member; /* index into the communicators' members */
	uint64_t sent_count;
	uint64_t sent_bytes;
	uint64_t received_count;
	uint64_t received_bytes;
};

struct crit_traffic {
	struct crit_traffic_row *calls[CRIT_TRAFFIC_CALLS]; /* NULL: moved nothing */
	uint64_t failed[CRIT_TRAFFIC_CALLS]; /* how often a call returned an error */
	struct crit_traffic_pair *pairs;
	size_t pair_count, pair_capacity;
	struct crit_index places; /* of pairs */
};

enum crit_direction {
	CRIT_SENT = 0,
	CRIT_RECEIVED
};

void crit_traffic_fini(struct crit_traffic *traffic);

/* Books bytes (or CRIT_BYTES_UNKNOWN) moved by a call.  Errors: -ENOMEM. */
int crit_traffic_count(struct crit_traffic *traffic, unsigned int call,
		       enum crit_direction direction, uint64_t bytes);

/* Books a message between a rank and a member; unknown bytes count as none.  Errors: -ENOMEM. */
int crit_traffic_pair(struct crit_traffic *traffic, uint32_t rank, uint32_t member,
		      enum crit_direction direction, uint64_t bytes);

/* Takes back a send that was cancelled, which was booked before. */
void crit_traffic_take_back(struct crit_traffic *traffic, unsigned int call, uint32_t rank,
			    uint32_t member, uint64_t bytes);

#endif
