/* SPDX-License-Identifier: BSD-3-Clause */
/* A sink that ends the program when it is told what can never be. */
#ifndef CRIT_TESTS_STRICT_SINK_H
#define CRIT_TESTS_STRICT_SINK_H

#include "analysis/schema/trace.h"

struct strict_thread {
	uint64_t last_ns;
	uint64_t total_cmetric_ns;
	uint32_t depth;
	uint32_t setups; /* calls that begin or end its rank's part */
	bool is_open;
};

struct strict_sink {
	struct crit_trace_sink sink; /* for crit_analysis_options */
	struct strict_thread *threads; /* by row */
	size_t thread_count;
	uint32_t communicators; /* told */
	uint32_t named; /* one more than the largest a message named */
	uint64_t begin_ns, end_ns;
};

void strict_sink_init(struct strict_sink *strict, bool has_all);
void strict_sink_fini(struct strict_sink *strict);

#endif
