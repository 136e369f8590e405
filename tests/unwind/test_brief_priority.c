// SPDX-License-Identifier: BSD-3-Clause
// Who runs soon and briefly does so until it takes a CPU for too long, each process by itself.
#include "cli/results/brief_priority.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/lib/check.h"

#define NICE 19
#define UNBROKEN_US 40000
#define MS 1000000ull
#define NOBODY 65534

static bool goes_first(void)
{
	return sched_getscheduler(0) == SCHED_RR;
}

static void spin(uint64_t ns)
{
	const uint64_t end_ns = crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

	while (crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
}

/* Takes a CPU until it goes first no more.  Yields how much of it that was. */
static uint64_t spin_first(void)
{
	const uint64_t begin_ns = crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t spun_ns = 0;

	while (goes_first() && spun_ns < 2000 * MS)
		spun_ns = crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	return spun_ns;
}

/* In a process of its own: 1: what was expected. */
static int in_child(int (*test)(void))
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(test());
	CHECK_INT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int is_bounded(void)
{
	const bool is_first = goes_first();
	const uint64_t spun_ns = spin_first();

	/* the kernel counts in ticks, of 10 ms at most */
	return is_first && spun_ns > UNBROKEN_US * 1000ull - 11 * MS && spun_ns < 1000 * MS &&
	       sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == NICE;
}

static int test_unbroken(void)
{
	crit_brief_priority_take(NICE, UNBROKEN_US);
	return is_bounded();
}

/* A reader that dies of a file, or takes too long for it, is not the one that made it. */
static int test_children(void)
{
	crit_brief_priority_take(NICE, UNBROKEN_US);
	return in_child(is_bounded) == 1 && goes_first() && in_child(is_bounded) == 1;
}

/* What waits in between may take as much as it wants. */
static int test_broken(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	crit_brief_priority_take(NICE, UNBROKEN_US);
	for (int i = 0; i < 20; i++) {
		spin(UNBROKEN_US * 1000ull / 8);
		(void)nanosleep(&pause, NULL);
	}
	return goes_first();
}

static int test_not_permitted(void)
{
	if (setuid(NOBODY))
		return 0;
	crit_brief_priority_take(NICE, UNBROKEN_US);
	return sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == NICE;
}

int main(void)
{
	const struct sched_param lowest = { .sched_priority = 1 }, none = { 0 };

	if (sched_setscheduler(0, SCHED_RR, &lowest))
		check_skip("real-time priorities are refused");
	CHECK_INT_EQ(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	CHECK_INT_EQ(in_child(test_unbroken), 1);
	CHECK_INT_EQ(in_child(test_children), 1);
	CHECK_INT_EQ(in_child(test_broken), 1);
	CHECK_INT_EQ(in_child(test_not_permitted), 1);
	return check_done();
}
