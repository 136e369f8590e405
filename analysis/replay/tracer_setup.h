/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init and MPI_Finalize in the trace: they bound a rank's window, and lie outside it.
 *
 * The thread that has called MPI_Init* calls MPI_Finalize (MPI 4.0, 11.2.1).  A program of sessions
 * alone calls neither.
 */
#ifndef CRIT_TRACER_SETUP_H
#define CRIT_TRACER_SETUP_H

#include "analysis/account/engine.h"
#include "analysis/replay/emitter.h"

struct crit_tracer_setups {
	const struct crit_engine *engine;
	struct crit_emitter *emitter;
	struct crit_tracer_setup *rows; /* by rank of the model */
};

/* Ownership: engine and emitter are borrowed until fini.  Errors: -ENOMEM. */
int crit_tracer_setups_init(struct crit_tracer_setups *setups, const struct crit_engine *engine,
			    struct crit_emitter *emitter);
void crit_tracer_setups_fini(struct crit_tracer_setups *setups);

/* A thread that is not told of enters or leaves something: perhaps MPI_Init or MPI_Finalize. */
void crit_tracer_setups_enter(struct crit_tracer_setups *setups, uint32_t thread, uint64_t time_ns);
void crit_tracer_setups_leave(struct crit_tracer_setups *setups, uint32_t thread, uint64_t time_ns);

/*
 * The end of MPI_Finalize, or all of it, lies beyond the cut, where nothing else is replayed: a
 * trace has it all the same.
 */
void crit_tracer_setups_finalize(struct crit_tracer_setups *setups, uint32_t thread, bool is_enter,
				 uint64_t site, uint64_t time_ns);

/* A thread is about to be told of: its MPI_Init comes first. */
void crit_tracer_setups_begin(struct crit_tracer_setups *setups, uint32_t thread, uint64_t time_ns);

/* Tells of every MPI_Finalize that was entered, once all else is told.  Errors: the sink's. */
int crit_tracer_setups_end(struct crit_tracer_setups *setups);

#endif
