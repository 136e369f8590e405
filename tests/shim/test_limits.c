// SPDX-License-Identifier: BSD-3-Clause
// The shim where it cannot have what it wants: resource limits, a critd that refuses or is silent.
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/call.h"
#include "core/shim.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"

#define FRAME __builtin_frame_address(0)
#define SITE __builtin_return_address(0)

static struct fake_critd fake;

__attribute__((noinline)) static bool call(void)
{
	const bool is_outer =
		crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Barrier, CRIT_CLASS_MPI_WAIT), FRAME, SITE);

	if (is_outer)
		crit_shim_leave();
	return is_outer;
}

static void limit(int resource, rlim_t most)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits) < 0)
		_exit(2);
	limits.rlim_cur = most;
	if (setrlimit(resource, &limits) < 0)
		_exit(2);
}

static int with_small_files(void)
{
	limit(RLIMIT_FSIZE, 1u << 20);
	return crit_shim_start(CRIT_FLAVOUR_MPICH) && call() ? 0 : 1;
}

static int with_little_space(void)
{
	limit(RLIMIT_AS, 2ull << 30);
	return crit_shim_start(CRIT_FLAVOUR_MPICH) && call() ? 0 : 1;
}

static int with_no_descriptors(void)
{
	limit(RLIMIT_NOFILE, 0);
	return !crit_shim_start(CRIT_FLAVOUR_MPICH) && !call() ? 0 : 1;
}

static int refused(void)
{
	return !crit_shim_start(CRIT_FLAVOUR_MPICH) && !call() ? 0 : 1;
}

static int disabled(void)
{
	(void)setenv("CRIT_DISABLE", "1", 1);
	return refused();
}

/* Runs the body in a process of its own; its exit status, or minus the signal that ended it. */
static int run(int (*body)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(body());
	(void)waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int64_t seconds_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

int main(void)
{
	int64_t start_s;

	fake_critd_start(&fake);
	CHECK_CASE("file size limit");
	CHECK_INT_EQ(run(with_small_files), 0);
	CHECK_UINT_EQ(fake.registered.has_memfd, 0);
	CHECK_CASE("address space limit");
	CHECK_INT_EQ(run(with_little_space), 0);
	CHECK_UINT_EQ(fake.registered.has_memfd, 1);
	CHECK_INT_LT(fake_critd_map(&fake)->ring_slots, CRIT_RING_SLOTS);
	CHECK_CASE("no descriptors");
	CHECK_INT_EQ(run(with_no_descriptors), 0);
	CHECK_CASE("disabled");
	CHECK_INT_EQ(run(disabled), 0);
	CHECK_INT_EQ(fake_critd_count(&fake, CRIT_M_REGISTER), 2);
	CHECK_CASE("refused");
	fake.welcome_status = -EUSERS;
	CHECK_INT_EQ(run(refused), 0);
	CHECK_CASE("silent critd");
	fake.is_mute = true;
	start_s = seconds_now();
	CHECK_INT_EQ(run(refused), 0);
	CHECK_INT_LE(seconds_now() - start_s, 2 * 5); /* 5 s; twice that on a crowded machine */
	fake_critd_stop(&fake);
	return check_done();
}
