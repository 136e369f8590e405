// SPDX-License-Identifier: BSD-3-Clause
// Who acted late after what, and who waited longest for it and where.
#include "report/causes/late_rows.h"

#include <stdlib.h>

#include "analysis/waits/film/film.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_who.h"
#include "report/causes/code_places.h"

struct naming {
	const struct crit_costs *costs;
	const struct crit_code_key *keys;
	const struct crit_results *results;
	const struct crit_code_places *places;
	const struct crit_who_rule *rule;
};

/* A thread in a bucket, or a lock by its own. */
static struct crit_cause_row place_of(const struct naming *naming, uint32_t node, uint32_t bucket)
{
	const bool is_known = bucket < naming->costs->bucket_count;
	const struct crit_code_key *key = is_known ? &naming->keys[bucket] : NULL;
	struct crit_cause_row row = { .who = { .rank = CRIT_NONE, .thread = CRIT_NONE } };

	if (!(node & CRIT_FILM_OBJECT))
		row.who = crit_cause_who_by(naming->results, naming->rule, node);
	else if (is_known && crit_code_key_is_lock(key))
		row.who = crit_cause_lock_of(naming->results, key, naming->rule->is_thread);
	if (is_known && !row.who.lock && key->thread < naming->results->thread_count)
		row.place = crit_code_places_of(naming->places, bucket);
	return row;
}

/* Within what the clocks of two threads' nodes tell how long one waited for the other. */
static uint64_t clock_bound(const struct crit_results *results, uint32_t thread, uint32_t other)
{
	uint64_t sum_ns = 0;

	if (other >= results->thread_count ||
	    results->threads[thread].node == results->threads[other].node)
		return 0;
	for (int i = 0; i < 2; i++) {
		const uint32_t node = results->threads[i ? other : thread].node;
		const uint64_t bound_ns = results->nodes[node].clock_bound_ns;

		if (bound_ns == CRIT_CLOCK_UNBOUND)
			return bound_ns;
		sum_ns += bound_ns;
	}
	return sum_ns;
}

struct crit_late_row *crit_late_rows_create(const struct crit_costs *costs,
					    const struct crit_code_key *keys,
					    const struct crit_results *results,
					    const struct crit_code_places *places,
					    const struct crit_who_rule *rule)
{
	const struct naming naming = { costs, keys, results, places, rule };
	struct crit_late_row *rows = calloc(costs->acts.kept_count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < costs->acts.kept_count; i++) {
		const struct crit_late_act *act = &costs->acts.kept[i];

		rows[i] = (struct crit_late_row){
			.actor = place_of(&naming, act->thread, act->bucket),
			.waiter = place_of(&naming, act->longest, act->longest_bucket),
			.waiters = act->waiters,
			.time_ns = act->time_ns,
			.longest_ns = act->longest_ns,
			.clock_bound_ns = clock_bound(results, act->thread, act->longest),
			.impact = act->impact
		};
	}
	return rows;
}
