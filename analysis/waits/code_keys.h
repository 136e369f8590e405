/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread did, by where it did it: in a call, or between two of them.  The buckets of a film,
 * and their numbers.
 *
 * Without samples the calls around a computation are all that is known of where it is.
 */
#ifndef CRIT_CODE_KEYS_H
#define CRIT_CODE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

#define CRIT_CODE_OUTSIDE 0 /* key of what nobody of the run does */
/*
 * In place of a call: it was blocked in none that is known; an OpenMP worker without a region; a
 * lock that nobody has, which the thread was the first to wait for.
 */
#define CRIT_CODE_BLOCKED 0xffffu
#define CRIT_CODE_IDLE 0xfffeu
#define CRIT_CODE_LOCK 0xfffdu
/* The end of a phase, or of a parallel region without a call inside. */
#define CRIT_CODE_PHASE_END 0xfffcu
#define CRIT_CODE_REGION_END 0xfffbu

struct crit_code_call { /* as a span has it; all 0: there was none before, there comes none after */
	/*
	 * BLOCKED: the system call, 1 more; 0: not known.  LOCK: its number, from 1; 0: others.  A
	 * phase and its end: the region's number in the thread's process.
	 */
	uint64_t site;
	uint16_t call;
};

struct crit_code_key {
	struct crit_code_call before, after;
	/* row of results->threads; CRIT_NONE: outside, in a call BLOCKED what ended that */
	uint32_t thread;
	uint32_t region; /* that it is in, by the number of the thread's process; 0: none */
	bool is_around; /* it is in that around the region */
	bool is_call; /* it is in the call before; after is 0 */
};

struct crit_code_keys { /* zeroed: empty */
	struct crit_code_key *rows;
	size_t count, capacity;
	uint32_t *followers; /* of each row: what came after it last; itself: nothing yet */
	size_t followers_capacity;
	struct crit_index numbers;
};

/*
 * The key's number; where there are too many, that of all others of its thread.
 * Errors: -ENOMEM.  Cost: a search by hash.
 */
int crit_code_keys_put(struct crit_code_keys *keys, const struct crit_code_key *key,
		       uint32_t *ret_number);

/*
 * The same of what a thread does after the key of a number, which is quick where it did the same
 * after it before.  Range: there is a key of that number.
 */
int crit_code_keys_follow(struct crit_code_keys *keys, uint32_t number,
			  const struct crit_code_key *key, uint32_t *ret_number);

/* Fetches ahead what most likely follows on a key. */
static inline void crit_code_keys_fetch(const struct crit_code_keys *keys, uint32_t number)
{
	__builtin_prefetch(&keys->rows[keys->followers[number]]);
}

static inline bool crit_code_key_is_lock(const struct crit_code_key *key)
{
	return key->is_call && key->before.call == CRIT_CODE_LOCK;
}

void crit_code_keys_fini(struct crit_code_keys *keys);

#endif
