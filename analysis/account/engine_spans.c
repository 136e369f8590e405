// SPDX-License-Identifier: BSD-3-Clause
// Takes the events of threads: kernel states, parts of the window, spans, and teams that end.
#include "analysis/account/engine_spans.h"

#include <errno.h>

#include "analysis/account/barriers.h"
#include "analysis/account/engine_queues.h"
#include "core/base/call.h"

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

static bool is_mpi_call(uint32_t call)
{
	return call > 0 && call < CRIT_CALL_OMP_FIRST;
}

/* A construct's span ends: its region's elapsed time, and its team. */
static void end_construct(struct crit_engine *engine, uint32_t life, struct crit_span_frame *frame,
			  uint64_t time_ns, bool is_dead)
{
	if (frame->is_begun) {
		uint64_t close_ns = engine->model->parts[engine->model->lives[life].part].close_ns;

		if (time_ns > close_ns)
			time_ns = close_ns;
		if (time_ns > frame->enter_ns)
			frame->bucket->elapsed_ns += time_ns - frame->enter_ns;
	}
	if (frame->member != CRIT_NONE)
		crit_teams_leave(engine, frame->member, is_dead);
	frame->is_begun = false;
	frame->member = CRIT_NONE;
}

static void add_duration(const struct crit_span_frame *frame, uint64_t time_ns)
{
	const uint64_t ns = time_ns > frame->enter_ns ? time_ns - frame->enter_ns : 0;

	crit_durations_add(&frame->bucket->durations, &(struct crit_durations){ 1, ns, ns, ns });
}

/* Makes depth spans the open ones. */
static void set_depth(struct crit_engine *engine, uint32_t life, uint32_t depth, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	const struct crit_span_frame *top = depth ? &thread->spans[depth - 1] : NULL;
	uint32_t i;

	crit_engine_close_cell(engine, thread, time_ns);
	for (i = thread->depth; i > depth; i--) {
		if (thread->spans[i - 1].call >= CRIT_CALL_OMP_FIRST)
			end_construct(engine, life, &thread->spans[i - 1], time_ns, false);
		else if (thread->spans[i - 1].is_visit)
			add_duration(&thread->spans[i - 1], time_ns);
	}
	thread->depth = depth;
	thread->span_class = top ? top->span_class : thread->base->key.span_class;
	crit_barriers_leave(engine, life, time_ns);
	crit_engine_resegment(engine, life, top ? top->bucket : thread->base, time_ns);
	crit_listeners_emit(&engine->listeners, CRIT_EVENT_LEAVE,
			    &(struct crit_event){ .time_ns = time_ns, .life = life });
}

/* A member of an instance that is over: its spans of it end. */
static void dismiss(struct crit_engine *engine, const struct crit_team_member *member,
		    uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[member->life];
	uint32_t life = member->life;
	uint32_t depth = member->depth, i;

	if (member->has_left) {
		crit_engine_close_cell(engine, thread, time_ns);
		crit_teams_end_idling(engine, life);
		return;
	}
	for (i = depth; i < thread->depth; i++)
		thread->late += thread->spans[i].call == CRIT_CONSTRUCT_PARALLEL;
	thread->hidden = 0;
	set_depth(engine, life, depth, time_ns);
}

/* Dismisses the members of instances that are over now. */
static void dismiss_others(struct crit_engine *engine, uint64_t time_ns)
{
	struct crit_teams *teams = &engine->teams;

	while (teams->ending != CRIT_NONE) {
		uint32_t index = teams->ending;
		uint32_t first;

		teams->ending = teams->instances[index].next;
		while ((first = teams->instances[index].first) != CRIT_NONE)
			dismiss(engine, &teams->members[first], time_ns);
		crit_teams_end(teams, index);
	}
}

/* A thread is about to be gone, its cells are up to date: it leaves its teams. */
static void end_thread(struct crit_engine *engine, uint32_t life, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	uint32_t i;

	for (i = thread->depth; i > 0; i--) {
		if (thread->spans[i - 1].call >= CRIT_CALL_OMP_FIRST)
			end_construct(engine, life, &thread->spans[i - 1], time_ns, true);
	}
	crit_teams_end_idling(engine, life);
	dismiss_others(engine, time_ns);
}

void crit_engine_set_state(struct crit_engine *engine, uint32_t life, enum crit_kernel_state state,
			   uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];

	if (thread->queued.is_waiting)
		crit_queues_leave(engine, life, time_ns);
	crit_engine_close_cell(engine, thread, time_ns);
	if (state == CRIT_STATE_NONE)
		end_thread(engine, life, time_ns);
	crit_engine_change_state(engine, life, state, time_ns);
	crit_listeners_emit(&engine->listeners, CRIT_EVENT_THREAD,
			    &(struct crit_event){ .time_ns = time_ns, .life = life });
}

void crit_engine_set_yielded(struct crit_engine *engine, uint32_t life, uint64_t running_ns,
			     uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	unsigned int span_class = crit_engine_class_now(thread);
	uint64_t *runnable_ns = &thread->cells.ns[CRIT_STATE_RUNNABLE][span_class];

	crit_engine_close_cell(engine, thread, time_ns);
	if (running_ns > *runnable_ns)
		running_ns = *runnable_ns;
	*runnable_ns -= running_ns;
	thread->cells.ns[CRIT_STATE_RUNNING][span_class] += running_ns;
	if (thread->share != CRIT_SHARE_OUT)
		thread->bucket->running_ns += running_ns;
}

void crit_engine_set_open(struct crit_engine *engine, uint32_t life, bool is_open, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];

	if (thread->queued.is_waiting && !is_open)
		crit_queues_leave(engine, life, time_ns);
	crit_engine_close_cell(engine, thread, time_ns);
	thread->is_open = is_open;
	crit_engine_resegment(engine, life, thread->bucket, time_ns);
	crit_listeners_emit(&engine->listeners, CRIT_EVENT_THREAD,
			    &(struct crit_event){ .time_ns = time_ns, .life = life });
}

/* Is it of an instance that is over for this thread?  Calls of MPI are the program's own. */
static bool is_late_enter(struct crit_engine *engine, uint32_t life,
			  const struct crit_bucket_key *key, uint64_t arg)
{
	struct crit_thread *thread = &engine->threads[life];
	bool is_parallel = key->call == CRIT_CONSTRUCT_PARALLEL;

	if (is_mpi_call(key->call))
		return false;
	if (is_parallel) {
		if (!crit_teams_is_over(&engine->teams, engine->model->lives[life].process, arg)) {
			thread->late = 0;
			return false;
		}
		thread->late++;
	}
	return thread->late > 0;
}

static int grow_spans(struct crit_thread *thread)
{
	return crit_array_grow(&thread->spans, &thread->span_capacity, thread->depth + 1,
			       sizeof(*thread->spans));
}

/* The member a thread becomes that enters a parallel region, or CRIT_NONE. */
static uint32_t join_team(struct crit_engine *engine, uint32_t life, uint32_t region, uint64_t arg)
{
	int64_t member;

	crit_teams_end_idling(engine, life);
	if (!CRIT_INSTANCE_NUMBER(arg) || engine->threads[life].is_over)
		return CRIT_NONE;
	member = crit_teams_join(engine, life, region, arg);
	if (member >= 0)
		return (uint32_t)member;
	engine->error = (int)member;
	return CRIT_NONE;
}

static bool is_begin_of_region(uint32_t call, uint64_t arg)
{
	return call == CRIT_CONSTRUCT_TASK || call == CRIT_CONSTRUCT_PHASE ||
	       (call == CRIT_CONSTRUCT_PARALLEL && arg & CRIT_INSTANCE_PRIMARY);
}

/* There is room for a span; calls inside an MPI call are not recorded. */
static bool make_room(struct crit_engine *engine, uint32_t life, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];

	if (thread->depth && is_mpi_call(thread->spans[thread->depth - 1].call)) {
		engine->unbalanced++; /* whoever enters something has left it */
		set_depth(engine, life, thread->depth - 1, time_ns);
	}
	if (thread->depth >= CRIT_SPAN_DEPTH) {
		engine->unbalanced++;
		thread->hidden++;
		return false;
	}
	if (thread->depth == thread->span_capacity && grow_spans(thread)) {
		engine->error = -ENOMEM;
		return false;
	}
	return true;
}

void crit_engine_enter(struct crit_engine *engine, uint32_t life,
		       const struct crit_bucket_key *told, uint64_t arg, uint64_t polled,
		       uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	struct crit_bucket_key key = *told;
	struct crit_bucket *bucket;
	struct crit_span_frame *frame;

	if ((thread->late || key.call == CRIT_CONSTRUCT_PARALLEL) &&
	    is_late_enter(engine, life, &key, arg))
		return;
	if (key.span_class == CRIT_CLASS_OMP_WAIT)
		key.span_class = crit_teams_class(&engine->teams, thread->member, &key);
	bucket = find_bucket(engine, thread, &key);
	if (!make_room(engine, life, time_ns))
		return;
	crit_engine_close_cell(engine, thread, time_ns);
	crit_barriers_enter(engine, life, key.call, time_ns);
	frame = &thread->spans[thread->depth];
	*frame = (struct crit_span_frame){ .bucket = bucket,
					   .arg = arg,
					   .enter_ns = time_ns,
					   .member = CRIT_NONE,
					   .call = key.call,
					   .span_class = key.span_class };
	if (key.call == CRIT_CONSTRUCT_PARALLEL)
		frame->member = join_team(engine, life, key.region, arg);
	thread->depth++;
	thread->span_class = key.span_class;
	crit_engine_resegment(engine, life, bucket, time_ns);
	if (thread->share != CRIT_SHARE_OUT) {
		bucket->visits++;
		frame->is_visit = true;
		bucket->polled += polled;
		frame->is_begun = is_begin_of_region(key.call, arg);
		bucket->begun += frame->is_begun;
	}
	crit_listeners_emit(
		&engine->listeners, CRIT_EVENT_ENTER,
		&(struct crit_event){ .time_ns = time_ns, .arg = polled, .life = life });
}

void crit_engine_leave(struct crit_engine *engine, uint32_t life, uint32_t call, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	uint32_t depth = thread->depth;

	if (thread->late &&
	    (!is_mpi_call(call) || !depth || thread->spans[depth - 1].call != call)) {
		thread->late -= call == CRIT_CONSTRUCT_PARALLEL;
		return;
	}
	if (thread->hidden) {
		thread->hidden--;
		return;
	}
	if (!depth || thread->spans[depth - 1].call != call) {
		engine->unbalanced++;
		while (depth && thread->spans[depth - 1].call != call)
			depth--;
	}
	if (!depth)
		return;
	/* had leaves been lost, the outer span ends, and with it all inside */
	set_depth(engine, life, depth - 1, time_ns);
	dismiss_others(engine, time_ns);
}

void crit_engine_clear_spans(struct crit_engine *engine, uint32_t life, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];

	thread->late = 0;
	thread->hidden = 0;
	if (!thread->depth)
		return;
	set_depth(engine, life, 0, time_ns);
	dismiss_others(engine, time_ns);
}

void crit_engine_set_base(struct crit_engine *engine, uint32_t life,
			  enum crit_span_class span_class, uint64_t time_ns)
{
	struct crit_thread *thread = &engine->threads[life];
	struct crit_bucket_key key = { .life = life, .span_class = (uint8_t)span_class };
	const struct crit_event event = { .time_ns = time_ns, .life = life };
	struct crit_bucket *base;

	if (thread->base->key.span_class == span_class)
		return;
	base = crit_buckets_get(&engine->buckets, &key);
	if (!base) {
		engine->error = -ENOMEM;
		return;
	}
	crit_engine_close_cell(engine, thread, time_ns);
	if (!thread->depth) {
		thread->span_class = (uint8_t)span_class;
		crit_engine_resegment(engine, life, base, time_ns);
		crit_listeners_emit(&engine->listeners, CRIT_EVENT_BASE_ENDS, &event);
	}
	thread->base = base;
	if (!thread->depth)
		crit_listeners_emit(&engine->listeners, CRIT_EVENT_BASE_BEGINS, &event);
}

void crit_engine_finish(struct crit_engine *engine)
{
	size_t i;

	for (i = 0; i < engine->model->life_count; i++)
		crit_engine_set_state(engine, (uint32_t)i, CRIT_STATE_NONE,
				      engine->model->lives[i].death_ns);
	crit_engine_advance_to_end(engine);
}
