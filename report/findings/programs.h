/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run is called: by the programs of its ranks, not by the launcher that started them. */
#ifndef CRIT_PROGRAMS_H
#define CRIT_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/schema/results.h"

/*
 * The program most ranks run, without its directory, and how many others there are; without ranks
 * the program that was started.
 */
const char *crit_programs_name(const struct crit_results *results, size_t *ret_others);

/*
 * That program with its path, where it is the one that was started; its name where a launcher was.
 * And the command line of the first rank that runs it.
 */
const char *crit_programs_exe(const struct crit_results *results);
const char *crit_programs_arguments(const struct crit_results *results);

/* True: what was started is not the program of the ranks, but a launcher or a script. */
bool crit_programs_has_launcher(const struct crit_results *results);

#endif
