/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks, threads, preemptors and the MPI library of a run are called in every format. */
#ifndef CRIT_LABELS_H
#define CRIT_LABELS_H

#include <stddef.h>

#include "analysis/schema/results.h"
#include "report/tables/node_sums.h"

/* Each answers text, or a static word. */

/* "3", or "1.3" (world.rank) when there are several worlds; "-" without rank. */
const char *crit_rank_label(const struct crit_results *results, int32_t rank_row, char *text,
			    size_t text_bytes);

/* "rank 1 thread 4242 (solver)", "thread 4242 (solver)". */
const char *crit_thread_label(const struct crit_results *results, size_t thread, char *text,
			      size_t text_bytes);

/* The preemptor: "rank 1 thread 7 (b)", "stress (pid 812)", "another user's program". */
const char *crit_preemptor_label(const struct crit_results *results,
				 const struct crit_preemptor_row *row, char *text,
				 size_t text_bytes);

/* The one of a node that has most useful time: "rank 3", or a thread; "" none. */
const char *crit_slowest_label(const struct crit_results *results, const struct crit_node_sum *sum,
			       char *text, size_t text_bytes);

/* "Open MPI 4.1.4", "no MPI": the MPI library in a few words. */
const char *crit_mpi_label(const struct crit_results *results, char *text, size_t text_bytes);

#endif
