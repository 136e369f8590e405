// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init and MPI_Finalize: they begin and end a rank's part of the window, and lie outside it.
//
// The thread that has called MPI_Init* calls MPI_Finalize (MPI 4.0, 11.2.1).  A program of sessions
// alone calls neither.
#include <errno.h>
#include <stdlib.h>

#include "analysis/replay/tracer_ops.h"
#include "core/base/call.h"

struct setup_call {
	uint64_t begin_ns; /* CRIT_TIME_MAX: not entered */
	uint64_t end_ns; /* CRIT_TIME_MAX: not left so far */
	uint64_t site;
	uint32_t depth; /* open spans around it */
	uint16_t call;
};

struct crit_tracer_setup {
	uint32_t life; /* that called MPI_Init*, CRIT_NONE */
	bool is_told;
	struct setup_call init, finalize;
};

static const struct setup_call no_call = { .begin_ns = CRIT_TIME_MAX, .end_ns = CRIT_TIME_MAX };

int crit_tracer_init_setups(struct crit_tracer *tracer)
{
	size_t count = tracer->engine->model->rank_count, i;

	tracer->setups = calloc(count + 1, sizeof(*tracer->setups));
	if (!tracer->setups)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		tracer->setups[i] = (struct crit_tracer_setup){ .life = CRIT_NONE,
								.init = no_call,
								.finalize = no_call };
	return 0;
}

/* The rank that a thread's process is, CRIT_NONE. */
static uint32_t rank_of(const struct crit_tracer *tracer, uint32_t life)
{
	const struct crit_model *model = tracer->engine->model;
	uint32_t process = model->lives[life].process;

	return process == CRIT_NONE ? CRIT_NONE : model->processes[process].rank;
}

/* Where the archive ends before the run does, no rank's end is in it. */
static bool has_end(const struct crit_tracer *tracer, uint32_t rank)
{
	const struct crit_model *model = tracer->engine->model;

	return tracer->end_ns == model->window_end_ns && !model->ranks[rank].is_open;
}

void crit_tracer_setup_enter(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	const struct crit_thread *thread = &tracer->engine->threads[life];
	const struct crit_span_frame *frame = &thread->spans[thread->depth - 1];
	uint32_t rank = rank_of(tracer, life);
	struct crit_tracer_setup *setup;
	struct setup_call entered = { .begin_ns = time_ns,
				      .end_ns = CRIT_TIME_MAX,
				      .site = frame->bucket->key.site,
				      .depth = thread->depth - 1,
				      .call = frame->call };

	if (rank == CRIT_NONE)
		return;
	setup = &tracer->setups[rank];
	if (frame->call == CRIT_MPI_Finalize) {
		crit_tracer_finalize(tracer, life, true, entered.site, time_ns);
		setup->finalize.depth = entered.depth;
	} else if (!setup->is_told &&
		   (frame->call == CRIT_MPI_Init || frame->call == CRIT_MPI_Init_thread)) {
		setup->life = life;
		setup->init = entered; /* of two, the first has failed */
	}
}

void crit_tracer_setup_leave(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	uint32_t depth = tracer->engine->threads[life].depth, rank = rank_of(tracer, life);
	struct crit_tracer_setup *setup = rank == CRIT_NONE ? NULL : &tracer->setups[rank];

	if (!setup || setup->life != life)
		return;
	if (setup->init.end_ns == CRIT_TIME_MAX && depth <= setup->init.depth)
		setup->init.end_ns = time_ns;
	if (setup->finalize.begin_ns < CRIT_TIME_MAX && depth <= setup->finalize.depth)
		crit_tracer_finalize(tracer, life, false, 0, time_ns);
}

void crit_tracer_finalize(struct crit_tracer *tracer, uint32_t life, bool is_enter, uint64_t site,
			  uint64_t time_ns)
{
	uint32_t rank = rank_of(tracer, life);
	struct crit_tracer_setup *setup = rank == CRIT_NONE ? NULL : &tracer->setups[rank];

	if (!setup || setup->life != life)
		return;
	if (!is_enter && setup->finalize.end_ns == CRIT_TIME_MAX)
		setup->finalize.end_ns = time_ns;
	else if (is_enter && setup->finalize.begin_ns == CRIT_TIME_MAX && has_end(tracer, rank))
		setup->finalize = (struct setup_call){ .begin_ns = time_ns,
						       .end_ns = CRIT_TIME_MAX,
						       .site = site,
						       .call = CRIT_MPI_Finalize };
}

static struct crit_tracer_op op_of(uint32_t life, const struct setup_call *call, uint64_t end_ns)
{
	return (struct crit_tracer_op){ .time_ns = end_ns,
					.life = life,
					.kind = CRIT_OP_SETUP,
					.polled = call->begin_ns < end_ns ? call->begin_ns : end_ns,
					.arg = call->site,
					.call = call->call };
}

void crit_tracer_begin_setup(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	uint32_t rank = rank_of(tracer, life);
	struct crit_tracer_setup *setup = rank == CRIT_NONE ? NULL : &tracer->setups[rank];
	struct crit_tracer_op op;

	if (!setup || setup->life != life || setup->is_told)
		return;
	setup->is_told = true;
	op = op_of(life, &setup->init, setup->init.end_ns < time_ns ? setup->init.end_ns : time_ns);
	crit_tracer_post(tracer, &op);
}

/* Nobody saw it return: until its process ended, or nothing more is known of its node. */
static uint64_t end_of(const struct crit_tracer *tracer, const struct crit_tracer_setup *setup)
{
	const struct crit_model *model = tracer->engine->model;
	const struct crit_life *life = &model->lives[setup->life];
	uint64_t end_ns = setup->finalize.end_ns;

	if (end_ns == CRIT_TIME_MAX)
		end_ns = model->processes[life->process].end_ns;
	if (end_ns == CRIT_TIME_MAX)
		end_ns = model->nodes[life->node].end_ns;
	return end_ns > setup->finalize.begin_ns ? end_ns : setup->finalize.begin_ns;
}

int crit_tracer_end_setups(struct crit_tracer *tracer)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < tracer->engine->model->rank_count && !rc; i++) {
		const struct crit_tracer_setup *setup = &tracer->setups[i];
		struct crit_tracer_op op;

		if (!setup->is_told || setup->finalize.begin_ns == CRIT_TIME_MAX)
			continue;
		op = op_of(setup->life, &setup->finalize, end_of(tracer, setup));
		rc = crit_tracer_work(tracer, &op);
	}
	return rc;
}
