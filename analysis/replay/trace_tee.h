/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells two sinks of one replay, so that it need not be done twice. */
#ifndef CRIT_TRACE_TEE_H
#define CRIT_TRACE_TEE_H

#include "analysis/schema/trace.h"

struct crit_trace_tee {
	const struct crit_trace_sink *first, *second; /* second: only of what the first took */
};

/*
 * Wants what one of them wants, of the threads that both do: has_all is to be the same.  So a sink
 * may be told of kernel states of runs with ranks that it does not want.
 * Ownership: the tee is borrowed, and has both borrowed.
 */
struct crit_trace_sink crit_trace_tee_sink(const struct crit_trace_tee *tee);

#endif
