/* SPDX-License-Identifier: BSD-3-Clause */
/* News of a thread between those who hear of them (tracer.c) and those who tell the sink. */
#ifndef CRIT_TRACER_OPS_H
#define CRIT_TRACER_OPS_H

#include "analysis/replay/tracer.h"

enum crit_tracer_op_kind {
	CRIT_OP_BEGIN, /* a thread begins to be told of */
	CRIT_OP_INSIDE, /* in a span that began before */
	CRIT_OP_ENTER,
	CRIT_OP_LEAVE,
	CRIT_OP_LOOK, /* at the time outside all spans */
	CRIT_OP_MARK,
	CRIT_OP_RELEASE,
	CRIT_OP_TASK,
	CRIT_OP_SETUP, /* what begins or ends a rank's part: polled is its begin, arg its site */
	CRIT_OP_END
};

/* News of a thread, and all of the engine's that may have changed when it is worked on. */
struct crit_tracer_op {
	uint64_t time_ns;
	struct crit_bucket *bucket; /* entered, or of the time outside all spans */
	uint64_t arg; /* of the span; RELEASE: the lock; TASK: its number */
	uint64_t polled;
	uint32_t life;
	uint32_t depth; /* of open spans from now on */
	uint16_t call; /* TASK: the note */
	uint8_t span_class;
	uint8_t kind; /* enum crit_tracer_op_kind */
	uint64_t looked_ns[CRIT_STATE_COUNT]; /* cells of the span that was the innermost */
	uint64_t marked_ns[CRIT_STATE_COUNT]; /* and of the one that is */
};

/* Works on news at once, or when the run's integrals are those of their time. */
void crit_tracer_post(struct crit_tracer *tracer, const struct crit_tracer_op *op);

/* One per rank.  Errors: -ENOMEM. */
int crit_tracer_init_setups(struct crit_tracer *tracer);

/* A thread that is not told of enters or leaves something: perhaps MPI_Init or MPI_Finalize. */
void crit_tracer_setup_enter(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns);
void crit_tracer_setup_leave(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns);

/*
 * The end of MPI_Finalize, or all of it, lies beyond the cut, where nothing else is played: a trace
 * has it all the same.
 */
void crit_tracer_finalize(struct crit_tracer *tracer, uint32_t life, bool is_enter, uint64_t site,
			  uint64_t time_ns);

/* A thread is about to be told of: its MPI_Init comes first. */
void crit_tracer_begin_setup(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns);

/* Tells of every MPI_Finalize that was entered, once all else is told.  Errors: the sink's. */
int crit_tracer_end_setups(struct crit_tracer *tracer);

/* Tells the sink.  Errors: those of the sink, -ENOMEM, -EPROTO. */
int crit_tracer_work(struct crit_tracer *tracer, const struct crit_tracer_op *op);

void crit_tracer_forget(struct crit_tracer *tracer, uint32_t life);

/* Keeps the first error there was. */
void crit_tracer_keep_error(struct crit_tracer *tracer, int rc);

#endif
