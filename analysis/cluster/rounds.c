// SPDX-License-Identifier: BSD-3-Clause
// Distributed integration: exchanges state changes per time slice, applies the returned integrals.
#include "analysis/cluster/rounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool crit_rounds_plays(const struct crit_rounds *rounds, uint32_t node)
{
	return crit_transport_owner(rounds->transport, node) == rounds->transport->rank;
}

/* NULL: nobody gathers. */
static struct crit_gathering *gathering_of(const struct crit_rounds *rounds)
{
	struct crit_pending *pending = rounds->pending;

	return pending && crit_gathering_is_on(pending->gathering) ? pending->gathering : NULL;
}

/* Keeps the first error of what is gathered: the exchange goes on until all hear of it. */
static void note_told(struct crit_rounds *rounds, int rc)
{
	if (!rounds->told_rc)
		rounds->told_rc = rc;
}

void crit_rounds_pack_told(struct crit_rounds *rounds, const struct crit_replay_place *bound)
{
	struct crit_gathering *gathering = gathering_of(rounds);

	if (gathering && rounds->transport->rank)
		note_told(rounds, crit_gathering_pack(gathering, bound, &rounds->to[0]));
}

void crit_rounds_take_told(struct crit_rounds *rounds, uint32_t process, size_t at)
{
	struct crit_gathering *gathering = gathering_of(rounds);

	if (gathering && !rounds->transport->rank && process)
		note_told(rounds,
			  crit_gathering_take(gathering, process, &rounds->from[process], at));
}

void crit_rounds_tell(struct crit_rounds *rounds, const struct crit_replay_place *bound)
{
	struct crit_gathering *gathering = gathering_of(rounds);

	if (gathering && !rounds->transport->rank && !rounds->told_rc)
		note_told(rounds, crit_gathering_tell(gathering, bound));
}

/* Where this process goes on telling. */
static struct crit_replay_place bound_of(const struct crit_rounds *rounds)
{
	return rounds->pending ? crit_pending_bound(rounds->pending) : rounds->place;
}

static int exchange(struct crit_rounds *rounds)
{
	return rounds->transport->exchange(rounds->transport->user, rounds->to, rounds->from);
}

struct standing { /* how far an analysis process has come */
	uint64_t reached_ns; /* CRIT_TIME_MAX: all is replayed */
	int64_t rc;
};

/*
 * What all have replayed, or what one failed with; process 0 gets what others have told.  Errors:
 * that, -ENOMEM, the transport's.
 */
static int agree(struct crit_rounds *rounds, const struct standing *own, uint64_t *ret_end_ns)
{
	const struct crit_replay_place bound = bound_of(rounds);
	struct standing standing;
	int rc = 0;

	*ret_end_ns = CRIT_TIME_MAX;
	crit_exchange_buffers_empty(rounds->to, rounds->transport->count);
	for (uint32_t i = 0; i < rounds->transport->count && !rc; i++)
		rc = crit_exchange_buffer_put(&rounds->to[i], own, sizeof(*own));
	crit_rounds_pack_told(rounds, &bound);
	if (!rc)
		rc = exchange(rounds);
	for (uint32_t i = 0; i < rounds->transport->count && !rc; i++) {
		size_t at = 0;

		if (!crit_exchange_buffer_take(&rounds->from[i], &at, &standing, sizeof(standing)))
			return -EPROTO;
		if (standing.reached_ns < *ret_end_ns)
			*ret_end_ns = standing.reached_ns;
		rc = (int)standing.rc;
		if (!rc)
			crit_rounds_take_told(rounds, i, at);
	}
	if (!rc)
		crit_rounds_tell(rounds, &bound);
	rounds->is_over |= rc != 0;
	return rc;
}

struct round {
	uint64_t begin_ns, end_ns;
	uint64_t replayed_ns; /* by all; the window may begin later */
	bool is_last;
};

static uint64_t cut_of(const struct crit_rounds *rounds, const struct round *round, uint32_t slice)
{
	crit_fix length_ns = round->end_ns - round->begin_ns;

	return round->begin_ns + (uint64_t)(length_ns * slice / rounds->transport->count);
}

static int put_count(struct crit_exchange_buffer *buffer, size_t number, uint32_t count)
{
	const struct crit_time_slice_count row = { (uint32_t)number, count };

	return crit_exchange_buffer_put(buffer, &row, sizeof(row));
}

/* The head of a time slice, then what is not 0 of the counts, whose numbers it tells. */
static int put_counts(struct crit_rounds *rounds, struct crit_exchange_buffer *buffer,
		      size_t step_count)
{
	struct crit_time_slice_head head = { .note_count = step_count,
					     .may_wait_active = rounds->counts.may_wait.active };
	const size_t at = buffer->size;
	int rc;

	memcpy(head.active, rounds->counts.active, sizeof(head.active));
	memcpy(head.live, rounds->counts.live, sizeof(head.live));
	rc = crit_exchange_buffer_put(buffer, &head, sizeof(head));
	for (size_t i = 0; i < CRIT_BLAME_CALLS && !rc; i++) {
		if (!rounds->waiting[i])
			continue;
		head.wait_count++;
		rc = put_count(buffer, i, rounds->waiting[i]);
	}
	for (size_t i = 0; i < rounds->model->rank_count && !rc; i++) {
		if (!rounds->ranks[i].active)
			continue;
		head.rank_count++;
		rc = put_count(buffer, i, rounds->ranks[i].active);
	}
	if (!rc)
		memcpy(buffer->bytes + at, &head, sizeof(head));
	return rc;
}

/* The call a thread waits in, 0 none. */
static uint16_t waits_in(uint8_t share, const struct crit_bucket *bucket)
{
	return share == CRIT_SHARE_WAITING ? bucket->key.call : 0;
}

/* Counts a step of an own thread; the note says what that changes. */
static struct crit_time_slice_step count_step(struct crit_rounds *rounds,
					      const struct crit_run_step *step)
{
	uint32_t window = rounds->model->threads[step->thread].window;
	bool has_rank = window < rounds->model->rank_count;
	struct crit_rank_state *rank = has_rank ? &rounds->ranks[window] : NULL;
	struct crit_scope_state before = rounds->counts;
	struct crit_time_slice_step note = { .time_ns = step->time_ns,
					     .rank = has_rank ? window : CRIT_NONE,
					     .from_call = waits_in(step->share_before, step->from),
					     .to_call = waits_in(step->share_after, step->to),
					     .is_sample = step->is_sample };

	rounds->waiting[note.from_call] -= note.from_call != 0;
	rounds->waiting[note.to_call] += note.to_call != 0;
	if (rank && step->may_wait_change)
		crit_may_wait_count(&rounds->counts.may_wait, &rank->may_wait,
				    step->may_wait_change);
	note.may_wait_active = (int8_t)(rounds->counts.may_wait.active - before.may_wait.active);
	if (step->share_before == step->share_after)
		return note;
	crit_scope_count_in(&rounds->counts, rank, step->share_before, -1);
	crit_scope_count_in(&rounds->counts, rank, step->share_after, 1);
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		note.active[unit] = (int8_t)(rounds->counts.active[unit] - before.active[unit]);
		note.live[unit] = (int8_t)(rounds->counts.live[unit] - before.live[unit]);
	}
	return note;
}

/* Each time slice's owner learns of the steps in it. */
static int pack_steps(struct crit_rounds *rounds, const struct round *round)
{
	uint32_t slices = rounds->transport->count;
	size_t at = 0;
	int rc = 0;

	crit_exchange_buffers_empty(rounds->to, slices);
	for (uint32_t slice = 0; slice < slices && !rc; slice++) {
		bool is_rest = round->is_last && slice + 1 == slices;
		uint64_t end_ns = is_rest ? UINT64_MAX : cut_of(rounds, round, slice + 1);
		size_t end = at;

		while (end < rounds->step_count && rounds->steps[end].time_ns < end_ns)
			end++;
		rounds->answer_bytes[slice] = 0;
		rc = put_counts(rounds, &rounds->to[slice], end - at);
		for (; at < end; at++) {
			struct crit_time_slice_step note = count_step(rounds, &rounds->steps[at]);

			rounds->answer_bytes[slice] += note.is_sample ? sizeof(uint64_t)
								      : sizeof(struct crit_marks);
			if (!rc)
				rc = crit_exchange_buffer_put(&rounds->to[slice], &note,
							      sizeof(note));
		}
	}
	return rc;
}

static void add_integrals(struct crit_scope_state *scope, const struct crit_scope_state *more)
{
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		scope->cmetric[unit] += more->cmetric[unit];
		scope->all_waiting[unit] += more->all_waiting[unit];
	}
	scope->waited += more->waited;
	scope->active_ns += more->active_ns;
	scope->nobody_ns += more->nobody_ns;
	scope->may_wait.cmetric += more->may_wait.cmetric;
}

/* The run's integrals are those at the begin of a time slice plus the ones since. */
static void set_run(struct crit_scope_state *run, const struct crit_scope_state *base,
		    const struct crit_marks *marks)
{
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		run->cmetric[unit] = base->cmetric[unit] + marks->cmetric[unit];
		run->all_waiting[unit] = base->all_waiting[unit] + marks->all_waiting[unit];
	}
	run->waited = base->waited + marks->waited;
	run->active_ns = base->active_ns + marks->active_ns;
	run->may_wait.cmetric = base->may_wait.cmetric + marks->may_wait_cmetric;
}

/*
 * Behind the integrals of the first time slice come the messages of this analysis process's spans.
 */
static int take_messages(struct crit_rounds *rounds)
{
	const struct crit_exchange_buffer *buffer = &rounds->from[0];
	size_t at = rounds->answer_bytes[0] + sizeof(struct crit_scope_state);

	if (!rounds->pending)
		return 0;
	if (at > buffer->size)
		return -EPROTO;
	return crit_pending_take(rounds->pending, buffer->bytes + at, buffer->size - at);
}

/* The answer to a step lies at *at, which moves behind it. */
static int take_step(struct crit_rounds *rounds, const struct crit_run_step *step,
		     const struct crit_exchange_buffer *buffer, size_t *at)
{
	struct crit_marks marks;
	uint64_t active;

	if (step->is_sample) {
		if (!crit_exchange_buffer_take(buffer, at, &active, sizeof(active)) || !active ||
		    active > UINT32_MAX)
			return -EPROTO;
		crit_samples_weigh(rounds->samples, (uint32_t)active);
		return 0;
	}
	if (!crit_exchange_buffer_take(buffer, at, &marks, sizeof(marks)))
		return -EPROTO;
	set_run(&rounds->engine->run, &rounds->base, &marks);
	crit_engine_step_run(rounds->engine, step);
	return 0;
}

static int take_steps(struct crit_rounds *rounds)
{
	struct crit_pending *pending = rounds->pending;
	struct crit_run_step *step = rounds->steps;
	struct crit_scope_state sum;
	int rc = take_messages(rounds);

	for (uint32_t slice = 0; slice < rounds->transport->count && !rc; slice++) {
		const struct crit_exchange_buffer *buffer = &rounds->from[slice];
		size_t at = 0;

		while (at < rounds->answer_bytes[slice] && !rc) {
			if (pending)
				rc = crit_pending_catch_up(pending, rounds->applied_steps, true);
			rounds->applied_steps++;
			if (!rc)
				rc = take_step(rounds, step++, buffer, &at);
		}
		if (rc)
			return rc;
		if (!crit_exchange_buffer_take(buffer, &at, &sum, sizeof(sum)))
			return -EPROTO;
		add_integrals(&rounds->base, &sum);
	}
	rounds->step_count -= (size_t)(step - rounds->steps);
	if (rounds->step_count)
		memmove(rounds->steps, step, rounds->step_count * sizeof(*step));
	return pending && !rc ? crit_pending_rest(pending, rounds->applied_steps) : rc;
}

static int own_slice(struct crit_rounds *rounds, const struct round *round)
{
	struct crit_time_slice_bounds bounds = {
		.begin_ns = cut_of(rounds, round, rounds->transport->rank),
		.end_ns = cut_of(rounds, round, rounds->transport->rank + 1),
		.window_end_ns = rounds->model->window_end_ns,
		.reciprocals = rounds->engine->reciprocals,
		.process_count = rounds->transport->count,
	};
	size_t *ats = calloc(bounds.process_count, sizeof(*ats));
	int rc = ats ? 0 : -ENOMEM;

	crit_exchange_buffers_empty(rounds->to, bounds.process_count);
	if (!rc)
		rc = crit_time_slice_add_up(&rounds->slice, &bounds, &rounds->engine->blame,
					    rounds->from, rounds->to);
	for (uint32_t i = 0; i < bounds.process_count && !rc; i++)
		ats[i] = rounds->slice.sources[i].at;
	if (!rc && !rounds->transport->rank)
		rc = crit_span_exchange_take(&rounds->spans, rounds->from, ats, rounds->to);
	free(ats);
	return rc;
}

/* Who fails in its midst goes on with what it has, so that nobody waits for it for ever. */
static int hold_round(struct crit_rounds *rounds, uint64_t reached_ns)
{
	struct standing own = { .reached_ns = reached_ns, .rc = rounds->told_rc };
	struct round round = { .begin_ns = rounds->begin_ns };
	int rc = agree(rounds, &own, &round.replayed_ns);
	int failed;

	if (rc)
		return rc;
	round.is_last = round.replayed_ns == CRIT_TIME_MAX;
	round.end_ns = round.is_last ? rounds->model->window_end_ns : round.replayed_ns;
	if (round.end_ns < round.begin_ns)
		round.end_ns = round.begin_ns;
	rc = pack_steps(rounds, &round);
	if (!rc)
		rc = crit_span_exchange_pack(&rounds->spans, round.replayed_ns, &rounds->to[0]);
	failed = exchange(rounds);
	if (!rc && !failed)
		rc = own_slice(rounds, &round);
	if (!failed)
		failed = exchange(rounds);
	if (!rc && !failed)
		rc = take_steps(rounds);
	rounds->begin_ns = round.end_ns;
	if (!rc && !failed)
		rounds->is_over = round.is_last;
	return failed ? failed : rc;
}

static bool is_full(const struct crit_rounds *rounds)
{
	size_t most = rounds->transport->round_steps ? rounds->transport->round_steps
						     : CRIT_ROUNDS_STEPS;

	return rounds->step_count >= most || (rounds->pending && rounds->pending->count >= most) ||
	       rounds->spans.spans.size >= most * sizeof(struct crit_run_step);
}

/* The event of played_ns was replayed: holds rounds while there is no room for the next one. */
static int look(void *user, uint64_t replayed_ns, uint64_t next_ns)
{
	struct crit_rounds *rounds = user;
	int rc = 0;

	/*
	 * only then does a round take all that this analysis process has, if it is the one that is
	 * behind
	 */
	while (!rc && next_ns > replayed_ns && is_full(rounds))
		rc = hold_round(rounds, next_ns);
	return rc;
}

static int add_step(void *user, const struct crit_run_step *step)
{
	struct crit_rounds *rounds = user;
	int rc = crit_array_grow(&rounds->steps, &rounds->step_capacity, rounds->step_count + 1,
				 sizeof(*rounds->steps));

	if (!rc)
		rounds->steps[rounds->step_count++] = *step;
	rounds->added_steps++;
	return rc;
}

static int add_span(void *user, const struct crit_message_span *span, const struct crit_slot *slots,
		    size_t count)
{
	struct crit_rounds *rounds = user;

	return crit_span_exchange_add(&rounds->spans, span, slots, count);
}

static bool has_node(void *user, uint32_t node)
{
	return crit_rounds_plays(user, node);
}

int crit_rounds_end(struct crit_rounds *rounds, int rc)
{
	struct standing own = { .reached_ns = CRIT_TIME_MAX };
	uint64_t end_ns;

	while (!rc && !rounds->is_over)
		rc = hold_round(rounds, CRIT_TIME_MAX);
	own.rc = rc;
	if (rc && !rounds->is_over)
		(void)agree(rounds, &own, &end_ns); /* tells the others */
	rounds->engine->run = rounds->base;
	return rc;
}

int crit_rounds_init(struct crit_rounds *rounds, const struct crit_transport *transport,
		     struct crit_engine *engine, struct crit_samples *samples,
		     struct crit_messages *messages, struct crit_pending *pending)
{
	struct crit_model *model = messages->model;

	*rounds = (struct crit_rounds){ .transport = transport,
					.model = model,
					.engine = engine,
					.samples = samples,
					.spans = { .transport = transport,
						   .model = model,
						   .messages = messages,
						   .pending = pending },
					.pending = pending,
					.begin_ns = model->window_begin_ns,
					.index_losses = model->losses,
					.step_sink = { rounds, add_step },
					.share = { .user = rounds,
						   .has_node = has_node,
						   .add_span = add_span,
						   .look = look,
						   .place = &rounds->place } };
	rounds->ranks = calloc(model->rank_count + 1, sizeof(*rounds->ranks));
	rounds->answer_bytes = calloc(transport->count, sizeof(*rounds->answer_bytes));
	rounds->to = crit_exchange_buffers_create(transport->count);
	rounds->from = crit_exchange_buffers_create(transport->count);
	if (!rounds->ranks || !rounds->answer_bytes || !rounds->to || !rounds->from)
		return -ENOMEM;
	return crit_time_slice_init(&rounds->slice, transport->count, (uint32_t)model->rank_count);
}

void crit_rounds_fini(struct crit_rounds *rounds)
{
	if (!rounds->transport)
		return;
	free(rounds->steps);
	crit_span_exchange_fini(&rounds->spans);
	free(rounds->ranks);
	free(rounds->answer_bytes);
	crit_time_slice_fini(&rounds->slice);
	crit_exchange_buffers_destroy(rounds->to, rounds->transport->count);
	crit_exchange_buffers_destroy(rounds->from, rounds->transport->count);
}
