/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns what perf events tell into records of the kernel half. */
#ifndef CRIT_COLLECTOR_PERF_FEED_H
#define CRIT_COLLECTOR_PERF_FEED_H

#include <stdint.h>

#include "collector/source/perf_half.h"
#include "core/abi/abi_kernel.h"

/*
 * Hands all records stamped until until_ns to put, in the order of their stamps; what was stamped
 * later stays in the rings, so that no record of one CPU overtakes those of another.
 * Cost: a copy per record, and the logarithm of the number of CPUs.
 */
void crit_perf_feed(struct crit_perf *perf, uint64_t until_ns,
		    void (*put)(void *context, const struct crit_kernel_head *record),
		    void *context);

#endif
