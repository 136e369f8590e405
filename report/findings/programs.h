/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run is called: by the programs of its ranks, not by the launcher that started them. */
#ifndef CRIT_PROGRAMS_H
#define CRIT_PROGRAMS_H

#include <stddef.h>

#include "analysis/schema/results.h"

/*
 * The program most ranks run, without its directory, and how many others there are; without ranks
 * the program that was started.
 */
const char *crit_programs_name(const struct crit_results *results, size_t *ret_others);

#endif
