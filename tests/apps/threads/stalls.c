// SPDX-License-Identifier: BSD-3-Clause
// Threads that work for a while, and then wait until the program is killed.
// usage: stalls locks|self|wakeup|barrier|reporter|reads|server|input|over MILLISECONDS
//   locks     two threads take two locks in opposite order, a third one wants the first of these
//   self      a thread takes a lock that it has
//   wakeup    a thread waits for a condition that nobody signals any more
//   barrier   a barrier is set up for one thread more than there are
//   reporter  as locks, beside a thread that does something every 50 ms
//   reads     two processes, each of which reads what the other one is to write
//   server    all wait for work, and the main thread for requests
//   input     a thread reads what comes from outside, the main thread waits for its end
//   over      as server, but the main thread waits for 2 s and then ends the program
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/work.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting, missing;
static int work_ms;

static void take_both(pthread_mutex_t *one, pthread_mutex_t *other)
{
	pthread_mutex_lock(one);
	pthread_barrier_wait(&meeting);
	work_for_ns(30000000); /* of blocks in quick succession the first one's stack is taken */
	pthread_mutex_lock(other);
}

static void *take_in_order(void *arg)
{
	work_for_ns(work_ms * 1000000ll);
	take_both(&first, &second);
	return arg;
}

static void *take_in_reverse(void *arg)
{
	work_for_ns(work_ms * 1000000ll);
	take_both(&second, &first);
	return arg;
}

static void *take_first(void *arg)
{
	work_for_ns(work_ms * 1000000ll);
	pthread_barrier_wait(&meeting);
	work_for_ns(30000000);
	pthread_mutex_lock(&first);
	return arg;
}

static void *take_twice(void *arg)
{
	work_for_ns(work_ms * 1000000ll);
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&first);
	return arg;
}

static void *await_change(void *arg)
{
	work_for_ns(work_ms * 1000000ll);
	pthread_mutex_lock(&first);
	for (;;)
		pthread_cond_wait(&changed, &first);
	return arg;
}

static void *meet(void *arg)
{
	work_for_ns(work_ms * 1000000ll);
	pthread_barrier_wait(&missing);
	return arg;
}

static void *report(void *arg)
{
	for (;;) {
		(void)usleep(50000);
		(void)getppid();
	}
	return arg;
}

static void *read_input(void *arg)
{
	char byte;

	work_for_ns(work_ms * 1000000ll);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		perror("stalls");
	return arg;
}

static void take_turns(int from, int to, int turns)
{
	char byte = 0;

	for (int i = 0; i < turns; i++)
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			return;
	if (read(from, &byte, 1) != 1) /* it is the other one's turn */
		return;
}

static void read_both(void)
{
	int down[2], up[2];
	pid_t child;

	if (pipe(down) || pipe(up))
		return;
	child = fork();
	if (!child && prctl(PR_SET_PDEATHSIG, SIGTERM))
		return;
	work_for_ns(work_ms * 1000000ll);
	take_turns(child ? up[0] : down[0], child ? down[1] : up[1], 20);
	(void)waitpid(child, NULL, 0);
}

static void start(pthread_t *threads, void *(*const *bodies)(void *), size_t count)
{
	for (size_t i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
}

static int run(const char *kind)
{
	static void *(*const locks[])(void *) = { take_in_order, take_in_reverse, take_first,
						  report };
	static void *(*const selves[])(void *) = { take_twice };
	static void *(*const wakeups[])(void *) = { await_change };
	static void *(*const meets[])(void *) = { meet, meet, meet };
	static void *(*const waits[])(void *) = { await_change, await_change };
	static void *(*const inputs[])(void *) = { read_input };
	const struct {
		const char *name;
		void *(*const *bodies)(void *);
		size_t count;
	} kinds[] = { { "locks", locks, 3 },    { "reporter", locks, 4 }, { "self", selves, 1 },
		      { "wakeup", wakeups, 1 }, { "barrier", meets, 3 },  { "server", waits, 2 },
		      { "over", waits, 2 },     { "input", inputs, 1 } };
	pthread_t threads[4];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i].name) != 0)
			continue;
		start(threads, kinds[i].bodies, kinds[i].count);
		if (kinds[i].bodies == waits) {
			(void)poll(NULL, 0, strcmp(kind, "over") == 0 ? 2000 : -1);
			return 0;
		}
		for (size_t thread = 0; thread < kinds[i].count; thread++)
			pthread_join(threads[thread], NULL);
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	work_ms = (int)strtol(argv[2], NULL, 10);
	pthread_barrier_init(&meeting, NULL, 3);
	pthread_barrier_init(&missing, NULL, 4);
	if (strcmp(argv[1], "reads") != 0)
		return run(argv[1]);
	read_both();
	return 0;
}
