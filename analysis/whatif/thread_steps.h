/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each thread of a run did, step by step: so much work, a wait for so many acts, an act.
 *
 * Made of a resolved film (resolved_film.h) in which threads that are blocked say so.  Work is time
 * on a CPU; time without one is left out, as it depends on who else wants it.  A wait has a gate,
 * which opens with the last act that it needs, and goes on from there for its transfer: the time
 * since, that without a CPU apart.  Objects are gates that others need.
 *
 * How much CPU a waiter takes from others is measured, for each place of waits: its load is
 *
 *     (R + Q) / (R + Q + B) · min(1, R / (R + Q) : r / (r + q))
 *
 * R, Q, B: how long waits there were running, runnable and blocked; r, q: how long threads of its
 * node that worked were running and runnable.  A waiter that spins has 1, as one has where nothing
 * was measured; one that blocks, or gives its CPU to others at once, nearly 0.
 *
 * Memory: 16 bytes a step, fewer than there are entries.
 */
#ifndef CRIT_THREAD_STEPS_H
#define CRIT_THREAD_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"

#define CRIT_LOAD_ONE 1000000u /* of a thread that wants a CPU all the time */

enum crit_step_kind {
	CRIT_STEP_WORK = 0, /* in a bucket, ns on a CPU */
	CRIT_STEP_PAUSE, /* ns that no CPU shortens: it sleeps, or is not there */
	CRIT_STEP_WAIT, /* of: its gate; ns of transfer */
	CRIT_STEP_ACT, /* of: a gate that needs it */
	CRIT_STEP_LATER_ACT, /* likewise, ns from here on, whatever it does meanwhile */
	CRIT_STEP_END, /* it is not there any more */
	CRIT_STEP_KIND_COUNT
};

struct crit_step {
	uint64_t ns;
	uint32_t of;
	uint32_t kind; /* enum crit_step_kind */
};

struct crit_thread_steps {
	struct crit_step *rows;
	size_t count, capacity;
	uint32_t node; /* of the run */
};

struct crit_gate {
	uint32_t acts; /* that open it */
	uint32_t bucket; /* of the wait */
	uint32_t first_follower; /* row of a gate that needs this one; CRIT_NONE: none */
};

struct crit_gate_follower {
	uint32_t gate, next;
};

struct crit_run_steps {
	struct crit_thread_steps *threads;
	size_t thread_count;
	struct crit_gate *gates;
	size_t gate_count, gate_capacity;
	struct crit_gate_follower *followers;
	size_t follower_count, follower_capacity;
	uint32_t *loads; /* of waits in each bucket, of CRIT_LOAD_ONE */
	size_t node_count;
	uint64_t recorded_ns; /* from the window's begin to the end of the last thread */
};

struct crit_run_steps_options {
	uint64_t begin_ns; /* of the window */
	size_t thread_count, bucket_count, node_count;
	const uint32_t *thread_nodes; /* borrowed */
	uint32_t outside; /* bucket of a thread that is not there */
	size_t steps_max;
};

/*
 * Reads a resolved film to its end.
 * Ownership: fini by the caller.  Errors: -ENOMEM; -EPROTO: the film contradicts itself; -E2BIG: it
 * has more steps; those of reading.
 */
int crit_run_steps_make(struct crit_film *film, const struct crit_run_steps_options *options,
			struct crit_run_steps *ret_steps, struct crit_err *err);
void crit_run_steps_fini(struct crit_run_steps *steps);

#endif
