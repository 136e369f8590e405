/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the engine share: its arithmetic, its stacks of spans, its teams. */
#ifndef CRIT_ENGINE_SPANS_H
#define CRIT_ENGINE_SPANS_H

#include "analysis/account/engine.h"

/* The class a thread's time is in now: its innermost span's, or setup outside its part. */
static inline unsigned int crit_engine_class_now(const struct crit_thread *thread)
{
	return thread->is_open ? thread->span_class : CRIT_CLASS_SETUP;
}

/* On a CPU since its cell began: what of that lies in the window, unless it waits meanwhile. */
static inline uint64_t crit_engine_busy_since(const struct crit_engine *engine,
					      const struct crit_thread *thread,
					      unsigned int span_class, uint64_t time_ns)
{
	uint64_t begin_ns = engine->model->window_begin_ns;

	if (span_class == CRIT_CLASS_SETUP || crit_metric_is_waiting_class(span_class))
		return 0;
	if (begin_ns < thread->cell_since_ns)
		begin_ns = thread->cell_since_ns;
	if (time_ns > engine->model->window_end_ns)
		time_ns = engine->model->window_end_ns;
	return time_ns > begin_ns ? time_ns - begin_ns : 0;
}

/* To be called before state, class or part of a thread change. */
static inline void crit_engine_close_cell(const struct crit_engine *engine,
					  struct crit_thread *thread, uint64_t time_ns)
{
	uint64_t dt_ns = time_ns > thread->cell_since_ns ? time_ns - thread->cell_since_ns : 0;
	unsigned int span_class = crit_engine_class_now(thread);

	if (thread->state != CRIT_STATE_NONE) {
		thread->cells.ns[thread->state][span_class] += dt_ns;
		thread->alive_ns += dt_ns;
		if (thread->state == CRIT_STATE_RUNNING || thread->state == CRIT_STATE_ASSUMED) {
			thread->busy_ns +=
				crit_engine_busy_since(engine, thread, span_class, time_ns);
			if (thread->share != CRIT_SHARE_OUT)
				thread->bucket->running_ns += dt_ns;
		}
	}
	thread->cell_since_ns = time_ns;
}

/* Ends the running segment if the thread's share or bucket is another now, and begins the next. */
void crit_engine_resegment(struct crit_engine *engine, uint32_t life, struct crit_bucket *bucket,
			   uint64_t time_ns);

/* The primary thread of an instance has left: a member's spans from depth on are over. */
void crit_engine_dismiss(struct crit_engine *engine, uint32_t life, uint32_t depth,
			 uint64_t time_ns);

/* A thread is about to be gone, its cells are up to date: it leaves its teams. */
void crit_engine_end_thread(struct crit_engine *engine, uint32_t life, uint64_t time_ns);

#endif
