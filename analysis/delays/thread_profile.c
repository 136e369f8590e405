// SPDX-License-Identifier: BSD-3-Clause
// A ring of stretches without gaps, read from the last one back.
#include "analysis/delays/thread_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define JOINED_PART 8u /* of the ring: after so many more it is tried again */

void crit_key_times_add(struct crit_key_times *times, uint32_t key, uint64_t ns)
{
	size_t at = 0;

	while (at < times->count && times->rows[at].key != key)
		at++;
	if (at == CRIT_KEY_TIMES) {
		times->is_cut = true;
		return;
	}
	if (at == times->count)
		times->rows[times->count++] = (struct crit_key_time){ .key = key };
	times->rows[at].ns += ns;
}

void crit_key_times_copy(const struct crit_key_times *times, struct crit_key_times *ret_copy)
{
	ret_copy->count = times->count;
	ret_copy->is_cut = times->is_cut;
	for (size_t i = 0; i < times->count; i++)
		ret_copy->rows[i] = times->rows[i];
}

uint64_t crit_key_times_find(const struct crit_key_times *times, uint32_t key)
{
	for (size_t i = 0; i < times->count; i++) {
		if (times->rows[i].key == key)
			return times->rows[i].ns;
	}
	return 0;
}

void crit_thread_profile_init(struct crit_thread_profile *profile, uint64_t begin_ns)
{
	*profile = (struct crit_thread_profile){ .begin_ns = begin_ns,
						 .since_ns = begin_ns,
						 .key = CRIT_NONE };
}

void crit_thread_profile_fini(struct crit_thread_profile *profile)
{
	free(profile->ring);
	*profile = (struct crit_thread_profile){ 0 };
}

/* The capacity is a power of two. */
static struct crit_stretch *stretch_of(const struct crit_thread_profile *profile, uint64_t number)
{
	return &profile->ring[number & (profile->capacity - 1)];
}

struct joined_stretches { /* of stretches in order, to as many or fewer */
	struct crit_stretch rows[CRIT_PROFILE_STRETCHES];
	size_t count;
	uint64_t begin_ns; /* of the run: code, and times without a CPU for it */
	uint64_t code_ns, without_ns;
	uint32_t code; /* CRIT_NONE: not known yet */
};

static void end_run(struct joined_stretches *joining)
{
	joining->begin_ns += joining->code_ns;
	if (joining->code_ns)
		joining->rows[joining->count++] =
			(struct crit_stretch){ joining->begin_ns, joining->code };
	joining->begin_ns += joining->without_ns;
	if (joining->without_ns)
		joining->rows[joining->count++] =
			(struct crit_stretch){ joining->begin_ns, CRIT_KEY_NO_CPU };
	joining->code_ns = joining->without_ns = 0;
	joining->code = CRIT_NONE;
}

static void join(struct joined_stretches *joining, const struct crit_stretch *stretch)
{
	const uint64_t now_ns = joining->begin_ns + joining->code_ns + joining->without_ns;

	if (stretch->key == CRIT_KEY_NO_CPU) {
		if (joining->code == CRIT_NONE) /* a wait does not go on behind it */
			end_run(joining);
		joining->without_ns += stretch->end_ns - now_ns;
		return;
	}
	if (!joining->code_ns || joining->code != stretch->key)
		end_run(joining);
	joining->code = stretch->key;
	joining->code_ns += stretch->end_ns - now_ns;
}

/* How many of a full ring come before all that could be joined, with the two before these. */
static size_t count_joined(const struct crit_thread_profile *profile)
{
	const uint64_t oldest = profile->count - profile->capacity;

	return profile->first_joinable > oldest + 2 ? profile->first_joinable - 2 - oldest : 0;
}

/* Of a full ring: those before the first that could be joined stay as they are. */
static void join_all(struct crit_thread_profile *profile)
{
	const size_t joined_count = count_joined(profile);
	struct joined_stretches joining; /* large: only what is used is filled */

	joining.begin_ns = profile->begin_ns;
	joining.code_ns = joining.without_ns = 0;
	joining.code = CRIT_NONE;
	for (joining.count = 0; joining.count < joined_count; joining.count++)
		joining.rows[joining.count] = *stretch_of(profile, profile->count + joining.count);
	if (joined_count)
		joining.begin_ns = joining.rows[joined_count - 1].end_ns;
	for (size_t i = joined_count; i < profile->capacity; i++)
		join(&joining, stretch_of(profile, profile->count + i));
	end_run(&joining);
	if (joining.count < profile->capacity) {
		memcpy(profile->ring, joining.rows, joining.count * sizeof(*joining.rows));
		profile->count = joining.count;
		profile->joinable = profile->first_joinable = 0;
	}
	profile->joined_at = profile->count + profile->capacity / JOINED_PART;
}

/*
 * Does the present stretch come right behind one of its key, or behind one without a CPU for it?
 * Nothing else is ever joined.
 */
static bool is_joinable(const struct crit_thread_profile *profile)
{
	const uint64_t count = profile->count;

	if (!count)
		return false;
	if (stretch_of(profile, count - 1)->key == profile->key)
		return true;
	return count > 1 && stretch_of(profile, count - 1)->key == CRIT_KEY_NO_CPU &&
	       stretch_of(profile, count - 2)->key == profile->key;
}

/* A ring in which nothing can be joined stays as it is; it is tried again when it would be. */
static void join_what_can_be(struct crit_thread_profile *profile)
{
	if (profile->joinable && profile->joinable + profile->capacity > profile->count)
		join_all(profile);
	else
		profile->joined_at = profile->count + profile->capacity / JOINED_PART;
}

/* Room for one more, in place of the oldest where there are so many.  Errors: -ENOMEM. */
static int make_room(struct crit_thread_profile *profile)
{
	const size_t wanted = profile->capacity ? 2 * profile->capacity : 4;
	struct crit_stretch *grown;

	if (profile->count < profile->capacity)
		return 0;
	if (profile->capacity == CRIT_PROFILE_STRETCHES && profile->count >= profile->joined_at)
		join_what_can_be(profile);
	if (profile->count < profile->capacity)
		return 0;
	if (profile->capacity == CRIT_PROFILE_STRETCHES) {
		profile->begin_ns = stretch_of(profile, profile->count)->end_ns;
		return 0;
	}
	grown = reallocarray(profile->ring, wanted, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	profile->ring = grown; /* it was not full before, so all are in order */
	profile->capacity = wanted;
	return 0;
}

int crit_thread_profile_begin(struct crit_thread_profile *profile, uint64_t time_ns, uint32_t key)
{
	int rc;

	if (time_ns > profile->since_ns) {
		rc = make_room(profile);
		if (rc)
			return rc;
		if (is_joinable(profile)) {
			profile->joinable = profile->count;
			if (!profile->first_joinable)
				profile->first_joinable = profile->count;
		}
		*stretch_of(profile, profile->count++) =
			(struct crit_stretch){ time_ns, profile->key };
	}
	profile->since_ns = time_ns;
	profile->key = key;
	return 0;
}

int crit_thread_profile_take_over(struct crit_thread_profile *profile,
				  const struct crit_thread_profile *other, uint64_t from_ns,
				  uint64_t to_ns, uint32_t key)
{
	uint64_t at = other->count < other->capacity ? 0 : other->count - other->capacity;
	uint64_t begin_ns = from_ns < other->begin_ns ? other->begin_ns : from_ns;
	int rc = crit_thread_profile_change(profile, from_ns, CRIT_NONE);

	while (at < other->count && stretch_of(other, at)->end_ns <= begin_ns)
		at++;
	for (; at <= other->count && begin_ns < to_ns && !rc; at++) {
		rc = crit_thread_profile_change(profile, begin_ns,
						at < other->count ? stretch_of(other, at)->key
								  : other->key);
		if (at < other->count)
			begin_ns = stretch_of(other, at)->end_ns;
	}
	return rc ? rc : crit_thread_profile_change(profile, to_ns, key);
}

void crit_thread_profile_read(const struct crit_thread_profile *profile, uint64_t from_ns,
			      uint64_t to_ns, struct crit_key_times *times)
{
	const uint64_t known = profile->count < profile->capacity ? profile->count
								  : profile->capacity;
	uint64_t begin_ns = profile->since_ns, end_ns = to_ns;
	uint32_t key = profile->key;

	for (uint64_t back = 0;; back++) {
		const uint64_t first_ns = begin_ns > from_ns ? begin_ns : from_ns;

		if (key != CRIT_NONE && end_ns > first_ns)
			crit_key_times_add(times, key, end_ns - first_ns);
		if (begin_ns <= from_ns || back == known)
			break;
		end_ns = begin_ns;
		key = stretch_of(profile, profile->count - 1 - back)->key;
		begin_ns = back + 1 == known
				   ? profile->begin_ns
				   : stretch_of(profile, profile->count - 2 - back)->end_ns;
	}
	times->is_cut |= begin_ns > from_ns;
}
