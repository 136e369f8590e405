/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buckets: one attribution per (thread, call, call site, region, class).  Every table of the
 * results is a sum of buckets.
 */
#ifndef CRIT_BUCKET_H
#define CRIT_BUCKET_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "core/base/array.h"
#include "core/base/index.h"

#define CRIT_BUCKETS_MAX (1u << 21) /* then calls lose their sites, never their time */

struct crit_bucket { /* what each span of a call needs comes first */
	struct crit_bucket_key key;
	struct crit_bucket *follower; /* what was entered after this one the last time: a guess */
	uint64_t visits;
	uint64_t time_ns;
	uint64_t running_ns; /* of these on a CPU, or assumed to be */
	uint64_t polled;
	struct crit_attribution attributed;
	struct crit_durations durations; /* of MPI calls */
	uint64_t begun; /* times its region was begun, and begin to end of these */
	uint64_t elapsed_ns;
	uint64_t folded_visits;
	uint64_t folded_ns;
	uint64_t bytes; /* of counters only */
} CRIT_LINE_ALIGNED;

struct crit_cut_span { /* of a worker of OpenMP, whose team ended with its primary thread */
	struct crit_bucket *bucket; /* NULL: none */
	uint64_t since_ns, until_ns;
};

/* The durations of two sets of calls together. */
void crit_durations_add(struct crit_durations *durations, const struct crit_durations *more);

struct crit_buckets {
	struct crit_bucket **blocks; /* of CRIT_BUCKET_BLOCK, so that buckets never move */
	size_t block_count, block_capacity;
	size_t count;
	struct crit_index numbers; /* of buckets, by key */
};

/*
 * The bucket of a key, made when new.  Ownership: borrowed, lives as long as the table.
 * Errors: NULL when out of memory.
 */
struct crit_bucket *crit_buckets_get(struct crit_buckets *buckets,
				     const struct crit_bucket_key *key);

/* Adds all figures of one bucket to another. */
void crit_bucket_add(struct crit_bucket *bucket, const struct crit_bucket *more);

struct crit_bucket *crit_buckets_at(const struct crit_buckets *buckets, size_t index);

void crit_buckets_fini(struct crit_buckets *buckets);

#endif
