// SPDX-License-Identifier: BSD-3-Clause
// Threads that yield while they wait: every switch away counts, and few are records of their own.
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_tag.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define THREADS 3
#define YIELDS_NS 200000000 /* of CPU time */
#define WORK_NS 2000000
#define SLACK_NS 1000000 /* between two looks at the clock in one hook */
#define SWITCHES_PER_RECORD 20

static __thread volatile __u64 tag_word;

struct told { /* a thread's own account */
	pid_t tid;
	long switches; /* away from a CPU, until it was done */
};

static struct told told[THREADS];

static long thread_cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *thread_main(void *argument)
{
	struct told *own = argument;
	struct rusage usage;

	tag_word = crit_tag_pack(1, 0, 7, CRIT_CLASS_MPI_WAIT, 0);
	while (thread_cpu_ns() < YIELDS_NS)
		(void)sched_yield();
	tag_word = crit_tag_pack(2, 0, 0, CRIT_CLASS_USER, 0);
	while (thread_cpu_ns() < YIELDS_NS + WORK_NS)
		(void)sched_yield();
	(void)getrusage(RUSAGE_THREAD, &usage);
	own->tid = (pid_t)syscall(SYS_gettid);
	own->switches = usage.ru_nvcsw + usage.ru_nivcsw;
	return NULL;
}

static void member_main(const struct crit_harness *harness, int result_fd)
{
	struct crit_harness_client client;
	pthread_t threads[THREADS];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) ||
	    crit_harness_join(harness, "run", CRIT_ROLE_SHIM, 0, &client) ||
	    crit_harness_register(&client, (char *)&tag_word - (char *)__builtin_thread_pointer(),
				  -1))
		_exit(1);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_create(&threads[i], NULL, thread_main, &told[i]);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	if (write(result_fd, told, sizeof(told)) != sizeof(told))
		_exit(1);
	_exit(0);
}

static void check_yields(const struct crit_kernel_yields *yields, __u64 left_ns)
{
	__u64 begin_ns =
		yields->head.time_ns - yields->since_ns - yields->running_ns - yields->runnable_ns;

	CHECK_INT_GE(begin_ns + SLACK_NS, left_ns);
	CHECK_INT_GE(left_ns + SLACK_NS, begin_ns);
	CHECK(yields->since_ns < yields->head.time_ns);
}

static void check_thread(const struct crit_harness_recording *recording, const struct told *own)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	long switches = 0, records = 0, user = 0;
	__u64 left_ns = 0;

	while ((record = crit_harness_next_kernel(recording, &chunk, record))) {
		const struct crit_kernel_switch *sw = (const void *)record;
		const struct crit_kernel_yields *yields = (const void *)record;

		if (record->kind == CRIT_K_YIELDS && yields->tid == (__u32)own->tid) {
			check_yields(yields, left_ns);
			switches += yields->count;
			records++;
		} else if (record->kind == CRIT_K_SWITCH && sw->prev_tid == (__u32)own->tid) {
			left_ns = record->time_ns;
			switches++;
			records++;
			user += CRIT_TAG_FIELD(sw->prev_tag, CLASS) == CRIT_CLASS_USER;
		}
	}
	CHECK_CASE("%ld switches, %ld records, %ld with the tag of work", switches, records, user);
	CHECK_INT_GE(switches, own->switches);
	CHECK_INT_GE(own->switches + 8, switches); /* those of its end */
	CHECK_INT_GE(user, 1);
	CHECK_INT_GE(switches - user, SWITCHES_PER_RECORD * (records - user));
}

int main(void)
{
	struct crit_harness_recording recording;
	struct crit_harness harness;
	char file[192];
	int result[2], status = -1;
	pid_t member;

	crit_harness_start(&harness, NULL);
	if (!CHECK_INT_EQ(pipe(result), 0))
		return check_done();
	member = fork();
	if (member == 0)
		member_main(&harness, result[1]);
	CHECK_INT_EQ(read(result[0], told, sizeof(told)), sizeof(told));
	(void)waitpid(member, &status, 0);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/run.crit", harness.directory);
	if (CHECK(crit_harness_read(file, &recording))) {
		for (int i = 0; i < THREADS; i++)
			check_thread(&recording, &told[i]);
		crit_harness_free(&recording);
	}
	crit_harness_clean(&harness);
	return check_done();
}
