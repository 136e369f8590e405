// SPDX-License-Identifier: BSD-3-Clause
// The integrals of the metric, and the segments that take their share of them.
#include "analysis/engine.h"

#include <errno.h>
#include <stdlib.h>

static crit_fix reciprocal(const struct crit_engine *engine, uint32_t count)
{
	return engine->reciprocals[count];
}

/* Brings a scope's integrals up to time_ns. */
static inline void advance(const struct crit_engine *engine, struct crit_scope_state *scope,
			   uint64_t time_ns)
{
	uint32_t active = scope->active[CRIT_UNIT_THREADS];
	uint32_t live = scope->live[CRIT_UNIT_THREADS];
	uint64_t dt_ns;

	if (time_ns > engine->model->window_end_ns)
		time_ns = engine->model->window_end_ns;
	if (time_ns <= scope->now_ns)
		return;
	dt_ns = time_ns - scope->now_ns;
	scope->now_ns = time_ns;
	if (active) {
		crit_fix part = dt_ns * reciprocal(engine, active);

		scope->cmetric[CRIT_UNIT_THREADS] += part;
		scope->waited += part * (live - active);
		scope->active_ns += dt_ns;
		if (scope->active[CRIT_UNIT_RANKS])
			scope->cmetric[CRIT_UNIT_RANKS] +=
				dt_ns * reciprocal(engine, scope->active[CRIT_UNIT_RANKS]);
	} else if (live) {
		scope->stall[CRIT_UNIT_THREADS] += dt_ns * reciprocal(engine, live);
		if (scope->live[CRIT_UNIT_RANKS])
			scope->stall[CRIT_UNIT_RANKS] +=
				dt_ns * reciprocal(engine, scope->live[CRIT_UNIT_RANKS]);
	} else {
		scope->nobody_ns += dt_ns;
	}
}

/* Brings what one thread of a rank has earned up to its scope's integrals. */
static inline void advance_rank(const struct crit_engine *engine, struct crit_rank_state *rank,
				const struct crit_scope_state *scope)
{
	if (rank->active)
		rank->cmetric_each +=
			crit_metric_scale(scope->cmetric[CRIT_UNIT_RANKS] - rank->cmetric_mark,
					  reciprocal(engine, rank->active));
	if (rank->live)
		rank->stall_each +=
			crit_metric_scale(scope->stall[CRIT_UNIT_RANKS] - rank->stall_mark,
					  reciprocal(engine, rank->live));
	rank->cmetric_mark = scope->cmetric[CRIT_UNIT_RANKS];
	rank->stall_mark = scope->stall[CRIT_UNIT_RANKS];
}

static inline void mark(struct crit_marks *marks, const struct crit_scope_state *scope,
			const struct crit_rank_state *rank)
{
	marks->cmetric[CRIT_UNIT_THREADS] = scope->cmetric[CRIT_UNIT_THREADS];
	marks->stall[CRIT_UNIT_THREADS] = scope->stall[CRIT_UNIT_THREADS];
	marks->waited = scope->waited;
	marks->active_ns = scope->active_ns;
	if (rank) {
		marks->cmetric[CRIT_UNIT_RANKS] = rank->cmetric_each;
		marks->stall[CRIT_UNIT_RANKS] = rank->stall_each;
	}
}

struct places { /* whose integrals concern a life */
	struct crit_scope_state *node;
	struct crit_rank_state *run_rank;
	struct crit_rank_state *node_rank;
};

static inline struct places places_of(struct crit_engine *engine, const struct crit_life *life)
{
	bool has_rank = engine->run_ranks && life->part < engine->model->rank_count;

	return (struct places){
		.node = engine->nodes ? &engine->nodes[life->node] : NULL,
		.run_rank = has_rank ? &engine->run_ranks[life->part] : NULL,
		.node_rank = has_rank && engine->nodes ? &engine->node_ranks[life->part] : NULL,
	};
}

/* Brings all integrals that concern a life up to time_ns. */
static inline void advance_all(struct crit_engine *engine, const struct places *places,
			       uint64_t time_ns)
{
	advance(engine, &engine->run, time_ns);
	if (places->run_rank)
		advance_rank(engine, places->run_rank, &engine->run);
	if (!places->node)
		return;
	advance(engine, places->node, time_ns);
	if (places->node_rank)
		advance_rank(engine, places->node_rank, places->node);
}

/* Pays a segment's earnings in one scope. */
static inline void pay(crit_fix *cmetric, crit_fix *stall, const struct crit_marks *marks,
		       const struct crit_scope_state *scope, const struct crit_rank_state *rank,
		       bool is_active)
{
	if (is_active) {
		cmetric[CRIT_UNIT_THREADS] +=
			scope->cmetric[CRIT_UNIT_THREADS] - marks->cmetric[CRIT_UNIT_THREADS];
		if (rank)
			cmetric[CRIT_UNIT_RANKS] +=
				rank->cmetric_each - marks->cmetric[CRIT_UNIT_RANKS];
		return;
	}
	stall[CRIT_UNIT_THREADS] +=
		scope->stall[CRIT_UNIT_THREADS] - marks->stall[CRIT_UNIT_THREADS];
	if (rank)
		stall[CRIT_UNIT_RANKS] += rank->stall_each - marks->stall[CRIT_UNIT_RANKS];
}

static inline void close_segment(struct crit_engine *engine, struct crit_thread *thread,
				 const struct places *places, uint64_t time_ns)
{
	struct crit_earnings *earned = &thread->bucket->earned;
	bool is_active = thread->share == CRIT_SHARE_ACTIVE;

	if (thread->share == CRIT_SHARE_OUT)
		return;
	thread->bucket->time_ns += time_ns - thread->since_ns;
	pay(earned->cmetric, earned->stall, &thread->run, &engine->run, places->run_rank,
	    is_active);
	if (is_active)
		earned->waited_for += engine->run.waited - thread->run.waited;
	else
		earned->waiting_ns += engine->run.active_ns - thread->run.active_ns;
	if (places->node)
		pay(thread->node_cmetric, thread->node_stall, &thread->node, places->node,
		    places->node_rank, is_active);
}

static inline void count_in(struct crit_scope_state *scope, struct crit_rank_state *rank,
			    enum crit_share share, int step)
{
	uint32_t change = (uint32_t)step;

	if (share == CRIT_SHARE_OUT)
		return;
	scope->live[CRIT_UNIT_THREADS] += change;
	if (rank) {
		scope->live[CRIT_UNIT_RANKS] -= rank->live != 0;
		rank->live += change;
		scope->live[CRIT_UNIT_RANKS] += rank->live != 0;
	}
	if (share != CRIT_SHARE_ACTIVE)
		return;
	scope->active[CRIT_UNIT_THREADS] += change;
	if (rank) {
		scope->active[CRIT_UNIT_RANKS] -= rank->active != 0;
		rank->active += change;
		scope->active[CRIT_UNIT_RANKS] += rank->active != 0;
	}
}

static inline uint8_t share_of(const struct crit_engine *engine, const struct crit_life *life,
			       const struct crit_thread *thread)
{
	if (life->role != CRIT_THREAD_APP || !thread->is_open || life->part == CRIT_NONE ||
	    thread->state == CRIT_STATE_NONE)
		return CRIT_SHARE_OUT;
	return engine->is_active[thread->state][thread->span_class] ? CRIT_SHARE_ACTIVE
								    : CRIT_SHARE_WAITING;
}

/* The class a thread's time is in now: its innermost span's, or setup outside its part. */
static inline unsigned int class_now(const struct crit_thread *thread)
{
	return thread->is_open ? thread->span_class : CRIT_CLASS_SETUP;
}

/* To be called before state, class or part of a thread change. */
static inline void close_cell(struct crit_thread *thread, uint64_t time_ns)
{
	uint64_t dt_ns = time_ns > thread->cell_since_ns ? time_ns - thread->cell_since_ns : 0;

	if (thread->state != CRIT_STATE_NONE) {
		thread->cells.ns[thread->state][class_now(thread)] += dt_ns;
		thread->alive_ns += dt_ns;
	}
	thread->cell_since_ns = time_ns;
}

/* Moves a thread from its old share and bucket to the new ones in all counts. */
static void recount(struct crit_engine *engine, struct crit_thread *thread,
		    const struct crit_life *life, const struct places *places, uint8_t share,
		    const struct crit_bucket *bucket)
{
	crit_fix integral = engine->run.cmetric[CRIT_UNIT_THREADS];
	int rc = 0;

	if (thread->share == CRIT_SHARE_WAITING)
		rc = crit_blame_wait(&engine->blame, thread->bucket->key.call, -1, integral);
	if (!rc && share == CRIT_SHARE_WAITING)
		rc = crit_blame_wait(&engine->blame, bucket->key.call, 1, integral);
	if (rc)
		engine->error = rc;
	if (share == thread->share)
		return;
	if (places->run_rank && (share == CRIT_SHARE_ACTIVE || thread->share == CRIT_SHARE_ACTIVE))
		crit_blame_settle(&engine->blame, life->part, places->run_rank->active, integral);
	count_in(&engine->run, places->run_rank, thread->share, -1);
	count_in(&engine->run, places->run_rank, share, 1);
	if (places->node) {
		count_in(places->node, places->node_rank, thread->share, -1);
		count_in(places->node, places->node_rank, share, 1);
	}
}

/* Ends the running segment if the thread's share or bucket is another now, and begins the next. */
static void resegment(struct crit_engine *engine, uint32_t index, struct crit_bucket *bucket,
		      uint64_t time_ns)
{
	const struct crit_life *life = &engine->model->lives[index];
	struct crit_thread *thread = &engine->threads[index];
	uint8_t share = share_of(engine, life, thread);
	struct places places;

	if (share == thread->share && bucket == thread->bucket)
		return;
	if (share == CRIT_SHARE_OUT && thread->share == CRIT_SHARE_OUT) {
		thread->bucket = bucket;
		return;
	}
	places = places_of(engine, life);
	advance_all(engine, &places, time_ns);
	close_segment(engine, thread, &places, time_ns);
	recount(engine, thread, life, &places, share, bucket);
	thread->share = share;
	thread->bucket = bucket;
	thread->since_ns = time_ns;
	mark(&thread->run, &engine->run, places.run_rank);
	if (places.node)
		mark(&thread->node, places.node, places.node_rank);
}

void crit_engine_set_state(struct crit_engine *engine, uint32_t life, enum crit_kernel_state state,
			   uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];

	close_cell(thread, time_ns);
	thread->state = (uint8_t)state;
	resegment(engine, life, thread->bucket, time_ns);
}

void crit_engine_set_open(struct crit_engine *engine, uint32_t life, bool is_open, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];

	close_cell(thread, time_ns);
	thread->is_open = is_open;
	resegment(engine, life, thread->bucket, time_ns);
}

static struct crit_bucket *find_bucket(struct crit_engine *engine, struct crit_thread *thread,
				       const struct crit_bucket_key *key)
{
	struct crit_bucket *guess = thread->bucket->follower;
	struct crit_bucket *bucket;

	if (guess && guess->key.site == key->site && guess->key.call == key->call &&
	    guess->key.span_class == key->span_class && guess->key.region == key->region &&
	    guess->key.life == key->life)
		return guess;
	bucket = crit_buckets_get(&engine->buckets, key);
	if (!bucket) {
		engine->error = -ENOMEM;
		return thread->base;
	}
	thread->bucket->follower = bucket;
	return bucket;
}

/* Makes depth spans the open ones. */
static void set_depth(struct crit_engine *engine, uint32_t life, uint32_t depth, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	const struct crit_span_frame *top = depth ? &thread->spans[depth - 1] : NULL;

	close_cell(thread, time_ns);
	thread->depth = depth;
	thread->span_class = top ? top->span_class : CRIT_CLASS_USER;
	resegment(engine, life, top ? top->bucket : thread->base, time_ns);
}

static bool is_mpi_call(uint32_t call)
{
	return call > 0 && call < CRIT_CALL_OMP_FIRST;
}

/* Calls inside an MPI call are not recorded: whoever enters another one has left it. */
static void end_lost_call(struct crit_engine *engine, uint32_t life, uint64_t time_ns)
{
	const struct crit_thread *thread = &engine->threads[life];
	uint32_t depth = 0;

	while (depth < thread->depth && !is_mpi_call(thread->spans[depth].call))
		depth++;
	if (depth == thread->depth)
		return;
	engine->unbalanced++;
	set_depth(engine, life, depth, time_ns);
}

void crit_engine_enter(struct crit_engine *engine, uint32_t life, const struct crit_bucket_key *key,
		       uint64_t polled, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	struct crit_bucket *bucket = find_bucket(engine, thread, key);

	if (is_mpi_call(key->call))
		end_lost_call(engine, life, time_ns);
	if (thread->depth >= CRIT_SPAN_DEPTH) {
		engine->unbalanced++;
		return;
	}
	close_cell(thread, time_ns);
	thread->spans[thread->depth++] =
		(struct crit_span_frame){ bucket, key->call, key->span_class };
	thread->span_class = key->span_class;
	resegment(engine, life, bucket, time_ns);
	if (thread->share != CRIT_SHARE_OUT) {
		bucket->visits++;
		bucket->polled += polled;
	}
}

void crit_engine_leave(struct crit_engine *engine, uint32_t life, uint32_t call, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	uint32_t depth = thread->depth;

	if (depth && thread->spans[depth - 1].call == call) {
		set_depth(engine, life, depth - 1, time_ns);
		return;
	}
	engine->unbalanced++;
	while (depth && thread->spans[depth - 1].call != call)
		depth--;
	if (depth) /* leaves were lost: the outer span ends, and with it all inside */
		set_depth(engine, life, depth - 1, time_ns);
}

void crit_engine_clear_spans(struct crit_engine *engine, uint32_t life, uint64_t time_ns)
{
	if (engine->threads[life].depth)
		set_depth(engine, life, 0, time_ns);
}

void crit_engine_finish(struct crit_engine *engine)
{
	size_t i;

	for (i = 0; i < engine->model->life_count; i++)
		crit_engine_set_state(engine, (uint32_t)i, CRIT_STATE_NONE,
				      engine->model->lives[i].death_ns);
	advance(engine, &engine->run, engine->model->window_end_ns);
	for (i = 0; i < engine->model->node_count && engine->nodes; i++)
		advance(engine, &engine->nodes[i], engine->model->window_end_ns);
}

static int allocate(struct crit_engine *engine, const struct crit_model *model)
{
	size_t ranks = model->rank_count;

	engine->reciprocal_count = model->life_count + 2;
	engine->reciprocals = calloc(engine->reciprocal_count, sizeof(*engine->reciprocals));
	engine->threads = calloc(model->life_count + 1, sizeof(*engine->threads));
	if (!engine->reciprocals || !engine->threads)
		return -ENOMEM;
	if (model->node_count > 1) {
		engine->nodes = calloc(model->node_count, sizeof(*engine->nodes));
		if (!engine->nodes)
			return -ENOMEM;
	}
	if (ranks) {
		engine->run_ranks = calloc(ranks, sizeof(*engine->run_ranks));
		engine->node_ranks = calloc(ranks, sizeof(*engine->node_ranks));
		if (!engine->run_ranks || !engine->node_ranks)
			return -ENOMEM;
	}
	return 0;
}

static int prepare_threads(struct crit_engine *engine, const struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->life_count; i++) {
		struct crit_thread *thread = &engine->threads[i];
		struct crit_bucket_key key = { .life = (uint32_t)i, .span_class = CRIT_CLASS_USER };

		thread->base = crit_buckets_get(&engine->buckets, &key);
		if (!thread->base)
			return -ENOMEM;
		thread->bucket = thread->base;
		thread->span_class = CRIT_CLASS_USER;
		thread->is_open = model->lives[i].part == CRIT_NONE;
	}
	return 0;
}

int crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
		     enum crit_active_rule rule)
{
	unsigned int state, span_class;
	uint32_t i;
	int rc;

	*engine = (struct crit_engine){ .model = model };
	rc = allocate(engine, model);
	if (!rc)
		rc = prepare_threads(engine, model);
	if (rc) {
		crit_engine_fini(engine);
		return rc;
	}
	crit_blame_init(&engine->blame, (uint32_t)model->rank_count);
	for (i = 1; i < engine->reciprocal_count; i++)
		engine->reciprocals[i] = crit_metric_reciprocal(i);
	for (state = 0; state < CRIT_STATE_COUNT; state++) {
		for (span_class = 0; span_class < CRIT_CLASS_COUNT; span_class++)
			engine->is_active[state][span_class] =
				crit_metric_is_active(rule, state, span_class);
	}
	engine->run.now_ns = model->window_begin_ns;
	for (i = 0; i < model->node_count && engine->nodes; i++)
		engine->nodes[i].now_ns = model->window_begin_ns;
	return 0;
}

void crit_engine_fini(struct crit_engine *engine)
{
	crit_buckets_fini(&engine->buckets);
	crit_blame_fini(&engine->blame);
	free(engine->reciprocals);
	free(engine->threads);
	free(engine->nodes);
	free(engine->run_ranks);
	free(engine->node_ranks);
}
