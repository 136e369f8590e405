/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges of a simulated run (analysis/schema/edge.h), threads by their task numbers. */
#ifndef CRIT_TESTS_SIM_EDGES_H
#define CRIT_TESTS_SIM_EDGES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/edge.h"

struct sim_edge {
	uint64_t begin_ns, end_ns, cause_ns;
	uint64_t object; /* of a communicator: as the simulator numbers it */
	uint64_t bytes; /* of a message, where its size matters */
	uint64_t number; /* send_number */
	uint64_t posted; /* the simulator's number of the receive, or receive_number */
	uint32_t waiter, cause;
	uint32_t kind, call;
};

struct sim_edges {
	struct sim_edge *rows;
	size_t count, capacity;
};

/* Errors: ends the program. */
void sim_edges_add(struct sim_edges *edges, const struct sim_edge *edge);

/* By all but posted. */
void sim_edges_sort(struct sim_edges *edges);
int sim_edges_compare(const void *left, const void *right);

void sim_edges_fini(struct sim_edges *edges);

#endif
