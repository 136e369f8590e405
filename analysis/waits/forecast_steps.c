// SPDX-License-Identifier: BSD-3-Clause
// What an entry of a film does to the times of its thread, and to those of who needs it.
#include "analysis/waits/forecast_state.h"

/* From its base to this time a thread takes as long as it did, whatever the scenario. */
static inline bool is_unchanged(const struct forecasting *forecasting, uint32_t thread,
				uint64_t at_ns)
{
	const struct timeline *timeline = &forecasting->threads[thread];

	return timeline->base_ns == at_ns || timeline->is_waiting ||
	       (timeline->is_queued ? !forecasting->queues
				    : timeline->bucket == CRIT_FILM_NO_BUCKET ||
					      !forecasting->is_changed[timeline->bucket]);
}

struct changed_stretch { /* of a thread since its base, which scenarios change */
	const struct crit_scenario *scenarios;
	uint64_t passed_ns;
	uint32_t at; /* of its factors */
	bool is_queued;
};

static inline struct changed_stretch stretch_of(const struct forecasting *forecasting,
						uint32_t thread, uint64_t passed_ns)
{
	const struct timeline *timeline = &forecasting->threads[thread];

	return (struct changed_stretch){ .scenarios = forecasting->options->scenarios,
					 .passed_ns = passed_ns,
					 .at = timeline->is_queued ? thread : timeline->bucket,
					 .is_queued = timeline->is_queued };
}

/* How long it takes in a scenario. */
static inline uint64_t length_in(const struct changed_stretch *stretch, size_t scenario)
{
	const struct crit_scenario *played = &stretch->scenarios[scenario];
	const struct crit_factor *factors = stretch->is_queued ? played->queue_factors
							       : played->factors;

	return factors ? crit_factor_scale(&factors[stretch->at], stretch->passed_ns)
		       : stretch->passed_ns;
}

/* When a thread does what it did at a time, at or after its base, in each scenario. */
static void read_times(const struct forecasting *forecasting, uint32_t thread, uint64_t at_ns,
		       uint64_t *ret_times_ns)
{
	const size_t scenario_count = forecasting->options->scenario_count;
	const uint64_t passed_ns = at_ns - forecasting->threads[thread].base_ns;
	const uint64_t *times_ns = times_of(forecasting, thread);
	struct changed_stretch stretch;

	if (is_unchanged(forecasting, thread, at_ns)) {
		for (size_t k = 0; k < scenario_count; k++)
			ret_times_ns[k] = times_ns[k] + passed_ns;
		return;
	}
	stretch = stretch_of(forecasting, thread, passed_ns);
	for (size_t k = 0; k < scenario_count; k++)
		ret_times_ns[k] = times_ns[k] + length_in(&stretch, k);
}

/* The thread's times are those of this time from now on. */
static void move_base(struct forecasting *forecasting, uint32_t thread, uint64_t at_ns)
{
	if (forecasting->threads[thread].base_ns == at_ns)
		return;
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

static inline void take_from(struct forecasting *forecasting, const struct crit_film_entry *entry,
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

static inline void note_cpu(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	struct timeline *timeline = &forecasting->threads[entry->node];
	struct crit_thread_queues *queues = forecasting->queues ? &forecasting->queues[entry->node]
								: NULL;

	if (queues && entry->type == CRIT_FILM_QUEUE)
		crit_thread_queues_begin(queues, entry->time_ns);
	else if (queues && timeline->is_queued)
		crit_thread_queues_end(queues, entry->time_ns);
	timeline->is_queued = entry->type == CRIT_FILM_QUEUE;
}

/* Apart, so that there is little to do for those that wait, as most do. */
static __attribute__((noinline)) void take_cpu_awake(struct forecasting *forecasting,
						     const struct crit_film_entry *entry)
{
	move_base(forecasting, entry->node, entry->time_ns);
	note_cpu(forecasting, entry);
}

void crit_forecast_take_cpu(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	if (forecasting->threads[entry->node].is_waiting)
		note_cpu(forecasting, entry);
	else
		take_cpu_awake(forecasting, entry);
}

/*
 * A wait has ended: in each scenario with the last act that it needs, and as much later as it was;
 * queued_ns: of that the thread had no CPU.
 */
static void raise_to_end(const struct forecasting *forecasting, uint32_t thread,
			 const uint64_t *acted_ns, uint64_t transfer_ns, uint64_t queued_ns)
{
	const size_t scenario_count = forecasting->options->scenario_count;
	const uint64_t *transfers = forecasting->transfers;
	uint64_t *times_ns = times_of(forecasting, thread);

	if (!queued_ns) {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] = (acted_ns[k] > times_ns[k] ? acted_ns[k] : times_ns[k]) +
				      (transfer_ns & transfers[k]);
		return;
	}
	crit_times_raise(times_ns, acted_ns, 0, scenario_count);
	for (size_t k = 0; k < scenario_count; k++)
		times_ns[k] += crit_scenario_transfer(&forecasting->options->scenarios[k], thread,
						      transfer_ns, queued_ns);
}

/* Likewise of a wait that needed acts of a row. */
static void end_by_acts(struct forecasting *forecasting, const struct crit_film_entry *end,
			uint32_t row)
{
	const uint64_t base_ns = forecasting->threads[end->node].base_ns;
	const uint64_t acted_ns = forecasting->acts.rows[row].last_ns;
	const uint64_t last_ns = acted_ns > base_ns ? acted_ns : base_ns;
	const uint64_t queued_ns =
		forecasting->queues
			? crit_thread_queues_since(&forecasting->queues[end->node], last_ns)
			: 0;

	raise_to_end(forecasting, end->node, crit_pending_acts_times(&forecasting->acts, row),
		     end->time_ns - last_ns, queued_ns);
}

static void end_as_it_was(struct forecasting *forecasting, const struct crit_film_entry *end)
{
	const uint64_t passed_ns = end->time_ns - forecasting->threads[end->node].base_ns;
	uint64_t *times_ns = times_of(forecasting, end->node);

	for (size_t k = 0; k < forecasting->options->scenario_count; k++)
		times_ns[k] += passed_ns;
}

void crit_forecast_take_end(struct forecasting *forecasting, const struct crit_film_entry *end,
			    uint32_t row)
{
	struct timeline *timeline = &forecasting->threads[end->node];
	const struct crit_pending_act *act = row == CRIT_NONE ? NULL : &forecasting->acts.rows[row];
	const uint32_t lock = act ? act->lock : 0;

	if (crit_film_tells(end))
		take_from(forecasting, end, crit_film_told(end));
	if (lock)
		begin_turn(forecasting, end, act, crit_pending_acts_times(&forecasting->acts, row));
	if (act && act->has_act)
		end_by_acts(forecasting, end, row);
	else
		end_as_it_was(forecasting, end);
	if (lock)
		end_turn(forecasting, end, lock);
	timeline->base_ns = end->time_ns;
	timeline->is_waiting = false;
	if (timeline->bucket == forecasting->options->outside)
		note_end(forecasting, end->node);
}

/* As below, where it does not take as long as it did. */
static void raise_to_changed(const struct forecasting *forecasting, uint32_t thread,
			     uint64_t passed_ns, uint64_t *acted_ns)
{
	const struct changed_stretch stretch = stretch_of(forecasting, thread, passed_ns);
	const uint64_t *times_ns = times_of(forecasting, thread);
	const size_t scenario_count = forecasting->options->scenario_count;

	for (size_t k = 0; k < scenario_count; k++) {
		const uint64_t time_ns = times_ns[k] + length_in(&stretch, k);

		acted_ns[k] = time_ns > acted_ns[k] ? time_ns : acted_ns[k];
	}
}

/* No time is before what a thread does now. */
static inline void raise_to_act(const struct forecasting *forecasting,
				const struct crit_film_entry *entry, uint64_t *acted_ns)
{
	const struct timeline *timeline = &forecasting->threads[entry->node];
	const uint64_t passed_ns = entry->time_ns - timeline->base_ns;

	forecasting->result->inside_count += timeline->is_waiting && passed_ns;
	if (is_unchanged(forecasting, entry->node, entry->time_ns))
		crit_times_raise(acted_ns, times_of(forecasting, entry->node), passed_ns,
				 forecasting->options->scenario_count);
	else
		raise_to_changed(forecasting, entry->node, passed_ns, acted_ns);
}

/* A thread acts. */
static inline void take_act(struct forecasting *forecasting, const struct crit_film_entry *entry,
			    uint32_t row)
{
	struct crit_pending_act *act = &forecasting->acts.rows[row];

	raise_to_act(forecasting, entry, crit_pending_acts_times(&forecasting->acts, row));
	act->last_ns = entry->time_ns;
	act->has_act = true;
}

/* All that came to an object. */
static inline void take_object(struct forecasting *forecasting, const struct crit_film_entry *entry,
			       uint32_t row, uint32_t object)
{
	struct crit_pending_act *act = &forecasting->acts.rows[row];

	if (is_lock(entry->node))
		act->lock = entry->node;
	if (object == CRIT_NONE)
		return;
	act->free_ns = forecasting->acts.rows[object].last_ns;
	crit_times_raise(crit_pending_acts_times(&forecasting->acts, row),
			 crit_pending_acts_times(&forecasting->acts, object), 0,
			 forecasting->options->scenario_count);
	act->last_ns = entry->time_ns;
	act->has_act = true;
}

void crit_forecast_take_act(struct forecasting *forecasting, const struct crit_film_entry *entry,
			    uint32_t row, uint32_t object)
{
	if (is_object(entry->node))
		take_object(forecasting, entry, row, object);
	else
		take_act(forecasting, entry, row);
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

static inline void take_own(struct forecasting *forecasting, const struct crit_film_entry *entry)
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
		crit_forecast_take_cpu(forecasting, entry);
		break;
	case CRIT_FILM_SLEEP:
	case CRIT_FILM_WAKE:
		take_sleep(forecasting, entry);
		break;
	default:
		break;
	}
}

void crit_forecast_take_own(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	take_own(forecasting, entry);
}

void crit_forecast_take_owns(struct forecasting *forecasting)
{
	struct crit_pending_acts *acts = &forecasting->acts;

	for (size_t i = 0; i < forecasting->count; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i];
		struct crit_probe probe;
		uint32_t row;

		if (entry->type == CRIT_FILM_END) {
			row = crit_pending_acts_search(acts, key_of(entry->number), &probe);
			crit_forecast_take_end(forecasting, entry, row);
			if (row != CRIT_NONE)
				crit_pending_acts_remove_found(acts, row, &probe);
		} else if (!crit_film_is_late((enum crit_film_type)entry->type)) {
			take_own(forecasting, entry);
		}
	}
}

/* Of objects.  Errors: -ENOMEM. */
static int take_objects(struct forecasting *forecasting)
{
	struct crit_pending_acts *acts = &forecasting->acts;
	uint32_t name = 0, object = CRIT_NONE; /* no object's, and none */
	int rc = 0;

	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i];
		uint32_t row;

		if (!is_object(entry->node) || !crit_forecast_is_act(entry))
			continue;
		if (entry->node != name) /* no object acts on one, so no row of one is made here */
			object = crit_pending_acts_find(acts, key_of(entry->node));
		name = entry->node;
		rc = crit_pending_acts_obtain(acts, key_of(entry->number), &row);
		if (!rc)
			take_object(forecasting, entry, row, object);
	}
	return rc;
}

int crit_forecast_take_acts(struct forecasting *forecasting)
{
	int rc = 0;

	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i];
		uint32_t row;

		if (is_object(entry->node) || !crit_forecast_is_act(entry))
			continue;
		rc = crit_pending_acts_obtain(&forecasting->acts, key_of(entry->number), &row);
		if (!rc)
			take_act(forecasting, entry, row);
	}
	return rc || !is_object(forecasting->traits.nodes) ? rc : take_objects(forecasting);
}
