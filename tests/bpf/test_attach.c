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
#define RECORDS 20 /* at least, of each kind */
#define WAIT_S 10 /* at most, for these */

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

/* Has each thread but the sleeper as many records of a kind? */
static bool has_enough(const struct crit_harness_recording *recording, __u8 kind)
{
	for (int i = 0; i <= THREADS; i++)
		if (i != THREADS - 1 &&
		    crit_harness_count_kernel(recording, kind, (__u32)tids[i]) < RECORDS)
			return false;
	return true;
}

static bool is_recorded(const char *file)
{
	struct crit_harness_recording recording;
	bool is_enough = crit_harness_read(file, &recording) &&
			 has_enough(&recording, CRIT_K_WAKING) &&
			 has_enough(&recording, CRIT_K_SWITCH);

	crit_harness_free(&recording);
	return is_enough;
}

static void check_threads(const char *file)
{
	struct crit_harness_recording recording;

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	CHECK(recording.is_whole);
	for (int i = 0; i <= THREADS; i++) {
		const __u32 tid = (__u32)tids[i];

		CHECK_INT_EQ(crit_harness_count_kernel(&recording, CRIT_K_EXIT, tid), 1);
		CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_ENROL, tid), 1);
	}
	CHECK(has_enough(&recording, CRIT_K_WAKING));
	CHECK(has_enough(&recording, CRIT_K_SWITCH));
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
	for (int i = 0; i < 10 * WAIT_S && !is_recorded(client.file); i++)
		sleep_ms(100);
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
