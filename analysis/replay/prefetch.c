// SPDX-License-Identifier: BSD-3-Clause
// Prefetches the state of streams by how soon their next events come.
#include "analysis/replay/prefetch.h"

#define PARTS 32u /* of the merge, so many events ahead, about: a power of two */
#define SECOND_AFTER (CRIT_PREFETCH_AHEAD / 2) /* events from the first step to the second */

static inline void fetch(const void *row, unsigned int lines)
{
	crit_lines_fetch(row, (size_t)lines * CRIT_LINE_BYTES);
}

/* Its stream's next event is known, and its thread. */
static inline void fetch_first(const struct crit_prefetch *prefetch,
			       const struct crit_turn_stream *source)
{
	fetch(&prefetch->shims[source - prefetch->turns->rows], 3);
	fetch(&prefetch->engine->accounts[source->thread], 4);
	fetch(&prefetch->engine->model->threads[source->thread], 1);
	crit_listeners_tell_soon(&prefetch->engine->listeners, source->thread, false);
}

/* What the account points to, and the slot behind the event. */
static inline void fetch_second(const struct crit_prefetch *prefetch,
				const struct crit_turn_stream *source)
{
	const struct crit_shim_feed *feed = &prefetch->shims[source - prefetch->turns->rows];
	const struct crit_engine *engine = prefetch->engine;
	const struct crit_thread_account *account = &engine->accounts[source->thread];
	uint32_t window = engine->model->threads[source->thread].window;

	__builtin_prefetch(&feed->slots[feed->slot_at]);
	fetch(account->bucket, 3);
	fetch(account->base, 3);
	fetch(account->entered, 1);
	fetch(account->spans, 1);
	fetch(&account->cells.ns[account->state][account->span_class], 1);
	if (engine->run_ranks && window < engine->model->rank_count) {
		fetch(&engine->run_ranks[window], 3);
		fetch(&engine->rank_idles[window], 1);
	}
	crit_listeners_tell_soon(&engine->listeners, source->thread, true);
}

/* The bucket that is entered, if the thread does as it did before. */
static inline void fetch_third(const struct crit_prefetch *prefetch,
			       const struct crit_turn_stream *source)
{
	const struct crit_bucket *next =
		prefetch->engine->accounts[source->thread].entered->follower;

	if (next)
		fetch(next, 3);
}

/* The stream whose event comes next in this one's part of the merge.  NULL: none. */
static inline const struct crit_turn_stream *next_of(const struct crit_prefetch *prefetch,
						     uint32_t stream)
{
	uint32_t next = crit_merge_soon(&prefetch->turns->streams, stream, PARTS);

	if (next >= prefetch->stream_count)
		return NULL;
	crit_merge_fetch(&prefetch->turns->streams, next);
	return &prefetch->turns->rows[next];
}

void crit_prefetch_after(struct crit_prefetch *prefetch, uint32_t stream)
{
	const struct crit_turn_stream *first = next_of(prefetch, stream);
	const uint32_t at = prefetch->at++;
	const struct crit_turn_stream *second =
		prefetch->asked[(at - SECOND_AFTER) % CRIT_PREFETCH_AHEAD];
	const struct crit_turn_stream *third = prefetch->asked[at % CRIT_PREFETCH_AHEAD];

	prefetch->asked[at % CRIT_PREFETCH_AHEAD] = first;
	if (first)
		fetch_first(prefetch, first);
	if (second)
		fetch_second(prefetch, second);
	if (third)
		fetch_third(prefetch, third);
}
