// SPDX-License-Identifier: BSD-3-Clause
// Plays a film forwards in several scenarios: at one time first what others of that time need.
#include "analysis/waits/forecast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/forecast_state.h"
#include "core/base/array.h"

#define FETCHED_FIRST 32u /* entries ahead: what their threads and numbers lead to */
#define FETCHED_SECOND 16u /* and what that leads to */
#define CACHED_BYTES (256u << 10)

/* When a thread does what it did at a time, at or after its base. */
static uint64_t time_of(const struct forecasting *forecasting, uint32_t thread, uint64_t at_ns,
			size_t scenario)
{
	const struct timeline *timeline = &forecasting->threads[thread];
	const struct crit_scenario *played = &forecasting->options->scenarios[scenario];
	const struct crit_factor *factor = NULL;
	const uint64_t base_ns = times_of(forecasting, thread)[scenario];
	const uint64_t passed_ns = at_ns - timeline->base_ns;

	if (timeline->is_queued)
		factor = played->queue_factors ? &played->queue_factors[thread] : NULL;
	else if (played->factors && timeline->bucket != CRIT_FILM_NO_BUCKET)
		factor = &played->factors[timeline->bucket];
	return base_ns +
	       (timeline->is_waiting || !factor ? passed_ns : crit_factor_scale(factor, passed_ns));
}

/* From its base to this time a thread takes as long as it did, whatever the scenario. */
static bool is_unchanged(const struct forecasting *forecasting, uint32_t thread, uint64_t at_ns)
{
	const struct timeline *timeline = &forecasting->threads[thread];

	return timeline->base_ns == at_ns || timeline->is_waiting ||
	       (timeline->is_queued ? !forecasting->queues
				    : timeline->bucket == CRIT_FILM_NO_BUCKET ||
					      !forecasting->is_changed[timeline->bucket]);
}

/* The thread's times are those of this time from now on. */
static void move_base(struct forecasting *forecasting, uint32_t thread, uint64_t at_ns)
{
	const size_t scenario_count = forecasting->options->scenario_count;
	const uint64_t passed_ns = at_ns - forecasting->threads[thread].base_ns;
	uint64_t *times_ns = times_of(forecasting, thread);

	if (is_unchanged(forecasting, thread, at_ns)) {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] += passed_ns;
	} else {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] = time_of(forecasting, thread, at_ns, k);
	}
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
static void begin_turn(struct forecasting *forecasting, const struct moment *moment)
{
	const struct crit_pending_act *act = &forecasting->acts.rows[moment->row];
	const uint64_t *free_ns = crit_pending_acts_times(&forecasting->acts, moment->row);
	const uint64_t *asked_ns = times_of(forecasting, moment->entry.node);
	struct crit_lock_turn *turns = forecasting->turns;

	turns[0].asked_ns = forecasting->threads[moment->entry.node].base_ns;
	turns[0].free_ns = act->free_ns;
	for (size_t k = 0; k < forecasting->options->scenario_count; k++)
		turns[k + 1] = (struct crit_lock_turn){ asked_ns[k], free_ns[k], 0 };
}

/* And has. */
static void end_turn(struct forecasting *forecasting, const struct moment *moment, uint32_t lock)
{
	const uint64_t *taken_ns = times_of(forecasting, moment->entry.node);
	int rc;

	forecasting->turns[0].taken_ns = moment->entry.time_ns;
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

static void take_end(struct forecasting *forecasting, const struct moment *moment)
{
	struct timeline *timeline = &forecasting->threads[moment->entry.node];
	const struct crit_pending_act *act = &forecasting->acts.rows[moment->row];
	const uint64_t *acted_ns = crit_pending_acts_times(&forecasting->acts, moment->row);
	const uint64_t last_ns =
		act->has_act && act->last_ns > timeline->base_ns ? act->last_ns : timeline->base_ns;
	const size_t scenario_count = forecasting->options->scenario_count;
	const uint64_t transfer_ns = moment->entry.time_ns - last_ns;
	const uint64_t queued_ns =
		forecasting->queues && act->has_act
			? crit_thread_queues_since(&forecasting->queues[moment->entry.node],
						   last_ns)
			: 0;
	uint64_t *times_ns = times_of(forecasting, moment->entry.node);
	const uint32_t lock = act->lock;

	if (lock)
		begin_turn(forecasting, moment);
	crit_times_raise(times_ns, acted_ns, 0, scenario_count);
	if (!act->has_act || (!queued_ns && !forecasting->has_bare)) {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] += transfer_ns;
	} else {
		for (size_t k = 0; k < scenario_count; k++)
			times_ns[k] += crit_scenario_transfer(&forecasting->options->scenarios[k],
							      moment->entry.node, transfer_ns,
							      queued_ns);
	}
	if (lock)
		end_turn(forecasting, moment, lock);
	crit_pending_acts_remove(&forecasting->acts, moment->row);
	timeline->base_ns = moment->entry.time_ns;
	timeline->is_waiting = false;
	if (timeline->bucket == forecasting->options->outside)
		note_end(forecasting, moment->entry.node);
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
		const uint64_t time_ns = time_of(forecasting, entry->node, entry->time_ns, k);

		if (time_ns > acted_ns[k])
			acted_ns[k] = time_ns;
	}
}

/* A wait or an object needs what a thread, or all that came to an object, did until now. */
static void take_act(struct forecasting *forecasting, const struct moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;
	struct crit_pending_act *act = &forecasting->acts.rows[moment->row];
	uint64_t *acted_ns = crit_pending_acts_times(&forecasting->acts, moment->row);
	const size_t scenario_count = forecasting->options->scenario_count;

	if (is_object(entry->node)) {
		if (is_lock(entry->node))
			act->lock = entry->node;
		if (moment->object == CRIT_NONE)
			return;
		act->free_ns = forecasting->acts.rows[moment->object].last_ns;
		crit_times_raise(acted_ns,
				 crit_pending_acts_times(&forecasting->acts, moment->object), 0,
				 scenario_count);
	} else {
		raise_to_act(forecasting, entry, acted_ns);
	}
	act->last_ns = entry->time_ns;
	act->has_act = true;
}

/* The thread begins when its creator makes it. */
static void take_birth(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	struct timeline *child = &forecasting->threads[entry->number];
	uint64_t *times_ns = times_of(forecasting, entry->number);

	if (child->is_waiting || child->base_ns > entry->time_ns)
		return;
	for (size_t k = 0; k < forecasting->options->scenario_count; k++)
		times_ns[k] = time_of(forecasting, entry->node, entry->time_ns, k);
	child->base_ns = entry->time_ns;
}

/* From the begin of its sleep, its base, on the thread waited for who wakes it now. */
static void take_woken(struct forecasting *forecasting, const struct crit_film_entry *entry)
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

static bool is_act(const struct crit_film_entry *entry)
{
	return entry->type == CRIT_FILM_CAUSE || entry->type == CRIT_FILM_NEED ||
	       entry->type == CRIT_FILM_ARRIVAL;
}

/* Who acts, or ends a wait, has a row of acts. */
static bool has_row(const struct crit_film_entry *entry)
{
	return is_act(entry) || entry->type == CRIT_FILM_END;
}

/* What needs nothing but its thread. */
static void take_own(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
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

static void take(struct forecasting *forecasting, struct moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;
	struct timeline *timeline = is_object(entry->node) ? NULL
							   : &forecasting->threads[entry->node];

	moment->is_taken = true;
	if (is_act(entry)) {
		take_act(forecasting, moment);
		forecasting->acts.rows[moment->row].due--;
		return;
	}
	if (entry->type == CRIT_FILM_BIRTH || entry->type == CRIT_FILM_WOKEN) {
		if (entry->type == CRIT_FILM_BIRTH)
			take_birth(forecasting, entry);
		else
			take_woken(forecasting, entry);
		return;
	}
	timeline->taken++;
	if (crit_film_tells(entry))
		take_from(forecasting, entry, crit_film_told(entry));
	if (entry->type == CRIT_FILM_END)
		take_end(forecasting, moment);
	else
		take_own(forecasting, entry);
}

/* Nothing of the present time is missing for it. */
static bool is_ready(const struct forecasting *forecasting, const struct moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;

	if (is_object(entry->node))
		return moment->object == CRIT_NONE || !forecasting->acts.rows[moment->object].due;
	if (crit_film_is_late((enum crit_film_type)entry->type))
		return forecasting->threads[entry->node].taken ==
		       forecasting->threads[entry->node].ahead;
	if (moment->turn != forecasting->threads[entry->node].taken ||
	    forecasting->threads[entry->node].wakers)
		return false;
	return entry->type != CRIT_FILM_END || !forecasting->acts.rows[moment->row].due;
}

/* Errors: -EPROTO. */
static int check(const struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	const struct crit_forecast_options *options = forecasting->options;
	const bool is_late = crit_film_is_late((enum crit_film_type)entry->type);

	if (is_object(entry->node) ? !is_late : entry->node >= options->thread_count)
		return -EPROTO;
	if ((entry->type == CRIT_FILM_FROM && entry->number >= options->bucket_count) ||
	    (crit_film_tells(entry) && crit_film_told(entry) >= options->bucket_count) ||
	    ((entry->type == CRIT_FILM_BIRTH || entry->type == CRIT_FILM_WOKEN) &&
	     entry->number >= options->thread_count))
		return -EPROTO;
	return 0;
}

/* Errors: -EPROTO, -ENOMEM. */
static int prepare(struct forecasting *forecasting, struct moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;
	struct timeline *timeline;
	int rc = check(forecasting, entry);

	if (rc)
		return rc;
	if (entry->type == CRIT_FILM_WOKEN)
		forecasting->threads[entry->number].wakers++;
	if (has_row(entry))
		rc = crit_pending_acts_obtain(&forecasting->acts, key_of(entry->number),
					      &moment->row);
	if (rc)
		return rc;
	if (is_act(entry))
		forecasting->acts.rows[moment->row].due++;
	if (crit_film_is_late((enum crit_film_type)entry->type))
		return 0;
	timeline = &forecasting->threads[entry->node];
	moment->turn = timeline->ahead++;
	return 0;
}

/* The last that came to an object is followed by nobody who asks for it later. */
static void end_moments(struct forecasting *forecasting)
{
	for (size_t i = 0; i < forecasting->count; i++) {
		const struct moment *moment = &forecasting->now[i];

		if (moment->entry.type == CRIT_FILM_ARRIVAL &&
		    (moment->entry.kind & CRIT_FILM_LAST) &&
		    forecasting->acts.rows[moment->row].key == key_of(moment->entry.number))
			crit_pending_acts_remove(&forecasting->acts, moment->row);
		else if (!crit_film_is_late((enum crit_film_type)moment->entry.type))
			forecasting->threads[moment->entry.node].ahead =
				forecasting->threads[moment->entry.node].taken = 0;
	}
	forecasting->count = 0;
}

/* All entries of one time, where none needs another thread's. */
static int take_apart(struct forecasting *forecasting)
{
	int rc = 0;

	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i].entry;

		rc = check(forecasting, entry);
		if (!rc && crit_film_tells(entry))
			take_from(forecasting, entry, crit_film_told(entry));
		if (!rc)
			take_own(forecasting, entry);
	}
	forecasting->count = 0;
	return rc ? rc : forecasting->error;
}

/* All entries of one time. */
static int take_moments(struct forecasting *forecasting)
{
	const uint32_t types = forecasting->types;
	size_t left = forecasting->count;
	int rc = 0;

	forecasting->types = 0;
	if (!(types & (CRIT_FILM_LATE_TYPES | crit_film_type_bit(CRIT_FILM_END))))
		return take_apart(forecasting);
	for (size_t i = 0; i < forecasting->count && !rc; i++)
		rc = prepare(forecasting, &forecasting->now[i]);
	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		struct moment *moment = &forecasting->now[i];

		if (is_object(moment->entry.node)) /* all rows of objects are there now */
			moment->object = crit_pending_acts_find(&forecasting->acts,
								key_of(moment->entry.node));
	}
	while (left && !rc) {
		const size_t before = left;
		size_t first = forecasting->count;

		for (size_t i = 0; i < forecasting->count; i++) {
			struct moment *moment = &forecasting->now[i];

			if (moment->is_taken)
				continue;
			if (is_ready(forecasting, moment)) {
				take(forecasting, moment);
				left--;
			} else if (first == forecasting->count) {
				first = i;
			}
		}
		if (left == before) { /* they need one another */
			forecasting->result->circle_count++;
			take(forecasting, &forecasting->now[first]);
			left--;
		}
	}
	if (!rc)
		end_moments(forecasting);
	return rc ? rc : forecasting->error;
}

/* Times of thousands of threads are more than caches hold: what comes soon is fetched ahead. */
static void fetch_ahead(const struct forecasting *forecasting, const struct crit_film *film)
{
	const size_t row_bytes = forecasting->options->scenario_count * sizeof(uint64_t);
	struct crit_film_entry entry;

	if (crit_film_soon(film, FETCHED_FIRST, &entry)) {
		if (entry.node < forecasting->options->thread_count) {
			__builtin_prefetch(&forecasting->threads[entry.node], 1);
			crit_lines_fetch(times_of(forecasting, entry.node), row_bytes);
		}
		if (has_row(&entry))
			crit_pending_acts_fetch_key(&forecasting->acts, key_of(entry.number));
	}
	if (crit_film_soon(film, FETCHED_SECOND, &entry) && has_row(&entry))
		crit_pending_acts_fetch_row(&forecasting->acts, key_of(entry.number));
}

static int take_film(struct forecasting *forecasting, struct crit_film *film)
{
	struct moment *moment;
	struct crit_film_entry entry;
	uint64_t now_ns = forecasting->options->begin_ns;
	int rc, taken = 0;

	while ((rc = crit_film_back(film, &entry)) > 0) {
		if (entry.time_ns < now_ns)
			return -EPROTO;
		if (entry.time_ns > now_ns)
			taken = take_moments(forecasting);
		if (forecasting->is_large)
			fetch_ahead(forecasting, film);
		now_ns = entry.time_ns;
		if (!taken)
			taken = crit_array_grow(&forecasting->now, &forecasting->capacity,
						forecasting->count + 1, sizeof(*moment));
		if (taken)
			return taken;
		moment = &forecasting->now[forecasting->count++];
		*moment = (struct moment){ .entry = entry };
		forecasting->types |= crit_film_type_bit(entry.type);
	}
	return rc ? rc : take_moments(forecasting);
}

/* What scenarios change, and what that needs.  Errors: -ENOMEM. */
static int begin_changes(struct forecasting *forecasting)
{
	const struct crit_forecast_options *options = forecasting->options;
	bool has_queues = false;

	for (size_t k = 0; k < options->scenario_count; k++) {
		const struct crit_factor *factors = options->scenarios[k].factors;

		forecasting->has_bare |= options->scenarios[k].is_without_transfer;
		has_queues |= options->scenarios[k].queue_factors != NULL;
		for (size_t i = 0; factors && i < options->bucket_count; i++)
			forecasting->is_changed[i] |= factors[i].numerator !=
						      factors[i].denominator;
	}
	if (has_queues)
		forecasting->queues =
			calloc(options->thread_count + 1, sizeof(*forecasting->queues));
	return has_queues && !forecasting->queues ? -ENOMEM : 0;
}

static int begin(struct forecasting *forecasting)
{
	const struct crit_forecast_options *options = forecasting->options;
	const size_t times = (options->thread_count + 1) * options->scenario_count;

	forecasting->acts.scenario_count = options->scenario_count;
	forecasting->lock_orders.scenario_count = options->scenario_count;
	forecasting->turns = calloc(options->scenario_count + 1, sizeof(*forecasting->turns));
	forecasting->result->order_changes =
		calloc(options->scenario_count, sizeof(*forecasting->result->order_changes));
	forecasting->threads = calloc(options->thread_count + 1, sizeof(*forecasting->threads));
	forecasting->times_ns = calloc(times, sizeof(*forecasting->times_ns));
	forecasting->is_changed =
		calloc(options->bucket_count + 1, sizeof(*forecasting->is_changed));
	forecasting->result->end_ns =
		calloc(options->scenario_count, sizeof(*forecasting->result->end_ns));
	if (!forecasting->threads || !forecasting->times_ns || !forecasting->result->end_ns ||
	    !forecasting->turns || !forecasting->result->order_changes || !forecasting->is_changed)
		return -ENOMEM;
	forecasting->is_large = times * sizeof(*forecasting->times_ns) > CACHED_BYTES;
	for (size_t i = 0; i < options->thread_count; i++)
		forecasting->threads[i] = (struct timeline){ .base_ns = options->begin_ns,
							     .bucket = CRIT_FILM_NO_BUCKET };
	for (size_t i = 0; i < times; i++)
		forecasting->times_ns[i] = options->begin_ns;
	return begin_changes(forecasting);
}

/* From here on times count from the window's begin. */
static void count_from_begin(struct crit_forecast *forecast,
			     const struct crit_forecast_options *options)
{
	if (forecast->recorded_ns)
		forecast->recorded_ns -= options->begin_ns;
	for (size_t k = 0; k < options->scenario_count; k++)
		if (forecast->end_ns[k])
			forecast->end_ns[k] -= options->begin_ns;
}

int crit_forecast_play(struct crit_film *film, const struct crit_forecast_options *options,
		       struct crit_forecast *ret_forecast, struct crit_err *err)
{
	struct forecasting forecasting = { .options = options, .result = ret_forecast };
	int rc;

	*ret_forecast = (struct crit_forecast){ 0 };
	rc = begin(&forecasting);
	if (!rc)
		rc = take_film(&forecasting, film);
	free(forecasting.threads);
	free(forecasting.queues);
	free(forecasting.times_ns);
	free(forecasting.is_changed);
	free(forecasting.now);
	free(forecasting.turns);
	crit_lock_orders_fini(&forecasting.lock_orders);
	crit_pending_acts_fini(&forecasting.acts);
	if (!rc) {
		count_from_begin(ret_forecast, options);
		return 0;
	}
	crit_forecast_fini(ret_forecast);
	return crit_err_set(err, rc, "cannot play the film of the waits forwards: %s",
			    strerror(-rc));
}

void crit_forecast_fini(struct crit_forecast *forecast)
{
	free(forecast->end_ns);
	free(forecast->order_changes);
	*forecast = (struct crit_forecast){ 0 };
}
