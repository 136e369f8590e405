// SPDX-License-Identifier: BSD-3-Clause
// One thread waits for another, which works a known time before it acts; both tell when.
//   cond   by a condition variable
//   pipe   by a byte in a pipe
//   timer  both sleep
// usage: known_wakes MODE ROUNDS MS
// prints a line each: thread, and of each act ns of the monotonic clock before and after it
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/apps/work.h"

#define ACTS_MAX 4096

struct thread {
	struct {
		int64_t came_ns, left_ns;
	} acts[ACTS_MAX];
	long tid, count;
};

static const char *mode;
static long rounds, ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static int ready;
static int ends[2];

static void come(struct thread *thread)
{
	if (thread->count < ACTS_MAX)
		thread->acts[thread->count++].came_ns = work_clock_ns(CLOCK_MONOTONIC);
}

static void leave(struct thread *thread)
{
	thread->acts[thread->count - 1].left_ns = work_clock_ns(CLOCK_MONOTONIC);
}

static void wake(void)
{
	if (!strcmp(mode, "cond")) {
		(void)pthread_mutex_lock(&lock);
		ready++;
		(void)pthread_cond_signal(&is_ready);
		(void)pthread_mutex_unlock(&lock);
	} else if (write(ends[1], "", 1) != 1) {
		abort();
	}
}

static void wait_for_it(void)
{
	char byte;

	if (!strcmp(mode, "cond")) {
		(void)pthread_mutex_lock(&lock);
		while (!ready)
			(void)pthread_cond_wait(&is_ready, &lock);
		ready--;
		(void)pthread_mutex_unlock(&lock);
	} else if (read(ends[0], &byte, 1) != 1) {
		abort();
	}
}

static void sleep_once(void)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&time, NULL);
}

static void *work(void *argument)
{
	struct thread *thread = argument;

	thread->tid = syscall(SYS_gettid);
	for (long i = 0; i < rounds; i++) {
		if (!strcmp(mode, "timer")) {
			come(thread);
			sleep_once();
		} else {
			work_for_ns(ms * 1000000);
			come(thread);
			wake();
		}
		leave(thread);
	}
	return NULL;
}

static void tell(const struct thread *thread)
{
	for (long i = 0; i < thread->count; i++)
		printf("%ld %lld %lld\n", thread->tid, (long long)thread->acts[i].came_ns,
		       (long long)thread->acts[i].left_ns);
}

int main(int argc, char **argv)
{
	static struct thread waiter, worker;
	pthread_t handle;

	if (argc != 4 || pipe(ends) != 0)
		return 2;
	mode = argv[1];
	rounds = strtol(argv[2], NULL, 10);
	ms = strtol(argv[3], NULL, 10);
	waiter.tid = getpid();
	if (pthread_create(&handle, NULL, work, &worker) != 0)
		return 1;
	for (long i = 0; i < rounds; i++) {
		come(&waiter);
		if (!strcmp(mode, "timer"))
			sleep_once();
		else
			wait_for_it();
		leave(&waiter);
	}
	(void)pthread_join(handle, NULL);
	tell(&waiter);
	tell(&worker);
	return 0;
}
