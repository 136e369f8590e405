/* SPDX-License-Identifier: BSD-3-Clause */
/* A standstill: all ranks of a world wait in MPI, or are done, and none leaves its call again. */
#ifndef CRIT_STANDSTILL_H
#define CRIT_STANDSTILL_H

#include "analysis/schema/results.h"

struct crit_standstill {
	size_t first_row, end_row; /* of ranks: the world */
	double s; /* from the last one's begin to the first one's end; 0: there is none */
};

/*
 * The longest one.  Worlds of which a rank is not recorded have none, nor have those with a rank
 * that computes when it ends, or that MPI_Finalize ends, or of which threads compute meanwhile.
 * silent_ns: in which no unit is active.
 */
struct crit_standstill crit_standstill_of(const struct crit_results *results, uint64_t silent_ns);

#endif
