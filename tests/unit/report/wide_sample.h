/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a run of any number of ranks: what the first screens are tested against. */
#ifndef CRIT_TESTS_WIDE_SAMPLE_H
#define CRIT_TESTS_WIDE_SAMPLE_H

#include "report/tables/summary.h"

enum wide_language {
	WIDE_CXX = 0, /* templates, an anonymous namespace, operators */
	WIDE_FORTRAN, /* procedures of modules, long names of files */
	WIDE_LANGUAGE_COUNT
};

struct wide_sample {
	struct crit_results results;
	struct crit_call_row calls[5];
	struct crit_call_row call_rows[5];
	struct crit_consistency_check checks[2];
	struct crit_call_sites *call_sites;
	struct crit_summary summary;
};

/*
 * One process per rank, 32 ranks a node.  Each rank works from 0 on, between 0.5 s and 0.7 s, but
 * for rank count / 3 that works 1 s, in a parallel region; then it waits in MPI_Allreduce until
 * 1 s, and all wait until 1.05 s.  MPI_Iprobe is called and never waits.  The job was started by
 * mpirun.openmpi; of 8 ranks and more the last two are another program.
 * Ownership: fini frees.  Errors: -ENOMEM.
 */
int wide_sample_init(struct wide_sample *sample, uint32_t rank_count, enum wide_language language);
void wide_sample_fini(struct wide_sample *sample);

#endif
