// SPDX-License-Identifier: BSD-3-Clause
// Samples of this very thread, without privileges: where it is, its stack, the time they stand for.
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "collector/source/perf_clocks.h"
#include "collector/source/perf_feed.h"
#include "tests/lib/check.h"

#define HZ 499u
#define SLICES 80 /* of CPU time, after each of which the rings are read */
#define SLICE_NS 5000000ll
#define MARK 0x5ca1ab1e0ddba11ull
#define PERIOD_NS (1000000000ll / HZ)

static struct {
	uint64_t samples, stacks, marked, here, time_ns;
	int64_t read_ns; /* CPU time at the last tick of a timer */
	int64_t told_ns; /* CPU time that ticks of that rate can stand for */
	uint32_t request; /* of the stack told last */
	uint32_t keep;
} seen;

static int64_t cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/*
 * A timer of the machine as it is: where a busy host lets ticks come late, of all that were due the
 * kernel gives one, to this timer as to the clocks of samples.
 */
static void on_tick(int signal)
{
	const int64_t now_ns = cpu_ns(), passed_ns = now_ns - seen.read_ns;

	(void)signal;
	seen.told_ns += passed_ns < PERIOD_NS ? passed_ns : PERIOD_NS;
	seen.read_ns = now_ns;
}

static bool start_ticks(void)
{
	const struct itimerspec period = { .it_interval.tv_nsec = PERIOD_NS,
					   .it_value.tv_nsec = PERIOD_NS };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	timer_t timer;

	return !sigaction(SIGALRM, &action, NULL) && !timer_create(CLOCK_MONOTONIC, NULL, &timer) &&
	       !timer_settime(timer, 0, &period, NULL);
}

static void begin_seeing(void)
{
	memset(&seen, 0, sizeof(seen));
	seen.read_ns = cpu_ns();
}

static uint64_t now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/* Sanitizers would have it call functions of theirs. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static void
spin(int64_t begin_ns)
{
	volatile uint64_t mark[64];

	for (int i = 0; i < 64; i++)
		mark[i] = MARK;
	while (cpu_ns() < begin_ns + SLICE_NS)
		for (int i = 0; i < 100000; i++)
			mark[0] = mark[63];
}

static bool has_mark(const struct crit_kernel_stack *stack)
{
	const uint64_t mark = MARK;

	return memmem(stack + 1, stack->stack_bytes, &mark, sizeof(mark)) != NULL;
}

static void take(void *context, const struct crit_kernel_head *record)
{
	const struct crit_kernel_stack *stack = (const void *)record;
	const struct crit_kernel_sample *sample = (const void *)record;

	(void)context;
	if (record->kind == CRIT_K_STACK) {
		CHECK_UINT_EQ(record->size, sizeof(*stack) + stack->stack_bytes);
		CHECK_UINT_EQ(stack->tid, (uint32_t)gettid());
		CHECK(stack->request > seen.request);
		seen.request = stack->request;
		seen.stacks++;
		seen.marked += has_mark(stack);
	} else if (record->kind == CRIT_K_SAMPLE) {
		CHECK_UINT_EQ(sample->tid, (uint32_t)gettid());
		CHECK_UINT_EQ(sample->request, seen.request); /* its stack came before it */
		CHECK(sample->period_ns > 500000000 / HZ && sample->period_ns < 1700000000 / HZ);
		seen.samples++;
		seen.keep = sample->keep;
		seen.here += sample->ip - (uintptr_t)spin < 256;
		seen.time_ns += sample->period_ns;
	}
}

/* others: threads that run at the same time, as if */
static void sample(struct crit_perf *perf, uint32_t others)
{
	begin_seeing();
	perf->stack_count = 0;
	for (uint32_t i = 0; i < perf->ring_count; i++)
		crit_perf_sample(perf, (uint32_t)gettid(), i, now_ns());
	CHECK_INT_EQ(perf->clock_status, 0);
	perf->running_count += others;
	for (int i = 0; i < SLICES; i++) {
		spin(cpu_ns());
		crit_perf_feed(perf, now_ns(), take, NULL);
		if (i % 8 == 0) /* so late that its own switches are within the budget */
			crit_perf_clocks_look(perf->clocks, now_ns() + 10000000000ull * (i + 1));
	}
	perf->running_count -= others;
	crit_perf_clocks_drop(perf->clocks, (uint32_t)gettid());
	if (!others)
		CHECK_NEAR((double)seen.time_ns / (double)seen.told_ns, 1, 0.3);
}

static void test_all(struct crit_perf *perf)
{
	sample(perf, 0);
	CHECK(seen.samples > 50);
	CHECK_UINT_EQ(seen.keep, 0);
	CHECK_UINT_EQ(seen.stacks, seen.samples);
	CHECK(seen.here > seen.samples / 2);
	CHECK(seen.marked > seen.samples * 9 / 10);
	CHECK_UINT_EQ(perf->lost_samples, 0);
}

/* With so many threads one sample in four is kept, and says so. */
static void test_thinned(struct crit_perf *perf)
{
	sample(perf, 31);
	CHECK(seen.samples > 10 && seen.samples < 120);
	CHECK(seen.keep == 65536 / 4 || seen.keep == 65536 * 8 / 31);
}

/*
 * At 10,000 switches a second clocks would take 2.7 % of the time where 1 % is granted: they go for
 * 10 parts of 27, drawn anew each 100 s, and samples stand for so much more.
 */
static void test_budget(struct crit_perf *perf)
{
	const uint64_t begin_ns = now_ns();

	begin_seeing();
	perf->stack_count = 0;
	crit_perf_clocks_look(perf->clocks, begin_ns);
	for (uint32_t i = 0; i < perf->ring_count; i++)
		crit_perf_sample(perf, (uint32_t)gettid(), i, now_ns());
	for (uint64_t look = 1; look <= 2 * SLICES; look++) {
		crit_perf_feed(perf, now_ns(), take, NULL);
		for (uint32_t i = 0; i < perf->ring_count; i++)
			crit_perf_clocks_count(perf->clocks, i, 1000000);
		crit_perf_clocks_look(perf->clocks, begin_ns + look * 100000000000);
		CHECK_NEAR(crit_perf_clocks_share(perf->clocks, 0) / 65536.0, 10 / 27.0, 0.03);
		spin(cpu_ns());
		spin(cpu_ns());
	}
	CHECK_NEAR(seen.keep / 65536.0, 10 / 27.0, 0.03); /* this thread switches, too */
	CHECK_NEAR((double)seen.time_ns * 2.7 / (double)seen.told_ns, 1, 0.45);
	crit_perf_clocks_drop(perf->clocks, (uint32_t)gettid());
}

static void test_without_stacks(const struct crit_perf_means *means, int proc_fd)
{
	const struct crit_perf_options options = { .ring_bytes = 1 << 17, .sample_hz = HZ };
	struct crit_perf *perf = NULL;

	if (!CHECK_INT_EQ(crit_perf_create(means, proc_fd, &options, &perf), 0))
		return;
	CHECK_INT_EQ(crit_perf_add(perf, (uint32_t)gettid()), 0);
	sample(perf, 0);
	CHECK(seen.samples > 50);
	CHECK_UINT_EQ(seen.stacks, 0);
	crit_perf_destroy(perf);
}

int main(void)
{
	static struct crit_perf_means means;
	const struct crit_perf_options options = { .ring_bytes = 1 << 17,
						   .sample_hz = HZ,
						   .stack_budget = 10 };
	struct crit_perf *perf = NULL;
	int proc_fd = open("/proc", O_PATH | O_CLOEXEC);

	CHECK(start_ticks());
	crit_perf_probe(&means, proc_fd);
	if (means.status != 1)
		check_skip("perf events are refused");
	if (CHECK_INT_EQ(crit_perf_create(&means, proc_fd, &options, &perf), 0)) {
		CHECK_INT_EQ(crit_perf_add(perf, (uint32_t)gettid()), 0);
		test_all(perf);
		test_thinned(perf);
		test_budget(perf);
		crit_perf_destroy(perf);
	}
	test_without_stacks(&means, proc_fd);
	close(proc_fd);
	return check_done();
}
