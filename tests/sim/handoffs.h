/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks with teams of threads that pass locks on and meet at barriers, and whose primary threads
 * exchange messages in a ring and meet in MPI_Allreduce: every wait is known.  Shims only.
 *
 * Locks are of three kinds: told of by LLVM as a critical section, by libgomp as one, and as a lock
 * proper.  A late runtime tells of a release when the next thread has the lock already.
 */
#ifndef CRIT_TESTS_SIM_HANDOFFS_H
#define CRIT_TESTS_SIM_HANDOFFS_H

#include <stdbool.h>

#include "tests/maker/maker.h"
#include "tests/maker/random.h"
#include "tests/sim/edges.h"

#define SIM_HANDOFFS_NODES 8u
#define SIM_HANDOFFS_THREADS 8u

struct sim_handoffs {
	uint64_t seed;
	uint32_t nodes;
	uint32_t ranks; /* per node */
	uint32_t threads; /* per rank */
	uint32_t regions; /* parallel regions, each with three rounds */
	bool is_late;
	bool is_profile; /* level profile, though all waits are recorded */
	struct crit_maker *makers[SIM_HANDOFFS_NODES]; /* by node */
	struct sim_edges edges; /* all that there are */
};

/* Ownership: the caller destroys the makers and the edges. */
void sim_handoffs_make(struct sim_handoffs *w);

#endif
