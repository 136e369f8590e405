// SPDX-License-Identifier: BSD-3-Clause
// What an entry of a film does to the times of its thread, and to those of who needs it.
#include "analysis/waits/forecast_state.h"

/* From its base to this time a thread takes as long as it did, whatever the scenario. */
static bool is_unchanged(const struct forecasting *forecasting, uint32_t thread, uint64_t at_ns)
{
	const struct timeline *timeline = &forecasting->threads[thread];

	return timeline->base_ns == at_ns || timeline->is_waiting ||
	       (timeline->is_queued ? !forecasting->queues
				    : timeline->bucket == CRIT_FILM_NO_BUCKET ||
					      !forecasting->is_changed[timeline->bucket]);
}

/* How long what takes so many ns takes a thread in a scenario, where that may differ. */
static inline uint64_t scaled(const struct crit_scenario *played, const struct timeline *timeline,
			      uint32_t thread, uint64_t ns)
{
	const struct crit_factor *factors = timeline->is_queued ? played->queue_factors
								: played->factors;

	return factors ? crit_factor_scale(
				 &factors[timeline->is_queued ? thread : timeline->bucket], ns)
		       : ns;
}

/* When a thread does what it did at a time, at or after its base, in each scenario. */
static void read_times(const struct forecasting *forecasting, uint32_t thread, uint64_t at_ns,
		       uint64_t *ret_times_ns)
{
	const struct crit_forecast_options *options = forecasting->options;
	const struct timeline *timeline = &forecasting->threads[thread];
	const uint64_t passed_ns = at_ns - timeline->base_ns;
	const uint64_t *times_ns = times_of(forecasting, thread);

	if (is_unchanged(forecasting, thread, at_ns)) {
		for (size_t k = 0; k < options->scenario_count; k++)
			ret_times_ns[k] = times_ns[k] + passed_ns;
		return;
	}
	for (size_t k = 0; k < options->scenario_count; k++)
		ret_times_ns[k] =
			times_ns[k] + scaled(&options->scenarios[k], timeline, thread, passed_ns);
}

/* The thread's times are those of this time from now on. */
static void move_base(struct forecasting *forecasting, uint32_t thread, uint64_t at_ns)
{
	read_times(forecasting, thread, at_ns, times_of(forecasting, thread));
	forecasting->threads[thread].base_ns = at_ns;
}

/* A thread that is not there any more has ended. */
static void note_end(struct forecasting *forecasting, uint32_t thread)
{
	struct crit_forecast *result = forecasting->result;
	const uint64_t *times_ns = times_of(forecasting, thread);

	if (forecasting->threads[thread].base_ns > result->recorded_ns)
		result->recorded_ns = forecasting->threads[thread].base_ns;
	for (size_t k = 0; k < forecasting->options->scenario_count; k++) {
		if (times_ns[k] > result->end_ns[k])
			result->end_ns[k] = times_ns[k];
	}
}

static void take_from(struct forecasting *forecasting, const struct crit_film_entry *entry,
		      uint32_t bucket)
{
	struct timeline *timeline = &forecasting->threads[entry->node];
	const uint32_t outside = forecasting->options->outside;
	const bool was_there = timeline->bucket != outside &&
			       timeline->bucket != CRIT_FILM_NO_BUCKET;

	if (!timeline->is_waiting)
		move_base(forecasting, entry->node, entry->time_ns);
	timeline->bucket = bucket;
	if (was_there && bucket == outside && !timeline->is_waiting)
		note_end(forecasting, entry->node);
}

static bool is_lock(uint32_t node)
{
	return (node & CRIT_FILM_LOCK) == CRIT_FILM_LOCK;
}

/* A wait for a lock is about to end. */
static void begin_turn(struct forecasting *forecasting, const struct crit_film_entry *end,
		       const struct crit_pending_act *act, const uint64_t *free_ns)
{
	const uint64_t *asked_ns = times_of(forecasting, end->node);
	struct crit_lock_turn *turns = forecasting->turns;

	turns[0].asked_ns = forecasting->threads[end->node].base_ns;
	turns[0].free_ns = act->free_ns;
	for (size_t k = 0; k < forecasting->options->scenario_count; k++)
		turns[k + 1] = (struct crit_lock_turn){ asked_ns[k], free_ns[k], 0 };
}

/* And has. */
static void end_turn(struct forecasting *forecasting, const struct crit_film_entry *end,
		     uint32_t lock)
{
	const uint64_t *taken_ns = times_of(forecasting, end->node);
	int rc;

	forecasting->turns[0].taken_ns = end->time_ns;
	for (size_t k = 0; k < forecasting->options->scenario_count; k++)
		forecasting->turns[k + 1].taken_ns = taken_ns[k];
	rc = crit_lock_orders_take(&forecasting->lock_orders, lock & ~CRIT_FILM_LOCK,
				   forecasting->turns, forecasting->result->order_changes);
	if (rc)
		forecasting->error = rc;
}

/* The thread wants a CPU from here on, or has one. */
static void take_cpu(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	struct timeline *timeline = &forecasting->threads[entry->node];
	struct crit_thread_queues *queues = forecasting->queues ? &forecasting->queues[entry->node]
								: NULL;

	if (!timeline->is_waiting)
		move_base(forecasting, entry->node, entry->time_ns);
	if (queues && entry->type == CRIT_FILM_QUEUE)
		crit_thread_queues_begin(queues, entry->time_ns);
	else if (queues && timeline->is_queued)
		crit_thread_queues_end(queues, entry->time_ns);
	timeline->is_queued = entry->type == CRIT_FILM_QUEUE;
}

void crit_forecast_take_end(struct forecasting *forecasting, const struct crit_film_entry *end,
			    uint32_t row)
{
	static const struct crit_pending_act none = { .has_act = false };
	struct timeline *timeline = &forecasting->threads[end->node];
	const struct crit_pending_act *act = row == CRIT_NONE ? &none
							      : &forecasting->acts.rows[row];
	const uint64_t last_ns =
		act->has_act && act->last_ns > timeline->base_ns ? act->last_ns : timeline->base_ns;
	const size_t scenario_count = forecasting->options->scenario_count;
	const uint64_t transfer_ns = end->time_ns - last_ns;
	const uint64_t queued_ns =
		forecasting->queues && act->has_act
			? crit_thread_queues_since(&forecasting->queues[end->node], last_ns)
			: 0;
	uint64_t *times_ns = times_of(forecasting, end->node);
	const uint32_t lock = act->lock;

	if (lock)
		begin_turn(forecasting, end, act, crit_pending_acts_times(&forecasting->acts, row));
	if (act->has_act)
		crit_times_raise(times_ns, crit_pending_acts_times(&forecasting->acts, row), 0,
				 scenario_count);
	if (!act->has_act || (!queued_ns && !forecasting->has_bare)) {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] += transfer_ns;
	} else {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] += crit_scenario_transfer(&forecasting->options->scenarios[k],
							      end->node, transfer_ns, queued_ns);
	}
	if (lock)
		end_turn(forecasting, end, lock);
	timeline->base_ns = end->time_ns;
	timeline->is_waiting = false;
	if (timeline->bucket == forecasting->options->outside)
		note_end(forecasting, end->node);
}

/* No time is before what a thread does now. */
static void raise_to_act(const struct forecasting *forecasting, const struct crit_film_entry *entry,
			 uint64_t *acted_ns)
{
	const struct timeline *timeline = &forecasting->threads[entry->node];
	const size_t scenario_count = forecasting->options->scenario_count;

	forecasting->result->inside_count += timeline->is_waiting &&
					     entry->time_ns > timeline->base_ns;
	if (is_unchanged(forecasting, entry->node, entry->time_ns)) {
		crit_times_raise(acted_ns, times_of(forecasting, entry->node),
				 entry->time_ns - timeline->base_ns, scenario_count);
		return;
	}
	for (size_t k = 0; k < scenario_count; k++) {
		const uint64_t time_ns = times_of(forecasting, entry->node)[k] +
					 scaled(&forecasting->options->scenarios[k], timeline,
						entry->node, entry->time_ns - timeline->base_ns);

		if (time_ns > acted_ns[k])
			acted_ns[k] = time_ns;
	}
}

void crit_forecast_take_act(struct forecasting *forecasting, const struct crit_film_entry *entry,
			    uint32_t row, uint32_t object)
{
	struct crit_pending_act *act = &forecasting->acts.rows[row];
	uint64_t *acted_ns = crit_pending_acts_times(&forecasting->acts, row);

	if (is_object(entry->node)) {
		if (is_lock(entry->node))
			act->lock = entry->node;
		if (object == CRIT_NONE)
			return;
		act->free_ns = forecasting->acts.rows[object].last_ns;
		crit_times_raise(acted_ns, crit_pending_acts_times(&forecasting->acts, object), 0,
				 forecasting->options->scenario_count);
	} else {
		raise_to_act(forecasting, entry, acted_ns);
	}
	act->last_ns = entry->time_ns;
	act->has_act = true;
}

void crit_forecast_take_birth(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	struct timeline *child = &forecasting->threads[entry->number];

	if (child->is_waiting || child->base_ns > entry->time_ns)
		return;
	read_times(forecasting, entry->node, entry->time_ns, times_of(forecasting, entry->number));
	child->base_ns = entry->time_ns;
}

void crit_forecast_take_woken(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	struct timeline *woken = &forecasting->threads[entry->number];

	woken->wakers--;
	if (!woken->is_asleep || woken->is_waiting || entry->node == entry->number)
		return;
	raise_to_act(forecasting, entry, times_of(forecasting, entry->number));
	woken->base_ns = entry->time_ns;
}

/* What the thread did until it slept is done. */
static void take_sleep(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	struct timeline *timeline = &forecasting->threads[entry->node];

	timeline->is_asleep = entry->type == CRIT_FILM_SLEEP;
	if (timeline->is_asleep && !timeline->is_waiting)
		move_base(forecasting, entry->node, entry->time_ns);
}

void crit_forecast_take_own(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	if (crit_film_tells(entry))
		take_from(forecasting, entry, crit_film_told(entry));
	switch (entry->type) {
	case CRIT_FILM_FROM:
		take_from(forecasting, entry, entry->number);
		break;
	case CRIT_FILM_WAIT:
		move_base(forecasting, entry->node, entry->time_ns);
		forecasting->threads[entry->node].is_waiting = true;
		break;
	case CRIT_FILM_QUEUE:
	case CRIT_FILM_RUN:
		take_cpu(forecasting, entry);
		break;
	case CRIT_FILM_SLEEP:
	case CRIT_FILM_WAKE:
		take_sleep(forecasting, entry);
		break;
	default:
		break;
	}
}
