/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of a run, wall-clock as DLB TALP and CPU-time; a pure function of the results. */
#ifndef CRIT_EFFICIENCY_H
#define CRIT_EFFICIENCY_H

#include "analysis/schema/efficiency_results.h"
#include "analysis/schema/results.h"

void crit_usage_of(const struct crit_cells *cells, struct crit_usage *ret_usage);

/* Sum over the span classes of one kernel state. Units: ns. */
uint64_t crit_cells_state(const struct crit_cells *cells, enum crit_kernel_state state);
uint64_t crit_cells_class(const struct crit_cells *cells, enum crit_span_class span_class);

/*
 * Factors of the run, over ranks; without ranks over processes that use OpenMP and the app threads
 * of those that do not, but for those that lost time leaves out (lost_units.h).
 * Range: each factor in [0, 1]; a factor nobody can lose (0 of 0) is 1.
 * Shape: a rank of several threads counts as max(1, life / window) CPUs.
 * Source: wall-clock after DLB TALP (perf_metrics.c, hybrid-v2); CPU-time: docs/metric.md.
 */
void crit_efficiency_of(const struct crit_results *results, struct crit_efficiency *ret_efficiency);

#endif
