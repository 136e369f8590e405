// SPDX-License-Identifier: BSD-3-Clause
// Who woke a thread: the one before it in a ring of event descriptors, another one at the same
// mutex, nobody of the run for a timer that interrupts busy members, and a stranger who writes.
// One in some thousands is not known: the kernel runs no hook inside itself, as in an interrupt.
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_blocked.h"
#include "core/abi/abi_wake.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define RING 16
#define ROUNDS 200
#define SLEEPERS 4
#define SLEEPS 1000
#define MUTEXES 4
#define LOCKERS 8 /* at each */
#define LOCKS 500
#define READS 50 /* of what the stranger writes */
#define TIDS 65536

enum group {
	GROUP_NONE,
	GROUP_RING,
	GROUP_SLEEPERS,
	GROUP_READER,
	GROUP_MUTEX
};

/* What the threads of a group wait in.  Their page faults wait for each other now and then, too. */
static const long waits_in[] = { -1, SYS_read, SYS_clock_nanosleep, SYS_read, SYS_futex };

struct told { /* by the member when it ends; threads that only wake others have no group */
	pid_t ring[RING];
	pid_t sleepers[SLEEPERS];
	pid_t lockers[MUTEXES * LOCKERS];
	pid_t reader;
};

static struct told told;
static int events[RING];
static int stranger_pipe[2];
static pthread_mutex_t mutexes[MUTEXES];

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void pause_us(long us)
{
	const struct timespec pause = { 0, us * 1000 };

	(void)nanosleep(&pause, NULL);
}

static void *ring_main(void *argument)
{
	long number = (long)argument;

	told.ring[number] = own_tid();
	for (int i = 0; i < ROUNDS; i++) {
		eventfd_t value;

		(void)eventfd_read(events[number], &value);
		(void)eventfd_write(events[(number + 1) % RING], 1);
	}
	return NULL;
}

static void *sleeper_main(void *argument)
{
	told.sleepers[(long)argument] = own_tid();
	for (int i = 0; i < SLEEPS; i++)
		pause_us(100);
	return NULL;
}

static void *locker_main(void *argument)
{
	long number = (long)argument;

	told.lockers[number] = own_tid();
	for (int i = 0; i < LOCKS; i++) {
		(void)pthread_mutex_lock(&mutexes[number / LOCKERS]);
		(void)sched_yield(); /* to those who want it, too */
		(void)pthread_mutex_unlock(&mutexes[number / LOCKERS]);
	}
	return NULL;
}

static void *reader_main(void *argument)
{
	char byte;

	(void)argument;
	told.reader = own_tid();
	for (int i = 0; i < READS; i++)
		(void)!read(stranger_pipe[0], &byte, 1);
	return NULL;
}

static void member_main(const struct crit_harness *harness, int result_fd)
{
	pthread_t threads[RING + SLEEPERS + MUTEXES * LOCKERS + 1];
	struct crit_harness_client client;
	int count = 0;

	if (crit_harness_join(harness, "run", CRIT_ROLE_SHIM, 0, &client) ||
	    crit_harness_register(&client, CRIT_TLS_NONE, -1))
		_exit(1);
	for (int i = 0; i < RING; i++)
		events[i] = eventfd(0, EFD_CLOEXEC);
	for (long i = 0; i < RING; i++)
		(void)pthread_create(&threads[count++], NULL, ring_main, (void *)i);
	for (long i = 0; i < SLEEPERS; i++)
		(void)pthread_create(&threads[count++], NULL, sleeper_main, (void *)i);
	for (long i = 0; i < (long)MUTEXES * LOCKERS; i++)
		(void)pthread_create(&threads[count++], NULL, locker_main, (void *)i);
	(void)pthread_create(&threads[count++], NULL, reader_main, NULL);
	pause_us(10000);
	(void)eventfd_write(events[0], 1);
	while (count > 0)
		(void)pthread_join(threads[--count], NULL);
	if (write(result_fd, &told, sizeof(told)) != sizeof(told))
		_exit(1);
	_exit(0);
}

static enum group group_of(__u32 tid, int *ret_number)
{
	*ret_number = 0;
	if (tid == (__u32)told.reader)
		return GROUP_READER;
	for (int i = 0; i < SLEEPERS; i++)
		if (tid == (__u32)told.sleepers[i])
			return GROUP_SLEEPERS;
	for (*ret_number = 0; *ret_number < RING; ++*ret_number)
		if (tid == (__u32)told.ring[*ret_number])
			return GROUP_RING;
	for (*ret_number = 0; *ret_number < MUTEXES * LOCKERS; ++*ret_number)
		if (tid == (__u32)told.lockers[*ret_number])
			return GROUP_MUTEX;
	return GROUP_NONE;
}

static bool is_right(enum group group, int number, const struct crit_kernel_wake *wake)
{
	int waker_number;
	enum group waker = group_of(wake->waker_tid, &waker_number);

	switch (group) {
	case GROUP_RING:
		if (wake->head.state != CRIT_WAKER_MEMBER)
			return false;
		return (waker == GROUP_RING && waker_number == (number + RING - 1) % RING) ||
		       (number == 0 && waker == GROUP_NONE);
	case GROUP_MUTEX:
		return wake->head.state == CRIT_WAKER_MEMBER && waker == GROUP_MUTEX &&
		       waker_number / LOCKERS == number / LOCKERS;
	case GROUP_SLEEPERS:
		return wake->head.state == CRIT_WAKER_INTERRUPT && wake->waker_tid == 0;
	default: /* the reader */
		return wake->head.state == CRIT_WAKER_OUTSIDE && wake->waker_tid == 0;
	}
}

/* Notes whether the thread that leaves its CPU waits in what is judged. */
static void note_block(const struct crit_kernel_blocked *blocked, bool *waits)
{
	const struct crit_kernel_head *head = &blocked->switched.head;
	const struct crit_kernel_blocked_taken *taken = (const void *)blocked;
	const __u32 tid = blocked->switched.prev_tid;
	int number;
	enum group group = group_of(tid, &number);
	const struct crit_kernel_call *call = head->size == sizeof(*taken) ? &taken->call
									   : &blocked->call;

	if (group != GROUP_NONE)
		waits[tid % TIDS] = head->flags & CRIT_KF_CALL && call->number == waits_in[group];
	waits[blocked->switched.next_tid % TIDS] = false; /* of one woken on its way there, too */
}

static void check_wakers(const struct crit_harness_recording *recording)
{
	static bool waits[TIDS];
	static const long least[] = { 0, RING * ROUNDS / 2, SLEEPERS * SLEEPS / 2, READS / 10,
				      LOCKERS * LOCKS / 2 };
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	long wakes[GROUP_MUTEX + 1] = { 0 };
	long right[GROUP_MUTEX + 1] = { 0 };
	long unknown[GROUP_MUTEX + 1] = { 0 };

	while ((record = crit_harness_next_kernel(recording, &chunk, record))) {
		const struct crit_kernel_wake *wake = (const void *)record;
		enum group group;
		int number;

		if (record->kind == CRIT_K_SWITCH)
			note_block((const void *)record, waits);
		if (record->kind != CRIT_K_WAKING || !waits[wake->tid % TIDS])
			continue;
		group = group_of(wake->tid, &number);
		wakes[group]++;
		unknown[group] += wake->head.state == CRIT_WAKER_UNKNOWN;
		right[group] += group == GROUP_NONE || is_right(group, number, wake);
	}
	for (int i = GROUP_RING; i <= GROUP_MUTEX; i++) {
		CHECK_CASE("group %d: %ld of %ld wakers right, %ld not known", i, right[i],
			   wakes[i], unknown[i]);
		CHECK_INT_EQ(right[i] + unknown[i], wakes[i]);
		CHECK_INT_GE(wakes[i] / 100, unknown[i]);
		CHECK_INT_GE(wakes[i], least[i]);
	}
}

int main(void)
{
	struct crit_harness_recording recording;
	struct crit_harness harness;
	char file[192];
	int result[2], status = -1;
	pid_t member;

	crit_harness_start(&harness, NULL);
	if (!CHECK_INT_EQ(pipe(result), 0) || !CHECK_INT_EQ(pipe(stranger_pipe), 0))
		return check_done();
	member = fork();
	if (member == 0)
		member_main(&harness, result[1]);
	for (int i = 0; i < READS; i++) {
		pause_us(5000);
		(void)!write(stranger_pipe[1], "", 1);
	}
	CHECK_INT_EQ(read(result[0], &told, sizeof(told)), sizeof(told));
	(void)waitpid(member, &status, 0);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/run.crit", harness.directory);
	if (CHECK(crit_harness_read(file, &recording))) {
		check_wakers(&recording);
		crit_harness_free(&recording);
	}
	crit_harness_clean(&harness);
	return check_done();
}
