// SPDX-License-Identifier: BSD-3-Clause
// Ranks that work unequally between barriers, waiting in one of several ways: known shares.
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#define RANKS_MAX 64

enum wait_flavour {
	WAIT_BARRIER,
	WAIT_WAIT,
	WAIT_TEST,
	WAIT_TEST_WORK,
	WAIT_COUNT
};

static const char *const wait_names[WAIT_COUNT] = { "barrier", "wait", "test", "test-work" };

struct options {
	int phases;
	enum wait_flavour wait;
	int is_alternating; /* odd phases use the list backwards */
	int has_pin;
	int ms_count;
	double ms[RANKS_MAX];
};

static int parse_list(char *text, struct options *o)
{
	char *save = NULL;

	for (char *t = strtok_r(text, ":,", &save); t; t = strtok_r(NULL, ":,", &save)) {
		if (o->ms_count == RANKS_MAX)
			return -1;
		o->ms[o->ms_count++] = strtod(t, NULL);
	}
	return o->ms_count ? 0 : -1;
}

static int parse_wait(const char *name, struct options *o)
{
	for (int i = 0; i < WAIT_COUNT; i++)
		if (strcmp(name, wait_names[i]) == 0) {
			o->wait = (enum wait_flavour)i;
			return 0;
		}
	return -1;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "n:w:m:ap")) != -1) {
		if (c == 'n')
			o->phases = (int)strtol(optarg, NULL, 10);
		else if (c == 'w' && parse_wait(optarg, o) == 0)
			continue;
		else if (c == 'm' && parse_list(optarg, o) == 0)
			continue;
		else if (c == 'a')
			o->is_alternating = 1;
		else if (c == 'p')
			o->has_pin = 1;
		else
			return -1;
	}
	return o->phases > 0 && o->ms_count > 0 ? 0 : -1;
}

static void wait_for_all(enum wait_flavour how)
{
	MPI_Request request;
	int is_done = 0;

	if (how == WAIT_BARRIER) {
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (how == WAIT_WAIT)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	else
		while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
			if (how == WAIT_TEST_WORK)
				work_for_ns(100 * 1000);
}

int main(int argc, char **argv)
{
	struct options o = { .phases = 40 };
	int rank, size;

	if (parse_options(argc, argv, &o) != 0) {
		fprintf(stderr,
			"usage: %s [-n phases] [-w barrier|wait|test|test-work] [-a] [-p] "
			"-m MS:MS…\n",
			argv[0]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (o.has_pin)
		work_pin(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int phase = 0; phase < o.phases; phase++) {
		int slot = o.is_alternating && phase % 2 ? size - 1 - rank : rank;

		work_for_ns((int64_t)(o.ms[slot % o.ms_count] * 1e6));
		wait_for_all(o.wait);
	}
	MPI_Finalize();
	return 0;
}
