// SPDX-License-Identifier: BSD-3-Clause
// Bounds a recording's size, and says when to record less.
#include "collector/record/cap.h"

#include <string.h>

#include "collector/record/batch.h"

#define MAX_BYTES_DEFAULT (2ull << 30)
#define MAX_BYTES_MIN (1ull << 20)
#define SLACK_BYTES_MIN (64u << 10) /* of the cap, for the records that end a run */
#define SLACK_SHARE 128 /* or this part of it, for the counters of many threads */
#define NEAR_SHARE 4 /* with this part left, trace falls back to profile */
#define STEP_SHARE 8 /* of what is left is used between two verdicts */

static uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A recording of this size takes no further batch, or there is no room for its end. */
static uint64_t full_bytes(const struct crit_cap *cap)
{
	return cap->max_bytes - largest(cap->max_bytes / SLACK_SHARE, SLACK_BYTES_MIN) -
	       CRIT_BATCH_BYTES;
}

static void begin_step(struct crit_cap *cap, uint64_t held_bytes, uint64_t now_ns)
{
	const uint64_t left = full_bytes(cap) - cap->used_bytes;

	/* of what ranks still hold half the room is kept, whatever they hold */
	if (held_bytes > left / 2)
		held_bytes = left / 2;
	cap->step_bytes = cap->used_bytes + held_bytes;
	cap->step_slot_bytes = cap->slot_bytes + held_bytes;
	cap->step_ns = now_ns;
	cap->threshold_bytes = cap->step_bytes + (left - held_bytes) / STEP_SHARE;
}

/* Slots have most of the step, and what is left would not last as long as the run has lasted. */
static bool is_fast(const struct crit_cap *cap, uint64_t now_ns)
{
	const double left = (double)(full_bytes(cap) - cap->used_bytes);
	const double step = (double)(cap->used_bytes - cap->step_bytes);
	const double slots = (double)cap->slot_bytes - (double)cap->step_slot_bytes;

	return slots > step / 2 &&
	       left * (double)(now_ns - cap->step_ns) < step * (double)(now_ns - cap->begin_ns);
}

void crit_cap_init(struct crit_cap *cap, uint64_t max_bytes, uint64_t now_ns)
{
	uint64_t full;

	memset(cap, 0, sizeof(*cap));
	cap->max_bytes = largest(max_bytes ? max_bytes : MAX_BYTES_DEFAULT, MAX_BYTES_MIN);
	cap->begin_ns = now_ns;
	full = full_bytes(cap);
	/* a batch at least lies between falling back and the end */
	cap->threshold_bytes = full - largest(full / NEAR_SHARE, CRIT_BATCH_BYTES);
}

enum crit_cap_verdict crit_cap_take(struct crit_cap *cap, uint64_t bytes, uint64_t slot_bytes,
				    uint64_t now_ns)
{
	bool is_too_fast;

	cap->used_bytes += bytes;
	cap->slot_bytes += slot_bytes;
	if (cap->used_bytes > full_bytes(cap))
		return CRIT_CAP_FULL;
	if (!cap->is_near) {
		if (cap->used_bytes + cap->held_bytes < cap->threshold_bytes)
			return CRIT_CAP_ROOM;
		cap->is_near = true;
		begin_step(cap, cap->held_bytes, now_ns);
		return CRIT_CAP_NEAR;
	}
	if (cap->used_bytes < cap->threshold_bytes)
		return CRIT_CAP_ROOM;
	is_too_fast = is_fast(cap, now_ns);
	begin_step(cap, 0, now_ns);
	return is_too_fast ? CRIT_CAP_FAST : CRIT_CAP_ROOM;
}
