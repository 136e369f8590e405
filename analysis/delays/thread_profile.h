/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread did last, stretch by stretch, and how much of that lay between two times.
 *
 * A key is what it did: code, by a number that is the same for all threads, or that it had no CPU
 * for it.  Memory: the last CRIT_PROFILE_STRETCHES stretches; of what was before nothing is known.
 * Where they are as many, code that was interrupted again and again for want of a CPU becomes one
 * stretch of it and one without: their times stay, but not which came when.
 */
#ifndef CRIT_THREAD_PROFILE_H
#define CRIT_THREAD_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRIT_PROFILE_STRETCHES 256u
#define CRIT_KEY_TIMES 64u
#define CRIT_KEY_NO_CPU 0xfffffffeu /* it had none for what it was about to do */

struct crit_key_time {
	uint32_t key;
	uint64_t ns;
};

struct crit_key_times { /* zeroed: none */
	size_t count;
	bool is_cut; /* there were more keys, or stretches that are not known any more */
	struct crit_key_time rows[CRIT_KEY_TIMES]; /* what lies beyond the count is undefined */
};

/* None from now on: the rows, which are many, are left as they are. */
static inline void crit_key_times_clear(struct crit_key_times *times)
{
	times->count = 0;
	times->is_cut = false;
}

/* Copies the rows that there are. */
void crit_key_times_copy(const struct crit_key_times *times, struct crit_key_times *ret_copy);

/* Takes time more of a key; without room it takes none. */
void crit_key_times_add(struct crit_key_times *times, uint32_t key, uint64_t ns);

/* 0: there is none. */
uint64_t crit_key_times_find(const struct crit_key_times *times, uint32_t key);

struct crit_stretch { /* from the end of the one before */
	uint64_t end_ns;
	uint32_t key; /* CRIT_NONE: nothing that counts */
};

struct crit_thread_profile {
	struct crit_stretch *ring; /* which grows */
	size_t capacity;
	uint64_t count; /* of all that ended so far, joined ones as one */
	uint64_t begin_ns; /* of the oldest in the ring */
	uint64_t joined_at; /* count from which on it is worth while to join some again */
	uint64_t joinable; /* number of the last one that could be joined; 0: none could */
	uint64_t first_joinable; /* since some were joined; likewise */
	uint64_t since_ns; /* of the present one */
	uint32_t key; /* likewise */
};

/* Nothing so far.  Ownership: fini frees. */
void crit_thread_profile_init(struct crit_thread_profile *profile, uint64_t begin_ns);
void crit_thread_profile_fini(struct crit_thread_profile *profile);

/* As below, something else than it does. */
int crit_thread_profile_begin(struct crit_thread_profile *profile, uint64_t time_ns, uint32_t key);

/* From a time on, which does not decrease, the thread does something else.  Errors: -ENOMEM. */
static inline int crit_thread_profile_change(struct crit_thread_profile *profile, uint64_t time_ns,
					     uint32_t key)
{
	return key == profile->key ? 0 : crit_thread_profile_begin(profile, time_ns, key);
}

/*
 * From one time on, which is not before its last change, the thread did until another one what the
 * other thread did, as far as that is known; then it does the key.  Errors: -ENOMEM.
 */
int crit_thread_profile_take_over(struct crit_thread_profile *profile,
				  const struct crit_thread_profile *other, uint64_t from_ns,
				  uint64_t to_ns, uint32_t key);

/* Adds what it did from one time to another, which is not before its last change. */
void crit_thread_profile_read(const struct crit_thread_profile *profile, uint64_t from_ns,
			      uint64_t to_ns, struct crit_key_times *times);

#endif
