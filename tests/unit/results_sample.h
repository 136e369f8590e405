/* SPDX-License-Identifier: BSD-3-Clause */
/* Hand-filled results with sums one can follow: what the writers are tested against. */
#ifndef CRIT_TESTS_RESULTS_SAMPLE_H
#define CRIT_TESTS_RESULTS_SAMPLE_H

#include "analysis/results.h"

#define SAMPLE_RANKS_MAX 8
#define SAMPLE_THREADS_MAX 128

struct results_sample {
	struct crit_results results;
	struct crit_node_row nodes[2];
	struct crit_rank_row ranks[SAMPLE_RANKS_MAX];
	struct crit_thread_row threads[SAMPLE_THREADS_MAX];
	struct crit_call_row calls[4];
	struct crit_call_row sites[4];
	struct crit_law laws[2];
};

/*
 * 40 barriers of 30 ms : 10 ms on two ranks and one node: 1.2 s active, rank 0 earns 0.2 + 0.8,
 * rank 1 earns 0.2 and waits 0.8; then 0.1 s of stall in MPI_Barrier, shared by both.
 */
void results_sample_barriers(struct results_sample *sample);

/* One process, threads only: a main thread that computes 1 s alone, two workers 1 s together. */
void results_sample_threads(struct results_sample *sample);

#endif
