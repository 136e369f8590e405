// SPDX-License-Identifier: BSD-3-Clause
// Every construct of OpenMP, so many times: what it computed and what a tool must have seen.
//
// usage: omp_kinds CASE [THREADS]
//        "result …" lines must not depend on a tool; "expect …" ones are of tests/shim/omp_spans.py
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20

static int threads = 2;

static void expect(const char *what, long count)
{
	printf("expect %s %ld\n", what, count);
}

static void case_work(void)
{
	long sum = 0, inner = 0;

	for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
		{
#pragma omp for
			for (int i = 0; i < 100; i++)
				sum += i;
#pragma omp for schedule(dynamic) nowait
			for (int i = 0; i < 100; i++)
				sum += i;
#pragma omp sections
			{
#pragma omp section
				sum += 1;
#pragma omp section
				sum += 2;
			}
#pragma omp single
			inner++;
#pragma omp master
			inner += 2;
#pragma omp barrier
		}
	}
	printf("result %ld %ld\n", sum, inner);
	expect("count parallel", ROUNDS * threads);
	expect("count loop", 2 * ROUNDS * threads);
	expect("count sections", ROUNDS * threads);
	expect("count single", ROUNDS);
	expect("count masked", ROUNDS);
	expect("count barrier", ROUNDS * threads);
	expect("count implicit_barrier", 4 * ROUNDS * threads);
	expect("region parallel:", ROUNDS);
	expect("instances", ROUNDS);
	expect("members", ROUNDS * threads);
	expect("threads", threads);
	expect("workers", threads - 1);
}

/* A sum for each lock: one lock does not keep out who holds another. */
static void lock_all(omp_lock_t *lock, omp_nest_lock_t *nest, long sums[3])
{
	for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical(one)
		++sums[0];
		omp_set_lock(lock);
		++sums[1];
		omp_unset_lock(lock);
		omp_set_nest_lock(nest);
		omp_set_nest_lock(nest);
		++sums[2];
		omp_unset_nest_lock(nest);
		omp_unset_nest_lock(nest);
	}
}

static void case_locks(void)
{
	long sums[3] = { 0 }, tests = 0, ordered = 0;
	omp_nest_lock_t nest;
	omp_lock_t lock;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(threads)
	{
		lock_all(&lock, &nest, sums);
#pragma omp for ordered
		for (int i = 0; i < 100; i++) {
#pragma omp ordered
			ordered = 3 * ordered % 1000 + i;
		}
	}
	for (int i = 0; i < ROUNDS; i++) {
		tests += omp_test_lock(&lock); /* succeeds, then fails */
		tests += 10 * omp_test_lock(&lock);
		omp_unset_lock(&lock);
	}
	printf("result %ld %ld %ld %ld %ld\n", sums[0], sums[1], sums[2], tests, ordered);
	expect("count critical", ROUNDS * threads);
	expect("count critical_wait", ROUNDS * threads);
	expect("count lock_wait", ROUNDS * threads + ROUNDS);
	expect("release lock_wait", ROUNDS * threads + ROUNDS);
	expect("count nest_lock_wait", 2 * ROUNDS * threads);
	expect("release nest_lock_wait", ROUNDS * threads);
	expect("count ordered", 100);
	expect("count ordered_wait", 100);
	expect("count loop", threads);
}

static __attribute__((noinline)) long fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fibonacci(n - 1);
#pragma omp task shared(b)
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

/* fibonacci(n) calls itself so often. */
static long calls(int n)
{
	return n < 2 ? 0 : 2 + calls(n - 1) + calls(n - 2);
}

static void case_recursion(void)
{
	long result = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	result = fibonacci(16);
	printf("result %ld\n", result);
	expect("count task", calls(16));
	expect("count taskwait", calls(16) / 2);
	expect("instances", 1);
	expect("regions", 1 + 4); /* each task alone and in the other */
}

static void case_tasks(void)
{
	long chain = 1, sum = 0, group = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
		for (int i = 0; i < ROUNDS; i++) {
#pragma omp task depend(inout : chain)
			chain = chain * 7 % 1009 + i;
		}
#pragma omp taskwait
		for (int i = 0; i < ROUNDS; i++) {
#pragma omp task if (0)
			sum += i;
#pragma omp task shared(group)
			{
#pragma omp atomic
				group += i;
#pragma omp taskyield
			}
		}
#pragma omp taskgroup
		{
#pragma omp task shared(group)
			{
#pragma omp atomic
				group += 1000;
			}
		}
	}
	printf("result %ld %ld %ld\n", chain, sum, group);
	expect("count task", 3 * ROUNDS + 1);
	expect("count taskgroup", 1);
	expect("count taskwait", 1);
	expect("count single", 1);
}

static long work_untied(int n)
{
	long result = 0;

	for (int i = 0; i < n; i++) {
#pragma omp task untied shared(result)
		{
#pragma omp atomic
			result += i;
#pragma omp taskyield
#pragma omp atomic
			result += work_untied(n - 4);
		}
	}
#pragma omp taskwait
	return result;
}

/* Their spans are as many as the runtime likes, but those of waits are known. */
static void case_untied(void)
{
	long result = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	result = work_untied(10);
	printf("result %ld\n", result);
	expect("count taskwait", 1 + 10 * (1 + 6 * (1 + 2)));
	expect("count single", 1);
	expect("count implicit_barrier", 2 * threads);
}

static void case_nested(void)
{
	long sum = 0;

	omp_set_max_active_levels(2);
	for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		{
#pragma omp parallel num_threads(2) reduction(+ : sum)
			{
#pragma omp for
				for (int i = 0; i < 10; i++)
					sum += i;
			}
		}
	}
	printf("result %ld\n", sum);
	expect("count parallel", ROUNDS * (2 + 4));
	expect("region parallel:", ROUNDS);
	expect("region parallel in parallel:", 2 * ROUNDS);
	expect("instances", 3 * ROUNDS);
	expect("count loop", 4 * ROUNDS);
}

static void case_sizes(void)
{
	long sum = 0, members = 0;

	for (int round = 0; round < ROUNDS; round++) {
		const int team = 1 + round * 7 % 5;

#pragma omp parallel num_threads(team) reduction(+ : sum)
		sum += omp_get_thread_num();
		members += team;
	}
	printf("result %ld\n", sum);
	expect("instances", ROUNDS);
	expect("members", members);
	expect("workers", 4);
}

/* Teams of one wait for nobody; what they left to be done is done all the same. */
static void case_alone(void)
{
	long sum = 0, tasks = 0;

	for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(1)
		{
#pragma omp task
			tasks++;
		}
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += omp_get_thread_num();
	}
	printf("result %ld %ld\n", sum, tasks);
	expect("count parallel", ROUNDS * (1 + 2));
	expect("count implicit_barrier", ROUNDS * 2);
	expect("count task", ROUNDS);
	expect("instances", 2 * ROUNDS);
	expect("members", ROUNDS * (1 + 2));
	expect("threads", 2);
	expect("workers", 1);
}

static void *run_region(void *ret_sum)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	sum += 1 + omp_get_thread_num();
	*(long *)ret_sum = sum;
	return NULL;
}

/* Threads that OpenMP did not make begin regions and die. */
static void case_threads(void)
{
	long sums[2] = { 0 }, sum = 0;

	for (int round = 0; round < 5; round++) {
		pthread_t roots[2];

		for (int i = 0; i < 2; i++)
			pthread_create(&roots[i], NULL, run_region, &sums[i]);
		for (int i = 0; i < 2; i++)
			pthread_join(roots[i], NULL);
		sum += sums[0] + sums[1];
	}
	printf("result %ld\n", sum);
	expect("instances", 10);
	expect("members", 10 * threads);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "work", case_work },   { "locks", case_locks },     { "recursion", case_recursion },
	{ "tasks", case_tasks }, { "untied", case_untied },   { "nested", case_nested },
	{ "sizes", case_sizes }, { "threads", case_threads }, { "alone", case_alone },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		threads = (int)strtol(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	fprintf(stderr, "usage: omp_kinds CASE [THREADS]; omp_kinds.c names the cases\n");
	return 2;
}
