// SPDX-License-Identifier: BSD-3-Clause
// Follows what each thread does, and compares it at meetings.
#include "analysis/delays/delays.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/delays/delay_meetings.h"
#include "analysis/delays/delay_pairs.h"
#include "analysis/delays/thread_profile.h"
#include "core/base/array.h"
#include "core/base/call.h"

#define ON_NO_CPU 0xfffffffeu /* a code */
#define WAKERS_MAX 8 /* of wakers that are looked at for a code */

struct delayed_thread {
	struct crit_thread_profile profile;
	uint64_t *met_ns; /* by the thread's number of the place */
	size_t met_count;
	uint64_t acted_ns; /* when somebody waited for it last */
	uint64_t slept_ns, waits_ns; /* the begin of its last sleep, and wait */
	uint64_t arrived_ns; /* at its last meeting */
	uint32_t bucket;
	uint32_t wait; /* number of its last wait */
	uint32_t waker; /* the last one that it waited for asleep; CRIT_NONE: none */
	bool is_queued, is_asleep;
};

struct late_excess { /* of all meetings, or messages to one, to which a thread was late */
	uint32_t bucket, code;
	uint32_t partner; /* who waited for a message; CRIT_NONE: at meetings */
	double ns;
};

struct comparing {
	const struct crit_delay_options *options;
	struct crit_delays *delays;
	struct delayed_thread *threads;
	struct crit_delay_meetings meetings;
	struct crit_delay_pairs pairs;
	struct crit_index waits; /* number of an open one -> thread */
	struct crit_film_entry *now; /* entries of one time */
	size_t now_count, now_capacity;
	uint32_t *over; /* meetings that are over now */
	size_t over_count, over_capacity;
	struct late_excess *rows;
	size_t row_count, row_capacity;
	struct crit_index places; /* of the rows */
};

static uint32_t code_of(const struct comparing *comparing, const struct delayed_thread *thread)
{
	const uint32_t code = thread->bucket < comparing->options->bucket_count
				      ? comparing->options->codes[thread->bucket]
				      : CRIT_NONE;

	return thread->is_queued && code != CRIT_NONE ? ON_NO_CPU : code;
}

static bool ends_in_fork(const struct comparing *comparing, uint32_t bucket)
{
	return bucket < comparing->options->bucket_count &&
	       comparing->options->keys[bucket].after.call == CRIT_CONSTRUCT_PARALLEL;
}

/* When the thread was last at a place, which it is now.  Errors: -ENOMEM. */
static int meet(const struct comparing *comparing, struct delayed_thread *thread, size_t place,
		uint64_t time_ns, uint64_t *ret_before_ns)
{
	uint64_t *grown;

	if (place >= thread->met_count) {
		grown = reallocarray(thread->met_ns, place + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		for (size_t i = thread->met_count; i <= place; i++)
			grown[i] = comparing->options->begin_ns;
		thread->met_ns = grown;
		thread->met_count = place + 1;
	}
	*ret_before_ns = thread->met_ns[place];
	thread->met_ns[place] = time_ns;
	return 0;
}

/* Of those who come last, it is the first thread that somebody waits for. */
static int come_last(struct comparing *comparing, uint32_t row, uint32_t at,
		     const struct crit_key_times *times, uint64_t time_ns)
{
	struct crit_delay_meeting *meeting = &comparing->meetings.rows[row];
	int rc = 0;

	if (!meeting->is_over)
		rc = crit_array_grow(&comparing->over, &comparing->over_capacity,
				     comparing->over_count + 1, sizeof(*comparing->over));
	if (rc)
		return rc;
	if (!meeting->is_over)
		comparing->over[comparing->over_count++] = row;
	meeting->is_over = true;
	if (comparing->threads[at].acted_ns != time_ns || meeting->late < at)
		return 0;
	meeting->late = at;
	meeting->late_bucket = comparing->threads[at].bucket;
	meeting->late_times = *times;
	return 0;
}

static int arrive(struct comparing *comparing, const struct crit_film_entry *entry)
{
	const size_t place = entry->kind / CRIT_FILM_PLACE;
	struct delayed_thread *thread = &comparing->threads[entry->node];
	struct crit_key_times times = { .count = 0 };
	struct crit_delay_meeting *meeting;
	uint64_t before_ns;
	uint32_t row;
	int rc;

	if (!place)
		return 0;
	thread->arrived_ns = entry->time_ns;
	rc = meet(comparing, thread, place, entry->time_ns, &before_ns);
	if (!rc)
		rc = crit_delay_meetings_obtain(&comparing->meetings, entry->number, &row);
	if (rc)
		return rc;
	crit_thread_profile_read(&thread->profile, before_ns, entry->time_ns, &times);
	meeting = &comparing->meetings.rows[row];
	meeting->member_count++;
	for (size_t i = 0; i < times.count; i++)
		crit_key_times_add(&meeting->sums, times.rows[i].key, times.rows[i].ns);
	meeting->sums.is_cut |= times.is_cut;
	return entry->kind & CRIT_FILM_LAST
		       ? come_last(comparing, row, entry->node, &times, entry->time_ns)
		       : 0;
}

/* Errors: -ENOMEM. */
static int add_excess(struct comparing *comparing, const struct late_excess *excess)
{
	const uint64_t hash = crit_hash_mix(
		crit_hash_mix(0, (uint64_t)excess->bucket << 32 | excess->code), excess->partner);
	struct crit_probe probe;
	uint32_t row = crit_index_first(&comparing->places, hash, &probe);
	int rc;

	while (row != CRIT_NONE && (comparing->rows[row].bucket != excess->bucket ||
				    comparing->rows[row].code != excess->code ||
				    comparing->rows[row].partner != excess->partner))
		row = crit_index_next(&comparing->places, &probe);
	if (row == CRIT_NONE) {
		row = (uint32_t)comparing->row_count;
		rc = crit_array_grow(&comparing->rows, &comparing->row_capacity, row + 1u,
				     sizeof(*comparing->rows));
		if (!rc)
			rc = crit_index_put(&comparing->places, hash, row);
		if (rc)
			return rc;
		comparing->row_count++;
		comparing->rows[row] = *excess;
		comparing->rows[row].ns = 0;
	}
	comparing->rows[row].ns += excess->ns;
	return 0;
}

static int compare_members(struct comparing *comparing, const struct crit_delay_meeting *meeting)
{
	int rc = 0;

	if (meeting->late == CRIT_NONE || meeting->member_count < 2)
		return 0;
	comparing->delays->meeting_count++;
	comparing->delays->cut_count += meeting->sums.is_cut;
	for (size_t i = 0; i < meeting->sums.count && !rc; i++) {
		const struct crit_key_time *sum = &meeting->sums.rows[i];
		const uint64_t own_ns = crit_key_times_find(&meeting->late_times, sum->key);

		rc = add_excess(comparing,
				&(struct late_excess){
					meeting->late_bucket, sum->key, CRIT_NONE,
					(double)own_ns - (double)sum->ns / meeting->member_count });
	}
	return rc;
}

/* What the sender of a message did longer than the mean of it and of who waited for it. */
static int compare_pair(struct comparing *comparing, uint32_t sender, uint32_t waiter,
			const struct crit_key_times times[2])
{
	int rc = 0;

	for (int at = 0; at < 2; at++) {
		for (size_t i = 0; i < times[at].count && !rc; i++) {
			const double ns = (double)times[at].rows[i].ns / 2;

			rc = add_excess(comparing,
					&(struct late_excess){ comparing->threads[sender].bucket,
							       times[at].rows[i].key, waiter,
							       at ? -ns : ns });
		}
	}
	return rc;
}

/* Does the thread wait in a call of MPI, and not for all who meet there? */
static bool is_in_message(const struct comparing *comparing, const struct delayed_thread *thread)
{
	const struct crit_code_key *key;

	if (thread->bucket >= comparing->options->bucket_count ||
	    thread->arrived_ns == thread->waits_ns)
		return false;
	key = &comparing->options->keys[thread->bucket];
	return key->is_call && key->before.call < CRIT_CALL_OMP_FIRST;
}

static uint32_t find_waiter(const struct comparing *comparing, uint32_t number)
{
	struct crit_probe probe;
	uint32_t at = crit_index_first(&comparing->waits, crit_hash_mix(number, 0), &probe);

	while (at != CRIT_NONE && comparing->threads[at].wait != number)
		at = crit_index_next(&comparing->waits, &probe);
	return at;
}

/* Somebody waits in a call for what a thread does now. */
static int take_message(struct comparing *comparing, uint32_t waiter,
			const struct crit_film_entry *cause)
{
	const uint32_t late = cause->node;
	struct crit_key_times times[2] = { { .count = 0 }, { .count = 0 } };
	const struct delayed_thread *threads = comparing->threads;
	struct crit_delay_pair *pair;
	int rc, at = waiter < late; /* the late one's place in the pair */

	pair = crit_delay_pairs_obtain(&comparing->pairs, late, waiter,
				       comparing->options->begin_ns, &rc);
	if (!pair)
		return rc;
	crit_thread_profile_read(&threads[late].profile, pair->met_ns[at], cause->time_ns,
				 &times[0]);
	crit_thread_profile_read(&threads[waiter].profile, pair->met_ns[!at],
				 threads[waiter].waits_ns, &times[1]);
	pair->met_ns[at] = cause->time_ns;
	pair->met_ns[!at] = threads[waiter].waits_ns;
	comparing->delays->message_count++;
	comparing->delays->cut_count += times[0].is_cut || times[1].is_cut;
	return compare_pair(comparing, late, waiter, times);
}

static int take_cause(struct comparing *comparing, const struct crit_film_entry *cause)
{
	const uint32_t waiter = find_waiter(comparing, cause->number);

	if (waiter != CRIT_NONE && waiter != cause->node &&
	    is_in_message(comparing, &comparing->threads[waiter]))
		return take_message(comparing, waiter, cause);
	comparing->threads[cause->node].acted_ns = cause->time_ns;
	return 0;
}

/* The meetings that are over now, before anybody does something else. */
static int end_meetings(struct comparing *comparing)
{
	int rc = 0;

	for (size_t i = 0; i < comparing->over_count && !rc; i++) {
		const uint32_t row = comparing->over[i];

		rc = compare_members(comparing, &comparing->meetings.rows[row]);
		crit_delay_meetings_remove(&comparing->meetings, row);
	}
	comparing->over_count = 0;
	return rc;
}

/* While it slept for another thread, it did what that did. */
static int take_over(struct comparing *comparing, const struct crit_film_entry *woken)
{
	struct delayed_thread *thread = &comparing->threads[woken->number];
	const uint32_t code = code_of(comparing, thread);

	if (!thread->is_asleep || code == CRIT_NONE || woken->node == woken->number ||
	    thread->profile.since_ns > thread->slept_ns)
		return 0;
	thread->waker = woken->node;
	return crit_thread_profile_take_over(&thread->profile,
					     &comparing->threads[woken->node].profile,
					     thread->slept_ns, woken->time_ns, code);
}

/* It begins or ends to sleep or to wait.  Errors: -ENOMEM. */
static int change_state(struct comparing *comparing, const struct crit_film_entry *entry)
{
	struct delayed_thread *thread = &comparing->threads[entry->node];

	switch (entry->type) {
	case CRIT_FILM_SLEEP:
		thread->slept_ns = entry->time_ns;
		thread->is_asleep = true;
		return 0;
	case CRIT_FILM_WAKE:
		thread->is_asleep = false;
		return 0;
	case CRIT_FILM_WAIT:
		thread->waits_ns = entry->time_ns;
		thread->wait = entry->number;
		return crit_index_put(&comparing->waits, crit_hash_mix(entry->number, 0),
				      entry->node);
	case CRIT_FILM_END:
		crit_index_forget(&comparing->waits, crit_hash_mix(entry->number, 0), entry->node);
		return 0;
	default:
		return 0;
	}
}

static int change(struct comparing *comparing, const struct crit_film_entry *entry)
{
	struct delayed_thread *thread = &comparing->threads[entry->node];
	uint64_t before_ns;
	int rc = 0;

	if (entry->type == CRIT_FILM_FROM) {
		if (ends_in_fork(comparing, thread->bucket))
			rc = meet(comparing, thread, CRIT_FILM_TEAM, entry->time_ns, &before_ns);
		thread->bucket = entry->number;
	} else if (entry->type == CRIT_FILM_QUEUE || entry->type == CRIT_FILM_RUN) {
		thread->is_queued = entry->type == CRIT_FILM_QUEUE;
	} else {
		return change_state(comparing, entry);
	}
	return rc ? rc
		  : crit_thread_profile_change(&thread->profile, entry->time_ns,
					       code_of(comparing, thread));
}

/* All entries of one time: who acts, who comes, and then what changes. */
static int take_moment(struct comparing *comparing)
{
	int rc = 0;

	for (size_t i = 0; i < comparing->now_count && !rc; i++) {
		if (comparing->now[i].type == CRIT_FILM_WOKEN)
			rc = take_over(comparing, &comparing->now[i]);
	}
	for (size_t i = 0; i < comparing->now_count && !rc; i++) {
		const struct crit_film_entry *entry = &comparing->now[i];

		if (entry->type == CRIT_FILM_CAUSE && !(entry->node & CRIT_FILM_OBJECT))
			rc = take_cause(comparing, entry);
	}
	for (size_t i = 0; i < comparing->now_count && !rc; i++) {
		if (comparing->now[i].type == CRIT_FILM_ARRIVAL)
			rc = arrive(comparing, &comparing->now[i]);
	}
	if (!rc)
		rc = end_meetings(comparing);
	for (size_t i = 0; i < comparing->now_count && !rc; i++) {
		if (!(comparing->now[i].node & CRIT_FILM_OBJECT))
			rc = change(comparing, &comparing->now[i]);
	}
	comparing->now_count = 0;
	return rc;
}

static bool is_of_any_use(const struct crit_film_entry *entry)
{
	return entry->type == CRIT_FILM_FROM || entry->type == CRIT_FILM_ARRIVAL ||
	       (entry->type >= CRIT_FILM_WAIT && entry->type <= CRIT_FILM_WOKEN);
}

static int take_film(struct comparing *comparing, struct crit_film *film)
{
	const struct crit_delay_options *options = comparing->options;
	struct crit_film_entry entry;
	uint64_t now_ns = options->begin_ns;
	int rc;

	while ((rc = crit_film_back(film, &entry)) > 0) {
		if (entry.time_ns < now_ns ||
		    (!(entry.node & CRIT_FILM_OBJECT) && entry.node >= options->thread_count) ||
		    (entry.type == CRIT_FILM_WOKEN &&
		     (entry.number >= options->thread_count || entry.node & CRIT_FILM_OBJECT)))
			return -EPROTO;
		rc = entry.time_ns > now_ns ? take_moment(comparing) : 0;
		if (!rc && is_of_any_use(&entry))
			rc = crit_array_grow(&comparing->now, &comparing->now_capacity,
					     comparing->now_count + 1, sizeof(*comparing->now));
		if (rc)
			return rc;
		if (is_of_any_use(&entry))
			comparing->now[comparing->now_count++] = entry;
		now_ns = entry.time_ns;
	}
	return rc ? rc : take_moment(comparing);
}

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
	struct late_excess excess;
};

static int compare_calls(const void *a, const void *b)
{
	const struct late_call *left = a, *right = b;
	int order = crit_by_number(left->key->thread, right->key->thread);

	if (!order)
		order = crit_by_number(left->excess.partner, right->excess.partner);
	if (!order)
		order = crit_by_number(left->key->after.call, right->key->after.call);
	if (!order)
		order = crit_by_number(left->key->after.site, right->key->after.site);
	return order ? order : crit_by_number(left->excess.code, right->excess.code);
}

/* The buckets of all threads by thread and code.  Errors: NULL, out of memory. */
static struct own_bucket *sort_buckets(const struct crit_delay_options *options, size_t *ret_count)
{
	struct own_bucket *own = calloc(options->bucket_count + 1, sizeof(*own));
	size_t count = 0;

	for (uint32_t i = 0; own && i < options->bucket_count; i++) {
		if (options->codes[i] != CRIT_NONE)
			own[count++] = (struct own_bucket){ options->keys[i].thread,
							    options->codes[i], i };
	}
	if (own)
		qsort(own, count, sizeof(*own), compare_own);
	*ret_count = count;
	return own;
}

/* The sum of one code at one call; another thread may have done it meanwhile. */
static void put_delay(struct comparing *comparing, const struct late_call *call,
		      const struct own_bucket *own, size_t own_count)
{
	const double ns = call->excess.ns;
	struct own_bucket wanted = { call->key->thread, call->excess.code, 0 };
	const struct own_bucket *found;
	int wakers = 0;

	if (call->excess.code == ON_NO_CPU) {
		comparing->delays->buckets[call->excess.bucket].cpu_ns += ns;
		return;
	}
	found = bsearch(&wanted, own, own_count, sizeof(*own), compare_own);
	for (; !found && wakers < WAKERS_MAX && wanted.thread != CRIT_NONE; wakers++) {
		wanted.thread = comparing->threads[wanted.thread].waker;
		found = bsearch(&wanted, own, own_count, sizeof(*own), compare_own);
	}
	if (found)
		comparing->delays->buckets[found->bucket].code_ns += ns;
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

/*
 * Meetings and partners tell of the same time: what a thread did longer than most counts, once.
 * Yields the first of the next thread.
 */
static size_t put_thread(struct comparing *comparing, const struct late_call *calls, size_t first,
			 size_t count, const struct own_bucket *own, size_t own_count)
{
	const uint32_t thread = calls[first].key->thread;
	size_t end, best = first, best_end = first;
	double most_ns = 0;

	for (; first < count && calls[first].key->thread == thread; first = end) {
		double ns = 0;

		for (end = first; end < count && calls[end].key->thread == thread &&
				  calls[end].excess.partner == calls[first].excess.partner;
		     end++)
			ns += calls[end].excess.ns;
		if (ns > most_ns || (ns == most_ns && calls[first].excess.partner == CRIT_NONE)) {
			most_ns = ns;
			best = first;
			best_end = end;
		}
	}
	for (size_t i = best; i < best_end; i++)
		put_delay(comparing, &calls[i], own, own_count);
	return first;
}

static int sum_up(struct comparing *comparing)
{
	const struct crit_delay_options *options = comparing->options;
	struct late_call *calls = calloc(comparing->row_count + 1, sizeof(*calls));
	size_t own_count, count = 0;
	struct own_bucket *own = sort_buckets(options, &own_count);
	int rc = calls && own ? 0 : -ENOMEM;

	for (size_t i = 0; i < comparing->row_count && !rc; i++) {
		if (comparing->rows[i].bucket < options->bucket_count)
			calls[count++] =
				(struct late_call){ &options->keys[comparing->rows[i].bucket],
						    comparing->rows[i] };
	}
	if (!rc)
		qsort(calls, count, sizeof(*calls), compare_calls);
	if (!rc)
		count = add_up(calls, count);
	for (size_t first = 0, end; first < count && !rc; first = end)
		end = put_thread(comparing, calls, first, count, own, own_count);
	free(calls);
	free(own);
	return rc;
}

static int begin(struct comparing *comparing)
{
	const struct crit_delay_options *options = comparing->options;

	comparing->delays->buckets =
		calloc(options->bucket_count + 1, sizeof(*comparing->delays->buckets));
	comparing->threads = calloc(options->thread_count + 1, sizeof(*comparing->threads));
	if (!comparing->delays->buckets || !comparing->threads)
		return -ENOMEM;
	for (size_t i = 0; i < options->thread_count; i++) {
		crit_thread_profile_init(&comparing->threads[i].profile, options->begin_ns);
		comparing->threads[i].bucket = CRIT_FILM_NO_BUCKET;
		comparing->threads[i].acted_ns = comparing->threads[i].arrived_ns = UINT64_MAX;
		comparing->threads[i].waker = CRIT_NONE;
	}
	return 0;
}

int crit_delays_find(struct crit_film *film, const struct crit_delay_options *options,
		     struct crit_delays *ret_delays)
{
	struct comparing comparing = { .options = options, .delays = ret_delays };
	int rc;

	*ret_delays = (struct crit_delays){ 0 };
	rc = begin(&comparing);
	if (!rc) {
		crit_film_rewind(film);
		rc = take_film(&comparing, film);
	}
	if (!rc)
		rc = sum_up(&comparing);
	for (size_t i = 0; comparing.threads && i < options->thread_count; i++) {
		crit_thread_profile_fini(&comparing.threads[i].profile);
		free(comparing.threads[i].met_ns);
	}
	free(comparing.threads);
	free(comparing.now);
	free(comparing.over);
	free(comparing.rows);
	crit_index_fini(&comparing.places);
	crit_delay_meetings_fini(&comparing.meetings);
	crit_delay_pairs_fini(&comparing.pairs);
	crit_index_fini(&comparing.waits);
	return rc;
}

void crit_delays_fini(struct crit_delays *delays)
{
	free(delays->buckets);
	*delays = (struct crit_delays){ 0 };
}
