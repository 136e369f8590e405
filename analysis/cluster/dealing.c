// SPDX-License-Identifier: BSD-3-Clause
// Rounds: steps go out to the owners of slices, integrals come back, steps are taken.
#include "analysis/cluster/dealing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool crit_dealing_plays(const struct crit_dealing *dealing, uint32_t node)
{
	return crit_peers_player(dealing->peers, node) == dealing->peers->rank;
}

static int exchange(struct crit_dealing *dealing)
{
	return dealing->peers->exchange(dealing->peers->user, dealing->to, dealing->from);
}

struct standing { /* how far a peer has come */
	uint64_t reached_ns; /* CRIT_TIME_MAX: all is played */
	int64_t rc;
};

/* What all have played, or what one failed with.  Errors: that, -ENOMEM, the transport's. */
static int agree(struct crit_dealing *dealing, const struct standing *own, uint64_t *ret_end_ns)
{
	struct standing standing;
	uint32_t i;
	int rc = 0;

	*ret_end_ns = CRIT_TIME_MAX;
	crit_parcels_empty(dealing->to, dealing->peers->count);
	for (i = 0; i < dealing->peers->count && !rc; i++)
		rc = crit_parcel_put(&dealing->to[i], own, sizeof(*own));
	if (!rc)
		rc = exchange(dealing);
	for (i = 0; i < dealing->peers->count && !rc; i++) {
		size_t at = 0;

		if (!crit_parcel_take(&dealing->from[i], &at, &standing, sizeof(standing)))
			return -EPROTO;
		if (standing.reached_ns < *ret_end_ns)
			*ret_end_ns = standing.reached_ns;
		rc = (int)standing.rc;
	}
	dealing->is_over |= rc != 0;
	return rc;
}

struct round {
	uint64_t begin_ns, end_ns;
	uint64_t played_ns; /* by all; the window may begin later */
	bool is_last;
};

static uint64_t cut_of(const struct crit_dealing *dealing, const struct round *round,
		       uint32_t slice)
{
	crit_fix length_ns = round->end_ns - round->begin_ns;

	return round->begin_ns + (uint64_t)(length_ns * slice / dealing->peers->count);
}

static int put_counts(struct crit_dealing *dealing, struct crit_parcel *parcel, size_t step_count)
{
	struct crit_slice_head head = { .note_count = step_count,
					.may_wait_active = dealing->counts.may_wait.active };
	struct crit_slice_count count;
	size_t i;
	int rc;

	memcpy(head.active, dealing->counts.active, sizeof(head.active));
	memcpy(head.live, dealing->counts.live, sizeof(head.live));
	for (i = 0; i < CRIT_BLAME_CALLS; i++)
		head.wait_count += dealing->waiting[i] != 0;
	for (i = 0; i < dealing->model->rank_count; i++)
		head.rank_count += dealing->ranks[i].active != 0;
	rc = crit_parcel_put(parcel, &head, sizeof(head));
	for (i = 0; i < CRIT_BLAME_CALLS && !rc; i++) {
		count = (struct crit_slice_count){ (uint32_t)i, dealing->waiting[i] };
		if (count.count)
			rc = crit_parcel_put(parcel, &count, sizeof(count));
	}
	for (i = 0; i < dealing->model->rank_count && !rc; i++) {
		count = (struct crit_slice_count){ (uint32_t)i, dealing->ranks[i].active };
		if (count.count)
			rc = crit_parcel_put(parcel, &count, sizeof(count));
	}
	return rc;
}

/* The call a thread waits in, 0 none. */
static uint16_t waits_in(uint8_t share, const struct crit_bucket *bucket)
{
	return share == CRIT_SHARE_WAITING ? bucket->key.call : 0;
}

/* Counts a step of an own thread; the note says what that changes. */
static struct crit_slice_note count_step(struct crit_dealing *dealing,
					 const struct crit_run_step *step)
{
	uint32_t part = dealing->model->lives[step->life].part;
	bool has_rank = part < dealing->model->rank_count;
	struct crit_rank_state *rank = has_rank ? &dealing->ranks[part] : NULL;
	struct crit_scope_state before = dealing->counts;
	struct crit_slice_note note = { .time_ns = step->time_ns,
					.rank = has_rank ? part : CRIT_NONE,
					.from_call = waits_in(step->share_before, step->from),
					.to_call = waits_in(step->share_after, step->to) };
	int unit;

	dealing->waiting[note.from_call] -= note.from_call != 0;
	dealing->waiting[note.to_call] += note.to_call != 0;
	if (rank && step->may_wait_change)
		crit_may_wait_count(&dealing->counts.may_wait, &rank->may_wait,
				    step->may_wait_change);
	note.may_wait_active = (int8_t)(dealing->counts.may_wait.active - before.may_wait.active);
	if (step->share_before == step->share_after)
		return note;
	crit_scope_count_in(&dealing->counts, rank, step->share_before, -1);
	crit_scope_count_in(&dealing->counts, rank, step->share_after, 1);
	for (unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		note.active[unit] = (int8_t)(dealing->counts.active[unit] - before.active[unit]);
		note.live[unit] = (int8_t)(dealing->counts.live[unit] - before.live[unit]);
	}
	return note;
}

/* Each slice's owner learns of the steps in it. */
static int pack_steps(struct crit_dealing *dealing, const struct round *round)
{
	uint32_t slices = dealing->peers->count, slice;
	size_t at = 0;
	int rc = 0;

	crit_parcels_empty(dealing->to, slices);
	for (slice = 0; slice < slices && !rc; slice++) {
		bool is_rest = round->is_last && slice + 1 == slices;
		uint64_t end_ns = is_rest ? UINT64_MAX : cut_of(dealing, round, slice + 1);
		size_t end = at;

		while (end < dealing->step_count && dealing->steps[end].time_ns < end_ns)
			end++;
		dealing->slice_steps[slice] = end - at;
		rc = put_counts(dealing, &dealing->to[slice], end - at);
		for (; at < end; at++) {
			struct crit_slice_note note = count_step(dealing, &dealing->steps[at]);

			if (!rc)
				rc = crit_parcel_put(&dealing->to[slice], &note, sizeof(note));
		}
	}
	return rc;
}

static void add_integrals(struct crit_scope_state *scope, const struct crit_scope_state *more)
{
	int unit;

	for (unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		scope->cmetric[unit] += more->cmetric[unit];
		scope->stall[unit] += more->stall[unit];
	}
	scope->waited += more->waited;
	scope->active_ns += more->active_ns;
	scope->nobody_ns += more->nobody_ns;
	scope->may_wait.cmetric += more->may_wait.cmetric;
}

/* The run's integrals are those of a slice's begin and what was earned since. */
static void set_run(struct crit_scope_state *run, const struct crit_scope_state *base,
		    const struct crit_marks *marks)
{
	int unit;

	for (unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		run->cmetric[unit] = base->cmetric[unit] + marks->cmetric[unit];
		run->stall[unit] = base->stall[unit] + marks->stall[unit];
	}
	run->waited = base->waited + marks->waited;
	run->active_ns = base->active_ns + marks->active_ns;
	run->may_wait.cmetric = base->may_wait.cmetric + marks->may_wait_cmetric;
}

/* Behind the integrals of the first slice come the messages of this peer's spans. */
static int take_messages(struct crit_dealing *dealing)
{
	const struct crit_parcel *parcel = &dealing->from[0];
	size_t at = dealing->slice_steps[0] * sizeof(struct crit_marks) +
		    sizeof(struct crit_scope_state);

	if (!dealing->pending)
		return 0;
	if (at > parcel->size)
		return -EPROTO;
	return crit_pending_take(dealing->pending, parcel->bytes + at, parcel->size - at);
}

static int take_steps(struct crit_dealing *dealing)
{
	struct crit_engine *engine = dealing->engine;
	struct crit_pending *pending = dealing->pending;
	struct crit_run_step *step = dealing->steps;
	struct crit_scope_state sum;
	struct crit_marks marks;
	uint32_t slice;
	int rc = take_messages(dealing);

	for (slice = 0; slice < dealing->peers->count && !rc; slice++) {
		const struct crit_parcel *parcel = &dealing->from[slice];
		uint64_t left = dealing->slice_steps[slice];
		size_t at = 0;

		for (; left && !rc; left--) {
			if (!crit_parcel_take(parcel, &at, &marks, sizeof(marks)))
				return -EPROTO;
			if (pending)
				rc = crit_pending_catch_up(pending, dealing->taken_steps, true);
			dealing->taken_steps++;
			set_run(&engine->run, &dealing->base, &marks);
			crit_engine_step_run(engine, step++);
		}
		if (rc)
			return rc;
		if (!crit_parcel_take(parcel, &at, &sum, sizeof(sum)))
			return -EPROTO;
		add_integrals(&dealing->base, &sum);
	}
	dealing->step_count -= (size_t)(step - dealing->steps);
	if (dealing->step_count)
		memmove(dealing->steps, step, dealing->step_count * sizeof(*step));
	return pending && !rc ? crit_pending_rest(pending, dealing->taken_steps) : rc;
}

static int own_slice(struct crit_dealing *dealing, const struct round *round)
{
	struct crit_slice_bounds bounds = {
		.begin_ns = cut_of(dealing, round, dealing->peers->rank),
		.end_ns = cut_of(dealing, round, dealing->peers->rank + 1),
		.window_end_ns = dealing->model->window_end_ns,
		.reciprocals = dealing->engine->reciprocals,
		.peer_count = dealing->peers->count,
	};
	size_t *ats = calloc(bounds.peer_count, sizeof(*ats));
	uint32_t i;
	int rc = ats ? 0 : -ENOMEM;

	crit_parcels_empty(dealing->to, bounds.peer_count);
	if (!rc)
		rc = crit_slice_add_up(&dealing->slice, &bounds, &dealing->engine->blame,
				       dealing->from, dealing->to);
	for (i = 0; i < bounds.peer_count && !rc; i++)
		ats[i] = dealing->slice.sources[i].at;
	if (!rc && !dealing->peers->rank)
		rc = crit_dealing_take_spans(dealing, ats);
	free(ats);
	return rc;
}

/* Who fails in its midst goes on with what it has, so that nobody waits for it for ever. */
static int hold_round(struct crit_dealing *dealing, uint64_t reached_ns)
{
	struct standing own = { .reached_ns = reached_ns };
	struct round round = { .begin_ns = dealing->begin_ns };
	int rc = agree(dealing, &own, &round.played_ns);
	int transport;

	if (rc)
		return rc;
	round.is_last = round.played_ns == CRIT_TIME_MAX;
	round.end_ns = round.is_last ? dealing->model->window_end_ns : round.played_ns;
	if (round.end_ns < round.begin_ns)
		round.end_ns = round.begin_ns;
	rc = pack_steps(dealing, &round);
	if (!rc)
		rc = crit_dealing_pack_spans(dealing, round.played_ns);
	transport = exchange(dealing);
	if (!rc && !transport)
		rc = own_slice(dealing, &round);
	if (!transport)
		transport = exchange(dealing);
	if (!rc && !transport)
		rc = take_steps(dealing);
	dealing->begin_ns = round.end_ns;
	if (!rc && !transport)
		dealing->is_over = round.is_last;
	return transport ? transport : rc;
}

static bool is_full(const struct crit_dealing *dealing)
{
	size_t most = dealing->peers->round_steps ? dealing->peers->round_steps
						  : CRIT_DEALING_STEPS;

	return dealing->step_count >= most ||
	       (dealing->pending && dealing->pending->count >= most) ||
	       dealing->spans.size >= most * sizeof(struct crit_run_step);
}

/* The event of played_ns was played: holds rounds while there is no room for the next one. */
static int look(void *user, uint64_t played_ns, uint64_t next_ns)
{
	struct crit_dealing *dealing = user;
	int rc = 0;

	/* only then does a round take all that this peer has, if it is the one that is behind */
	while (!rc && next_ns > played_ns && is_full(dealing))
		rc = hold_round(dealing, next_ns);
	return rc;
}

static int add_step(void *user, const struct crit_run_step *step)
{
	struct crit_dealing *dealing = user;
	int rc = crit_array_grow(&dealing->steps, &dealing->step_capacity, dealing->step_count + 1,
				 sizeof(*dealing->steps));

	if (!rc)
		dealing->steps[dealing->step_count++] = *step;
	dealing->added_steps++;
	return rc;
}

static bool has_node(void *user, uint32_t node)
{
	return crit_dealing_plays(user, node);
}

int crit_dealing_end(struct crit_dealing *dealing, int rc)
{
	struct standing own = { .reached_ns = CRIT_TIME_MAX };
	uint64_t end_ns;

	while (!rc && !dealing->is_over)
		rc = hold_round(dealing, CRIT_TIME_MAX);
	own.rc = rc;
	if (rc && !dealing->is_over)
		(void)agree(dealing, &own, &end_ns); /* tells the others */
	dealing->engine->run = dealing->base;
	return rc;
}

int crit_dealing_init(struct crit_dealing *dealing, const struct crit_peers *peers,
		      struct crit_model *model, struct crit_engine *engine,
		      struct crit_messages *messages, struct crit_pending *pending)
{
	*dealing = (struct crit_dealing){ .peers = peers,
					  .model = model,
					  .engine = engine,
					  .messages = messages,
					  .pending = pending,
					  .begin_ns = model->window_begin_ns,
					  .survey_losses = model->losses,
					  .step_sink = { dealing, add_step },
					  .share = { .user = dealing,
						     .has_node = has_node,
						     .add_span = crit_dealing_add_span,
						     .look = look } };
	dealing->ranks = calloc(model->rank_count + 1, sizeof(*dealing->ranks));
	dealing->slice_steps = calloc(peers->count, sizeof(*dealing->slice_steps));
	dealing->to = crit_parcels_create(peers->count);
	dealing->from = crit_parcels_create(peers->count);
	if (!dealing->ranks || !dealing->slice_steps || !dealing->to || !dealing->from)
		return -ENOMEM;
	return crit_slice_init(&dealing->slice, peers->count, (uint32_t)model->rank_count);
}

void crit_dealing_fini(struct crit_dealing *dealing)
{
	if (!dealing->peers)
		return;
	free(dealing->steps);
	free(dealing->spans.bytes);
	free(dealing->slots);
	free(dealing->ranks);
	free(dealing->slice_steps);
	crit_slice_fini(&dealing->slice);
	crit_parcels_destroy(dealing->to, dealing->peers->count);
	crit_parcels_destroy(dealing->from, dealing->peers->count);
}
