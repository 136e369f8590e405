// SPDX-License-Identifier: BSD-3-Clause
// When trace falls back, when tau rises, and how long what is left lasts.
#include "collector/record/batch.h"
#include "collector/record/cap.h"
#include "tests/lib/check.h"

#define CAP_BYTES (16ull << 20)
#define FULL_BYTES (CAP_BYTES - CAP_BYTES / 128 - CRIT_BATCH_BYTES) /* crit-recording(5) */
#define BATCH_BYTES 4096ull
#define SECOND_NS 1000000000ull
#define AGES 20u

/* Slots at so many bytes a second until NEAR, from time 0 on.  Returns when that was. */
static uint64_t fill(struct crit_cap *cap, uint64_t max_bytes, double rate)
{
	uint64_t bytes = 0, now_ns = 0;
	enum crit_cap_verdict verdict = CRIT_CAP_ROOM;

	crit_cap_init(cap, max_bytes, 0);
	while (verdict == CRIT_CAP_ROOM) {
		bytes += BATCH_BYTES;
		now_ns = (uint64_t)((double)bytes / rate * 1e9);
		verdict = crit_cap_take(cap, BATCH_BYTES, BATCH_BYTES, now_ns);
	}
	CHECK_INT_EQ((int)verdict, CRIT_CAP_NEAR);
	return now_ns;
}

static void try_near(void)
{
	struct crit_cap cap;

	(void)fill(&cap, CAP_BYTES, 1e8);
	CHECK(FULL_BYTES - cap.used_bytes <= FULL_BYTES / 4);
	CHECK(FULL_BYTES - cap.used_bytes + BATCH_BYTES > FULL_BYTES / 4);

	(void)fill(&cap, 0, 1e9);
	CHECK_UINT_EQ(cap.max_bytes, 2ull << 30);

	(void)fill(&cap, 1, 1e8);
	CHECK_UINT_EQ(cap.max_bytes, 1 << 20);
	CHECK(cap.used_bytes + 2 * CRIT_BATCH_BYTES <= cap.max_bytes);
}

static void use(struct crit_cap *cap, uint64_t bytes, bool are_slots)
{
	for (; bytes > 0; bytes -= BATCH_BYTES)
		CHECK_INT_EQ((int)crit_cap_take(cap, BATCH_BYTES, are_slots ? BATCH_BYTES : 0,
						cap->step_ns + 1),
			     CRIT_CAP_ROOM);
}

/* What ranks hold counts as used; as it comes, half of what was left is kept for verdicts. */
static void try_held(uint64_t held_bytes)
{
	struct crit_cap cap;
	uint64_t used, left, kept;
	enum crit_cap_verdict verdict = CRIT_CAP_ROOM;

	crit_cap_init(&cap, CAP_BYTES, 0);
	cap.held_bytes = held_bytes;
	while (verdict == CRIT_CAP_ROOM)
		verdict = crit_cap_take(&cap, BATCH_BYTES, BATCH_BYTES, SECOND_NS);
	CHECK_INT_EQ((int)verdict, CRIT_CAP_NEAR);
	used = cap.used_bytes;
	CHECK(used + held_bytes - BATCH_BYTES < FULL_BYTES - FULL_BYTES / 4 || used == BATCH_BYTES);

	left = FULL_BYTES - used;
	kept = held_bytes < left / 2 ? left - held_bytes : left - left / 2;
	do
		verdict = crit_cap_take(&cap, BATCH_BYTES, BATCH_BYTES, SECOND_NS);
	while (verdict == CRIT_CAP_ROOM);
	CHECK_INT_EQ((int)verdict, CRIT_CAP_FAST);
	CHECK(FULL_BYTES - cap.used_bytes <= kept - kept / 8);
	CHECK(FULL_BYTES - cap.used_bytes + BATCH_BYTES > kept - kept / 8);
}

/* Slots that were held are not of the step that follows. */
static void try_rest(void)
{
	struct crit_cap cap;

	crit_cap_init(&cap, CAP_BYTES, 0);
	cap.held_bytes = 1 << 20;
	while (crit_cap_take(&cap, BATCH_BYTES, BATCH_BYTES, SECOND_NS) == CRIT_CAP_ROOM) {
	}
	use(&cap, 1 << 20, true);
	use(&cap, 1 << 20, false);
}

/* Each step is an eighth of what is left; the verdict is whether eight such last the run's age. */
static void try_step(double rate, enum crit_cap_verdict expected)
{
	struct crit_cap cap;
	const uint64_t near_ns = fill(&cap, CAP_BYTES, 1e8);
	const uint64_t left = FULL_BYTES - cap.used_bytes, begin = cap.used_bytes;
	enum crit_cap_verdict verdict = CRIT_CAP_ROOM;

	while (verdict == CRIT_CAP_ROOM && cap.used_bytes < begin + left / 8)
		verdict = crit_cap_take(
			&cap, BATCH_BYTES, BATCH_BYTES,
			near_ns + (uint64_t)((double)(cap.used_bytes + BATCH_BYTES - begin) / rate *
					     1e9));
	CHECK_INT_EQ((int)verdict, (int)expected);
}

static enum crit_cap_verdict take(struct crit_cap *cap, double *bytes, bool are_slots,
				  uint64_t now_ns, unsigned *raised)
{
	enum crit_cap_verdict verdict = CRIT_CAP_ROOM;

	for (; *bytes >= BATCH_BYTES && verdict != CRIT_CAP_FULL; *bytes -= BATCH_BYTES) {
		verdict = crit_cap_take(cap, BATCH_BYTES, are_slots ? BATCH_BYTES : 0, now_ns);
		/* but for the last steps, which are a few batches */
		*raised += verdict == CRIT_CAP_FAST &&
			   cap->used_bytes + 32 * BATCH_BYTES < FULL_BYTES;
	}
	return verdict;
}

/*
 * Slots that are half as many with each verdict, beside so many other bytes a second: how long the
 * cap holds, in ages of the run at NEAR.
 */
static double last(double slot_rate, double other_rate, unsigned *ret_raised)
{
	struct crit_cap cap;
	const uint64_t near_ns = fill(&cap, CAP_BYTES, slot_rate);
	const double tick_s = (double)near_ns / 1e9 / 1000;
	double slots = 0, others = 0;
	uint64_t now_ns = near_ns;

	*ret_raised = 0;
	for (unsigned tick = 1; tick <= AGES * 1000; tick++) {
		now_ns = near_ns + (uint64_t)(tick * tick_s * 1e9);
		slots += slot_rate / (double)(1ull << *ret_raised) * tick_s;
		others += other_rate * tick_s;
		if (take(&cap, &slots, true, now_ns, ret_raised) == CRIT_CAP_FULL ||
		    take(&cap, &others, false, now_ns, ret_raised) == CRIT_CAP_FULL)
			break;
	}
	return (double)now_ns / (double)near_ns;
}

static void try_lasting(void)
{
	const double rates[] = { 1e5, 1e7, 3e8 };
	unsigned raised;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		/*
		 * What is left goes as 1 / age, so the rate as its square, from three times what
		 * would do at NEAR: 2^10.2 at the end.
		 */
		CHECK_NEAR(last(rates[i], 0, &raised), AGES + 1, 0.01);
		CHECK_INT_GE((int)raised, 9);
		CHECK_INT_LE((int)raised, 12);
		/* what is not slots is no reason to record fewer of them, however fast */
		(void)last(rates[i], rates[i] * 2, &raised);
		CHECK_INT_EQ((int)raised, 0);
	}
}

int main(void)
{
	try_near();
	try_held(0);
	try_held(1 << 20);
	try_held(CAP_BYTES);
	try_held(64 * CAP_BYTES);
	try_rest();
	try_step(1e8 / 3 * 1.01, CRIT_CAP_FAST); /* a quarter is left of what lasted a run's age */
	try_step(1e8 / 4, CRIT_CAP_ROOM);
	try_lasting();
	return check_done();
}
