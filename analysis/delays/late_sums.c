// SPDX-License-Identifier: BSD-3-Clause
// By thread, code, view and call; each view is added up before its positive part is taken.
#include "analysis/delays/late_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/delays/thread_profile.h"
#include "core/base/array.h"

#define WAKERS_MAX 8 /* of wakers that are looked at for a code */

struct own_bucket { /* a bucket in which a thread does a code */
	uint32_t thread, code, bucket;
};

static int compare_own(const void *a, const void *b)
{
	const struct own_bucket *left = a, *right = b;
	int order = crit_by_number(left->thread, right->thread);

	return order ? order : crit_by_number(left->code, right->code);
}

struct late_call { /* where a thread came late, and by which code */
	const struct crit_code_key *key;
	struct crit_late_excess excess;
};

static int compare_views(const struct late_call *left, const struct late_call *right)
{
	int order = crit_by_number(left->key->thread, right->key->thread);

	if (!order)
		order = crit_by_number(left->excess.code, right->excess.code);
	return order ? order : crit_by_number(left->excess.partner, right->excess.partner);
}

static int compare_calls(const void *a, const void *b)
{
	const struct late_call *left = a, *right = b;
	int order = compare_views(left, right);

	if (!order)
		order = crit_by_number(left->key->after.call, right->key->after.call);
	return order ? order : crit_by_number(left->key->after.site, right->key->after.site);
}

/* The buckets of all threads by thread and code.  Errors: NULL, out of memory. */
static struct own_bucket *make_own(const struct crit_delay_options *options, size_t *ret_count)
{
	struct own_bucket *own = calloc(options->bucket_count + 1, sizeof(*own));
	uint32_t *numbers = calloc(options->bucket_count + 1, sizeof(*numbers));
	uint32_t *keys = calloc(options->bucket_count + 1, sizeof(*keys));
	const bool has_room = own && numbers && keys;
	size_t count = 0;
	int rc;

	for (uint32_t i = 0; has_room && i < options->bucket_count; i++) {
		keys[i] = options->keys[i].thread;
		if (options->codes[i] != CRIT_NONE)
			numbers[count++] = i;
	}
	rc = has_room ? crit_array_sort_numbers(numbers, count, options->codes) : -ENOMEM;
	if (!rc)
		rc = crit_array_sort_numbers(numbers, count, keys);
	for (size_t i = 0; i < count && !rc; i++)
		own[i] = (struct own_bucket){ options->keys[numbers[i]].thread,
					      options->codes[numbers[i]], numbers[i] };
	free(numbers);
	free(keys);
	*ret_count = count;
	if (!rc)
		return own;
	free(own);
	return NULL;
}

struct putting {
	const struct crit_late_sums *sums;
	struct crit_delays *delays;
	struct own_bucket *own; /* by thread and code */
	size_t own_count;
};

static const struct own_bucket *find_own(const struct putting *putting,
					 const struct own_bucket *wanted)
{
	return bsearch(wanted, putting->own, putting->own_count, sizeof(*wanted), compare_own);
}

/* The sum of one code at one call; another thread may have done it meanwhile. */
static void put_delay(const struct putting *putting, const struct late_call *call)
{
	const double ns = call->excess.ns;
	struct own_bucket wanted = { call->key->thread, call->excess.code, 0 };
	const struct own_bucket *found = find_own(putting, &wanted);
	int wakers = 0;

	if (call->excess.code == CRIT_KEY_NO_CPU) {
		putting->delays->buckets[call->excess.bucket].cpu_ns += ns;
		return;
	}
	for (; !found && wakers < WAKERS_MAX && wanted.thread != CRIT_NONE; wakers++) {
		wanted.thread = putting->sums->wakers[wanted.thread];
		found = find_own(putting, &wanted);
	}
	if (found)
		putting->delays->buckets[found->bucket].code_ns += ns;
}

/* Adds up what is of one code at one call, and keeps what is above 0.  Yields how many. */
static size_t add_up(struct late_call *calls, size_t count)
{
	size_t kept = 0;

	for (size_t first = 0, end; first < count; first = end) {
		struct late_call sum = calls[first];

		for (end = first + 1; end < count && !compare_calls(&sum, &calls[end]); end++)
			sum.excess.ns += calls[end].excess.ns;
		if (sum.excess.ns > 0)
			calls[kept++] = sum;
	}
	return kept;
}

static int compare_partners(const void *a, const void *b)
{
	const struct late_call *left = a, *right = b;
	int order = crit_by_number(left->key->thread, right->key->thread);

	if (!order)
		order = crit_by_number(left->excess.partner, right->excess.partner);
	return order ? order : compare_calls(a, b);
}

/*
 * A thread that did one code longer and another one shorter, as ranks of different roles do, was
 * later than the others by what it did longer in all: no more than that counts of its codes, at all
 * its meetings, and at the messages to one partner.  Yields how many are left, in order.
 */
static size_t limit_partners(struct late_call *calls, size_t count)
{
	size_t kept = 0;

	qsort(calls, count, sizeof(*calls), compare_partners);
	for (size_t first = 0, end; first < count; first = end) {
		double all_ns = 0, sum_ns = 0;

		for (end = first;
		     end < count && calls[end].key->thread == calls[first].key->thread &&
		     calls[end].excess.partner == calls[first].excess.partner;
		     end++)
			*(calls[end].excess.code == CRIT_NONE ? &all_ns : &sum_ns) +=
				calls[end].excess.ns;
		for (size_t i = first; i < end; i++) {
			struct late_call call = calls[i];

			if (call.excess.code == CRIT_NONE || all_ns <= 0)
				continue;
			if (sum_ns > all_ns)
				call.excess.ns *= all_ns / sum_ns;
			calls[kept++] = call;
		}
	}
	qsort(calls, kept, sizeof(*calls), compare_calls);
	return kept;
}

static bool is_same_code(const struct late_call *left, const struct late_call *right)
{
	return left->key->thread == right->key->thread && left->excess.code == right->excess.code;
}

/*
 * Meetings and partners tell of the same time: what a thread did longer than most in one code
 * counts once.  Yields the first of the next code.
 */
static size_t put_code(const struct putting *putting, const struct late_call *calls, size_t first,
		       size_t count)
{
	const struct late_call *code = &calls[first];
	size_t end, best = first, best_end = first;
	double most_ns = 0;

	for (; first < count && is_same_code(code, &calls[first]); first = end) {
		double ns = 0;

		for (end = first; end < count && !compare_views(&calls[first], &calls[end]); end++)
			ns += calls[end].excess.ns;
		if (ns > most_ns || (ns == most_ns && calls[first].excess.partner == CRIT_NONE)) {
			most_ns = ns;
			best = first;
			best_end = end;
		}
	}
	for (size_t i = best; i < best_end; i++)
		put_delay(putting, &calls[i]);
	return first;
}

int crit_late_sums_put(const struct crit_late_sums *sums, struct crit_delays *delays)
{
	const struct crit_delay_options *options = sums->options;
	struct late_call *calls = calloc(sums->count + 1, sizeof(*calls));
	struct putting putting = { .sums = sums, .delays = delays };
	size_t count = 0;
	int rc;

	putting.own = make_own(options, &putting.own_count);
	rc = calls && putting.own ? 0 : -ENOMEM;
	for (size_t i = 0; i < sums->count && !rc; i++) {
		if (sums->rows[i].bucket < options->bucket_count)
			calls[count++] = (struct late_call){ &options->keys[sums->rows[i].bucket],
							     sums->rows[i] };
	}
	if (!rc)
		qsort(calls, count, sizeof(*calls), compare_calls);
	if (!rc)
		count = limit_partners(calls, add_up(calls, count));
	for (size_t first = 0, end; first < count && !rc; first = end)
		end = put_code(&putting, calls, first, count);
	free(calls);
	free(putting.own);
	return rc;
}
