/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random runs of nodes that exchange messages, whose clocks were compared badly: each comparison
 * errs by up to its bound, which is larger than what a message takes.
 */
#ifndef CRIT_TESTS_SIM_CLOCKS_H
#define CRIT_TESTS_SIM_CLOCKS_H

#include "tests/maker/random.h"
#include "tests/maker/maker.h"

#define SIM_CLOCKS_NODES 6u
#define SIM_CLOCKS_T0 1000000000ull
#define SIM_CLOCKS_LENGTH 1000000000ull /* ns, of the window */
#define SIM_CLOCKS_LEAST 1000u /* ns, that a message takes */

struct sim_clock {
	struct crit_maker *m;
	uint32_t stream;
	int64_t ahead_ns, ppm; /* of its clock */
	int64_t error_ns[2]; /* of its first and last comparison */
	uint64_t bound_ns[2];
};

struct sim_clocks {
	struct crit_random random;
	uint32_t node_count; /* one rank each; the first is the reference */
	struct sim_clock nodes[SIM_CLOCKS_NODES];
	bool is_once; /* compared at the begin only, and no clock drifts */
	bool is_short; /* compared twice in the window's first half: lines go on without bound */
	bool is_wrong; /* the comparisons err by more than they say */
	bool is_lossy; /* a send is lost, and its recording says so */
};

/* A node's stamp of a true time. */
uint64_t sim_clock_stamp(const struct sim_clock *node, uint64_t true_ns);

/*
 * Makes up the recordings of a seed; the flags are given, the rest is drawn.  Ownership: the caller
 * destroys the makers of all nodes.
 */
void sim_clocks_make(struct sim_clocks *w, uint64_t seed);

#endif
