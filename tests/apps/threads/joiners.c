// SPDX-License-Identifier: BSD-3-Clause
//
// A main thread works for a while, starts workers with work of their own, and waits for their ends.
//
//   joiners threads|processes|lock|helped SERIAL_MS WORK_MS...
//
// lock: of the work each worker does 10 ms at a time, and only one of them at a time.
// helped: two threads with other code do 7 % of the first worker's work each, bit by bit.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/apps/work.h"

#define WORKERS_MAX 16
#define TURN_MS 10
#define HELPS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_locked;

static void *work(void *ms)
{
	const int turn_ms = is_locked ? TURN_MS : *(const int *)ms;

	for (int done_ms = 0; done_ms < *(const int *)ms; done_ms += turn_ms) {
		if (is_locked)
			pthread_mutex_lock(&lock);
		work_for_ns(1000000ll * turn_ms);
		if (!is_locked)
			continue;
		pthread_mutex_unlock(&lock);
		usleep(100); /* the other one's turn */
	}
	return NULL;
}

static void run_threads(int *works_ms, int count)
{
	pthread_t threads[WORKERS_MAX];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, &works_ms[i]))
			exit(1);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void *help(void *ms)
{
	for (int i = 0; i < HELPS; i++) {
		work_for_ns(70000ll * *(const int *)ms / HELPS);
		usleep(1000 * *(const int *)ms / HELPS);
	}
	return NULL;
}

static void run_helped(int *works_ms, int count)
{
	pthread_t helpers[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&helpers[i], NULL, help, works_ms))
			exit(1);
	run_threads(works_ms, count);
	for (int i = 0; i < 2; i++)
		pthread_join(helpers[i], NULL);
}

static void run_processes(int *works_ms, int count)
{
	for (int i = 0; i < count; i++) {
		const pid_t child = fork();

		if (child < 0)
			exit(1);
		if (child)
			continue;
		work(&works_ms[i]);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	int works_ms[WORKERS_MAX];
	const int count = argc - 3;

	if (count < 1 || count > WORKERS_MAX) {
		fprintf(stderr,
			"usage: joiners threads|processes|lock|helped SERIAL_MS WORK_MS...\n");
		return 2;
	}
	for (int i = 0; i < count; i++)
		works_ms[i] = (int)strtol(argv[3 + i], NULL, 10);
	work_for_ns(1000000ll * strtol(argv[2], NULL, 10));
	is_locked = strcmp(argv[1], "lock") == 0;
	if (strcmp(argv[1], "processes") == 0)
		run_processes(works_ms, count);
	else if (strcmp(argv[1], "helped") == 0)
		run_helped(works_ms, count);
	else
		run_threads(works_ms, count);
	return 0;
}
