/* SPDX-License-Identifier: BSD-3-Clause */
/* What crit's own processes are called where a recording names who had a CPU. */
#ifndef CRIT_ABI_COMM_H
#define CRIT_ABI_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define CRIT_PATHS_COMM "crit-paths" /* makes call paths of copies of stacks */
#define CRIT_NAMES_COMM "crit-names" /* reads programs for it */

/* Is that what critd, crit or one of their children is called? */
static inline bool crit_comm_is_own(const char *comm)
{
	static const char *const names[] = { "critd", "crit", CRIT_PATHS_COMM, CRIT_NAMES_COMM };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(comm, names[i]) == 0)
			return true;
	return false;
}

#endif
