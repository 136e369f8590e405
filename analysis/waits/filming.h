/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the film of a replay: a sink (schema/trace.h) that takes spans, and a listener
 * (schema/event.h) that takes edges, both named in the options of one analysis by one process.
 *
 * A wait is a call of MPI that waits or may wait, as a whole; its causes are the messages it
 * received and who was last at its collective operation, whom each member waits for by itself.
 * Each thread has one bucket, by its row, for all it does; the last is of what lies outside.
 *
 * Not taken so far: locks, barriers and idle threads of OpenMP, wakers, rendezvous, what a thread
 * did without a CPU, code.  A call of which no cause was told is transfer as a whole.
 *
 * Memory: threads, and the last CRIT_FILMING_WAITS waits of each, which edges are looked for in.
 */
#ifndef CRIT_FILMING_H
#define CRIT_FILMING_H

#include "analysis/schema/event.h"
#include "analysis/schema/trace.h"
#include "analysis/waits/costs.h"
#include "analysis/waits/film.h"

#define CRIT_FILMING_WAITS 64u

struct crit_filming;

/* Ownership: the caller's to destroy.  Errors: those of crit_film_create. */
int crit_filming_create(const struct crit_film_options *options, struct crit_filming **ret_filming,
			struct crit_err *err);
void crit_filming_destroy(struct crit_filming *filming);

/* Valid until destroy. */
struct crit_trace_sink crit_filming_sink(struct crit_filming *filming);
struct crit_listener crit_filming_listener(struct crit_filming *filming);

/*
 * Edges of waits that were no longer known, or of calls that are none; and those whose act came
 * after the wait's end, which is a fault of clocks: it is taken for the end.
 */
struct crit_filming_counts {
	uint64_t missed, clamped;
};

struct crit_filming_counts crit_filming_counts(const struct crit_filming *filming);

/*
 * Plays what was filmed, once the analysis is over.  Ownership: the costs are the caller's to fini.
 * Errors: those of the film and of crit_backplay; -ENODATA: no thread was in the window.
 */
int crit_filming_play(struct crit_filming *filming, size_t edges_max, struct crit_costs *ret_costs,
		      struct crit_err *err);

#endif
