// SPDX-License-Identifier: BSD-3-Clause
// From the entries of a resolved film, all of one time together, to the steps of each thread.
#include "analysis/whatif/thread_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/film/film_meeting.h"
#include "core/base/array.h"
#include "core/base/map.h"

struct thread_state { /* of a thread, at the time that was read so far */
	uint64_t since_ns; /* all before is in its steps */
	uint64_t begin_ns; /* of its wait */
	uint64_t queued_ns; /* in its wait, since the last act that this needed */
	uint32_t bucket;
	uint32_t gate; /* of its wait; CRIT_NONE: it does not wait */
	size_t wait_step; /* index into its steps */
	bool is_queued, is_asleep;
};

struct times { /* of waits in a bucket, or of work on a node */
	uint64_t run_ns, queued_ns, asleep_ns;
};

struct gate_state {
	uint64_t last_ns; /* of the acts so far; 0: none */
	uint32_t thread; /* that waits; CRIT_NONE: not yet, or an object */
	bool is_needed; /* by others: what comes to the object from here on is not */
};

struct step_moment { /* an entry of the present time */
	struct crit_film_entry entry;
	uint32_t gate;
};

struct making {
	const struct crit_run_steps_options *options;
	struct crit_run_steps *steps;
	struct thread_state *threads;
	struct gate_state *states; /* of the gates */
	size_t state_capacity;
	struct times *waits, *work; /* by bucket, by node */
	struct crit_map open; /* waits by number and objects by name -> gate */
	struct step_moment *now;
	size_t count, capacity;
	size_t step_count;
	bool has_ended; /* a thread */
};

static bool is_object(uint32_t node)
{
	return node & CRIT_FILM_OBJECT;
}

static uint64_t key_of_object(uint32_t name)
{
	return 1ull << 32 | name;
}

/* Errors: -ENOMEM, -E2BIG. */
static int add_step(struct making *making, uint32_t thread, enum crit_step_kind kind, uint32_t of,
		    uint64_t ns)
{
	struct crit_thread_steps *steps = &making->steps->threads[thread];
	struct crit_step *last = steps->count ? &steps->rows[steps->count - 1] : NULL;
	int rc;

	if (kind <= CRIT_STEP_PAUSE && last && last->kind == kind && last->of == of) {
		last->ns += ns;
		return 0;
	}
	if (++making->step_count > making->options->steps_max)
		return -E2BIG;
	rc = crit_array_grow(&steps->rows, &steps->capacity, steps->count + 1,
			     sizeof(*steps->rows));
	if (!rc)
		steps->rows[steps->count++] = (struct crit_step){ ns, of, kind };
	return rc;
}

static void count_time(struct times *times, const struct thread_state *thread, uint64_t ns)
{
	if (thread->is_asleep)
		times->asleep_ns += ns;
	else if (thread->is_queued)
		times->queued_ns += ns;
	else
		times->run_ns += ns;
}

/* What the thread did up to now is in its steps. */
static int move_on(struct making *making, uint32_t number, uint64_t now_ns)
{
	struct thread_state *thread = &making->threads[number];
	const uint64_t ns = now_ns - thread->since_ns;
	struct times *work = &making->work[making->steps->threads[number].node];

	thread->since_ns = now_ns;
	if (!ns)
		return 0;
	if (thread->gate != CRIT_NONE) {
		if (thread->bucket != CRIT_FILM_NO_BUCKET)
			count_time(&making->waits[thread->bucket], thread, ns);
		thread->queued_ns += thread->is_queued ? ns : 0;
		return 0;
	}
	if (thread->bucket == CRIT_FILM_NO_BUCKET || thread->bucket == making->options->outside ||
	    thread->is_asleep)
		return add_step(making, number, CRIT_STEP_PAUSE, 0, ns);
	count_time(work, thread, ns);
	return thread->is_queued ? 0 : add_step(making, number, CRIT_STEP_WORK, thread->bucket, ns);
}

/* A new gate.  Errors: -ENOMEM. */
static int add_gate(struct making *making, uint32_t *ret_gate)
{
	struct crit_run_steps *steps = making->steps;
	const size_t at = steps->gate_count;
	int rc = crit_array_grow(&steps->gates, &steps->gate_capacity, at + 1,
				 sizeof(*steps->gates));

	if (!rc)
		rc = crit_array_grow(&making->states, &making->state_capacity, at + 1,
				     sizeof(*making->states));
	if (rc)
		return rc;
	steps->gates[at] = (struct crit_gate){ .first_follower = CRIT_NONE };
	making->states[at] = (struct gate_state){ .thread = CRIT_NONE };
	steps->gate_count++;
	*ret_gate = (uint32_t)at;
	return 0;
}

static int obtain_gate(struct making *making, uint64_t key, uint32_t *ret_gate)
{
	int rc;

	*ret_gate = crit_map_get(&making->open, key);
	if (*ret_gate != CRIT_NONE)
		return 0;
	rc = add_gate(making, ret_gate);
	return rc ? rc : crit_map_set(&making->open, key, *ret_gate);
}

/* A gate needs another one. */
static int follow(struct making *making, uint32_t gate, uint32_t needed)
{
	struct crit_run_steps *steps = making->steps;
	int rc = crit_array_grow(&steps->followers, &steps->follower_capacity,
				 steps->follower_count + 1, sizeof(*steps->followers));

	if (rc)
		return rc;
	steps->followers[steps->follower_count] =
		(struct crit_gate_follower){ gate, steps->gates[needed].first_follower };
	steps->gates[needed].first_follower = (uint32_t)steps->follower_count++;
	return 0;
}

static bool is_act(const struct crit_film_entry *entry)
{
	return entry->type == CRIT_FILM_CAUSE || entry->type == CRIT_FILM_NEED ||
	       entry->type == CRIT_FILM_ARRIVAL;
}

/* What comes to an object after others needed it opens a gate of its own, with the one before. */
static int renew_object(struct making *making, struct step_moment *moment)
{
	const uint32_t before = moment->gate;
	int rc = add_gate(making, &moment->gate);

	if (!rc)
		rc = crit_map_set(&making->open, key_of_object(moment->entry.number), moment->gate);
	if (rc)
		return rc;
	making->steps->gates[moment->gate].acts = 1;
	return follow(making, moment->gate, before);
}

/* The thread that a moment is about goes on from here with its act, and takes no CPU before. */
static int wait_for_act(struct making *making, struct step_moment *moment)
{
	int rc = add_gate(making, &moment->gate);

	if (rc)
		return rc;
	making->steps->gates[moment->gate].acts = 1;
	making->steps->gates[moment->gate].bucket = CRIT_FILM_NO_BUCKET;
	return add_step(making, moment->entry.number, CRIT_STEP_WAIT, moment->gate, 0);
}

/* The thread begins when its creator makes it: what was before is none of its steps. */
static int begin_child(struct making *making, struct step_moment *moment)
{
	const uint32_t number = moment->entry.number;
	struct crit_thread_steps *steps;
	int rc;

	moment->gate = CRIT_NONE;
	if (number >= making->options->thread_count)
		return -EPROTO;
	steps = &making->steps->threads[number];
	if (making->threads[number].gate != CRIT_NONE || steps->count > 1)
		return 0; /* it was there before */
	rc = move_on(making, number, moment->entry.time_ns);
	if (rc)
		return rc;
	making->step_count -= steps->count;
	steps->count = 0;
	return wait_for_act(making, moment);
}

/* From the begin of its sleep the thread waits for its waker, and takes no CPU. */
static int wake_thread(struct making *making, struct step_moment *moment)
{
	const uint32_t number = moment->entry.number;
	struct thread_state *thread;

	moment->gate = CRIT_NONE;
	if (number >= making->options->thread_count)
		return -EPROTO;
	thread = &making->threads[number];
	if (!thread->is_asleep || thread->gate != CRIT_NONE || moment->entry.node == number)
		return 0;
	thread->since_ns = moment->entry.time_ns;
	return wait_for_act(making, moment);
}

/* Before all else of its time: a gate has one act more. */
static int count_act(struct making *making, struct step_moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;
	const bool is_arrival = entry->type == CRIT_FILM_ARRIVAL;
	struct gate_state *state;
	int rc;

	if (entry->type == CRIT_FILM_BIRTH)
		return begin_child(making, moment);
	if (entry->type == CRIT_FILM_WOKEN)
		return wake_thread(making, moment);
	if (!is_act(entry))
		return 0;
	if (is_object(entry->node) &&
	    crit_map_get(&making->open, key_of_object(entry->node)) == CRIT_NONE) {
		moment->gate = CRIT_NONE; /* nobody was seen there */
		return 0;
	}
	rc = obtain_gate(making, is_arrival ? key_of_object(entry->number) : entry->number,
			 &moment->gate);
	if (!rc && is_arrival && making->states[moment->gate].is_needed)
		rc = renew_object(making, moment);
	if (rc)
		return rc;
	making->steps->gates[moment->gate].acts++;
	state = &making->states[moment->gate];
	state->last_ns = entry->time_ns;
	if (state->thread == CRIT_NONE)
		return 0;
	rc = move_on(making, state->thread, entry->time_ns);
	making->threads[state->thread].queued_ns = 0;
	return rc;
}

static int take_wait(struct making *making, const struct crit_film_entry *entry)
{
	struct thread_state *thread = &making->threads[entry->node];
	int rc = thread->gate == CRIT_NONE ? obtain_gate(making, entry->number, &thread->gate)
					   : -EPROTO;

	if (rc)
		return rc;
	making->states[thread->gate].thread = entry->node;
	making->steps->gates[thread->gate].bucket = thread->bucket;
	thread->begin_ns = entry->time_ns;
	thread->queued_ns = 0;
	thread->wait_step = making->steps->threads[entry->node].count;
	return add_step(making, entry->node, CRIT_STEP_WAIT, thread->gate, 0);
}

static int take_end(struct making *making, const struct crit_film_entry *entry)
{
	struct thread_state *thread = &making->threads[entry->node];
	struct crit_thread_steps *steps = &making->steps->threads[entry->node];
	uint64_t last_ns;

	if (thread->gate == CRIT_NONE || crit_map_get(&making->open, entry->number) != thread->gate)
		return -EPROTO;
	last_ns = making->states[thread->gate].last_ns;
	if (last_ns < thread->begin_ns)
		last_ns = thread->begin_ns;
	steps->rows[thread->wait_step].ns = entry->time_ns - last_ns - thread->queued_ns;
	thread->gate = CRIT_NONE;
	return crit_map_set(&making->open, entry->number, CRIT_NONE);
}

/* From here on the thread is in another bucket. */
static int take_from(struct making *making, const struct crit_film_entry *entry, uint32_t bucket)
{
	struct thread_state *thread = &making->threads[entry->node];
	const uint32_t outside = making->options->outside;
	const bool has_ended = thread->bucket != outside && thread->bucket != CRIT_FILM_NO_BUCKET &&
			       bucket == outside;
	const uint64_t end_ns = entry->time_ns - making->options->begin_ns;

	if (bucket >= making->options->bucket_count)
		return -EPROTO;
	thread->bucket = bucket;
	if (!has_ended)
		return 0;
	if (end_ns > making->steps->recorded_ns)
		making->steps->recorded_ns = end_ns;
	/* its last wait may end a moment later: no step is between */
	return add_step(making, entry->node, CRIT_STEP_END, 0, 0);
}

static int take_own(struct making *making, const struct crit_film_entry *entry)
{
	struct thread_state *thread;
	int rc;

	if (is_object(entry->node) || entry->node >= making->options->thread_count)
		return -EPROTO;
	thread = &making->threads[entry->node];
	rc = move_on(making, entry->node, entry->time_ns);
	if (!rc && crit_film_tells(entry))
		rc = take_from(making, entry, crit_film_told(entry));
	if (rc)
		return rc;
	switch (entry->type) {
	case CRIT_FILM_FROM:
		return take_from(making, entry, entry->number);
	case CRIT_FILM_WAIT:
		return take_wait(making, entry);
	case CRIT_FILM_END:
		return take_end(making, entry);
	case CRIT_FILM_QUEUE:
	case CRIT_FILM_RUN:
		thread->is_queued = entry->type == CRIT_FILM_QUEUE;
		return 0;
	case CRIT_FILM_SLEEP:
	case CRIT_FILM_WAKE:
		thread->is_asleep = entry->type == CRIT_FILM_SLEEP;
		return 0;
	default:
		return -EPROTO;
	}
}

/* A thread that waits acts so long after its wait's begin. */
static int add_act(struct making *making, uint32_t number, uint32_t gate, uint64_t now_ns)
{
	struct thread_state *thread = &making->threads[number];
	struct crit_step *rows, act;
	int rc = move_on(making, number, now_ns);

	if (rc || thread->gate == CRIT_NONE)
		return rc ? rc : add_step(making, number, CRIT_STEP_ACT, gate, 0);
	rc = add_step(making, number, CRIT_STEP_LATER_ACT, gate, now_ns - thread->begin_ns);
	if (rc)
		return rc;
	rows = making->steps->threads[number].rows; /* the wait, and what follows it already */
	act = rows[making->steps->threads[number].count - 1];
	for (size_t i = making->steps->threads[number].count - 1; i > thread->wait_step; i--)
		rows[i] = rows[i - 1];
	rows[thread->wait_step++] = act;
	return 0;
}

/* What threads did at this time, after the waits of theirs that end at it. */
static int take_late(struct making *making, const struct step_moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;
	uint32_t object;

	if (moment->gate == CRIT_NONE)
		return 0;
	if (is_object(entry->node)) {
		object = crit_map_get(&making->open, key_of_object(entry->node));
		if (object == CRIT_NONE)
			return -EPROTO;
		making->states[object].is_needed = true;
		return follow(making, moment->gate, object);
	}
	return entry->node < making->options->thread_count
		       ? add_act(making, entry->node, moment->gate, entry->time_ns)
		       : -EPROTO;
}

/* Those that come to objects before those that need these. */
static int count_acts(struct making *making)
{
	int rc = 0;

	for (size_t i = 0; i < making->count && !rc; i++) {
		if (making->now[i].entry.type == CRIT_FILM_ARRIVAL)
			rc = count_act(making, &making->now[i]);
	}
	for (size_t i = 0; i < making->count && !rc; i++) {
		if (making->now[i].entry.type != CRIT_FILM_ARRIVAL)
			rc = count_act(making, &making->now[i]);
	}
	return rc;
}

/* All entries of one time. */
static int take_moments(struct making *making)
{
	int rc;

	(void)crit_film_meet(making->now, making->count, sizeof(*making->now));
	rc = count_acts(making);
	for (size_t i = 0; i < making->count && !rc; i++) {
		if (!crit_film_is_late((enum crit_film_type)making->now[i].entry.type))
			rc = take_own(making, &making->now[i].entry);
	}
	for (size_t i = 0; i < making->count && !rc; i++) {
		if (crit_film_is_late((enum crit_film_type)making->now[i].entry.type))
			rc = take_late(making, &making->now[i]);
	}
	for (size_t i = 0; i < making->count && !rc; i++) {
		const struct crit_film_entry *entry = &making->now[i].entry;

		if (entry->type == CRIT_FILM_ARRIVAL && (entry->kind & CRIT_FILM_LAST))
			rc = crit_map_set(&making->open, key_of_object(entry->number), CRIT_NONE);
	}
	making->count = 0;
	return rc;
}

static int take_film(struct making *making, struct crit_film *film)
{
	uint64_t now_ns = making->options->begin_ns;
	struct crit_film_entry entry;
	int rc, taken = 0;

	while ((rc = crit_film_back(film, &entry)) > 0) {
		if (entry.time_ns < now_ns)
			return -EPROTO;
		if (entry.time_ns > now_ns)
			taken = take_moments(making);
		now_ns = entry.time_ns;
		if (!taken)
			taken = crit_array_grow(&making->now, &making->capacity, making->count + 1,
						sizeof(*making->now));
		if (taken)
			return taken;
		making->now[making->count++] = (struct step_moment){ .entry = entry };
	}
	return rc ? rc : take_moments(making);
}

/* Who still waits when the film ends does so no longer. */
static void end_waits(struct making *making)
{
	for (size_t i = 0; i < making->options->thread_count; i++) {
		const struct thread_state *thread = &making->threads[i];

		if (thread->gate != CRIT_NONE)
			making->steps->threads[i].rows[thread->wait_step].kind = CRIT_STEP_END;
	}
}

/* Of both; where there is nothing, as where nothing was measured: all. */
static double part_of(uint64_t part_ns, uint64_t rest_ns)
{
	return part_ns + rest_ns ? (double)part_ns / (double)(part_ns + rest_ns) : 1;
}

/* The node of each bucket's thread is that of its waits' threads. */
static void measure_loads(struct making *making)
{
	struct crit_run_steps *steps = making->steps;

	for (size_t i = 0; i < steps->gate_count; i++) {
		const uint32_t bucket = steps->gates[i].bucket, thread = making->states[i].thread;
		const struct times *waits, *work;
		double load, worked;

		if (thread == CRIT_NONE || bucket == CRIT_FILM_NO_BUCKET || steps->loads[bucket])
			continue;
		waits = &making->waits[bucket];
		work = &making->work[steps->threads[thread].node];
		load = part_of(waits->run_ns, waits->queued_ns);
		worked = part_of(work->run_ns, work->queued_ns);
		load = worked > 0 && load < worked ? load / worked : 1;
		load *= part_of(waits->run_ns + waits->queued_ns, waits->asleep_ns);
		steps->loads[bucket] = (uint32_t)(load * CRIT_LOAD_ONE + 0.5);
	}
}

static int begin(struct making *making)
{
	const struct crit_run_steps_options *options = making->options;
	struct crit_run_steps *steps = making->steps;

	steps->thread_count = options->thread_count;
	steps->node_count = options->node_count;
	steps->threads = calloc(options->thread_count + 1, sizeof(*steps->threads));
	steps->loads = calloc(options->bucket_count + 1, sizeof(*steps->loads));
	making->threads = calloc(options->thread_count + 1, sizeof(*making->threads));
	making->waits = calloc(options->bucket_count + 1, sizeof(*making->waits));
	making->work = calloc(options->node_count + 1, sizeof(*making->work));
	if (!steps->threads || !steps->loads || !making->threads || !making->waits || !making->work)
		return -ENOMEM;
	for (size_t i = 0; i < options->thread_count; i++) {
		steps->threads[i].node = options->thread_nodes[i];
		making->threads[i] = (struct thread_state){ .since_ns = options->begin_ns,
							    .bucket = CRIT_FILM_NO_BUCKET,
							    .gate = CRIT_NONE };
		if (options->thread_nodes[i] >= options->node_count)
			return -EPROTO;
	}
	return 0;
}

int crit_run_steps_make(struct crit_film *film, const struct crit_run_steps_options *options,
			struct crit_run_steps *ret_steps, struct crit_err *err)
{
	struct making making = { .options = options, .steps = ret_steps };
	int rc;

	*ret_steps = (struct crit_run_steps){ 0 };
	rc = begin(&making);
	if (!rc)
		rc = take_film(&making, film);
	if (!rc) {
		end_waits(&making);
		measure_loads(&making);
	}
	free(making.threads);
	free(making.states);
	free(making.waits);
	free(making.work);
	free(making.now);
	crit_map_fini(&making.open);
	if (!rc)
		return 0;
	crit_run_steps_fini(ret_steps);
	if (rc == -E2BIG)
		return crit_err_set(err, rc,
				    "the run has more than %zu steps, which is too many to share "
				    "its CPUs among; leave --cpus and --waiters-block out",
				    options->steps_max);
	return crit_err_set(err, rc, "cannot read the film of the waits: %s", strerror(-rc));
}

void crit_run_steps_fini(struct crit_run_steps *steps)
{
	for (size_t i = 0; steps->threads && i < steps->thread_count; i++)
		free(steps->threads[i].rows);
	free(steps->threads);
	free(steps->gates);
	free(steps->followers);
	free(steps->loads);
	*steps = (struct crit_run_steps){ 0 };
}
