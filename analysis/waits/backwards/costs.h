/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits cost and who waited for whom: the result of a film played backwards (backplay.h).
 *
 * At each instant of a wait a chain of waits leads from the waiter to its root: a thread that does
 * not wait, or an object that waits for nobody.  What the root does is its part.
 */
#ifndef CRIT_COSTS_H
#define CRIT_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/backwards/forest.h"
#include "analysis/waits/backwards/late_acts.h"
#include "core/base/array.h"
#include "core/base/err.h"
#include "core/base/index.h"

enum crit_part {
	CRIT_PART_SELF = 0, /* it runs, or a device works */
	CRIT_PART_NESTED, /* of edges: it waits for another one itself */
	CRIT_PART_TRANSFER, /* its wait has its cause, and goes on: data are on their way */
	CRIT_PART_CPU, /* it could run and has no CPU */
	CRIT_PART_OUTSIDE, /* it is not born, has ended, or lies outside of what is analysed */
	CRIT_PART_UNKNOWN,
	CRIT_PART_BLOCKED, /* it does not wait, but is blocked: by a disk, or a timer */
	CRIT_PART_COUNT
};

/* A bucket, in nanoseconds.  The last row is of nodes that were in none. */
struct crit_cost {
	crit_integral
		direct; /* of cost, of those who wait for the root itself, and its own waiting */
	crit_integral cost[CRIT_PART_COUNT]; /* load of its nodes while they were roots */
	crit_integral direct_cpu; /* of that, while the root had no CPU */
	crit_integral direct_blocked; /* likewise, while it was blocked */
	uint64_t path_ns[CRIT_PART_COUNT]; /* on the critical path */
} CRIT_LINE_ALIGNED;

/*
 * From who waits to who lets him wait, while both are what their names say: threads, where there
 * are vertices one of the buckets that is a vertex, or CRIT_FILM_OBJECT with an object's bucket.
 */
struct crit_wait_edge {
	uint32_t from, to; /* CRIT_NONE, CRIT_NONE: all for which there was no room */
	uint64_t count; /* of waits, each wherever it went on */
	/* Of an object's edge: as long as it is held.  Overlapping waits of a pair count twice. */
	uint64_t raw_ns;
	uint64_t part_ns[CRIT_PART_COUNT]; /* of raw: what `to` did, for an object its holder */
	crit_integral impact; /* the load of `from` over raw: the waiter and all behind it */
};

struct crit_waited { /* by a thread; units: ns */
	/* NESTED: its waits did not have their cause yet; TRANSFER, CPU, UNKNOWN: as a root */
	uint64_t part_ns[CRIT_PART_COUNT];
	uint64_t open_ns; /* time with a CPU until the end of its open wait */
} CRIT_LINE_ALIGNED;

struct crit_costs {
	struct crit_cost *buckets;
	struct crit_waited *threads; /* the last row is of objects */
	size_t thread_count;
	size_t bucket_count; /* without the last row */
	bool has_vertices; /* a thread is a bucket in edges; bucket_count more: a thread in none */
	struct crit_wait_edge *edges;
	size_t edge_count, edge_capacity, edges_max;
	struct crit_index edge_rows;
	struct crit_late_acts acts;
	crit_integral waiting; /* of all waits */
	uint64_t endless_ns; /* of that, in waits of threads that no recorded act ends */
	/*
	 * Of that, in waits that need no act of another thread, as far as is known, and of those
	 * in the call with most; the caller's to fill.
	 */
	uint64_t actless_ns, actless_most_ns;
	uint16_t actless_most_call; /* enum crit_mpi_call, enum crit_construct, CRIT_CODE_IDLE */
	uint64_t window_ns;
	uint64_t wait_count;
	uint64_t cycle_count; /* cut, because nobody can wait for himself */
};

/* Errors: -ENOMEM. */
int crit_costs_init(struct crit_costs *costs, size_t bucket_count, size_t thread_count,
		    size_t edges_max);
void crit_costs_fini(struct crit_costs *costs);

/* The row of an edge, or that of all others where there is no room. */
struct crit_wait_edge *crit_costs_edge(struct crit_costs *costs, uint32_t from, uint32_t to);

/*
 * The laws that hold exactly: what threads waited is all waiting, and so is the cost of all
 * buckets; an edge's parts are its raw time; the critical path is as long as the window.
 * Errors: -EPROTO, the first that fails.
 */
int crit_costs_check(const struct crit_costs *costs, struct crit_err *err);

#endif
