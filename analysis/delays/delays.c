// SPDX-License-Identifier: BSD-3-Clause
// Follows what each thread does, and compares it at meetings.
#include "analysis/delays/delays.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/delays/delay_meetings.h"
#include "analysis/delays/delay_pairs.h"
#include "analysis/delays/late_sums.h"
#include "analysis/delays/thread_profile.h"
#include "analysis/waits/film/film_moments.h"
#include "core/base/array.h"
#include "core/base/call.h"

#define CHANGE_TYPES /* of what a thread does by itself */                                         \
	(crit_film_type_bit(CRIT_FILM_WAIT) | crit_film_type_bit(CRIT_FILM_END) |                  \
	 crit_film_type_bit(CRIT_FILM_QUEUE) | crit_film_type_bit(CRIT_FILM_RUN) |                 \
	 crit_film_type_bit(CRIT_FILM_SLEEP) | crit_film_type_bit(CRIT_FILM_WAKE) |                \
	 crit_film_type_bit(CRIT_FILM_FROM))
#define THREAD_TYPES /* of what one does to another, or to an object */                            \
	(crit_film_type_bit(CRIT_FILM_WOKEN) | crit_film_type_bit(CRIT_FILM_ARRIVAL))
#define TYPES_OF_USE (CHANGE_TYPES | THREAD_TYPES | crit_film_type_bit(CRIT_FILM_CAUSE))

struct delayed_thread {
	struct crit_thread_profile profile;
	uint64_t *met_ns; /* by the thread's number of the place */
	size_t met_count;
	uint64_t acted_ns; /* when somebody waited for it last */
	uint64_t slept_ns, waits_ns; /* the begin of its last sleep, and wait */
	uint64_t arrived_ns; /* at its last meeting */
	uint32_t bucket;
	uint32_t code; /* of that */
	uint32_t wait; /* number of its last wait */
	bool is_queued, is_asleep, is_waiting;
} CRIT_LINE_ALIGNED;

struct known_bucket { /* what is asked of its key, and its code */
	uint32_t code;
	bool ends_in_fork;
	bool is_in_mpi; /* in a call of it */
};

struct comparing {
	const struct crit_delay_options *options;
	struct crit_delays *delays;
	struct delayed_thread *threads;
	struct known_bucket *buckets; /* and one more, of threads that are in none */
	uint32_t *wakers; /* of each the last one that it waited for asleep; CRIT_NONE: none */
	struct crit_delay_meetings meetings;
	struct crit_delay_pairs pairs;
	struct crit_film_moments moments;
	uint32_t *over; /* meetings that are over now */
	size_t over_count, over_capacity;
	struct crit_late_excess *rows;
	size_t row_count, row_capacity;
	struct crit_index places; /* of the rows */
};

/* What it does now, or has no CPU for. */
static inline uint32_t code_of(const struct delayed_thread *thread)
{
	return thread->is_queued && thread->code != CRIT_NONE ? CRIT_KEY_NO_CPU : thread->code;
}

static inline const struct known_bucket *bucket_of(const struct comparing *comparing,
						   uint32_t bucket)
{
	const size_t count = comparing->options->bucket_count;

	return &comparing->buckets[bucket < count ? bucket : count];
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
	meeting->late_ns = (double)(time_ns - comparing->options->begin_ns);
	crit_key_times_copy(times, &meeting->late_times);
	return 0;
}

static int arrive(struct comparing *comparing, const struct crit_film_entry *entry)
{
	const size_t place = entry->kind / CRIT_FILM_PLACE;
	struct delayed_thread *thread = &comparing->threads[entry->node];
	struct crit_key_times times;
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
	crit_key_times_clear(&times);
	crit_thread_profile_read(&thread->profile, before_ns, entry->time_ns, &times);
	meeting = &comparing->meetings.rows[row];
	meeting->member_count++;
	meeting->came_ns += (double)(entry->time_ns - comparing->options->begin_ns);
	for (size_t i = 0; i < times.count; i++)
		crit_key_times_add(&meeting->sums, times.rows[i].key, times.rows[i].ns);
	meeting->sums.is_cut |= times.is_cut;
	return entry->kind & CRIT_FILM_LAST
		       ? come_last(comparing, row, entry->node, &times, entry->time_ns)
		       : 0;
}

/* Errors: -ENOMEM. */
static int add_excess(struct comparing *comparing, const struct crit_late_excess *excess)
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

static double sum_of(const struct crit_key_times *times)
{
	double sum_ns = 0;

	for (size_t i = 0; i < times->count; i++)
		sum_ns += (double)times->rows[i].ns;
	return sum_ns;
}

/* With time in which there was work and no CPU, or without it. */
static double computed_of(const struct crit_key_times *times)
{
	return sum_of(times) - (double)crit_key_times_find(times, CRIT_KEY_NO_CPU);
}

/* What a late one computed longer in all, as far as it was waited for. */
static void add_late(struct crit_delays *delays, double longer_ns, double waited_ns)
{
	delays->late_ns += fmax(fmin(longer_ns, waited_ns), 0);
}

/* The part of what a late one did longer that was waited for: the rest was lost elsewhere. */
static double share_of(double longer_ns, double waited_ns)
{
	return longer_ns > waited_ns ? waited_ns / longer_ns : 1;
}

/* No more of its codes counts than it did longer in all, as far as that was waited for. */
static int add_limit(struct comparing *comparing, uint32_t bucket, uint32_t partner, double ns)
{
	return add_excess(comparing,
			  &(struct crit_late_excess){ bucket, CRIT_NONE, partner, fmax(ns, 0) });
}

static int compare_members(struct comparing *comparing, const struct crit_delay_meeting *meeting)
{
	const double count = meeting->member_count;
	const double waited_ns = meeting->late_ns - meeting->came_ns / count;
	double longer_ns, share;
	int rc;

	if (meeting->late == CRIT_NONE || meeting->member_count < 2)
		return 0;
	longer_ns = sum_of(&meeting->late_times) - sum_of(&meeting->sums) / count;
	share = share_of(longer_ns, waited_ns);
	rc = add_limit(comparing, meeting->late_bucket, CRIT_NONE, share * longer_ns);
	add_late(comparing->delays,
		 computed_of(&meeting->late_times) - computed_of(&meeting->sums) / count,
		 waited_ns);
	comparing->delays->meeting_count++;
	comparing->delays->cut_count += meeting->sums.is_cut;
	for (size_t i = 0; i < meeting->sums.count && !rc; i++) {
		const struct crit_key_time *sum = &meeting->sums.rows[i];
		const uint64_t own_ns = crit_key_times_find(&meeting->late_times, sum->key);

		rc = add_excess(comparing,
				&(struct crit_late_excess){
					meeting->late_bucket, sum->key, CRIT_NONE,
					share * ((double)own_ns - (double)sum->ns / count) });
	}
	return rc;
}

/* What the sender of a message did longer than the mean of it and of who waited for it. */
static int compare_pair(struct comparing *comparing, uint32_t sender, uint32_t waiter,
			const struct crit_key_times times[2], double waited_ns)
{
	const double longer_ns = sum_of(&times[0]) - sum_of(&times[1]);
	const double share = share_of(longer_ns, waited_ns);
	int rc = add_limit(comparing, comparing->threads[sender].bucket, waiter,
			   share * longer_ns / 2);

	add_late(comparing->delays, computed_of(&times[0]) - computed_of(&times[1]), waited_ns);
	for (int at = 0; at < 2; at++) {
		for (size_t i = 0; i < times[at].count && !rc; i++) {
			const double ns = share * (double)times[at].rows[i].ns / 2;

			rc = add_excess(comparing,
					&(struct crit_late_excess){
						comparing->threads[sender].bucket,
						times[at].rows[i].key, waiter, at ? -ns : ns });
		}
	}
	return rc;
}

/* Does the thread wait in a call of MPI, and not for all who meet there? */
static bool is_in_message(const struct comparing *comparing, const struct delayed_thread *thread)
{
	return thread->arrived_ns != thread->waits_ns &&
	       bucket_of(comparing, thread->bucket)->is_in_mpi;
}

/* Is a thread in the wait that this is the cause of? */
static bool is_cause_of(const struct crit_film_entry *cause, const struct delayed_thread *waiter)
{
	return waiter->is_waiting && waiter->wait == cause->number;
}

/* Somebody waits in a call for what a thread does now. */
static int take_message(struct comparing *comparing, uint32_t waiter,
			const struct crit_film_entry *cause)
{
	const uint32_t late = cause->node;
	struct crit_key_times times[2];
	const struct delayed_thread *threads = comparing->threads;
	struct crit_delay_pair *pair;
	int rc, at = waiter < late; /* the late one's place in the pair */

	pair = crit_delay_pairs_obtain(&comparing->pairs, late, waiter,
				       comparing->options->begin_ns, &rc);
	if (!pair)
		return rc;
	crit_key_times_clear(&times[0]);
	crit_key_times_clear(&times[1]);
	crit_thread_profile_read(&threads[late].profile, pair->met_ns[at], cause->time_ns,
				 &times[0]);
	crit_thread_profile_read(&threads[waiter].profile, pair->met_ns[!at],
				 threads[waiter].waits_ns, &times[1]);
	pair->met_ns[at] = cause->time_ns;
	pair->met_ns[!at] = threads[waiter].waits_ns;
	comparing->delays->message_count++;
	comparing->delays->cut_count += times[0].is_cut || times[1].is_cut;
	return compare_pair(comparing, late, waiter, times,
			    (double)(cause->time_ns - threads[waiter].waits_ns));
}

static int take_cause(struct comparing *comparing, const struct crit_film_entry *cause)
{
	const struct delayed_thread *waiter = NULL;

	if (cause->node & CRIT_FILM_OBJECT)
		return 0;
	if (!(cause->more & CRIT_FILM_OBJECT))
		waiter = &comparing->threads[cause->more];
	if (waiter && is_cause_of(cause, waiter) && cause->more != cause->node &&
	    is_in_message(comparing, waiter))
		return take_message(comparing, cause->more, cause);
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
	const uint32_t code = code_of(thread);

	if (!thread->is_asleep || code == CRIT_NONE || woken->node == woken->number ||
	    thread->profile.since_ns > thread->slept_ns)
		return 0;
	comparing->wakers[woken->number] = woken->node;
	return crit_thread_profile_take_over(&thread->profile,
					     &comparing->threads[woken->node].profile,
					     thread->slept_ns, woken->time_ns, code);
}

/* From here on it is in another bucket. */
static int move_on(struct comparing *comparing, const struct crit_film_entry *entry,
		   uint32_t bucket)
{
	struct delayed_thread *thread = &comparing->threads[entry->node];
	uint64_t before_ns;
	int rc = 0;

	if (bucket_of(comparing, thread->bucket)->ends_in_fork)
		rc = meet(comparing, thread, CRIT_FILM_TEAM, entry->time_ns, &before_ns);
	thread->bucket = bucket;
	thread->code = bucket_of(comparing, bucket)->code;
	return rc ? rc
		  : crit_thread_profile_change(&thread->profile, entry->time_ns, code_of(thread));
}

/* The begin or end of its wait, which may tell a bucket. */
static inline int change_wait(struct comparing *comparing, const struct crit_film_entry *entry)
{
	struct delayed_thread *thread = &comparing->threads[entry->node];
	int rc = crit_film_tells(entry) ? move_on(comparing, entry, crit_film_told(entry)) : 0;

	thread->is_waiting = entry->type == CRIT_FILM_WAIT;
	if (thread->is_waiting) {
		thread->waits_ns = entry->time_ns;
		thread->wait = entry->number;
	}
	return rc;
}

static inline int change_cpu(struct delayed_thread *thread, const struct crit_film_entry *entry)
{
	thread->is_queued = entry->type == CRIT_FILM_QUEUE;
	return crit_thread_profile_change(&thread->profile, entry->time_ns, code_of(thread));
}

static inline int change(struct comparing *comparing, const struct crit_film_entry *entry)
{
	struct delayed_thread *thread = &comparing->threads[entry->node];

	switch (entry->type) {
	case CRIT_FILM_WAIT:
	case CRIT_FILM_END:
		return change_wait(comparing, entry);
	case CRIT_FILM_QUEUE:
	case CRIT_FILM_RUN:
		return change_cpu(thread, entry);
	case CRIT_FILM_SLEEP:
		thread->slept_ns = entry->time_ns;
		thread->is_asleep = true;
		return 0;
	case CRIT_FILM_WAKE:
		thread->is_asleep = false;
		return 0;
	case CRIT_FILM_FROM:
		return move_on(comparing, entry, entry->number);
	default:
		return 0;
	}
}

/* Those of one type. */
static int take_type(struct comparing *comparing, uint8_t type,
		     int (*take)(struct comparing *, const struct crit_film_entry *))
{
	int rc = 0;

	if (!(comparing->moments.types & crit_film_type_bit(type)))
		return 0;
	for (size_t i = 0; i < comparing->moments.count && !rc; i++) {
		if (comparing->moments.now[i].type == type)
			rc = take(comparing, &comparing->moments.now[i]);
	}
	return rc;
}

/* Who acts, and who comes. */
static int take_acts(struct comparing *comparing)
{
	int rc = take_type(comparing, CRIT_FILM_WOKEN, take_over);

	if (!rc)
		rc = take_type(comparing, CRIT_FILM_CAUSE, take_cause);
	if (!rc)
		rc = take_type(comparing, CRIT_FILM_ARRIVAL, arrive);
	return rc ? rc : end_meetings(comparing);
}

static inline bool is_possible(const struct comparing *comparing,
			       const struct crit_film_entry *entry)
{
	const size_t thread_count = comparing->options->thread_count;

	if (!(crit_film_type_bit(entry->type) & TYPES_OF_USE))
		return true;
	if (entry->node & CRIT_FILM_OBJECT)
		return !(crit_film_type_bit(entry->type) & (CHANGE_TYPES | THREAD_TYPES));
	if (entry->node >= thread_count)
		return false;
	if (entry->type == CRIT_FILM_CAUSE)
		return entry->more & CRIT_FILM_OBJECT || entry->more < thread_count;
	return entry->type != CRIT_FILM_WOKEN || entry->number < thread_count;
}

/* Of threads that lose or get a CPU, as most do, and nothing else.  Errors: -ENOMEM, -EPROTO. */
static int take_cpus(struct comparing *comparing)
{
	const struct crit_film_entry *now = comparing->moments.now;
	const size_t count = comparing->moments.count;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		if (now[i].node >= comparing->options->thread_count)
			return -EPROTO;
		rc = change_cpu(&comparing->threads[now[i].node], &now[i]);
	}
	return rc;
}

/* All entries of one time: acts, and then what changes.  Errors: -ENOMEM, -EPROTO. */
static int take_moment(struct comparing *comparing)
{
	const struct crit_film_entry *now = comparing->moments.now;
	const size_t count = comparing->moments.count;
	int rc = 0;

	if (!(comparing->moments.types & ~CRIT_FILM_CPU_TYPES))
		return take_cpus(comparing);
	for (size_t i = 0; i < count; i++) {
		if (!is_possible(comparing, &now[i]))
			return -EPROTO;
	}
	if (comparing->moments.types & CRIT_FILM_LATE_TYPES)
		rc = take_acts(comparing);
	for (size_t i = 0; i < count && !rc; i++) {
		if (crit_film_type_bit(now[i].type) & CHANGE_TYPES)
			rc = change(comparing, &now[i]);
	}
	return rc;
}

static int take_film(struct comparing *comparing, struct crit_film *film)
{
	int rc;

	crit_film_moments_init(&comparing->moments, film, comparing->options->begin_ns);
	while ((rc = crit_film_moments_next(&comparing->moments)) > 0) {
		rc = take_moment(comparing);
		if (rc)
			return rc;
	}
	return rc;
}

/* Errors: -ENOMEM. */
static int begin_buckets(struct comparing *comparing)
{
	const struct crit_delay_options *options = comparing->options;

	comparing->buckets = calloc(options->bucket_count + 1, sizeof(*comparing->buckets));
	if (!comparing->buckets)
		return -ENOMEM;
	for (size_t i = 0; i < options->bucket_count; i++) {
		const struct crit_code_key *key = &options->keys[i];

		comparing->buckets[i] = (struct known_bucket){
			.code = options->codes[i],
			.ends_in_fork = key->after.call == CRIT_CONSTRUCT_PARALLEL,
			.is_in_mpi = key->is_call && key->before.call < CRIT_CALL_OMP_FIRST,
		};
	}
	comparing->buckets[options->bucket_count].code = CRIT_NONE;
	return 0;
}

static int begin(struct comparing *comparing)
{
	const struct crit_delay_options *options = comparing->options;

	comparing->delays->buckets =
		calloc(options->bucket_count + 1, sizeof(*comparing->delays->buckets));
	comparing->threads =
		crit_lines_alloc(options->thread_count + 1, sizeof(*comparing->threads));
	comparing->wakers = calloc(options->thread_count + 1, sizeof(*comparing->wakers));
	if (!comparing->delays->buckets || !comparing->threads || !comparing->wakers)
		return -ENOMEM;
	for (size_t i = 0; i < options->thread_count; i++) {
		crit_thread_profile_init(&comparing->threads[i].profile, options->begin_ns);
		comparing->threads[i].bucket = CRIT_FILM_NO_BUCKET;
		comparing->threads[i].code = CRIT_NONE;
		comparing->threads[i].acted_ns = comparing->threads[i].arrived_ns = UINT64_MAX;
		comparing->wakers[i] = CRIT_NONE;
	}
	return begin_buckets(comparing);
}

int crit_delays_find(struct crit_film *film, const struct crit_delay_options *options,
		     struct crit_delays *ret_delays)
{
	struct comparing comparing = { .options = options, .delays = ret_delays };
	int rc;

	*ret_delays = (struct crit_delays){ 0 };
	rc = begin(&comparing);
	if (!rc)
		rc = take_film(&comparing, film);
	if (!rc)
		rc = crit_late_sums_put(&(struct crit_late_sums){ options, comparing.rows,
								  comparing.row_count,
								  comparing.wakers },
					ret_delays);
	for (size_t i = 0; comparing.threads && i < options->thread_count; i++) {
		crit_thread_profile_fini(&comparing.threads[i].profile);
		free(comparing.threads[i].met_ns);
	}
	free(comparing.threads);
	free(comparing.buckets);
	free(comparing.wakers);
	crit_film_moments_fini(&comparing.moments);
	free(comparing.over);
	free(comparing.rows);
	crit_index_fini(&comparing.places);
	crit_delay_meetings_fini(&comparing.meetings);
	crit_delay_pairs_fini(&comparing.pairs);
	return rc;
}

void crit_delays_fini(struct crit_delays *delays)
{
	free(delays->buckets);
	*delays = (struct crit_delays){ 0 };
}
