/* SPDX-License-Identifier: BSD-3-Clause */
/* Hand-filled results with sums one can follow: what the writers are tested against. */
#ifndef CRIT_TESTS_RESULTS_SAMPLE_H
#define CRIT_TESTS_RESULTS_SAMPLE_H

#include "analysis/schema/results.h"

#define SAMPLE_RANKS_MAX 8
#define SAMPLE_THREADS_MAX 128

struct results_sample {
	struct crit_results results;
	struct crit_node_row nodes[2];
	struct crit_rank_row ranks[SAMPLE_RANKS_MAX];
	struct crit_thread_row threads[SAMPLE_THREADS_MAX];
	struct crit_region_row region_rows[4];
	struct crit_region_part region_parts[8];
	struct crit_preemptor_row preemptors[4];
	struct crit_call_row calls[4];
	struct crit_call_row call_sites[4];
	struct crit_rank_call_row rank_calls[3];
	struct crit_consistency_check checks[2];
	struct crit_traffic_row traffic[2];
	struct crit_pair_row pairs[2];
	struct crit_communicator_row communicators[2];
	struct crit_collective_row collectives[1];
	struct crit_last_row lasts[2];
};

/*
 * 40 barriers of 30 ms : 10 ms on two ranks and one node: 1.2 s active, rank 0 earns 0.2 + 0.8,
 * rank 1 earns 0.2 and waits 0.8; then 0.1 s of stall in MPI_Barrier, shared by both.  Rank 0 is
 * last 38 times, 20 ms after rank 1, and 10 ms after the mean; it sends rank 1 five messages.
 */
void results_sample_barriers(struct results_sample *sample);

/* One process, threads only: a main thread that computes 1 s alone, two workers 1 s together. */
void results_sample_threads(struct results_sample *sample);

/*
 * Two ranks of two threads, 1 s, in the phase "solve" until 0.9 s.  Until 0.6 s rank 0 is in a
 * parallel region (0x5000 in process 1000, 0x6000 in 1001): its main thread works all of it, the
 * other 0.3 s and waits; in rank 1 both work 0.2 s, then its main thread waits in MPI_Barrier until
 * 0.9 s.  Rank 0 works alone from 0.6 to 0.9 s and waits in MPI_Recv then, while rank 1 works
 * outside all regions.  CMetric of the threads 0.7, 0.1, 0.15, 0.05; waited for 1.9, 0.1, 0.3, 0.
 */
void results_sample_hybrid(struct results_sample *sample);

#endif
