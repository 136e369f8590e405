/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis yields about parallel regions, tasks and the user's phases. */
#ifndef CRIT_REGION_RESULTS_H
#define CRIT_REGION_RESULTS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/attribution.h"
#include "core/abi/abi_slot.h"

/*
 * One row per region of a process: a construct or phase in the region it was begun in.  Addresses
 * are of that process; who prints joins what is the same line.
 */
struct crit_region_row {
	uint32_t node;
	uint32_t pid;
	uint32_t number;
	int32_t parent; /* index into rows, less than its own; -1: begun outside all */
	int32_t rank_row; /* -1 none */
	uint32_t call; /* CRIT_CONSTRUCT_PARALLEL, _TASK, _PHASE; 0: the recording does not tell */
	uint64_t site; /* code address; 0 of a phase */
	uint64_t caller; /* return address of the call that begins it; 0: site is that one */
	char name[CRIT_REGION_NAME_MAX + 1]; /* of a phase, "" else */
	uint64_t visits; /* times it was begun; of a parallel region by its primary threads */
	uint64_t elapsed_ns; /* of these, begin to end */
	uint32_t team_max; /* most threads an instance had */
	/* OpenMP idle time inside, after DLB TALP (compute_parallel_not_useful), per instance of
	 * n threads with idle times w: */
	uint64_t scheduling_ns; /* sum of n * min w */
	uint64_t imbalance_ns; /* sum of w - min w */
	uint64_t runnable_ns; /* in barriers all had come to: no part of w, but waiting for a CPU */
	size_t first_part; /* its threads, in parts */
	size_t part_count;
};

/* What one thread did in one region, regions inside it apart.  Sorted by region, thread. */
struct crit_region_part {
	uint32_t region; /* index into rows */
	uint32_t thread; /* index into threads */
	uint64_t visits; /* spans of the region's own construct */
	uint64_t time_ns; /* inside, whatever it did */
	uint64_t useful_ns; /* of these running outside MPI and waits */
	uint64_t omp_wait_ns; /* in waits of OpenMP, all kernel states */
	uint64_t mpi_ns; /* in MPI, all kernel states */
	struct crit_attribution run;
};

struct crit_region_results {
	struct crit_region_row *rows; /* sorted by rank, node, pid, number */
	size_t row_count;
	struct crit_region_part *parts;
	size_t part_count;
};

#endif
