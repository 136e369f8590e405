/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed integration: the integrals of a run whose nodes several analysis processes replay.
 *
 * The attribution of a segment is a difference of integrals that depend on the threads of all
 * nodes.  An analysis process therefore replays ahead and keeps its steps until a round.  Then
 * the time that all have replayed is cut into one time slice per analysis process; each analysis
 * process tells the owner of a time slice where its threads stood when it began and what changed in
 * it, the owner adds all up and answers with the integrals at every step, counted from the time
 * slice's begin, and with their sum over the time slice.  Cutting changes no bit (metric.h), so the
 * steps then taken yield what one process would have got.
 *
 * Memory: the steps of a round per analysis process, whatever the run's length.
 */
#ifndef CRIT_ROUNDS_H
#define CRIT_ROUNDS_H

#include "analysis/account/engine.h"
#include "analysis/cluster/transport.h"
#include "analysis/cluster/pending.h"
#include "analysis/cluster/time_slice.h"
#include "analysis/cluster/span_exchange.h"
#include "analysis/replay/thread_ends.h"
#include "analysis/samples/samples.h"
#include "analysis/replay/replay.h"

#define CRIT_ROUNDS_STEPS 65536u /* of an analysis process, then it waits for a round */

struct crit_rounds {
	const struct crit_transport *transport;
	struct crit_step_sink step_sink; /* for the engine */
	struct crit_replay_share share; /* for the replay */
	struct crit_model *model;
	struct crit_engine *engine;
	struct crit_samples *samples;
	struct crit_thread_ends *ends; /* the caller's to set; NULL: the run has ranks */
	struct crit_pending *pending; /* NULL: nobody listens */
	struct crit_run_step *steps; /* replayed, not yet taken */
	size_t step_count, step_capacity;
	struct crit_replay_place place; /* where the replay is */
	uint64_t added_steps, applied_steps; /* since the run's begin */
	struct crit_span_exchange spans; /* with details */
	struct crit_scope_state counts; /* own threads, all steps taken */
	struct crit_rank_state *ranks;
	uint32_t waiting[CRIT_BLAME_CALLS]; /* of these, by call */
	size_t *answer_bytes; /* by time slice: to own steps in it */
	uint64_t begin_ns; /* of the next round */
	struct crit_scope_state base; /* the run's integrals there */
	struct crit_time_slice slice;
	struct crit_exchange_buffer *to, *from;
	struct crit_losses index_losses; /* before anything was replayed */
	int told_rc; /* the first error of what is gathered, told in the next round */
	bool is_over; /* everything is integrated, or all know that one failed */
};

/* After the index pass.  pending: NULL where nobody listens.  Errors: -ENOMEM. */
int crit_rounds_init(struct crit_rounds *rounds, const struct crit_transport *transport,
		     struct crit_engine *engine, struct crit_samples *samples,
		     struct crit_messages *messages, struct crit_pending *pending);
void crit_rounds_fini(struct crit_rounds *rounds);

/* Does this analysis process play the node? */
bool crit_rounds_plays(const struct crit_rounds *rounds, uint32_t node);

/*
 * Where process 0 is told of all: puts behind what it gets what this process has told, takes on
 * process 0 what lies there, and tells what comes before all bounds.
 */
void crit_rounds_pack_told(struct crit_rounds *rounds, const struct crit_replay_place *bound);
void crit_rounds_take_told(struct crit_rounds *rounds, uint32_t process, size_t at);
void crit_rounds_tell(struct crit_rounds *rounds, const struct crit_replay_place *bound);

/*
 * All is replayed: holds rounds until it is by all.  rc: this analysis process failed, and all do
 * then.
 */
int crit_rounds_end(struct crit_rounds *rounds, int rc);

#endif
