/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes results in every format of the report, and reads them again. */
#ifndef CRIT_TESTS_WRITTEN_H
#define CRIT_TESTS_WRITTEN_H

#include "analysis/schema/results.h"

/*
 * The report is JSON without a key twice; no format has a control character but the end of a line.
 * Errors: aborts.
 */
void written_check(const struct crit_results *results);

#endif
