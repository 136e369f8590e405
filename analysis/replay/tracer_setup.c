// SPDX-License-Identifier: BSD-3-Clause
// Follows the calls of MPI_Init and MPI_Finalize of each rank.
#include "analysis/replay/tracer_setup.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/replay/emitter_state.h"
#include "core/base/call.h"

struct setup_call {
	uint64_t begin_ns; /* CRIT_TIME_MAX: not entered */
	uint64_t end_ns; /* CRIT_TIME_MAX: not left so far */
	uint64_t site;
	uint32_t depth; /* open spans around it */
	uint16_t call;
};

struct crit_tracer_setup {
	uint32_t thread; /* that called MPI_Init*, CRIT_NONE */
	bool is_told;
	struct setup_call init, finalize;
};

static const struct setup_call no_call = { .begin_ns = CRIT_TIME_MAX, .end_ns = CRIT_TIME_MAX };

int crit_tracer_setups_init(struct crit_tracer_setups *setups, const struct crit_engine *engine,
			    struct crit_emitter *emitter)
{
	size_t count = engine->model->rank_count;

	*setups = (struct crit_tracer_setups){ .engine = engine, .emitter = emitter };
	setups->rows = calloc(count + 1, sizeof(*setups->rows));
	if (!setups->rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		setups->rows[i] = (struct crit_tracer_setup){ .thread = CRIT_NONE,
							      .init = no_call,
							      .finalize = no_call };
	return 0;
}

void crit_tracer_setups_fini(struct crit_tracer_setups *setups)
{
	free(setups->rows);
}

/* The rank that a thread's process is, CRIT_NONE. */
static uint32_t rank_of(const struct crit_tracer_setups *setups, uint32_t thread)
{
	const struct crit_model *model = setups->engine->model;
	uint32_t process = model->threads[thread].process;

	return process == CRIT_NONE ? CRIT_NONE : model->processes[process].rank;
}

/* Where the archive ends before the run does, no rank's end is in it. */
static bool has_end(const struct crit_tracer_setups *setups, uint32_t rank)
{
	const struct crit_model *model = setups->engine->model;

	return setups->emitter->end_ns == model->window_end_ns && !model->ranks[rank].is_open;
}

void crit_tracer_setups_enter(struct crit_tracer_setups *setups, uint32_t thread, uint64_t time_ns)
{
	const struct crit_thread_account *account = &setups->engine->accounts[thread];
	const struct crit_span_frame *frame = &account->spans[account->depth - 1];
	uint32_t rank = rank_of(setups, thread);
	struct crit_tracer_setup *setup;
	struct setup_call entered = { .begin_ns = time_ns,
				      .end_ns = CRIT_TIME_MAX,
				      .site = frame->bucket->key.site,
				      .depth = account->depth - 1,
				      .call = frame->call };

	if (rank == CRIT_NONE)
		return;
	setup = &setups->rows[rank];
	if (frame->call == CRIT_MPI_Finalize) {
		crit_tracer_setups_finalize(setups, thread, true, entered.site, time_ns);
		setup->finalize.depth = entered.depth;
	} else if (!setup->is_told &&
		   (frame->call == CRIT_MPI_Init || frame->call == CRIT_MPI_Init_thread)) {
		setup->thread = thread;
		setup->init = entered; /* of two, the first has failed */
	}
}

void crit_tracer_setups_leave(struct crit_tracer_setups *setups, uint32_t thread, uint64_t time_ns)
{
	uint32_t depth = setups->engine->accounts[thread].depth, rank = rank_of(setups, thread);
	struct crit_tracer_setup *setup = rank == CRIT_NONE ? NULL : &setups->rows[rank];

	if (!setup || setup->thread != thread)
		return;
	if (setup->init.end_ns == CRIT_TIME_MAX && depth <= setup->init.depth)
		setup->init.end_ns = time_ns;
	if (setup->finalize.begin_ns < CRIT_TIME_MAX && depth <= setup->finalize.depth)
		crit_tracer_setups_finalize(setups, thread, false, 0, time_ns);
}

void crit_tracer_setups_finalize(struct crit_tracer_setups *setups, uint32_t thread, bool is_enter,
				 uint64_t site, uint64_t time_ns)
{
	uint32_t rank = rank_of(setups, thread);
	struct crit_tracer_setup *setup = rank == CRIT_NONE ? NULL : &setups->rows[rank];

	if (!setup || setup->thread != thread)
		return;
	if (!is_enter && setup->finalize.end_ns == CRIT_TIME_MAX)
		setup->finalize.end_ns = time_ns;
	else if (is_enter && setup->finalize.begin_ns == CRIT_TIME_MAX && has_end(setups, rank))
		setup->finalize = (struct setup_call){ .begin_ns = time_ns,
						       .end_ns = CRIT_TIME_MAX,
						       .site = site,
						       .call = CRIT_MPI_Finalize };
}

static struct crit_emitter_event event_of(uint32_t thread, const struct setup_call *call,
					  uint64_t end_ns)
{
	return (struct crit_emitter_event){ .time_ns = end_ns,
					    .thread = thread,
					    .kind = CRIT_EMIT_SETUP,
					    .polled = call->begin_ns < end_ns ? call->begin_ns
									      : end_ns,
					    .arg = call->site,
					    .call = call->call };
}

void crit_tracer_setups_begin(struct crit_tracer_setups *setups, uint32_t thread, uint64_t time_ns)
{
	uint32_t rank = rank_of(setups, thread);
	struct crit_tracer_setup *setup = rank == CRIT_NONE ? NULL : &setups->rows[rank];
	struct crit_emitter_event event;

	if (!setup || setup->thread != thread || setup->is_told)
		return;
	setup->is_told = true;
	event = event_of(thread, &setup->init,
			 setup->init.end_ns < time_ns ? setup->init.end_ns : time_ns);
	crit_emitter_post(setups->emitter, &event);
}

/* Nobody saw it return: until its process ended, or nothing more is known of its node. */
static uint64_t end_of(const struct crit_tracer_setups *setups,
		       const struct crit_tracer_setup *setup)
{
	const struct crit_model *model = setups->engine->model;
	const struct crit_thread *thread = &model->threads[setup->thread];
	uint64_t end_ns = setup->finalize.end_ns;

	if (end_ns == CRIT_TIME_MAX)
		end_ns = model->processes[thread->process].end_ns;
	if (end_ns == CRIT_TIME_MAX)
		end_ns = model->nodes[thread->node].end_ns;
	return end_ns > setup->finalize.begin_ns ? end_ns : setup->finalize.begin_ns;
}

int crit_tracer_setups_end(struct crit_tracer_setups *setups)
{
	int rc = 0;

	for (size_t i = 0; i < setups->engine->model->rank_count && !rc; i++) {
		const struct crit_tracer_setup *setup = &setups->rows[i];
		struct crit_emitter_event event;

		if (!setup->is_told || setup->finalize.begin_ns == CRIT_TIME_MAX)
			continue;
		event = event_of(setup->thread, &setup->finalize, end_of(setups, setup));
		rc = crit_emitter_emit(setups->emitter, &event);
	}
	return rc;
}
