/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synthetic recordings of any size, whose answer is known in closed form.
 *
 * P ranks of T threads each repeat one period: every thread of rank r (0..P-1) works for
 * w(r) = period * (r + 1) / (P + 1), rounded down, and waits in MPI_Barrier for the rest.  Between
 * w(k-1) and w(k) exactly the ranks k..P-1 work, so a thread of rank r earns per period, w(-1) = 0:
 *
 *     CMetric = sum over k = 0..r of (w(k) - w(k-1)) / ((P - k) * T)
 *     stall   = (period - w(P-1)) / (P * T)
 *
 * in unit threads; a rank earns T times that, and in unit ranks the same.
 *
 * With messages, first threads also say that the barrier is a collective, at which the last rank is
 * always last, w(P-1) - w(0) after the first, and that they send each of the next `peers` ranks 100
 * bytes per period but the last, all by requests that are done one period later.  A barrier is
 * called from as many places as there are sites, one after the other.  With phases, each period is
 * one phase of every thread, and they take turns.
 *
 * All nodes have one clock, but with skew_ns its comparisons say otherwise: at the begin by so
 * much, at the end by half of it the other way, one sign for odd nodes, the other for even ones.
 */
#ifndef CRIT_TESTS_SYNTHETIC_H
#define CRIT_TESTS_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/maker/maker.h"

struct crit_synthetic {
	uint32_t nodes;
	uint32_t ranks; /* per node */
	uint32_t threads; /* per rank */
	uint64_t period_ns; /* at least 16 * ranks in all */
	uint64_t periods;
	bool is_spinning; /* threads wait on their CPU: no kernel records but for birth and death */
	uint32_t peers; /* whom each rank sends to; below their number; 0: nothing, in no detail */
	uint32_t sites; /* 0: one */
	uint32_t phases; /* below CRIT_REGIONS_MAX; 0: none */
	uint64_t skew_ns; /* 0: clocks were not compared */
};

/* Writes one node's recording, in time order, remembering nothing but open chunks. */
void crit_synthetic_write(const struct crit_synthetic *spec, uint32_t node, struct crit_maker *m);

/* What all threads of a rank earn together.  Range: rank 0 .. nodes * ranks - 1. */
double crit_synthetic_cmetric_ns(const struct crit_synthetic *spec, uint32_t rank);
double crit_synthetic_all_waiting_ns(const struct crit_synthetic *spec);

/* Kernel records and slots of all nodes, those of birth and death apart. */
uint64_t crit_synthetic_events(const struct crit_synthetic *spec);

#endif
