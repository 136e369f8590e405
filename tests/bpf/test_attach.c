// SPDX-License-Identifier: BSD-3-Clause
// A process that already runs is attached: all its threads become members, sleepers too.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define THREADS 4 /* the last one sleeps all the time */

static pid_t tids[THREADS + 1];

static void sleep_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

static void *thread_main(void *argument)
{
	const long number = (long)argument;

	__atomic_store_n(&tids[number], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;)
		sleep_ms(number == THREADS - 1 ? 100000 : 2);
	return NULL;
}

static void target_main(int result_fd)
{
	pthread_t threads[THREADS];

	memset(tids, 0, sizeof(tids));
	for (long i = 0; i < THREADS; i++)
		(void)pthread_create(&threads[i], NULL, thread_main, (void *)i);
	tids[THREADS] = getpid();
	for (int i = 0; i < THREADS; i++) {
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			sleep_ms(1);
	}
	if (write(result_fd, tids, sizeof(tids)) != sizeof(tids))
		_exit(1);
	for (;;)
		sleep_ms(2);
}

static void check_threads(const char *file)
{
	struct crit_harness_recording recording;

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	CHECK(recording.is_whole);
	for (int i = 0; i <= THREADS; i++) {
		const __u32 tid = (__u32)tids[i];
		const bool is_sleeper = i == THREADS - 1;

		CHECK_INT_EQ(crit_harness_count_kernel(&recording, CRIT_K_EXIT, tid), 1);
		CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_ENROL, tid), 1);
		if (is_sleeper)
			continue;
		CHECK_INT_GE(crit_harness_count_kernel(&recording, CRIT_K_WAKING, tid), 20);
		CHECK_INT_GE(crit_harness_count_kernel(&recording, CRIT_K_SWITCH, tid), 20);
	}
	CHECK(crit_harness_find(&recording, CRIT_C_MAPS));
	CHECK(crit_harness_find(&recording, CRIT_C_FOOT));
	crit_harness_free(&recording);
}

static void run_case(const char *variant)
{
	const char *const arguments[] = { "--idle-exit", "1", variant, NULL };
	struct crit_harness_client client;
	struct crit_harness harness;
	int pipe_fds[2];
	pid_t target;

	CHECK_CASE("%s", variant ? variant : "defaults");
	if (pipe(pipe_fds))
		exit(1);
	target = fork();
	if (target == 0)
		target_main(pipe_fds[1]);
	CHECK_INT_EQ(read(pipe_fds[0], tids, sizeof(tids)), (long)sizeof(tids));
	crit_harness_start(&harness, arguments);
	CHECK_INT_EQ(crit_harness_join(&harness, "attach", CRIT_ROLE_RUNNER, 0, &client), 0);
	CHECK_INT_EQ(crit_harness_attach(&client, target), 0);
	CHECK_INT_EQ(crit_harness_attach(&client, target), -EALREADY);
	sleep_ms(500);
	(void)kill(target, SIGKILL);
	(void)waitpid(target, NULL, 0);
	close(client.fd);
	close(client.finisher_fd);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	check_threads(client.file);
	crit_harness_clean(&harness);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

int main(void)
{
	crit_harness_keep_busy();
	run_case(NULL);
	run_case("--no-pidfd-thread");
	run_case("--no-task-storage");
	return check_done();
}
