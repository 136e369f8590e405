/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes time to threads: which are active, which wait, and the share of each.
 *
 * Per scope the engine keeps running integrals (of dt/n, of dt/w, …).  A thread notes where they
 * stand when its segment begins and takes the difference when it ends, so an event costs O(1)
 * however many threads there are.  In unit ranks a second level does the same inside each rank:
 * what one of its active threads has earned so far, brought up to date when their number changes.
 */
#ifndef CRIT_ENGINE_H
#define CRIT_ENGINE_H

#include "analysis/account/blame.h"
#include "analysis/account/bucket.h"
#include "analysis/account/listeners.h"
#include "analysis/account/metric.h"
#include "analysis/account/preemptors.h"
#include "analysis/account/step.h"
#include "analysis/account/teams.h"
#include "analysis/model/model.h"
#include "core/base/array.h"

#define CRIT_SPAN_DEPTH 1024u /* of a thread; more than a shim records */

struct crit_span_frame {
	struct crit_bucket *bucket;
	uint64_t arg; /* of CRIT_S_ENTER */
	uint64_t enter_ns;
	uint32_t member; /* of a team (analysis/account/teams.h), or CRIT_NONE */
	uint16_t call;
	uint8_t span_class;
	bool is_begun; /* counts among the times its region was begun */
	bool is_visit; /* counts among the visits of its bucket */
};

struct crit_thread_account { /* what each event of a thread needs comes first */
	struct crit_bucket *bucket; /* of the innermost span */
	uint64_t since_ns; /* begin of the segment */
	uint64_t cell_since_ns; /* begin of the present kernel state and class */
	uint64_t alive_ns;
	uint64_t busy_ns; /* on a CPU inside the window, waits left out */
	uint8_t state; /* enum crit_kernel_state; NONE while not alive */
	uint8_t span_class; /* of the innermost span */
	uint8_t share; /* enum crit_share */
	uint8_t runnable; /* the share it counts with among those that wait for a CPU, or OUT */
	bool is_open; /* its part of the window is */
	bool is_over; /* born and dead: nothing brings it back */
	bool is_main; /* of a rank */
	bool is_idle; /* counted in its rank's crit_rank_idle */
	bool is_may_wait_active; /* active if mpi_may_wait is */
	uint32_t depth; /* open spans */
	uint32_t member; /* of the innermost team it is in, or CRIT_NONE */
	struct crit_marks run;
	struct crit_queued queued; /* for a CPU */
	uint32_t hidden; /* open spans beyond CRIT_SPAN_DEPTH */
	uint32_t late; /* parallel regions that are over, but that it has not told the end of */
	struct crit_span_frame *spans;
	size_t span_capacity;
	struct crit_bucket *base; /* of no span */
	struct crit_bucket *entered; /* the last one, of which the follower is a guess */
	uint64_t entered_ns; /* since when it entered no other call, nor one from elsewhere */
	uint32_t idling; /* the member it was, idle until the instance is over, or CRIT_NONE */
	struct crit_cells cells;
	uint64_t yielded_ns; /* on CPUs in the present state RUNNABLE */
	struct crit_cut_span cut; /* the last one */
} CRIT_LINE_ALIGNED;

struct crit_engine {
	const struct crit_model *model;
	struct crit_thread_account *accounts; /* by thread */
	struct crit_scope_state run;
	struct crit_scope_state *nodes; /* NULL: one node, the same as run */
	struct crit_node_account *node_accounts; /* by thread; NULL: as nodes */
	const struct crit_step_sink *step_sink; /* NULL: all nodes are replayed here */
	struct crit_rank_state *run_ranks; /* NULL: no ranks */
	struct crit_rank_state *node_ranks;
	struct crit_rank_idle *rank_idles;
	struct crit_last_call *last_calls; /* by rank, once the end is reached */
	crit_fix *reciprocals; /* of 1 .. reciprocal_count - 1 */
	size_t reciprocal_count;
	struct crit_buckets buckets;
	struct crit_blame blame;
	struct crit_preemptors preemptors;
	struct crit_node_queues *queues; /* by node */
	struct crit_teams teams;
	bool is_active[CRIT_STATE_COUNT][CRIT_CLASS_COUNT];
	bool is_may_wait_active[CRIT_STATE_COUNT][CRIT_CLASS_COUNT]; /* default rule only */
	uint64_t unbalanced;
	struct crit_listeners listeners;
	int error; /* the first -ENOMEM; everything after it is void */
};

/* step_sink: borrowed until fini, due also after -ENOMEM; NULL: all nodes are replayed here. */
int crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
		     enum crit_active_rule rule, const struct crit_step_sink *step_sink);
void crit_engine_fini(struct crit_engine *engine);

/* Takes a step, in their order, once the run's integrals are those of its time: for a step sink. */
void crit_engine_step_run(struct crit_engine *engine, const struct crit_run_step *step);

/* Brings all integrals up to the end of the window, and notes where the ranks are then. */
void crit_engine_advance_to_end(struct crit_engine *engine);

/* The class a thread's time is in now: its innermost span's, or setup outside its part. */
static inline unsigned int crit_engine_class_now(const struct crit_thread_account *account)
{
	return account->is_open ? account->span_class : CRIT_CLASS_SETUP;
}

/* On a CPU since its cell began: what of that lies in the window, unless it waits meanwhile. */
static inline uint64_t crit_engine_busy_since(const struct crit_engine *engine,
					      const struct crit_thread_account *account,
					      unsigned int span_class, uint64_t time_ns)
{
	uint64_t begin_ns = engine->model->window_begin_ns;

	if (span_class == CRIT_CLASS_SETUP || crit_metric_is_waiting_class(span_class))
		return 0;
	if (begin_ns < account->cell_since_ns)
		begin_ns = account->cell_since_ns;
	if (time_ns > engine->model->window_end_ns)
		time_ns = engine->model->window_end_ns;
	return time_ns > begin_ns ? time_ns - begin_ns : 0;
}

/* To be called before state, class or part of a thread change. */
static inline void crit_engine_close_cell(const struct crit_engine *engine,
					  struct crit_thread_account *account, uint64_t time_ns)
{
	uint64_t dt_ns = time_ns > account->cell_since_ns ? time_ns - account->cell_since_ns : 0;
	unsigned int span_class = crit_engine_class_now(account);

	if (account->state != CRIT_STATE_NONE) {
		account->cells.ns[account->state][span_class] += dt_ns;
		account->alive_ns += dt_ns;
		if (account->state == CRIT_STATE_RUNNING || account->state == CRIT_STATE_ASSUMED) {
			account->busy_ns +=
				crit_engine_busy_since(engine, account, span_class, time_ns);
			if (account->share != CRIT_SHARE_OUT)
				account->bucket->running_ns += dt_ns;
		}
	}
	account->cell_since_ns = time_ns;
}

/* Ends the running segment if the thread's share or bucket is another now, and begins the next. */
void crit_engine_resegment(struct crit_engine *engine, uint32_t thread, struct crit_bucket *bucket,
			   uint64_t time_ns);

#endif
