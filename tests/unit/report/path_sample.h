/* SPDX-License-Identifier: BSD-3-Clause */
/* A run with call paths, filled by hand. */
#ifndef CRIT_TESTS_PATH_SAMPLE_H
#define CRIT_TESTS_PATH_SAMPLE_H

#include "tests/unit/report/results_sample.h"
#include "report/tables/region_table.h"

#define PATH_SAMPLE_PART (((crit_fix)1000000000 << 64) / 20) /* of a second of CMetric */

/*
 * start -> main:90 -> sweep:20 -> relax:10, 6 parts, and relax:11, 2; -> sweep:20 -> sweep:20 ->
 * relax:10, 3; start -> main:91, 1, -> inner in relax, 4; code in no file, 1, cut where its caller
 * is; relax:10, 2, not captured; 1 not sampled.  10 samples a part.
 */
void path_sample_fill(struct results_sample *sample);

extern const struct crit_region_finder path_sample_finder;

#endif
