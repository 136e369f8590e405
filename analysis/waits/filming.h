/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the film of a replay: a sink (schema/trace.h) that takes spans, and a listener
 * (schema/event.h) that takes edges, both named in the options of one analysis.
 *
 * A wait is a call of MPI that waits or may wait, a wait of OpenMP, and an OpenMP worker's time
 * between parallel regions, each as a whole; in runs without ranks also the time that a thread is
 * blocked outside of these; with ranks of that only what one of the run ended, and in its code's
 * bucket.  Its causes are the messages it received, who received what it sent,
 * where that waited or by its size has to (filming_state.h), who was last of those it needed at a
 * collective operation or barrier, who began the next parallel region, and its waker, whom each
 * waiter waits for by itself.  Who waits for a lock waits for the lock, until its last release, and
 * that for its holder at each instant (locks/lock_holders.h); who waits for tasks, for who ended
 * the last one.  The buckets are code keys (code_keys.h).
 *
 * Not taken so far: what a thread did without a CPU; parts of loops that
 * are tasks, with libgomp; locks of which the runtime does not tell: libgomp's of ordered sections,
 * and who got one by omp_test_lock there.  A call of which no cause was told is transfer as a
 * whole; a block of which none was told is outside: a timer, a device, another program.
 *
 * A film that fails, as on a full disk, does not end the analysis: playing it says why.
 *
 * Memory: threads, the last waits of each, which edges are looked for in (filmed_thread.h), and
 * code keys.
 */
#ifndef CRIT_FILMING_H
#define CRIT_FILMING_H

#include "analysis/schema/event.h"
#include "analysis/schema/trace.h"
#include "analysis/waits/code_keys.h"
#include "analysis/waits/backwards/costs.h"
#include "analysis/waits/film/film.h"
#include "analysis/waits/filmed_samples.h"
#include "analysis/waits/resolved_film.h"

#define CRIT_FILMING_THREADS 65536u /* of larger runs no waits are followed */

struct crit_filming;

struct crit_filming_options {
	struct crit_film_options file;
	/* for a forecast: all that waits need, whether it ended them or not; and samples */
	bool has_needs;
	bool has_states; /* for a forecast on other CPUs: when threads are blocked, too */
	/* in edges a thread in one region is another vertex than the same in another one */
	bool are_regions_apart;
};

/* Ownership: the caller's to destroy.  Errors: those of crit_film_create. */
int crit_filming_create(const struct crit_filming_options *options,
			struct crit_filming **ret_filming, struct crit_err *err);
void crit_filming_destroy(struct crit_filming *filming);

/* Valid until destroy. */
struct crit_trace_sink crit_filming_sink(struct crit_filming *filming);
struct crit_listener crit_filming_listener(struct crit_filming *filming);

/*
 * Tells somebody of the waits as well, before the sinks that come after are told of what ended
 * them.  Ownership: borrowed.
 */
void crit_filming_tell(struct crit_filming *filming, const struct crit_wait_listener *waits);

/*
 * Edges of waits that were no longer known, or of calls that are none; and those whose act came
 * after the wait's end, which is a fault of clocks: it is taken for the end.
 */
struct crit_filming_counts {
	uint64_t missed, clamped;
	uint64_t free[CRIT_FREE_COUNT]; /* waits, in films that have needs */
};

struct crit_filming_counts crit_filming_counts(const struct crit_filming *filming);

/* The buckets of the costs, by number.  Borrowed until destroy. */
const struct crit_code_key *crit_filming_keys(const struct crit_filming *filming);

/* Where threads were in the buckets, in those of calls nowhere.  Borrowed until destroy. */
const struct crit_filmed_samples *crit_filming_samples(const struct crit_filming *filming);

/*
 * Plays what was filmed, once the analysis is over.  Ownership: the costs are the caller's to fini.
 * Errors: those of the film and of crit_backplay; -ENODATA: no thread was in the window.
 */
int crit_filming_play(struct crit_filming *filming, size_t edges_max, struct crit_costs *ret_costs,
		      struct crit_err *err);

/*
 * What was played, turned round, of a filming that has needs; once.  Ownership: fini by the caller.
 * Errors: those of crit_film_turning_end; -ENODATA: nothing was played.
 */
int crit_filming_resolve(struct crit_filming *filming, struct crit_filmed_run *ret_run,
			 struct crit_err *err);

#endif
