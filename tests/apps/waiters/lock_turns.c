// SPDX-License-Identifier: BSD-3-Clause
// Threads that want one lock again and again, each for its own time, and say how long the others
// waited while each of them had it.  Blocks of an ordered loop likewise, whose turn in libgomp
// lasts to the end of an iteration (to-end: half of the time is after the block).
// tested: who gets it at once has tried it; nest: who has it takes it again and gives that back.
// usage: lock_turns lock|tested|nest|critical|ordered|to-end ROUNDS HOLD-MS...
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/apps/work.h"

#define THREADS_MAX 16
#define GAP_NS 1000000 /* between two turns of a thread */

struct turn {
	int64_t asked_ns, taken_ns, released_ns;
};

static struct turn *turns[THREADS_MAX];
static long hold_ms[THREADS_MAX], tids[THREADS_MAX];
static long thread_count, rounds;

static void have_it(struct turn *turn, long number)
{
	turn->taken_ns = work_clock_ns(CLOCK_MONOTONIC);
	work_for_ns(hold_ms[number] * 1000000);
	turn->released_ns = work_clock_ns(CLOCK_MONOTONIC);
}

static void take_turn(const char *kind, omp_lock_t *lock, omp_nest_lock_t *nest, long number,
		      struct turn *turn)
{
	turn->asked_ns = work_clock_ns(CLOCK_MONOTONIC);
	if (!strcmp(kind, "lock") || !strcmp(kind, "tested")) {
		if (*kind == 'l' || !omp_test_lock(lock))
			omp_set_lock(lock);
		have_it(turn, number);
		omp_unset_lock(lock);
	} else if (!strcmp(kind, "nest")) {
		omp_set_nest_lock(nest);
		omp_set_nest_lock(nest);
		omp_unset_nest_lock(nest);
		have_it(turn, number);
		omp_unset_nest_lock(nest);
	} else {
#pragma omp critical(turns)
		have_it(turn, number);
	}
}

static int64_t overlap_ns(const struct turn *waits, const struct turn *has)
{
	const int64_t from = waits->asked_ns > has->taken_ns ? waits->asked_ns : has->taken_ns;
	const int64_t to = waits->taken_ns < has->released_ns ? waits->taken_ns : has->released_ns;

	return to > from ? to - from : 0;
}

static void take_turns(const char *kind)
{
	const int64_t after = !strcmp(kind, "to-end");

#pragma omp for ordered schedule(static, 1)
	for (long i = 0; i < thread_count * rounds; i++) {
		const long number = omp_get_thread_num();
		struct turn *turn = &turns[number][i / thread_count];

		work_for_ns(GAP_NS);
		turn->asked_ns = work_clock_ns(CLOCK_MONOTONIC);
#pragma omp ordered
		{
			turn->taken_ns = work_clock_ns(CLOCK_MONOTONIC);
			work_for_ns(hold_ms[number] * 1000000 / (1 + after));
			turn->released_ns = work_clock_ns(CLOCK_MONOTONIC);
		}
		work_for_ns(after * hold_ms[number] * 500000);
		if (after)
			turn->released_ns = work_clock_ns(CLOCK_MONOTONIC);
	}
}

/* How long the others waited while a thread had the lock. */
static int64_t cost_ns(long holder)
{
	int64_t sum_ns = 0;

	for (long i = 0; i < thread_count * rounds; i++)
		for (long k = 0; k < rounds && i / rounds != holder; k++)
			sum_ns += overlap_ns(&turns[i / rounds][i % rounds], &turns[holder][k]);
	return sum_ns;
}

int main(int argc, char **argv)
{
	omp_nest_lock_t nest;
	omp_lock_t lock;
	bool is_loop;

	thread_count = argc - 3;
	if (thread_count < 1 || thread_count > THREADS_MAX)
		return 2;
	rounds = strtol(argv[2], NULL, 10);
	for (long i = 0; i < thread_count; i++) {
		hold_ms[i] = strtol(argv[3 + i], NULL, 10);
		turns[i] = calloc((size_t)rounds, sizeof(*turns[i]));
		if (!turns[i])
			return 1;
	}
	is_loop = !strcmp(argv[1], "ordered") || !strcmp(argv[1], "to-end");
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel num_threads((int)thread_count)
	{
		const long number = omp_get_thread_num();

		tids[number] = syscall(SYS_gettid);
		if (is_loop)
			take_turns(argv[1]);
		for (long i = 0; i < rounds && !is_loop; i++) {
			take_turn(argv[1], &lock, &nest, number, &turns[number][i]);
			work_for_ns(GAP_NS);
		}
	}
	for (long i = 0; i < thread_count; i++)
		printf("%ld %lld\n", tids[i], (long long)cost_ns(i));
	return 0;
}
