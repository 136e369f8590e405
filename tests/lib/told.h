/* SPDX-License-Identifier: BSD-3-Clause */
/* A sink that sums up what it is told of each thread, in order. */
#ifndef CRIT_TESTS_TOLD_H
#define CRIT_TESTS_TOLD_H

#include "analysis/schema/trace.h"

struct crit_test_told {
	uint32_t begins; /* of archives, so to say */
	size_t thread_count;
	uint64_t *sums; /* by row of threads; 0: nothing was told */
	uint64_t others; /* messages of threads it was never told of */
	uint64_t communicators;
};

/* Ownership: told is borrowed; fini frees what is in it. */
void crit_test_told_sink(struct crit_test_told *told, struct crit_trace_sink *ret_sink);
void crit_test_told_fini(struct crit_test_told *told);

#endif
