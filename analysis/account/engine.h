/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deals out time: who is active, who waits, and what each earns.
 *
 * Per scope the engine keeps running integrals (of dt/n, of dt/w, …).  A thread notes where they
 * stand when its segment begins and takes the difference when it ends, so an event costs O(1)
 * however many threads there are.  In unit ranks a second level does the same inside each rank:
 * what one of its active threads has earned so far, brought up to date whenever their number
 * changes.
 */
#ifndef CRIT_ENGINE_H
#define CRIT_ENGINE_H

#include "analysis/account/blame.h"
#include "analysis/account/bucket.h"
#include "analysis/account/listeners.h"
#include "analysis/account/metric.h"
#include "analysis/account/rivals.h"
#include "analysis/account/scope.h"
#include "analysis/account/teams.h"
#include "analysis/model/model.h"

#define CRIT_SPAN_DEPTH 1024u /* of a thread; more than a shim records */

struct crit_rank_idle { /* workers that idle while the main thread is in MPI */
	uint32_t idle;
	bool is_main_in_mpi; /* outside parallel regions */
	uint64_t since_ns;
	uint64_t ns;
};

struct crit_span_frame {
	struct crit_bucket *bucket;
	uint64_t arg; /* of CRIT_S_ENTER */
	uint64_t enter_ns;
	uint32_t member; /* of a team (analysis/account/teams.h), or CRIT_NONE */
	uint16_t call;
	uint8_t span_class;
	bool is_begun; /* counts among the times its region was begun */
};

struct crit_thread {
	struct crit_bucket *bucket; /* of the innermost span */
	struct crit_bucket *base; /* of no span */
	uint64_t since_ns; /* begin of the segment */
	struct crit_queued queued; /* for a CPU */
	uint64_t cell_since_ns; /* begin of the present kernel state and class */
	uint8_t state; /* enum crit_kernel_state; NONE while not alive */
	uint8_t span_class; /* of the innermost span */
	uint8_t share; /* enum crit_share */
	uint8_t runnable; /* the share it counts with among those that wait for a CPU, or OUT */
	bool is_open; /* its part of the window is */
	bool is_over; /* born and dead: nothing brings it back */
	bool is_main; /* of a rank */
	bool is_idle; /* counted in its rank's crit_rank_idle */
	uint32_t depth; /* open spans */
	uint32_t hidden; /* and those beyond CRIT_SPAN_DEPTH */
	uint32_t late; /* parallel regions that are over, but that it has not told the end of */
	uint32_t member; /* of the innermost team it is in, or CRIT_NONE */
	uint32_t idling; /* the member it was, idle until the instance is over, or CRIT_NONE */
	struct crit_marks run;
	struct crit_marks node; /* used when nodes have integrals of their own */
	struct crit_span_frame *spans;
	size_t span_capacity;
	struct crit_cells cells;
	uint64_t alive_ns;
	uint64_t busy_ns; /* on a CPU inside the window, waits left out */
	crit_fix node_cmetric[CRIT_UNIT_COUNT];
	crit_fix node_stall[CRIT_UNIT_COUNT];
};

/* A segment of a thread ends and another begins: what that means to the scope of the run. */
struct crit_run_step {
	uint64_t time_ns;
	struct crit_bucket *from, *to;
	uint32_t life;
	uint8_t share_before, share_after; /* enum crit_share */
};

struct crit_step_sink { /* has the run's integrals where other processes replay other nodes */
	void *user;
	int (*add)(void *user, const struct crit_run_step *step); /* Errors: -ENOMEM. */
};

struct crit_engine {
	const struct crit_model *model;
	struct crit_thread *threads; /* by life */
	struct crit_scope_state run;
	struct crit_scope_state *nodes; /* NULL: one node, the same as run */
	const struct crit_step_sink *step_sink; /* NULL: all nodes are replayed here */
	struct crit_rank_state *run_ranks; /* NULL: no ranks */
	struct crit_rank_state *node_ranks;
	struct crit_rank_idle *rank_idles;
	crit_fix *reciprocals; /* of 1 .. reciprocal_count - 1 */
	size_t reciprocal_count;
	struct crit_buckets buckets;
	struct crit_blame blame;
	struct crit_rivals rivals;
	struct crit_node_queues *queues; /* by node */
	struct crit_teams teams;
	bool is_active[CRIT_STATE_COUNT][CRIT_CLASS_COUNT];
	uint64_t unbalanced;
	struct crit_listeners listeners;
	int error; /* the first -ENOMEM; everything after it is void */
};

/* step_sink: borrowed until fini; NULL: all nodes are replayed here.  Errors: -ENOMEM. */
int crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
		     enum crit_active_rule rule, const struct crit_step_sink *step_sink);
void crit_engine_fini(struct crit_engine *engine);

/* What happens to a life.  time_ns never goes back.  Cost: O(1) each. */
void crit_engine_set_state(struct crit_engine *engine, uint32_t life, enum crit_kernel_state state,
			   uint64_t time_ns);
/* A life has been runnable, of which it was on CPUs for so long. */
void crit_engine_set_yielded(struct crit_engine *engine, uint32_t life, uint64_t running_ns,
			     uint64_t time_ns);
void crit_engine_set_open(struct crit_engine *engine, uint32_t life, bool is_open,
			  uint64_t time_ns);
/* arg: of CRIT_S_ENTER; of a parallel region its instance.  Cost: O(members) where one ends. */
void crit_engine_enter(struct crit_engine *engine, uint32_t life,
		       const struct crit_bucket_key *told, uint64_t arg, uint64_t polled,
		       uint64_t time_ns);
void crit_engine_leave(struct crit_engine *engine, uint32_t life, uint32_t call, uint64_t time_ns);

/* Ends all spans of a life without counting them as unbalanced: exec, or a new tag. */
void crit_engine_clear_spans(struct crit_engine *engine, uint32_t life, uint64_t time_ns);

/* The class of a life's time outside all spans: user, or omp_idle of OpenMP workers. */
void crit_engine_set_base(struct crit_engine *engine, uint32_t life,
			  enum crit_span_class span_class, uint64_t time_ns);

/* Takes a step, in their order, once the run's integrals are those of its time: for a step sink. */
void crit_engine_step_run(struct crit_engine *engine, const struct crit_run_step *step);

/* Closes every segment at the end of the window. */
void crit_engine_finish(struct crit_engine *engine);

#endif
