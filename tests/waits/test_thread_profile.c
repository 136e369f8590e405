// SPDX-License-Identifier: BSD-3-Clause
// What a thread did between two times, against a list of all stretches: few of them, code that is
// interrupted for want of a CPU more often than there is room, and more of them than that.
#include "analysis/delays/thread_profile.h"
#include "core/base/array.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"

#define STRETCHES_MAX 16384u
#define STEPS 40u

struct list { /* all that a profile was told */
	struct crit_stretch rows[STRETCHES_MAX];
	size_t count;
	struct crit_thread_profile profile;
	uint64_t now_ns;
};

static struct list list;

static void begin(void)
{
	list.count = 0;
	list.now_ns = 100;
	crit_thread_profile_init(&list.profile, list.now_ns);
}

static void do_for(uint32_t key, uint64_t ns)
{
	CHECK_INT_EQ(crit_thread_profile_change(&list.profile, list.now_ns, key), 0);
	list.now_ns += ns;
	list.rows[list.count++] = (struct crit_stretch){ list.now_ns, key };
}

static uint64_t told_of(uint32_t key, uint64_t from_ns)
{
	uint64_t begin_ns = 100, sum_ns = 0;

	for (size_t i = 0; i < list.count; begin_ns = list.rows[i++].end_ns) {
		const uint64_t first_ns = begin_ns > from_ns ? begin_ns : from_ns;

		if (list.rows[i].key == key && list.rows[i].end_ns > first_ns)
			sum_ns += list.rows[i].end_ns - first_ns;
	}
	return sum_ns;
}

/* All of it from a time on, or, where it is cut, no more than that. */
static void check_since(uint64_t from_ns, bool is_cut)
{
	static struct crit_key_times times;

	crit_key_times_clear(&times);
	crit_thread_profile_read(&list.profile, from_ns, list.now_ns, &times);
	CHECK_UINT_EQ(times.is_cut, is_cut);
	for (size_t i = 0; i < times.count; i++) {
		const uint64_t wanted_ns = told_of(times.rows[i].key, from_ns);

		CHECK(is_cut ? times.rows[i].ns <= wanted_ns : times.rows[i].ns == wanted_ns);
	}
	for (uint32_t key = 0; key < 4 && !is_cut; key++)
		CHECK_UINT_EQ(crit_key_times_find(&times, key), told_of(key, from_ns));
	CHECK(is_cut ||
	      crit_key_times_find(&times, CRIT_KEY_NO_CPU) == told_of(CRIT_KEY_NO_CPU, from_ns));
}

/* Steps of one code or two, between waits: each code is interrupted so many times. */
static void test_interrupted(struct crit_random *random, unsigned int times)
{
	uint64_t begins_ns[STEPS];

	CHECK_CASE("%u interruptions", times);
	begin();
	for (uint32_t step = 0; step < STEPS; step++) {
		begins_ns[step] = list.now_ns;
		for (uint32_t code = 0; code <= step % 2; code++) {
			for (unsigned int i = 0; i < times; i++) {
				do_for(step % 3 + code, 1 + crit_random_below(random, 50));
				do_for(CRIT_KEY_NO_CPU, 1 + crit_random_below(random, 50));
			}
			do_for(step % 3 + code, 7);
		}
		for (uint32_t back = 0; back < 3 && back <= step; back++)
			check_since(begins_ns[step - back], false);
		do_for(CRIT_NONE, 20);
		if (step % 4 == 0) { /* back from a wait it has no CPU until the next one */
			do_for(CRIT_KEY_NO_CPU, 9);
			begins_ns[step] = list.now_ns;
			do_for(CRIT_NONE, 20);
		}
	}
	crit_thread_profile_fini(&list.profile);
}

static void test_many(void)
{
	uint64_t begin_ns = 0;

	CHECK_CASE("%s", "more stretches than there is room for");
	begin();
	for (uint32_t i = 0; i < 2 * CRIT_PROFILE_STRETCHES; i++) {
		if (i == CRIT_PROFILE_STRETCHES + 1)
			begin_ns = list.now_ns;
		do_for(i % 3, 5 + i % 7);
	}
	check_since(begin_ns, false);
	check_since(begin_ns - 20, true);
	crit_thread_profile_fini(&list.profile);
}

int main(void)
{
	struct crit_random random = { .state = 5 };

	for (unsigned int times = 0; times < 60; times += times < 4 ? 1 : 11)
		test_interrupted(&random, times);
	test_many();
	return check_done();
}
