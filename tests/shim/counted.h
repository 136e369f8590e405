/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls that count themselves, and lines about what they computed: "result RANK ..." must not
 * depend on a shim, "RANK count NAME N" tells what it should have seen.
 */
#ifndef CRIT_TESTS_COUNTED_H
#define CRIT_TESTS_COUNTED_H

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define COUNTED_MAX 256

static struct {
	const char *name;
	long count;
} counted[COUNTED_MAX];

static pthread_mutex_t counted_mutex = PTHREAD_MUTEX_INITIALIZER;
static int rank, size, peer;

static void count(const char *name)
{
	(void)pthread_mutex_lock(&counted_mutex);
	for (int i = 0; i < COUNTED_MAX; i++) {
		if (!counted[i].name)
			counted[i].name = name;
		if (strcmp(counted[i].name, name) == 0) {
			counted[i].count++;
			break;
		}
	}
	(void)pthread_mutex_unlock(&counted_mutex);
}

/* C(Send, …) counts and calls MPI_Send(…). */
#define C(name, ...) (count(#name), MPI_##name(__VA_ARGS__))

static void say(const char *what, const int *values, int n)
{
	printf("result %d %s", rank, what);
	for (int i = 0; i < n; i++)
		printf(" %d", values[i]);
	printf("\n");
}

static void say_counts(void)
{
	for (int i = 0; i < COUNTED_MAX && counted[i].name; i++)
		printf("%d count %s %ld\n", rank, counted[i].name, counted[i].count);
}

/* Two ranks that write to OUTPUT.0 and OUTPUT.1, for launchers mix lines. */
static int open_pair(const char *output)
{
	char path[512];

	C(Comm_rank, MPI_COMM_WORLD, &rank);
	C(Comm_size, MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "this program runs with 2 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	peer = 1 - rank;
	snprintf(path, sizeof(path), "%s.%d", output ? output : "", rank);
	return !output || freopen(path, "w", stdout) ? 0 : -1;
}

#endif
