/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a thread applied to its account: kernel state, window, spans, teams. */
#ifndef CRIT_ENGINE_SPANS_H
#define CRIT_ENGINE_SPANS_H

#include "analysis/account/engine.h"

/* Events of a thread: time_ns never goes back.  Cost: O(1) each. */
void crit_engine_set_state(struct crit_engine *engine, uint32_t thread,
			   enum crit_kernel_state state, uint64_t time_ns);
/* A thread has been runnable, of which it was on CPUs for so long. */
void crit_engine_set_yielded(struct crit_engine *engine, uint32_t thread, uint64_t running_ns,
			     uint64_t time_ns);
void crit_engine_set_open(struct crit_engine *engine, uint32_t thread, bool is_open,
			  uint64_t time_ns);
/* arg: of CRIT_S_ENTER; of a parallel region its instance.  Cost: O(members) where one ends. */
void crit_engine_enter(struct crit_engine *engine, uint32_t thread,
		       const struct crit_bucket_key *told, uint64_t arg, uint64_t polled,
		       uint64_t time_ns);
void crit_engine_leave(struct crit_engine *engine, uint32_t thread, uint32_t call,
		       uint64_t time_ns);

/* Ends all spans of a thread without counting them as unbalanced: exec, or a new tag. */
void crit_engine_clear_spans(struct crit_engine *engine, uint32_t thread, uint64_t time_ns);

/* The class of a thread's time outside all spans: user, or omp_idle of OpenMP workers. */
void crit_engine_set_base(struct crit_engine *engine, uint32_t thread,
			  enum crit_span_class span_class, uint64_t time_ns);

/* Closes a thread's segment where it ends; after those of all crit_engine_advance_to_end is due. */
void crit_engine_finish_thread(struct crit_engine *engine, uint32_t thread);

#endif
