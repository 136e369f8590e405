// SPDX-License-Identifier: BSD-3-Clause
// Plays a film forwards in several scenarios: at one time first what others of that time need.
#include "analysis/waits/forecast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/film/film_meeting.h"
#include "analysis/waits/forecast_state.h"
#include "core/base/array.h"

#define FETCHED_FIRST 32u /* entries ahead: what their threads and numbers lead to */
#define FETCHED_SECOND 16u /* and what that leads to */
#define CACHED_BYTES (256u << 10)

#define FEW 16u /* entries of one time */

#define NEED_TYPES (crit_film_type_bit(CRIT_FILM_BIRTH) | crit_film_type_bit(CRIT_FILM_WOKEN))

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

/* The end of a wait: nothing more is to come for it. */
static void take_end(struct forecasting *forecasting, const struct crit_film_entry *end,
		     uint32_t row)
{
	crit_forecast_take_own(forecasting, end);
	crit_forecast_take_end(forecasting, end, row);
}

static void take(struct forecasting *forecasting, struct moment *moment)
{
	const struct crit_film_entry *entry = &moment->entry;

	moment->is_taken = true;
	if (is_act(entry)) {
		crit_forecast_take_act(forecasting, entry, moment->row, moment->object);
		forecasting->acts.rows[moment->row].due--;
	} else if (entry->type == CRIT_FILM_BIRTH) {
		crit_forecast_take_birth(forecasting, entry);
	} else if (entry->type == CRIT_FILM_WOKEN) {
		crit_forecast_take_woken(forecasting, entry);
	} else if (entry->type == CRIT_FILM_END) {
		forecasting->threads[entry->node].taken++;
		take_end(forecasting, entry, moment->row);
		crit_pending_acts_remove(&forecasting->acts, moment->row);
	} else {
		forecasting->threads[entry->node].taken++;
		crit_forecast_take_own(forecasting, entry);
	}
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

	moment->object = CRIT_NONE;
	moment->is_taken = false;
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
}

/* Of one time, where nobody acts: each in its turn. */
static int take_owns(struct forecasting *forecasting)
{
	struct crit_probe probe;
	int rc = 0;

	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i].entry;
		uint32_t row;

		if (crit_film_is_late((enum crit_film_type)entry->type))
			continue;
		rc = check(forecasting, entry);
		if (!rc && entry->type == CRIT_FILM_END) {
			row = crit_pending_acts_search(&forecasting->acts, key_of(entry->number),
						       &probe);
			take_end(forecasting, entry, row);
			if (row != CRIT_NONE)
				crit_pending_acts_remove_found(&forecasting->acts, row, &probe);
		} else if (!rc) {
			crit_forecast_take_own(forecasting, entry);
		}
	}
	return rc;
}

/* Of one time: acts by threads, or those that objects need, which have come by now. */
static int take_acts(struct forecasting *forecasting, bool is_of_objects)
{
	int rc = 0;

	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		struct moment *moment = &forecasting->now[i];
		const struct crit_film_entry *entry = &moment->entry;

		if (!is_act(entry) || is_object(entry->node) != is_of_objects)
			continue;
		rc = check(forecasting, entry);
		if (!rc)
			rc = crit_pending_acts_obtain(&forecasting->acts, key_of(entry->number),
						      &moment->row);
		if (!rc)
			crit_forecast_take_act(forecasting, entry, moment->row,
					       is_of_objects
						       ? crit_pending_acts_find(&forecasting->acts,
										key_of(entry->node))
						       : CRIT_NONE);
	}
	return rc;
}

/* Where an act may need the end of a wait, and an end acts: whatever is ready, again and again. */
static int take_by_need(struct forecasting *forecasting)
{
	size_t left = forecasting->count;
	int rc = 0;

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
	return rc;
}

/* Does an act come at the time at which the wait ends that needs it?  Of many, perhaps. */
static bool has_need(const struct forecasting *forecasting)
{
	const struct moment *now = forecasting->now;
	const size_t count = forecasting->count;

	if (count > FEW)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (now[i].entry.type != CRIT_FILM_END)
			continue;
		for (size_t k = 0; k < count; k++) {
			if (is_act(&now[k].entry) && now[k].entry.number == now[i].entry.number)
				return true;
		}
	}
	return false;
}

/* All entries of one time.  What threads do comes before their acts, and these before objects'. */
static int take_moments(struct forecasting *forecasting)
{
	const uint32_t types = forecasting->types;
	const bool has_acts = types & CRIT_FILM_LATE_TYPES;
	int rc;

	if (types & crit_film_type_bit(CRIT_FILM_CAUSE) &&
	    types & crit_film_type_bit(CRIT_FILM_ARRIVAL))
		crit_film_meet(forecasting->now, forecasting->count, sizeof(*forecasting->now));
	if (has_acts && (types & NEED_TYPES || forecasting->has_chain ||
			 (types & crit_film_type_bit(CRIT_FILM_END) && has_need(forecasting)))) {
		rc = take_by_need(forecasting);
	} else {
		rc = take_owns(forecasting);
		if (!rc && has_acts)
			rc = take_acts(forecasting, false);
		if (!rc && has_acts)
			rc = take_acts(forecasting, true);
	}
	if (!rc && has_acts)
		end_moments(forecasting);
	forecasting->count = 0;
	forecasting->types = 0;
	forecasting->has_chain = false;
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

static int keep(struct forecasting *forecasting, const struct crit_film_entry *entry)
{
	int rc = crit_array_grow(&forecasting->now, &forecasting->capacity, forecasting->count + 1,
				 sizeof(*forecasting->now));

	if (rc)
		return rc;
	forecasting->now[forecasting->count++].entry = *entry;
	forecasting->types |= crit_film_type_bit(entry->type);
	forecasting->has_chain |= is_object(entry->node) && is_object(entry->number);
	return 0;
}

static int take_film(struct forecasting *forecasting, struct crit_film *film)
{
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
			taken = keep(forecasting, &entry);
		if (taken)
			return taken;
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
