/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis processes (analysis/cluster/transport.h) that are threads of one process. */
#ifndef CRIT_TESTS_CLUSTER_H
#define CRIT_TESTS_CLUSTER_H

#include <stdbool.h>

#include "analysis/schema/event.h"
#include "analysis/cluster/transport.h"
#include "analysis/schema/results.h"
#include "analysis/schema/trace.h"

#define CRIT_TEST_CLUSTER_MAX 8u

struct crit_test_crew {
	uint32_t transport;
	size_t round_steps; /* 0: as many as usual */
	enum crit_active_rule rule;
	const struct crit_trace_sink *sinks; /* one per analysis process, or NULL: nobody listens */
	const struct crit_listener *listeners; /* one per analysis process, or NULL */
	bool is_gathered; /* sinks and listeners: those of analysis process 0 alone */
	uint32_t blind; /* this analysis process finds no recording; CRIT_NONE: all do */
};

/*
 * Analyses the recordings together.  Ownership: the caller destroys *ret_results.
 * Errors: those of analysis process 0; -EDOM where another analysis process answered otherwise.
 */
int crit_test_crew_analyse(const struct crit_test_crew *crew, const char *const *paths,
			   size_t count, struct crit_results **ret_results);

#endif
