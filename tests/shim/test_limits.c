// SPDX-License-Identifier: BSD-3-Clause
// The shim where it cannot have what it wants: resource limits, a critd that refuses or is silent.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/call.h"
#include "core/shim/shim_conclude.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_span.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"
#include "tests/shim/wrapper.h"

#define PAIRS 64 /* their descriptors reach beyond where critd's connection lies */

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

/* Locked memory is real memory: only the thread buffers that are used may become so. */
static int with_locked_memory(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		return CHECK_SKIP_EXIT;
	if (!crit_shim_start(CRIT_FLAVOUR_MPICH) || !call())
		return 1;
	return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 && call() ? 0 : 1;
}

static int with_no_descriptors(void)
{
	limit(RLIMIT_NOFILE, 0);
	return !crit_shim_start(CRIT_FLAVOUR_MPICH) && !call() ? 0 : 1;
}

/* The program closes all it did not open, and opens files of its own. */
static int with_reused_descriptors(void)
{
	struct crit_message_rank message = { .rank = 0 };
	int pairs[PAIRS][2];
	int spoilt = 0;

	if (!crit_shim_start(CRIT_FLAVOUR_MPICH) || !call())
		return 100;
	for (int fd = 3; fd < 2 * PAIRS; fd++)
		close(fd);
	for (int i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pairs[i]) < 0)
			return 101;
	crit_shim_open_window(&message);
	crit_shim_close_window(crit_shim_now_ns());
	crit_shim_conclude();
	for (int i = 0; i < 2 * PAIRS; i++)
		spoilt += recv(pairs[i / 2][i % 2], &message, sizeof(message), MSG_DONTWAIT) >= 0;
	if (fork() == 0) { /* which ends the connection, in the child */
		for (int i = 0; i < 2 * PAIRS; i++)
			spoilt += fcntl(pairs[i / 2][i % 2], F_GETFD) < 0;
		_exit(spoilt);
	}
	(void)wait(&spoilt);
	return WEXITSTATUS(spoilt);
}

static void *start_cancelled(void *unused)
{
	(void)pthread_cancel(pthread_self());
	(void)crit_shim_start(CRIT_FLAVOUR_MPICH);
	pthread_testcancel();
	return unused;
}

static int with_cancelled_thread(void)
{
	pthread_t thread;
	void *end = NULL;

	if (pthread_create(&thread, NULL, start_cancelled, NULL) != 0 ||
	    pthread_join(thread, &end) != 0 || end != PTHREAD_CANCELED)
		return 2;
	return call() ? 0 : 1;
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

static void test_locked_memory(void)
{
	const int rc = run(with_locked_memory);
	struct stat memory = { .st_blocks = 0 };

	CHECK_CASE("locked memory");
	if (rc == CHECK_SKIP_EXIT) {
		printf("locked memory: no right to lock it, not tested\n");
		return;
	}
	CHECK_INT_EQ(rc, 0);
	CHECK_INT_EQ(fstat(fake.memfd, &memory), 0);
	CHECK_INT_GT(memory.st_blocks, 0);
	CHECK_INT_LT(512ll * memory.st_blocks, 2ll * CRIT_RING_SLOTS * CRIT_SLOT_BYTES);
}

/* What keeps OpenMP threads from spinning is told, whichever variable does it. */
static void test_wait_policy(void)
{
	const struct {
		const char *name, *value;
		uint16_t flags;
	} rows[] = {
		{ "OMP_WAIT_POLICY", "active", 0 },
		{ "OMP_WAIT_POLICY", "PASSIVE", CRIT_PF_OMP_PASSIVE },
		{ "KMP_BLOCKTIME", "200", 0 },
		{ "KMP_BLOCKTIME", "0", CRIT_PF_OMP_PASSIVE },
		{ "GOMP_SPINCOUNT", "0", CRIT_PF_OMP_PASSIVE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_CASE("%s=%s", rows[i].name, rows[i].value);
		(void)setenv(rows[i].name, rows[i].value, 1);
		CHECK_INT_EQ(run(with_little_space), 0);
		CHECK_UINT_EQ(fake.registered.flags, rows[i].flags);
		(void)unsetenv(rows[i].name);
	}
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
	int registered;

	fake_critd_start(&fake);
	CHECK_CASE("file size limit");
	CHECK_INT_EQ(run(with_small_files), 0);
	CHECK_UINT_EQ(fake.registered.has_memfd, 0);
	CHECK_CASE("address space limit");
	CHECK_INT_EQ(run(with_little_space), 0);
	CHECK_UINT_EQ(fake.registered.has_memfd, 1);
	CHECK_INT_LT(fake_critd_map(&fake)->ring_slots, CRIT_RING_SLOTS);
	test_locked_memory();
	test_wait_policy();
	registered = fake_critd_count(&fake, CRIT_M_REGISTER);
	CHECK_CASE("no descriptors");
	CHECK_INT_EQ(run(with_no_descriptors), 0);
	CHECK_CASE("cancelled thread");
	CHECK_INT_EQ(run(with_cancelled_thread), 0);
	CHECK_CASE("reused descriptors");
	CHECK_INT_EQ(run(with_reused_descriptors), 0);
	CHECK_INT_EQ(fake_critd_count(&fake, CRIT_M_REGISTER), registered + 2);
	CHECK_CASE("disabled");
	CHECK_INT_EQ(run(disabled), 0);
	CHECK_INT_EQ(fake_critd_count(&fake, CRIT_M_REGISTER), registered + 2);
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
