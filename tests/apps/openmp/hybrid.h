/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hybrid programs do: CPU work in named parts, counted per part and thread, and told at the
 * end as a line of JSON.  tests/lib/hybrid_truth.py knows what follows from it.
 */
#ifndef CRIT_TESTS_HYBRID_H
#define CRIT_TESTS_HYBRID_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define HYBRID_THREADS_MAX 64
#define HYBRID_PARTS_MAX 16

struct hybrid_part {
	const char *name; /* of the phase it lies in */
	int line; /* of its parallel directive; 0 it has none */
	int64_t worked_ns[HYBRID_THREADS_MAX];
};

struct hybrid {
	int rank;
	int ranks;
	int threads; /* per rank */
	int outer; /* teams of the nested part */
	int rounds;
	int has_pin;
	int64_t unit_ns;
	int weight_count;
	double weights[HYBRID_THREADS_MAX]; /* work of the threads */
	int factor_count;
	double factors[HYBRID_THREADS_MAX]; /* of the ranks */
	struct hybrid_part parts[HYBRID_PARTS_MAX];
};

static inline double hybrid_factor(const struct hybrid *h)
{
	return h->factors[h->rank % h->factor_count];
}

static inline double hybrid_weight(const struct hybrid *h, int thread)
{
	return h->weights[thread % h->weight_count];
}

static __thread int hybrid_pinned = -1;

/* Threads that are created from now on can go to any CPU at once. */
static inline void hybrid_unpin(void)
{
	work_unpin();
	hybrid_pinned = -1;
}

/* The calling thread is this one of its rank's: works so many units, on a CPU of its own. */
static inline void hybrid_work(struct hybrid *h, int part, int thread, double units)
{
	const int cpu_number = h->rank * h->threads + thread;
	const int64_t begin_ns = work_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (h->has_pin && hybrid_pinned != cpu_number) {
		work_pin(cpu_number);
		hybrid_pinned = cpu_number;
	}
	work_for_ns((int64_t)(units * hybrid_factor(h) * (double)h->unit_ns));
	h->parts[part].worked_ns[thread] += work_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

static inline void hybrid_print(const struct hybrid *h)
{
	static char buffer[1 << 16];
	int at = snprintf(buffer, sizeof(buffer),
			  "{\"rank\": %d, \"ranks\": %d, \"threads\": %d, \"rounds\": %d, "
			  "\"unit_s\": %.9f, \"outer\": %d, \"parts\": [",
			  h->rank, h->ranks, h->threads, h->rounds, (double)h->unit_ns * 1e-9,
			  h->outer);

	for (int i = 0; i < HYBRID_PARTS_MAX; i++) {
		const struct hybrid_part *part = &h->parts[i];

		if (!part->name)
			continue;
		at += snprintf(buffer + at, sizeof(buffer) - (size_t)at,
			       "%s{\"name\": \"%s\", \"line\": %d, \"worked_s\": [", i ? ", " : "",
			       part->name, part->line);
		for (int t = 0; t < h->threads; t++)
			at += snprintf(buffer + at, sizeof(buffer) - (size_t)at, "%s%.9f",
				       t ? ", " : "", (double)part->worked_ns[t] * 1e-9);
		at += snprintf(buffer + at, sizeof(buffer) - (size_t)at, "]}");
	}
	printf("%s]}\n", buffer);
	fflush(stdout);
}

#endif
