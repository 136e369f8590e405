// SPDX-License-Identifier: BSD-3-Clause
// Who, as rows are joined by.
#include "report/causes/cause_who.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "core/base/hash.h"

int crit_cause_compare_who(const struct crit_who *left, const struct crit_who *right)
{
	int order = crit_by_number(left->rank, right->rank);

	if (!order)
		order = crit_by_number(left->thread, right->thread);
	if (!order)
		order = crit_by_number(left->lock, right->lock);
	if (!order)
		order = crit_by_number(left->is_name, right->is_name);
	return order ? order
		     : crit_by_number(left->region ? left->region->number : 0,
				      right->region ? right->region->number : 0);
}

uint64_t crit_cause_hash_who(const struct crit_who *who)
{
	const uint64_t hash = crit_hash_mix(0, (uint64_t)who->rank << 32 | who->thread);

	return crit_hash_mix(hash, (uint64_t)who->lock << 32 | (uint64_t)who->is_name << 31 |
					   (who->region ? who->region->number : 0));
}

struct crit_who crit_cause_who_of(const struct crit_results *results, uint32_t thread,
				  bool is_thread)
{
	struct crit_who who = { .rank = CRIT_NONE, .thread = CRIT_NONE };

	if (thread >= results->thread_count)
		return who;
	if (results->threads[thread].rank_row >= 0)
		who.rank = (uint32_t)results->threads[thread].rank_row;
	if (who.rank == CRIT_NONE || is_thread)
		who.thread = thread;
	return who;
}

struct crit_who crit_cause_who_by(const struct crit_results *results,
				  const struct crit_who_rule *rule, uint32_t thread)
{
	struct crit_who who = { .rank = CRIT_NONE, .thread = CRIT_NONE, .is_name = true };

	if (!rule->same_names || thread >= results->thread_count)
		return crit_cause_who_of(results, thread, rule->is_thread);
	who.thread = rule->same_names[thread];
	return who;
}

static int compare_names(const void *a, const void *b, void *user)
{
	const struct crit_results *results = user;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = strncmp(results->threads[left].name, results->threads[right].name,
			    sizeof(results->threads[left].name));

	return order ? order : crit_by_number(left, right);
}

uint32_t *crit_cause_same_names(const struct crit_results *results)
{
	uint32_t *sorted = calloc(results->thread_count + 1, sizeof(*sorted));
	uint32_t *same = calloc(results->thread_count + 1, sizeof(*same));
	uint32_t first = 0;

	if (!sorted || !same) {
		free(sorted);
		free(same);
		return NULL;
	}
	for (uint32_t i = 0; i < results->thread_count; i++)
		sorted[i] = i;
	qsort_r(sorted, results->thread_count, sizeof(*sorted), compare_names, (void *)results);
	for (size_t i = 0; i < results->thread_count; i++) {
		const char *name = results->threads[sorted[i]].name;

		if (!i || strncmp(name, results->threads[first].name,
				  sizeof(results->threads[first].name)))
			first = sorted[i];
		same[sorted[i]] = first;
	}
	free(sorted);
	return same;
}

struct crit_who crit_cause_lock_of(const struct crit_results *results,
				   const struct crit_code_key *key, bool is_thread)
{
	struct crit_who who = crit_cause_who_of(results, key->thread, false);

	who.thread = CRIT_NONE;
	who.lock = (is_thread || who.rank == CRIT_NONE) && key->before.site
			   ? (uint32_t)key->before.site
			   : CRIT_WHO_LOCKS;
	return who;
}
