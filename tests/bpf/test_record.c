// SPDX-License-Identifier: BSD-3-Clause
// A process registers, forks threads and children, and finds all of it in the recording.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_tag.h"
#include "core/abi/abi_wake.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define THREADS 3
#define CHILDREN 4
#define SLEEPS 20
#define ASLEEP 3 /* state: interruptible or not */

static __thread volatile __u64 tag_word;
static struct sleeper {
	pid_t tid;
	int sleeps; /* as the kernel counts: who is preempted on its way may find the time over */
} sleepers[THREADS];
static bool has_no_bpf; /* perf events know neither wakeups nor tags */

static __s64 tag_offset(void)
{
	return (__s64)((char *)&tag_word - (char *)__builtin_thread_pointer());
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { 0, ms * 1000000 };

	(void)nanosleep(&pause, NULL);
}

static int voluntary_switches(void)
{
	struct rusage usage = { .ru_nvcsw = 0 };

	(void)getrusage(RUSAGE_THREAD, &usage);
	return (int)usage.ru_nvcsw;
}

static void *thread_main(void *argument)
{
	long number = (long)argument;
	const int before = voluntary_switches();

	sleepers[number].tid = (pid_t)syscall(SYS_gettid);
	tag_word = crit_tag_pack((__u64)number + 1, 0, 7, CRIT_CLASS_MPI, 0);
	for (int i = 0; i < SLEEPS; i++)
		sleep_ms(1);
	sleepers[number].sleeps = voluntary_switches() - before;
	return NULL;
}

/* The member: runs in a child, so that the test itself stays outside. */
static void member_main(const struct crit_harness *harness, int result_fd)
{
	struct crit_harness_client client;
	pthread_t threads[THREADS];
	int rc = crit_harness_join(harness, "record", CRIT_ROLE_SHIM, 0, &client);

	if (rc || crit_harness_register(&client, tag_offset(), -1))
		_exit(1);
	tag_word = crit_tag_pack(9, 1, 5, CRIT_CLASS_USER, 0);
	for (long i = 0; i < THREADS; i++)
		(void)pthread_create(&threads[i], NULL, thread_main, (void *)i);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			(void)execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		(void)waitpid(child, NULL, 0);
	}
	if (write(result_fd, sleepers, sizeof(sleepers)) != sizeof(sleepers))
		_exit(1);
	_exit(0);
}

/*
 * Counts sleeps without WAKING that no hole excuses.  Now and then kernels tell nothing of a CPU
 * for some milliseconds (docs/architecture.md); RAN, of any thread, shows that it was so since.
 */
static int count_unwoken(const struct crit_harness_recording *recording, __u32 tid)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	bool is_asleep = false;
	__u64 woken_ns = 0; /* since it last got a CPU */
	int count = 0;

	while ((record = crit_harness_next_kernel(recording, &chunk, record))) {
		const struct crit_kernel_switch *sw = (const void *)record;
		const struct crit_kernel_wake *wake = (const void *)record;

		if (record->kind == CRIT_K_RAN)
			is_asleep = false;
		if (record->kind == CRIT_K_WAKING && wake->tid == tid) {
			is_asleep = false;
			woken_ns = record->time_ns;
		}
		if (record->kind != CRIT_K_SWITCH)
			continue;
		if (sw->next_tid == tid) {
			count += is_asleep;
			is_asleep = false;
			woken_ns = 0;
		}
		if (sw->prev_tid == tid)
			is_asleep = record->state & ASLEEP &&
				    !crit_wake_was_early(record->state, woken_ns, record->time_ns);
	}
	return count;
}

static void check_thread(const struct crit_harness_recording *recording,
			 const struct sleeper *sleeper, __u64 tag)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	const __u32 tid = (__u32)sleeper->tid;
	int tagged = 0, asleep = 0;

	CHECK_UINT_EQ(crit_harness_count_kernel(recording, CRIT_K_FORK, tid), 1);
	CHECK_UINT_EQ(crit_harness_count_kernel(recording, CRIT_K_EXIT, tid), 1);
	CHECK_UINT_EQ(crit_harness_count_kernel(recording, CRIT_K_WAKE_NEW, tid), !has_no_bpf);
	if (!has_no_bpf)
		CHECK_INT_EQ(count_unwoken(recording, tid), 0);
	while ((record = crit_harness_next_kernel(recording, &chunk, record))) {
		const struct crit_kernel_switch *sw = (const void *)record;

		if (record->kind != CRIT_K_SWITCH || sw->prev_tid != tid)
			continue;
		CHECK(record->flags & CRIT_KF_PREV_MEMBER);
		if (!(record->flags & CRIT_KF_CALL))
			CHECK(record->size == sizeof(*sw) ||
			      record->size == sizeof(struct crit_kernel_preempted));
		asleep += (record->state & ASLEEP) != 0;
		tagged += sw->prev_tag == tag && !(record->flags & CRIT_KF_TAG_STALE);
	}
	CHECK_INT_GT(sleeper->sleeps, SLEEPS / 2);
	CHECK_INT_GE(asleep, sleeper->sleeps);
	CHECK_INT_GE(tagged, has_no_bpf ? 0 : sleeper->sleeps);
}

/* Whenever a thread leaves a CPU, it is known how it came there, even where a kernel hides it. */
static void check_returns(const struct crit_harness_recording *recording, __u32 tid)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	__u64 left_ns = 0;
	bool is_on = false;

	while ((record = crit_harness_next_kernel(recording, &chunk, record))) {
		const struct crit_kernel_switch *sw = (const void *)record;
		const struct crit_kernel_ran *ran = (const void *)record;

		if (record->kind == CRIT_K_RAN && ran->tid == tid) {
			CHECK(!is_on);
			CHECK(ran->ran_ns <= record->time_ns - left_ns);
			is_on = true;
		}
		if (record->kind == CRIT_K_SWITCH && sw->prev_tid == tid) {
			CHECK(is_on);
			is_on = false;
			left_ns = record->time_ns;
		}
		if (record->kind == CRIT_K_SWITCH && sw->next_tid == tid)
			is_on = true;
	}
}

static void check_recording(const char *file, __u32 member, const struct sleeper *found)
{
	struct crit_harness_recording recording;
	const struct crit_rec_foot *foot;
	const struct crit_chunk_head *head;

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	CHECK(recording.is_whole);
	head = crit_harness_next(&recording, NULL);
	CHECK_INT_EQ(head->kind, CRIT_C_FILE);
	CHECK_INT_EQ(((const struct crit_rec_file *)(head + 1))->kernel_status,
		     has_no_bpf ? -EPERM : 0);
	CHECK_INT_EQ(((const struct crit_rec_file *)(head + 1))->perf_status, has_no_bpf);
	CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_ENROL, member), 1);
	CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_EXEC, 0), CHILDREN);
	CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_FORK, 0), THREADS + CHILDREN);
	CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_EXIT, 0),
		      THREADS + CHILDREN + 1);
	for (int i = 0; i < THREADS; i++) {
		check_thread(&recording, &found[i],
			     crit_tag_pack((__u64)i + 1, 0, 7, CRIT_CLASS_MPI, 0));
		if (!has_no_bpf)
			check_returns(&recording, (__u32)found[i].tid);
	}
	CHECK(crit_harness_find(&recording, CRIT_C_PROCESS));
	CHECK(crit_harness_find(&recording, CRIT_C_GONE));
	head = crit_harness_find(&recording, CRIT_C_FOOT);
	if (CHECK(head)) {
		foot = (const void *)(head + 1);
		CHECK_UINT_EQ(foot->kernel_lost, 0);
		CHECK_INT_GT(foot->kernel_records, (has_no_bpf ? 2 : 3) * SLEEPS * THREADS);
		CHECK(!crit_harness_next(&recording, head));
	}
	crit_harness_free(&recording);
}

static void run_case(const char *const *arguments)
{
	struct crit_harness harness;
	struct sleeper found[THREADS] = { 0 };
	char file[192];
	int pipe_fds[2], status = -1;
	pid_t member;

	crit_harness_start(&harness, arguments);
	if (pipe(pipe_fds))
		exit(1);
	member = fork();
	if (member == 0)
		member_main(&harness, pipe_fds[1]);
	(void)waitpid(member, &status, 0);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_EQ(read(pipe_fds[0], found, sizeof(found)), (long)sizeof(found));
	status = crit_harness_stop(&harness, false);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_NE(access(harness.socket, F_OK), 0);
	(void)snprintf(file, sizeof(file), "%s/record.crit", harness.directory);
	check_recording(file, (__u32)member, found);
	crit_harness_clean(&harness);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

int main(void)
{
	static const char *const variants[][4] = {
		{ "--idle-exit", "1", NULL, NULL },
		{ "--idle-exit", "1", "--no-pidfd-thread", NULL },
		{ "--idle-exit", "1", "--no-task-storage", NULL },
		{ "--idle-exit", "1", "--no-bpf", NULL },
	};

	crit_harness_keep_busy();
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		CHECK_CASE("%s", variants[i][2] ? variants[i][2] : "defaults");
		has_no_bpf = i == sizeof(variants) / sizeof(variants[0]) - 1;
		run_case(variants[i]);
	}
	return check_done();
}
