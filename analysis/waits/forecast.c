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
#define WORD_BITS 64u
#define SPARE_BITS 8u /* of a set, for each entry */

#define NEED_TYPES (crit_film_type_bit(CRIT_FILM_BIRTH) | crit_film_type_bit(CRIT_FILM_WOKEN))

/* Who acts, or ends a wait, has a row of acts. */
static bool has_row(const struct crit_film_entry *entry)
{
	return crit_forecast_is_act(entry) || entry->type == CRIT_FILM_END;
}

static void take(struct forecasting *forecasting, const struct crit_film_entry *entry,
		 struct crit_forecast_need *need)
{
	need->is_taken = true;
	if (crit_forecast_is_act(entry)) {
		crit_forecast_take_act(forecasting, entry, need->row, need->object);
		forecasting->acts.rows[need->row].due--;
	} else if (entry->type == CRIT_FILM_BIRTH) {
		crit_forecast_take_birth(forecasting, entry);
	} else if (entry->type == CRIT_FILM_WOKEN) {
		crit_forecast_take_woken(forecasting, entry);
	} else if (entry->type == CRIT_FILM_END) {
		forecasting->threads[entry->node].taken++;
		crit_forecast_take_end(forecasting, entry, need->row);
		crit_pending_acts_remove(&forecasting->acts, need->row);
	} else {
		forecasting->threads[entry->node].taken++;
		crit_forecast_take_own(forecasting, entry);
	}
}

/* Nothing of the present time is missing for it. */
static bool is_ready(const struct forecasting *forecasting, const struct crit_film_entry *entry,
		     const struct crit_forecast_need *need)
{
	const struct timeline *timeline;

	if (is_object(entry->node))
		return need->object == CRIT_NONE || !forecasting->acts.rows[need->object].due;
	timeline = &forecasting->threads[entry->node];
	if (crit_film_is_late((enum crit_film_type)entry->type))
		return timeline->taken == timeline->ahead;
	if (need->turn != timeline->taken || timeline->wakers)
		return false;
	return entry->type != CRIT_FILM_END || !forecasting->acts.rows[need->row].due;
}

/* Errors: -ENOMEM. */
static int prepare(struct forecasting *forecasting, const struct crit_film_entry *entry,
		   struct crit_forecast_need *need)
{
	int rc = 0;

	need->object = CRIT_NONE;
	need->is_taken = false;
	if (entry->type == CRIT_FILM_WOKEN)
		forecasting->threads[entry->number].wakers++;
	if (has_row(entry))
		rc = crit_pending_acts_obtain(&forecasting->acts, key_of(entry->number),
					      &need->row);
	if (rc)
		return rc;
	if (crit_forecast_is_act(entry))
		forecasting->acts.rows[need->row].due++;
	if (!crit_film_is_late((enum crit_film_type)entry->type))
		need->turn = forecasting->threads[entry->node].ahead++;
	return 0;
}

/* Errors: -ENOMEM. */
static int prepare_all(struct forecasting *forecasting)
{
	const struct crit_film_entry *now = forecasting->now;
	int rc = crit_array_grow(&forecasting->needs, &forecasting->need_capacity,
				 forecasting->count, sizeof(*forecasting->needs));

	for (size_t i = 0; i < forecasting->count && !rc; i++)
		rc = prepare(forecasting, &now[i], &forecasting->needs[i]);
	for (size_t i = 0; i < forecasting->count && !rc; i++) {
		if (is_object(now[i].node)) /* all rows of objects are there now */
			forecasting->needs[i].object =
				crit_pending_acts_find(&forecasting->acts, key_of(now[i].node));
	}
	return rc;
}

/* Threads have no turns at the next time so far. */
static void end_turns(struct forecasting *forecasting)
{
	for (size_t i = 0; i < forecasting->count; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i];

		if (!crit_film_is_late((enum crit_film_type)entry->type))
			forecasting->threads[entry->node].ahead =
				forecasting->threads[entry->node].taken = 0;
	}
}

/* Where an act may need the end of a wait, and an end acts: whatever is ready, again and again. */
static int take_by_need(struct forecasting *forecasting)
{
	size_t left = forecasting->count;
	int rc = prepare_all(forecasting);

	while (left && !rc) {
		const size_t before = left;
		size_t first = forecasting->count;

		for (size_t i = 0; i < forecasting->count; i++) {
			struct crit_forecast_need *need = &forecasting->needs[i];

			if (need->is_taken)
				continue;
			if (is_ready(forecasting, &forecasting->now[i], need)) {
				take(forecasting, &forecasting->now[i], need);
				left--;
			} else if (first == forecasting->count) {
				first = i;
			}
		}
		if (left == before) { /* they need one another */
			forecasting->result->circle_count++;
			take(forecasting, &forecasting->now[first], &forecasting->needs[first]);
			left--;
		}
	}
	end_turns(forecasting);
	return rc;
}

/*
 * Likewise of many: by the last bits of numbers, so it may say yes where it is no.  The set is
 * large enough for numbers that lie side by side.
 */
static bool may_have_need(struct forecasting *forecasting)
{
	size_t words = 1;

	while (words * WORD_BITS < forecasting->count * SPARE_BITS)
		words *= 2;
	if (crit_array_grow(&forecasting->ended, &forecasting->ended_capacity, words,
			    sizeof(*forecasting->ended)))
		return true;
	memset(forecasting->ended, 0, words * sizeof(*forecasting->ended));
	for (size_t i = 0; i < forecasting->count; i++) {
		const uint32_t number = forecasting->now[i].number;

		if (forecasting->now[i].type == CRIT_FILM_END)
			forecasting->ended[number / WORD_BITS & (words - 1)] |=
				1ull << number % WORD_BITS;
	}
	for (size_t i = 0; i < forecasting->count; i++) {
		const uint32_t number = forecasting->now[i].number;

		if (crit_forecast_is_act(&forecasting->now[i]) &&
		    forecasting->ended[number / WORD_BITS & (words - 1)] >> number % WORD_BITS & 1)
			return true;
	}
	return false;
}

/* Does an act come at the time at which the wait ends that needs it?  Of many, perhaps. */
static bool has_need(struct forecasting *forecasting)
{
	const struct crit_film_entry *now = forecasting->now;
	const size_t count = forecasting->count;

	if (count > FEW)
		return may_have_need(forecasting);
	for (size_t i = 0; i < count; i++) {
		if (now[i].type != CRIT_FILM_END)
			continue;
		for (size_t k = 0; k < count; k++) {
			if (crit_forecast_is_act(&now[k]) && now[k].number == now[i].number)
				return true;
		}
	}
	return false;
}

/* The last that came to an object is followed by nobody who asks for it later. */
static void end_arrivals(struct forecasting *forecasting)
{
	for (size_t i = 0; i < forecasting->count; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i];
		uint32_t row;

		if (entry->type != CRIT_FILM_ARRIVAL || !(entry->kind & CRIT_FILM_LAST))
			continue;
		row = crit_pending_acts_find(&forecasting->acts, key_of(entry->number));
		if (row != CRIT_NONE)
			crit_pending_acts_remove(&forecasting->acts, row);
	}
}

static void note_traits(struct forecasting *forecasting)
{
	struct moment_traits traits = { 0 };

	for (size_t i = 0; i < forecasting->count; i++) {
		const struct crit_film_entry *entry = &forecasting->now[i];

		traits.nodes |= entry->node;
		traits.chains |= entry->node & entry->number;
		if (entry->type == CRIT_FILM_END)
			traits.ended |= 1ull << entry->number % WORD_BITS;
		if (crit_forecast_is_act(entry))
			traits.acted |= 1ull << entry->number % WORD_BITS;
		traits.has_last |= entry->type == CRIT_FILM_ARRIVAL && entry->kind & CRIT_FILM_LAST;
	}
	forecasting->traits = traits;
}

/* Where somebody acts.  What threads do comes before their acts, and these before objects'. */
static int take_acts(struct forecasting *forecasting)
{
	const uint32_t types = forecasting->moments.types;
	int rc = 0;

	note_traits(forecasting);
	if (types & crit_film_type_bit(CRIT_FILM_CAUSE) &&
	    types & crit_film_type_bit(CRIT_FILM_ARRIVAL) &&
	    crit_film_meet(forecasting->now, forecasting->count, sizeof(*forecasting->now)))
		forecasting->traits.nodes |= CRIT_FILM_OBJECT;
	if (types & NEED_TYPES || is_object(forecasting->traits.chains) ||
	    (forecasting->traits.ended & forecasting->traits.acted && has_need(forecasting))) {
		rc = take_by_need(forecasting);
	} else {
		crit_forecast_take_owns(forecasting);
		rc = crit_forecast_take_acts(forecasting);
	}
	if (!rc && forecasting->traits.has_last)
		end_arrivals(forecasting);
	return rc;
}

static void fetch_ahead(const struct forecasting *forecasting, size_t at)
{
	const size_t row_bytes = forecasting->options->scenario_count * sizeof(uint64_t);
	struct crit_film_entry entry;

	if (crit_film_moments_soon(&forecasting->moments, at + FETCHED_FIRST, &entry)) {
		if (entry.node < forecasting->options->thread_count) {
			__builtin_prefetch(&forecasting->threads[entry.node], 1);
			crit_lines_fetch(times_of(forecasting, entry.node), row_bytes);
		}
		if (has_row(&entry))
			crit_pending_acts_fetch_key(&forecasting->acts, key_of(entry.number));
	}
	if (crit_film_moments_soon(&forecasting->moments, at + FETCHED_SECOND, &entry) &&
	    has_row(&entry))
		crit_pending_acts_fetch_row(&forecasting->acts, key_of(entry.number));
}

/* Times of thousands of threads are more than caches hold: what comes soon is fetched ahead. */
static void fetch_moment(const struct forecasting *forecasting)
{
	for (size_t i = 0; i < forecasting->count; i++)
		fetch_ahead(forecasting, i);
}

static inline bool is_possible(const struct forecasting *forecasting,
			       const struct crit_film_entry *entry)
{
	const struct crit_forecast_options *options = forecasting->options;

	if (is_object(entry->node) ? !crit_forecast_is_act(entry)
				   : entry->node >= options->thread_count)
		return false;
	if (crit_film_tells(entry))
		return crit_film_told(entry) < options->bucket_count;
	if (entry->type == CRIT_FILM_FROM)
		return entry->number < options->bucket_count;
	return (entry->type != CRIT_FILM_BIRTH && entry->type != CRIT_FILM_WOKEN) ||
	       entry->number < options->thread_count;
}

/* Of threads that lose or get a CPU, as most do, and nothing else.  Errors: -EPROTO. */
static int take_cpus(struct forecasting *forecasting)
{
	const struct crit_film_entry *now = forecasting->now;
	const size_t count = forecasting->count;

	for (size_t i = 0; i < count; i++) {
		if (now[i].node >= forecasting->options->thread_count)
			return -EPROTO;
		crit_forecast_take_cpu(forecasting, &now[i]);
	}
	return 0;
}

/* All entries of one time.  Errors: -ENOMEM, -EPROTO. */
static int take_moment(struct forecasting *forecasting)
{
	const size_t count = forecasting->moments.count;
	int rc = 0;

	forecasting->now = forecasting->moments.now;
	forecasting->count = count;
	if (forecasting->is_large)
		fetch_moment(forecasting);
	if (!(forecasting->moments.types & ~CRIT_FILM_CPU_TYPES))
		return take_cpus(forecasting);
	for (size_t i = 0; i < count; i++) {
		if (!is_possible(forecasting, &forecasting->now[i]))
			return -EPROTO;
	}
	if (forecasting->moments.types & CRIT_FILM_LATE_TYPES)
		rc = take_acts(forecasting);
	else
		crit_forecast_take_owns(forecasting);
	return rc ? rc : forecasting->error;
}

static int take_film(struct forecasting *forecasting, struct crit_film *film)
{
	int rc;

	crit_film_moments_init(&forecasting->moments, film, forecasting->options->begin_ns);
	while ((rc = crit_film_moments_next(&forecasting->moments)) > 0) {
		rc = take_moment(forecasting);
		if (rc)
			return rc;
	}
	return rc;
}

/* What scenarios change, and what that needs.  Errors: -ENOMEM. */
static int begin_changes(struct forecasting *forecasting)
{
	const struct crit_forecast_options *options = forecasting->options;
	bool has_queues = false;

	for (size_t k = 0; k < options->scenario_count; k++) {
		const struct crit_factor *factors = options->scenarios[k].factors;

		forecasting->transfers[k] = options->scenarios[k].is_without_transfer ? 0
										      : UINT64_MAX;
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
	forecasting->transfers = calloc(options->scenario_count, sizeof(*forecasting->transfers));
	forecasting->result->end_ns =
		calloc(options->scenario_count, sizeof(*forecasting->result->end_ns));
	if (!forecasting->threads || !forecasting->times_ns || !forecasting->result->end_ns ||
	    !forecasting->turns || !forecasting->result->order_changes ||
	    !forecasting->is_changed || !forecasting->transfers)
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
	free(forecasting.transfers);
	crit_film_moments_fini(&forecasting.moments);
	free(forecasting.needs);
	free(forecasting.ended);
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
