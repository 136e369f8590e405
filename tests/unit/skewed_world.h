/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random runs of nodes that exchange messages, whose clocks were compared badly: each comparison
 * errs by up to its bound, which is larger than what a message takes.
 */
#ifndef CRIT_TESTS_SKEWED_WORLD_H
#define CRIT_TESTS_SKEWED_WORLD_H

#include "tests/lib/random.h"
#include "tests/lib/recording_maker.h"

#define SKEWED_NODES 6u
#define SKEWED_T0 1000000000ull
#define SKEWED_LENGTH 1000000000ull /* ns, of the window */
#define SKEWED_LEAST 1000u /* ns, that a message takes */

struct skewed_node {
	struct crit_maker *m;
	uint32_t stream;
	int64_t ahead_ns, ppm; /* of its clock */
	int64_t error_ns[2]; /* of its first and last comparison */
	uint64_t bound_ns[2];
};

struct skewed_world {
	struct crit_random random;
	uint32_t node_count; /* one rank each; the first is the reference */
	struct skewed_node nodes[SKEWED_NODES];
	bool is_once; /* compared at the begin only, and no clock drifts */
	bool is_short; /* compared twice in the window's first half: lines go on without bound */
	bool is_wrong; /* the comparisons err by more than they say */
	bool is_lossy; /* a send is lost, and its recording says so */
};

/* A node's stamp of a true time. */
uint64_t skewed_stamp(const struct skewed_node *node, uint64_t true_ns);

/*
 * Makes up the recordings of a seed; the flags are given, the rest is drawn.  Ownership: the caller
 * destroys the makers of all nodes.
 */
void skewed_world_live(struct skewed_world *w, uint64_t seed);

#endif
