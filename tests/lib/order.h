/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink and a listener that are told of one replay: all calls in their order, in one number.
 *
 * Of what several processes gather (analysis/cluster/gathering.h), so not of what spans earned.
 */
#ifndef CRIT_TESTS_ORDER_H
#define CRIT_TESTS_ORDER_H

#include "analysis/schema/event.h"
#include "analysis/schema/trace.h"

struct crit_test_order {
	uint64_t sum;
	uint64_t calls, edges;
	uint64_t failing; /* this call of a sink fails; 0 none */
};

/* Both borrow it. */
struct crit_trace_sink crit_test_order_sink(struct crit_test_order *order);
struct crit_listener crit_test_order_listener(struct crit_test_order *order);

#endif
