/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the edges that a replay tells, and holds them against those of the simulator. */
#ifndef CRIT_TESTS_TOLD_EDGES_H
#define CRIT_TESTS_TOLD_EDGES_H

#include "analysis/schema/event.h"
#include "analysis/schema/results.h"
#include "tests/maker/maker.h"
#include "tests/sim/edges.h"

struct crit_filming;

/* A listener that adds each edge to a list, threads still by their rows. */
struct crit_listener crit_told_edges_listener(struct sim_edges *edges);

/*
 * How many edges differ between what was told and what there is, once threads are known by their
 * task numbers; sorts both, prints the first.  number_of: the simulator's number of a communicator;
 * NULL: that of the results.
 */
uint64_t crit_told_edges_differences(struct sim_edges *told, struct sim_edges *truth,
				     const struct crit_results *results,
				     uint64_t (*number_of)(uint64_t row));

/* Analyses recordings in memory.  Errors: those of crit_analyse. */
int crit_told_edges_analyse(struct crit_maker *const *makers, size_t count,
			    const struct crit_listener *listener,
			    struct crit_results **ret_results);

/* The same for the film of a recording. */
int crit_told_edges_film(struct crit_maker *maker, struct crit_filming *filming,
			 struct crit_results **ret_results);

/* The same for all edges, alone or as several processes.  Errors: end the program. */
struct crit_results *crit_told_edges_alone(struct crit_maker *const *makers, size_t count,
					   struct sim_edges *ret_told);
/* The same, alone, for those of sends that may need their receivers as well. */
struct crit_results *crit_told_edges_sends(struct crit_maker *maker, struct sim_edges *ret_told);

void crit_told_edges_together(struct crit_maker *const *makers, size_t count, uint32_t transport,
			      size_t round_steps, struct sim_edges *ret_told);

#endif
