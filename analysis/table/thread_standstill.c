// SPDX-License-Identifier: BSD-3-Clause
// Finds from when on all threads of a run wait until they are killed.
#include "analysis/table/thread_standstill.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/efficiency.h"
#include "core/base/array.h"

#define END_PARTS 20 /* a wait ends where less than one of so many of it follows */
#define TICKER_RATIO 0.02 /* of a standstill, that threads may run in all they live */
#define TICKER_GAIN 4 /* by so much it has to be longer where they are left out */
#define MOST_OF_SILENCE 1.05

struct item { /* a thread */
	uint64_t since_ns; /* from then on it does nothing: it waits, or is gone */
	uint64_t running_ns; /* in all it lives */
	bool is_there; /* at the end */
};

static uint64_t end_of_window(const struct crit_results *results)
{
	return results->window_begin_ns + results->window_ns;
}

/* The wait that the thread of a row ends in; NULL: it goes on after its last one. */
static const struct crit_last_wait *final_wait(const struct crit_results *results, size_t row,
					       uint64_t end_ns)
{
	size_t low = 0, high = results->blocks.last_wait_count;
	const struct crit_last_wait *wait;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (results->blocks.last_waits[middle].thread < row)
			low = middle + 1;
		else
			high = middle;
	}
	wait = &results->blocks.last_waits[low];
	if (low == results->blocks.last_wait_count || wait->thread != row ||
	    wait->until_ns > end_ns ||
	    (end_ns - wait->until_ns) * END_PARTS > wait->until_ns - wait->since_ns)
		return NULL;
	return wait;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *left = a, *right = b;

	return crit_by_number(right->since_ns, left->since_ns);
}

/* App threads, those that went on longest first. */
static size_t find_items(const struct crit_results *results, uint64_t end_ns, struct item *items)
{
	size_t count = 0;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];
		const struct crit_last_wait *wait = final_wait(results, i, end_ns);
		struct item item = { .since_ns = thread->death_ns, .is_there = wait != NULL };
		struct crit_usage usage;

		if (thread->role != CRIT_THREAD_APP)
			continue;
		crit_usage_of(&thread->cells, &usage);
		item.running_ns = usage.useful_ns;
		if (wait)
			item.since_ns = wait->is_idle ? results->window_begin_ns : wait->since_ns;
		items[count++] = item;
	}
	qsort(items, count, sizeof(*items), compare_items);
	return count;
}

/* How many of the items, the first ones, run now and then only. */
static size_t count_tickers(const struct item *items, size_t count, uint64_t end_ns,
			    double *ret_running_ns)
{
	double running_ns = 0, length_ns = 0;
	size_t tickers = 0;

	*ret_running_ns = 0;
	for (size_t i = 0; i < count; i++) {
		const double left_ns = (double)(end_ns - items[i].since_ns);

		if (!i ||
		    (running_ns <= TICKER_RATIO * left_ns && left_ns >= TICKER_GAIN * length_ns)) {
			length_ns = left_ns;
			*ret_running_ns = running_ns;
			tickers = i;
		}
		running_ns += (double)items[i].running_ns;
	}
	return tickers;
}

const struct crit_last_wait *crit_thread_standstill_wait(const struct crit_thread_standstill *still,
							 const struct crit_results *results,
							 size_t thread_row)
{
	const struct crit_last_wait *wait =
		results->threads[thread_row].role == CRIT_THREAD_APP
			? final_wait(results, thread_row, end_of_window(results))
			: NULL;

	return wait && (wait->is_idle || wait->since_ns <= still->since_ns) ? wait : NULL;
}

/* Who waits, when the first of these is ended, and whether that was a signal. */
static bool find_waiters(const struct crit_results *results, struct crit_thread_standstill *still)
{
	bool is_open = false;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_last_wait *wait = crit_thread_standstill_wait(still, results, i);

		if (!wait)
			continue;
		still->waiter_count++;
		is_open |= !wait->is_end_seen;
		if (!wait->is_idle && wait->until_ns < still->until_ns)
			still->until_ns = wait->until_ns;
		if (wait->exit_signal)
			still->exit_signal = wait->exit_signal;
	}
	return is_open || still->exit_signal;
}

int crit_thread_standstill_find(const struct crit_results *results, uint64_t silent_ns,
				struct crit_thread_standstill *ret_still)
{
	struct crit_thread_standstill still = { .until_ns = end_of_window(results) };
	struct item *items;
	double ticker_ns;
	size_t count;

	*ret_still = (struct crit_thread_standstill){ 0 };
	if (results->has_ranks || !results->blocks.last_wait_count)
		return 0;
	items = calloc(results->thread_count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	count = find_items(results, still.until_ns, items);
	still.ticker_count = count_tickers(items, count, still.until_ns, &ticker_ns);
	if (still.ticker_count < count)
		still.since_ns = items[still.ticker_count].since_ns;
	else
		still.since_ns = still.until_ns;
	free(items);
	if (still.since_ns < results->window_begin_ns)
		still.since_ns = results->window_begin_ns;
	if (!find_waiters(results, &still) || still.until_ns <= still.since_ns)
		return 0;
	still.s = 1e-9 * (double)(still.until_ns - still.since_ns);
	still.ticker_s = 1e-9 * ticker_ns;
	if (still.s - still.ticker_s <= MOST_OF_SILENCE * 1e-9 * (double)silent_ns)
		*ret_still = still;
	return 0;
}
