/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of calls: over all ranks, by the place they are called from, and by rank. */
#ifndef CRIT_CALL_RESULTS_H
#define CRIT_CALL_RESULTS_H

#include <stdint.h>

#include "analysis/schema/attribution.h"

/*
 * One row per call or construct (calls), or per (call, site, process) (sites).  App threads.
 * Constructs are numbered from CRIT_CALL_OMP_FIRST on.
 */
struct crit_call_row {
	uint32_t call;
	uint32_t node; /* sites only */
	uint32_t pid; /* sites only */
	uint64_t site; /* sites only: return address in that process */
	uint64_t visits;
	uint64_t folded_visits;
	uint64_t folded_ns;
	uint64_t polled_calls; /* Test, Iprobe and questions merged into poll spans */
	uint64_t counted_bytes; /* level profile: moved by calls that do not wait */
	uint64_t time_ns;
	uint64_t wait_ns; /* of these, in waiting classes */
	struct crit_attribution run;
	int32_t top_rank_row; /* the rank that did most of the waited-for work meanwhile; -1 none */
};

/* How long calls took that were recorded from their begin to their end. */
struct crit_durations {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* of none: 0, like max_ns */
	uint64_t max_ns;
};

/* An MPI call of a rank: sums over its app threads. */
struct crit_rank_call_row {
	uint32_t rank_row;
	uint32_t call;
	uint64_t visits; /* only counted ones as well */
	uint64_t time_ns; /* in the window */
	uint64_t wait_ns; /* of these, in waiting classes */
	struct crit_durations durations; /* a span of polling counts as one */
};

/* The call of MPI in which a rank's main thread waits when it ends, or the window does. */
struct crit_last_call {
	uint32_t call; /* 0 none */
	uint64_t site; /* return address in the rank's process */
	uint64_t since_ns; /* absolute run-clock ns */
};

#endif
