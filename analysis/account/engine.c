// SPDX-License-Identifier: BSD-3-Clause
// Keeps the integrals of the metric and attributes them to the segments of threads.
#include "analysis/account/engine.h"

#include <errno.h>
#include <stdlib.h>

static inline void advance(const struct crit_engine *engine, struct crit_scope_state *scope,
			   uint64_t time_ns)
{
	crit_scope_advance(scope, engine->reciprocals, engine->model->window_end_ns, time_ns);
}

/* Brings what one thread of a rank has earned up to its scope's integrals. */
static inline void advance_rank(const struct crit_engine *engine, struct crit_rank_state *rank,
				const struct crit_scope_state *scope)
{
	if (rank->active)
		rank->cmetric_each +=
			crit_metric_scale(scope->cmetric[CRIT_UNIT_RANKS] - rank->cmetric_mark,
					  engine->reciprocals[rank->active]);
	if (rank->live)
		rank->all_waiting_each += crit_metric_scale(scope->all_waiting[CRIT_UNIT_RANKS] -
								    rank->all_waiting_mark,
							    engine->reciprocals[rank->live]);
	rank->cmetric_mark = scope->cmetric[CRIT_UNIT_RANKS];
	rank->all_waiting_mark = scope->all_waiting[CRIT_UNIT_RANKS];
}

static inline void mark(struct crit_marks *marks, const struct crit_scope_state *scope,
			const struct crit_rank_state *rank)
{
	marks->cmetric[CRIT_UNIT_THREADS] = scope->cmetric[CRIT_UNIT_THREADS];
	marks->all_waiting[CRIT_UNIT_THREADS] = scope->all_waiting[CRIT_UNIT_THREADS];
	marks->waited = scope->waited;
	marks->active_ns = scope->active_ns;
	if (rank) {
		marks->cmetric[CRIT_UNIT_RANKS] = rank->cmetric_each;
		marks->all_waiting[CRIT_UNIT_RANKS] = rank->all_waiting_each;
	}
}

struct places { /* whose integrals concern a thread */
	struct crit_scope_state *node;
	struct crit_rank_state *run_rank;
	struct crit_rank_state *node_rank;
};

static inline struct places places_of(struct crit_engine *engine, const struct crit_thread *thread)
{
	bool has_rank = engine->run_ranks && thread->window < engine->model->rank_count;

	return (struct places){
		.node = engine->nodes ? &engine->nodes[thread->node] : NULL,
		.run_rank = has_rank ? &engine->run_ranks[thread->window] : NULL,
		.node_rank = has_rank && engine->nodes ? &engine->node_ranks[thread->window] : NULL,
	};
}

/* Pays a segment's earnings in one scope. */
static inline void attribute(crit_fix *cmetric, crit_fix *all_waiting,
			     const struct crit_marks *marks, const struct crit_scope_state *scope,
			     const struct crit_rank_state *rank, bool is_active)
{
	if (is_active) {
		cmetric[CRIT_UNIT_THREADS] +=
			scope->cmetric[CRIT_UNIT_THREADS] - marks->cmetric[CRIT_UNIT_THREADS];
		if (rank)
			cmetric[CRIT_UNIT_RANKS] +=
				rank->cmetric_each - marks->cmetric[CRIT_UNIT_RANKS];
		return;
	}
	all_waiting[CRIT_UNIT_THREADS] +=
		scope->all_waiting[CRIT_UNIT_THREADS] - marks->all_waiting[CRIT_UNIT_THREADS];
	if (rank)
		all_waiting[CRIT_UNIT_RANKS] +=
			rank->all_waiting_each - marks->all_waiting[CRIT_UNIT_RANKS];
}

static inline uint8_t share_of(const struct crit_engine *engine, const struct crit_thread *thread,
			       const struct crit_thread_account *account)
{
	if (thread->role != CRIT_THREAD_APP || !account->is_open || thread->window == CRIT_NONE ||
	    account->state == CRIT_STATE_NONE)
		return CRIT_SHARE_OUT;
	return engine->is_active[account->state][account->span_class] ? CRIT_SHARE_ACTIVE
								      : CRIT_SHARE_WAITING;
}

/* Tells who waits in which call, and whose threads were active until now. */
static void blame(struct crit_engine *engine, const struct crit_run_step *step, uint32_t window,
		  const struct crit_rank_state *rank)
{
	crit_fix integral = engine->run.cmetric[CRIT_UNIT_THREADS];
	int rc = 0;

	if (step->share_before == CRIT_SHARE_WAITING)
		rc = crit_blame_wait(&engine->blame, step->from->key.call, -1, integral);
	if (!rc && step->share_after == CRIT_SHARE_WAITING)
		rc = crit_blame_wait(&engine->blame, step->to->key.call, 1, integral);
	if (rc)
		engine->error = rc;
	if (rank && step->share_before != step->share_after &&
	    (step->share_before == CRIT_SHARE_ACTIVE || step->share_after == CRIT_SHARE_ACTIVE))
		crit_blame_settle(&engine->blame, window, rank->active, integral);
}

static inline void take_step(struct crit_engine *engine, const struct crit_run_step *step,
			     uint32_t window, struct crit_rank_state *rank)
{
	struct crit_thread_account *account = &engine->accounts[step->thread];
	struct crit_attribution *attributed = &step->from->attributed;
	bool was_active = step->share_before == CRIT_SHARE_ACTIVE;

	if (rank && step->may_wait_change)
		crit_may_wait_count(&engine->run.may_wait, &rank->may_wait, step->may_wait_change);
	if (step->share_before == step->share_after && step->from == step->to)
		return;
	if (rank)
		advance_rank(engine, rank, &engine->run);
	if (step->share_before != CRIT_SHARE_OUT)
		attribute(attributed->cmetric, attributed->all_waiting, &account->run, &engine->run,
			  rank, was_active);
	if (was_active)
		attributed->blame += engine->run.waited - account->run.waited;
	else if (step->share_before != CRIT_SHARE_OUT)
		attributed->waiting_ns += engine->run.active_ns - account->run.active_ns;
	if (!engine->step_sink && engine->blame.rank_count > 1)
		blame(engine, step, window, rank);
	if (step->share_before != step->share_after) {
		crit_scope_count_in(&engine->run, rank, step->share_before, -1);
		crit_scope_count_in(&engine->run, rank, step->share_after, 1);
	}
	mark(&account->run, &engine->run, rank);
}

void crit_engine_step_run(struct crit_engine *engine, const struct crit_run_step *step)
{
	const struct crit_thread *thread = &engine->model->threads[step->thread];

	take_step(engine, step, thread->window, places_of(engine, thread).run_rank);
}

/* The same for the scope of its node. */
static inline void step_node(struct crit_engine *engine, const struct crit_run_step *step,
			     const struct places *places)
{
	struct crit_node_account *account = &engine->node_accounts[step->thread];
	struct crit_rank_state *rank = places->node_rank;

	advance(engine, places->node, step->time_ns);
	if (rank)
		advance_rank(engine, rank, places->node);
	if (step->share_before != CRIT_SHARE_OUT)
		attribute(account->cmetric, account->all_waiting, &account->marks, places->node,
			  rank, step->share_before == CRIT_SHARE_ACTIVE);
	if (step->share_before != step->share_after) {
		crit_scope_count_in(places->node, rank, step->share_before, -1);
		crit_scope_count_in(places->node, rank, step->share_after, 1);
	}
	mark(&account->marks, places->node, rank);
}

/* Takes the step, or hands it to those who know the run's integrals. */
static inline void step_run(struct crit_engine *engine, const struct crit_run_step *step,
			    uint32_t window, struct crit_rank_state *rank)
{
	int rc;

	if (!engine->step_sink) {
		advance(engine, &engine->run, step->time_ns);
		take_step(engine, step, window, rank);
		return;
	}
	rc = engine->step_sink->add(engine->step_sink->user, step);
	if (rc)
		engine->error = rc;
}

/* A thread that idles, or a main thread, changed its share or bucket. */
static void note_idle(struct crit_engine *engine, const struct crit_thread *thread,
		      struct crit_thread_account *account, uint64_t time_ns)
{
	struct crit_rank_idle *rank = &engine->rank_idles[thread->window];
	unsigned int span_class = account->share == CRIT_SHARE_OUT
					  ? CRIT_CLASS_SETUP
					  : account->bucket->key.span_class;
	bool is_idle = span_class == CRIT_CLASS_OMP_IDLE;

	if (rank->is_main_in_mpi)
		rank->ns += (time_ns - rank->since_ns) * rank->idle;
	rank->since_ns = time_ns;
	rank->idle += (uint32_t)is_idle - (uint32_t)account->is_idle;
	account->is_idle = is_idle;
	if (account->is_main)
		rank->is_main_in_mpi = span_class >= CRIT_CLASS_MPI &&
				       span_class <= CRIT_CLASS_MPI_WAIT &&
				       account->member == CRIT_NONE;
}

/* Counts the threads of a node that wait for a CPU.  With n as it is from time_ns on. */
static inline void note_runnable(struct crit_engine *engine, uint32_t index, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[index];
	uint8_t share = account->state == CRIT_STATE_RUNNABLE ? account->share : CRIT_SHARE_OUT;
	struct crit_scope_state *scope;

	if (share == account->runnable)
		return;
	scope = engine->nodes ? &engine->nodes[engine->model->threads[index].node] : &engine->run;
	advance(engine, scope, time_ns);
	scope->runnable[account->runnable]--;
	scope->runnable[share]++;
	account->runnable = share;
}

static inline void resegment(struct crit_engine *engine, uint32_t index, struct crit_bucket *bucket,
			     uint64_t time_ns)
{
	const struct crit_thread *thread = &engine->model->threads[index];
	struct crit_thread_account *account = &engine->accounts[index];
	uint8_t share = share_of(engine, thread, account);
	bool is_may_wait_active = share != CRIT_SHARE_OUT &&
				  engine->is_may_wait_active[account->state][account->span_class];
	struct crit_run_step step;
	struct places places;

	if (share == account->share && bucket == account->bucket &&
	    is_may_wait_active == account->is_may_wait_active)
		return;
	if (share == CRIT_SHARE_OUT && account->share == CRIT_SHARE_OUT) {
		account->bucket = bucket;
		return;
	}
	step = (struct crit_run_step){ .time_ns = time_ns,
				       .from = account->bucket,
				       .to = bucket,
				       .thread = index,
				       .share_before = account->share,
				       .share_after = share,
				       .may_wait_change = (int8_t)(is_may_wait_active -
								   account->is_may_wait_active) };
	account->is_may_wait_active = is_may_wait_active;
	places = places_of(engine, thread);
	if (share == account->share && bucket == account->bucket) {
		step_run(engine, &step, thread->window, places.run_rank);
		return;
	}
	if (account->share != CRIT_SHARE_OUT)
		account->bucket->time_ns += time_ns - account->since_ns;
	if (places.node)
		step_node(engine, &step, &places);
	step_run(engine, &step, thread->window, places.run_rank);
	account->share = share;
	account->bucket = bucket;
	account->since_ns = time_ns;
	if (places.run_rank &&
	    (account->is_main || account->is_idle || bucket->key.span_class == CRIT_CLASS_OMP_IDLE))
		note_idle(engine, thread, account, time_ns);
}

void crit_engine_resegment(struct crit_engine *engine, uint32_t index, struct crit_bucket *bucket,
			   uint64_t time_ns)
{
	resegment(engine, index, bucket, time_ns);
	note_runnable(engine, index, time_ns);
}

/* Who ends in a call does not leave it. */
static void note_last_calls(struct crit_engine *engine)
{
	for (size_t i = 0; i < engine->model->thread_count; i++) {
		const struct crit_thread_account *account = &engine->accounts[i];
		const struct crit_span_frame *frame;

		if (!account->is_main || !account->depth)
			continue;
		frame = &account->spans[account->depth - 1];
		if (frame->span_class <= CRIT_CLASS_MPI_WAIT &&
		    crit_metric_is_waiting_class(frame->span_class))
			engine->last_calls[engine->model->threads[i].window] =
				(struct crit_last_call){ .call = frame->call,
							 .site = frame->bucket->key.site,
							 .since_ns = frame->enter_ns };
	}
}

/* Who polls when it ends, and did nothing else for some time, waits for so long. */
static void note_last_polls(struct crit_engine *engine)
{
	for (size_t i = 0; i < engine->model->stream_count; i++) {
		const struct crit_stream *stream = &engine->model->streams[i];
		const struct crit_thread_account *account;

		if (stream->thread == CRIT_NONE || !stream->has_end || !stream->end.open_call ||
		    stream->end.open_class != CRIT_CLASS_MPI_POLL)
			continue;
		account = &engine->accounts[stream->thread];
		if (account->is_main)
			engine->last_calls[engine->model->threads[stream->thread].window] =
				(struct crit_last_call){ .call = account->entered->key.call,
							 .site = account->entered->key.site,
							 .since_ns = account->entered_ns };
	}
}

void crit_engine_advance_to_end(struct crit_engine *engine)
{
	if (!engine->step_sink)
		advance(engine, &engine->run, engine->model->window_end_ns);
	for (size_t i = 0; i < engine->model->node_count && engine->nodes; i++)
		advance(engine, &engine->nodes[i], engine->model->window_end_ns);
	note_last_calls(engine);
	note_last_polls(engine);
}

static int allocate(struct crit_engine *engine, const struct crit_model *model)
{
	size_t ranks = model->rank_count;

	engine->reciprocal_count = model->thread_count + 2;
	engine->reciprocals = calloc(engine->reciprocal_count, sizeof(*engine->reciprocals));
	engine->accounts = crit_lines_alloc(model->thread_count + 1, sizeof(*engine->accounts));
	engine->queues = calloc(model->node_count + 1, sizeof(*engine->queues));
	if (!engine->reciprocals || !engine->accounts || !engine->queues)
		return -ENOMEM;
	if (model->node_count > 1 || engine->step_sink) {
		engine->nodes = calloc(model->node_count, sizeof(*engine->nodes));
		engine->node_accounts =
			crit_lines_alloc(model->thread_count + 1, sizeof(*engine->node_accounts));
		if (!engine->nodes || !engine->node_accounts)
			return -ENOMEM;
	}
	if (ranks) {
		engine->run_ranks = crit_lines_alloc(ranks, sizeof(*engine->run_ranks));
		engine->node_ranks = crit_lines_alloc(ranks, sizeof(*engine->node_ranks));
		engine->rank_idles = calloc(ranks, sizeof(*engine->rank_idles));
		engine->last_calls = calloc(ranks, sizeof(*engine->last_calls));
		if (!engine->run_ranks || !engine->node_ranks || !engine->rank_idles ||
		    !engine->last_calls)
			return -ENOMEM;
	}
	return 0;
}

/* The first thread of a process that is a rank. */
static bool is_main(const struct crit_model *model, const struct crit_thread *thread)
{
	const struct crit_process *process = &model->processes[thread->process];

	return process->rank != CRIT_NONE &&
	       (thread->tid == thread->tgid ||
		(process->ns_pid && thread->ns_tid == process->ns_pid));
}

static int prepare_threads(struct crit_engine *engine, const struct crit_model *model)
{
	for (size_t i = 0; i < model->thread_count; i++) {
		struct crit_thread_account *account = &engine->accounts[i];
		struct crit_bucket_key key = { .thread = (uint32_t)i,
					       .span_class = CRIT_CLASS_USER };

		account->base = crit_buckets_get(&engine->buckets, &key);
		if (!account->base)
			return -ENOMEM;
		account->bucket = account->base;
		account->entered = account->base;
		account->member = CRIT_NONE;
		account->idling = CRIT_NONE;
		account->span_class = CRIT_CLASS_USER;
		account->is_open = model->threads[i].window == CRIT_NONE;
		account->is_main = is_main(model, &model->threads[i]);
	}
	return 0;
}

/* CPUs of a node that the run may use, a part of one as one; if none are known, always enough. */
static uint32_t cpus_of(const struct crit_node *node)
{
	double usable = node->row.usable_cpus;
	uint32_t cpus = node->recording->file.cpu_count;

	if (usable > 0 && usable < cpus)
		cpus = (uint32_t)usable + (usable > (uint32_t)usable);
	return cpus ? cpus : UINT32_MAX;
}

int crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
		     enum crit_active_rule rule, const struct crit_step_sink *step_sink)
{
	int rc;

	*engine = (struct crit_engine){ .model = model, .step_sink = step_sink };
	crit_teams_init(&engine->teams);
	rc = allocate(engine, model);
	if (!rc)
		rc = prepare_threads(engine, model);
	if (!rc)
		rc = crit_preemptors_init(&engine->preemptors, model->thread_count);
	if (rc)
		return rc;
	crit_blame_init(&engine->blame, (uint32_t)model->rank_count);
	for (uint32_t i = 1; i < engine->reciprocal_count; i++)
		engine->reciprocals[i] = crit_metric_reciprocal(i);
	for (unsigned int state = 0; state < CRIT_STATE_COUNT; state++) {
		for (unsigned int span_class = 0; span_class < CRIT_CLASS_COUNT; span_class++) {
			engine->is_active[state][span_class] =
				crit_metric_is_active(rule, state, span_class);
			engine->is_may_wait_active[state][span_class] =
				rule == CRIT_ACTIVE_DEFAULT &&
				crit_metric_is_active(CRIT_ACTIVE_MAY_WAIT, state, span_class);
		}
	}
	engine->run.now_ns = model->window_begin_ns;
	engine->run.cpus = cpus_of(&model->nodes[0]);
	for (uint32_t i = 0; i < model->node_count && engine->nodes; i++) {
		engine->nodes[i].now_ns = model->window_begin_ns;
		engine->nodes[i].cpus = cpus_of(&model->nodes[i]);
	}
	return 0;
}

void crit_engine_fini(struct crit_engine *engine)
{
	for (size_t i = 0; engine->accounts && i < engine->model->thread_count; i++)
		free(engine->accounts[i].spans);
	crit_teams_fini(&engine->teams);
	crit_buckets_fini(&engine->buckets);
	crit_blame_fini(&engine->blame);
	crit_preemptors_fini(&engine->preemptors);
	for (size_t i = 0; engine->queues && i < engine->model->node_count; i++)
		free(engine->queues[i].cpus);
	free(engine->queues);
	free(engine->reciprocals);
	free(engine->accounts);
	free(engine->nodes);
	free(engine->node_accounts);
	free(engine->run_ranks);
	free(engine->node_ranks);
	free(engine->rank_idles);
	free(engine->last_calls);
}
