// SPDX-License-Identifier: BSD-3-Clause
// Applies the events of a thread to its account: kernel state, window, spans, ends of teams.
#include "analysis/account/engine_spans.h"

#include <errno.h>

#include "analysis/account/barriers.h"
#include "analysis/account/engine_queues.h"
#include "core/base/call.h"

/* Threads mostly do one call after the other as they did before. */
static struct crit_bucket *find_bucket(struct crit_engine *engine,
				       struct crit_thread_account *account,
				       const struct crit_bucket_key *key, uint64_t time_ns)
{
	struct crit_bucket *bucket = account->entered->follower;

	if (!bucket || bucket->key.site != key->site || bucket->key.call != key->call ||
	    bucket->key.span_class != key->span_class || bucket->key.region != key->region ||
	    bucket->key.thread != key->thread) {
		bucket = crit_buckets_get(&engine->buckets, key);
		if (!bucket) {
			engine->error = -ENOMEM;
			return account->base;
		}
		account->entered->follower = bucket;
	}
	if (bucket != account->entered && (bucket->key.site != account->entered->key.site ||
					   bucket->key.call != account->entered->key.call))
		account->entered_ns = time_ns;
	account->entered = bucket;
	return bucket;
}

static bool is_mpi_call(uint32_t call)
{
	return call > 0 && call < CRIT_CALL_OMP_FIRST;
}

/* A construct's span ends: its region's elapsed time, and its team. */
static void end_construct(struct crit_engine *engine, uint32_t thread,
			  struct crit_span_frame *frame, uint64_t time_ns, bool is_dead)
{
	if (frame->is_begun) {
		uint64_t close_ns =
			engine->model->windows[engine->model->threads[thread].window].close_ns;

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
static void set_depth(struct crit_engine *engine, uint32_t thread, uint32_t depth, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	const struct crit_span_frame *top = depth ? &account->spans[depth - 1] : NULL;

	crit_engine_close_cell(engine, account, time_ns);
	for (uint32_t i = account->depth; i > depth; i--) {
		if (account->spans[i - 1].call >= CRIT_CALL_OMP_FIRST)
			end_construct(engine, thread, &account->spans[i - 1], time_ns, false);
		else if (account->spans[i - 1].is_visit)
			add_duration(&account->spans[i - 1], time_ns);
	}
	account->depth = depth;
	account->span_class = top ? top->span_class : account->base->key.span_class;
	crit_barriers_leave(engine, thread, time_ns);
	crit_engine_resegment(engine, thread, top ? top->bucket : account->base, time_ns);
	crit_listeners_emit(&engine->listeners, CRIT_EVENT_LEAVE,
			    &(struct crit_event){ .time_ns = time_ns, .thread = thread });
}

/* A process is killed: where its workers are then is worth knowing. */
static void note_cut(struct crit_thread_account *account, uint64_t time_ns)
{
	const struct crit_span_frame *top = account->depth ? &account->spans[account->depth - 1]
							   : NULL;

	if (top)
		account->cut = (struct crit_cut_span){ .bucket = top->bucket,
						       .since_ns = top->enter_ns,
						       .until_ns = time_ns };
}

/* A member of an instance that is over: its spans of it end. */
static void dismiss(struct crit_engine *engine, const struct crit_team_member *member,
		    uint64_t time_ns, bool is_dead)
{
	struct crit_thread_account *account = &engine->accounts[member->thread];
	uint32_t thread = member->thread;
	uint32_t depth = member->depth;

	if (member->has_left) {
		crit_engine_close_cell(engine, account, time_ns);
		crit_teams_end_idling(engine, thread);
		return;
	}
	for (uint32_t i = depth; i < account->depth; i++)
		account->late += account->spans[i].call == CRIT_CONSTRUCT_PARALLEL;
	account->hidden = 0;
	if (is_dead)
		note_cut(account, time_ns);
	set_depth(engine, thread, depth, time_ns);
}

/* Dismisses the members of instances that are over now.  is_dead: with the primary thread. */
static void dismiss_others(struct crit_engine *engine, uint64_t time_ns, bool is_dead)
{
	struct crit_teams *teams = &engine->teams;

	while (teams->ending != CRIT_NONE) {
		uint32_t index = teams->ending;
		uint32_t first;

		teams->ending = teams->instances[index].next;
		while ((first = teams->instances[index].first) != CRIT_NONE)
			dismiss(engine, &teams->members[first], time_ns, is_dead);
		crit_teams_end(teams, index);
	}
}

/* A thread is about to be gone, its cells are up to date: it leaves its teams. */
static void end_thread(struct crit_engine *engine, uint32_t thread, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];

	for (uint32_t i = account->depth; i > 0; i--) {
		if (account->spans[i - 1].call >= CRIT_CALL_OMP_FIRST)
			end_construct(engine, thread, &account->spans[i - 1], time_ns, true);
	}
	crit_teams_end_idling(engine, thread);
	dismiss_others(engine, time_ns, true);
}

void crit_engine_set_state(struct crit_engine *engine, uint32_t thread,
			   enum crit_kernel_state state, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	uint64_t yielded_ns = 0;

	if (account->queued.is_waiting)
		crit_queues_leave(engine, thread, time_ns);
	crit_engine_close_cell(engine, account, time_ns);
	if (state == CRIT_STATE_NONE)
		end_thread(engine, thread, time_ns);
	if (account->state == CRIT_STATE_RUNNABLE && state != CRIT_STATE_RUNNABLE) {
		yielded_ns = account->yielded_ns;
		account->yielded_ns = 0;
	}
	account->state = (uint8_t)state;
	crit_engine_resegment(engine, thread, account->bucket, time_ns);
	crit_listeners_emit(
		&engine->listeners, CRIT_EVENT_THREAD,
		&(struct crit_event){ .time_ns = time_ns, .arg = yielded_ns, .thread = thread });
}

void crit_engine_set_yielded(struct crit_engine *engine, uint32_t thread, uint64_t running_ns,
			     uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	unsigned int span_class = crit_engine_class_now(account);
	uint64_t *runnable_ns = &account->cells.ns[CRIT_STATE_RUNNABLE][span_class];

	crit_engine_close_cell(engine, account, time_ns);
	if (running_ns > *runnable_ns)
		running_ns = *runnable_ns;
	*runnable_ns -= running_ns;
	account->yielded_ns += running_ns;
	account->cells.ns[CRIT_STATE_RUNNING][span_class] += running_ns;
	if (account->share != CRIT_SHARE_OUT)
		account->bucket->running_ns += running_ns;
}

void crit_engine_set_open(struct crit_engine *engine, uint32_t thread, bool is_open,
			  uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];

	if (account->queued.is_waiting && !is_open)
		crit_queues_leave(engine, thread, time_ns);
	crit_engine_close_cell(engine, account, time_ns);
	account->is_open = is_open;
	crit_engine_resegment(engine, thread, account->bucket, time_ns);
	crit_listeners_emit(&engine->listeners, CRIT_EVENT_THREAD,
			    &(struct crit_event){ .time_ns = time_ns, .thread = thread });
}

/* Is it of an instance that is over for this thread?  Calls of MPI are the program's own. */
static bool is_late_enter(struct crit_engine *engine, uint32_t thread,
			  const struct crit_bucket_key *key, uint64_t arg)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	bool is_parallel = key->call == CRIT_CONSTRUCT_PARALLEL;

	if (is_mpi_call(key->call))
		return false;
	if (is_parallel) {
		if (!crit_teams_is_over(&engine->teams, engine->model->threads[thread].process,
					arg)) {
			account->late = 0;
			return false;
		}
		account->late++;
	}
	return account->late > 0;
}

static int grow_spans(struct crit_thread_account *account)
{
	return crit_array_grow(&account->spans, &account->span_capacity, account->depth + 1,
			       sizeof(*account->spans));
}

/* The member a thread becomes that enters a parallel region, or CRIT_NONE. */
static uint32_t join_team(struct crit_engine *engine, uint32_t thread, uint32_t region,
			  uint64_t arg)
{
	int64_t member;

	crit_teams_end_idling(engine, thread);
	if (!CRIT_INSTANCE_NUMBER(arg) || engine->accounts[thread].is_over)
		return CRIT_NONE;
	member = crit_teams_join(engine, thread, region, arg);
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
static bool make_room(struct crit_engine *engine, uint32_t thread, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];

	if (account->depth && is_mpi_call(account->spans[account->depth - 1].call)) {
		engine->unbalanced++; /* whoever enters something has left it */
		set_depth(engine, thread, account->depth - 1, time_ns);
	}
	if (account->depth >= CRIT_SPAN_DEPTH) {
		engine->unbalanced++;
		account->hidden++;
		return false;
	}
	if (account->depth == account->span_capacity && grow_spans(account)) {
		engine->error = -ENOMEM;
		return false;
	}
	return true;
}

void crit_engine_enter(struct crit_engine *engine, uint32_t thread,
		       const struct crit_bucket_key *key, uint64_t arg, uint64_t polled,
		       uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	struct crit_bucket_key in_team;
	struct crit_bucket *bucket;
	struct crit_span_frame *frame;

	if ((account->late || key->call == CRIT_CONSTRUCT_PARALLEL) &&
	    is_late_enter(engine, thread, key, arg))
		return;
	if (key->span_class == CRIT_CLASS_OMP_WAIT) {
		in_team = *key;
		in_team.span_class = crit_teams_class(&engine->teams, account->member, key);
		key = &in_team;
	}
	bucket = find_bucket(engine, account, key, time_ns);
	if (!make_room(engine, thread, time_ns))
		return;
	crit_engine_close_cell(engine, account, time_ns);
	crit_barriers_enter(engine, thread, key->call, time_ns);
	frame = &account->spans[account->depth];
	*frame = (struct crit_span_frame){ .bucket = bucket,
					   .arg = arg,
					   .enter_ns = time_ns,
					   .member = CRIT_NONE,
					   .call = key->call,
					   .span_class = key->span_class };
	if (key->call == CRIT_CONSTRUCT_PARALLEL)
		frame->member = join_team(engine, thread, key->region, arg);
	account->depth++;
	account->span_class = key->span_class;
	crit_engine_resegment(engine, thread, bucket, time_ns);
	if (account->share != CRIT_SHARE_OUT) {
		bucket->visits++;
		frame->is_visit = true;
		bucket->polled += polled;
		frame->is_begun = is_begin_of_region(key->call, arg);
		bucket->begun += frame->is_begun;
	}
	crit_listeners_emit(
		&engine->listeners, CRIT_EVENT_ENTER,
		&(struct crit_event){ .time_ns = time_ns, .arg = polled, .thread = thread });
}

void crit_engine_leave(struct crit_engine *engine, uint32_t thread, uint32_t call, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	uint32_t depth = account->depth;

	if (account->late &&
	    (!is_mpi_call(call) || !depth || account->spans[depth - 1].call != call)) {
		account->late -= call == CRIT_CONSTRUCT_PARALLEL;
		return;
	}
	if (account->hidden) {
		account->hidden--;
		return;
	}
	if (!depth || account->spans[depth - 1].call != call) {
		engine->unbalanced++;
		while (depth && account->spans[depth - 1].call != call)
			depth--;
	}
	if (!depth)
		return;
	/* had leaves been lost, the outer span ends, and with it all inside */
	set_depth(engine, thread, depth - 1, time_ns);
	dismiss_others(engine, time_ns, false);
}

void crit_engine_clear_spans(struct crit_engine *engine, uint32_t thread, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];

	account->late = 0;
	account->hidden = 0;
	if (!account->depth)
		return;
	set_depth(engine, thread, 0, time_ns);
	dismiss_others(engine, time_ns, false);
}

void crit_engine_set_base(struct crit_engine *engine, uint32_t thread,
			  enum crit_span_class span_class, uint64_t time_ns)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	struct crit_bucket_key key = { .thread = thread, .span_class = (uint8_t)span_class };
	const struct crit_event event = { .time_ns = time_ns, .thread = thread };
	struct crit_bucket *base;

	if (account->base->key.span_class == span_class)
		return;
	base = crit_buckets_get(&engine->buckets, &key);
	if (!base) {
		engine->error = -ENOMEM;
		return;
	}
	crit_engine_close_cell(engine, account, time_ns);
	if (!account->depth) {
		account->span_class = (uint8_t)span_class;
		crit_engine_resegment(engine, thread, base, time_ns);
		crit_listeners_emit(&engine->listeners, CRIT_EVENT_BASE_ENDS, &event);
	}
	account->base = base;
	if (!account->depth)
		crit_listeners_emit(&engine->listeners, CRIT_EVENT_BASE_BEGINS, &event);
}

void crit_engine_finish_thread(struct crit_engine *engine, uint32_t thread)
{
	crit_engine_set_state(engine, thread, CRIT_STATE_NONE,
			      engine->model->threads[thread].death_ns);
}
