/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampling clocks: one perf event per CPU, at whose ticks the kernel half takes a sample.
 *
 * A clock with one period for long would keep step with programs that repeat themselves as often:
 * each gets a new period about once a second, drawn from half to one and a half times the mean.
 */
#ifndef CRIT_COLLECTOR_SAMPLER_H
#define CRIT_COLLECTOR_SAMPLER_H

#include <stdint.h>

#include "collector/source/kernel_half.h"

struct crit_sampler;

/* A new period of a clock, and how long it is kept.  Range: hz above 0. */
uint32_t crit_sampler_draw_ns(uint32_t hz);
uint64_t crit_sampler_kept_ns(uint32_t hz);

/*
 * Opens the clocks of all CPUs that are online, standing still; a CPU that comes later has none.
 * Ownership: destroy accepts NULL.  Errors: -errno, the reason in err; needs CAP_PERFMON.
 * Cost: a descriptor per CPU.
 */
int crit_sampler_create(const struct crit_kernel *kernel, const struct crit_source_options *options,
			struct crit_sampler **ret_sampler, struct crit_err *err);
void crit_sampler_destroy(struct crit_sampler *sampler);

/* Lets all clocks tick so often, on the average; 0 stops them. */
void crit_sampler_set(struct crit_sampler *sampler, uint32_t hz, uint64_t now_ns);

/* Gives clocks whose time has come another period.  To be called every 100 ms or so. */
void crit_sampler_look(struct crit_sampler *sampler, uint64_t now_ns);

#endif
