/* SPDX-License-Identifier: BSD-3-Clause */
/* What one run was to gain by the code of another, beside what that one took. */
#ifndef CRIT_PREDICTED_H
#define CRIT_PREDICTED_H

#include <stdbool.h>

/*
 * Analyses the recordings of two paths and prints it, as text or as one object of JSON,
 * crit-diff-predicted/1.  Yields an exit code; a line on stderr where it failed.
 */
int crit_predicted_run(char *const paths[2], bool is_json);

#endif
