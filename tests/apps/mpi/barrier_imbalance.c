// SPDX-License-Identifier: BSD-3-Clause
// Ranks that work unequally between barriers, waiting in one of several ways: known shares.
#include <getopt.h>
#include <mpi.h>

#include "tests/apps/steps.h"

enum wait_flavour {
	WAIT_BARRIER,
	WAIT_WAIT,
	WAIT_TEST,
	WAIT_TEST_WORK,
	WAIT_TEST_YIELD,
	WAIT_ALLREDUCE,
	WAIT_COUNT
};

static const char *const wait_names[WAIT_COUNT] = { "barrier",   "wait",       "test",
						    "test-work", "test-yield", "allreduce" };

struct options {
	struct steps steps;
	enum wait_flavour wait;
	int has_pin;
	int is_telling;
};

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

	while ((c = getopt(argc, argv, "n:w:m:apv")) != -1) {
		if (c == 'n')
			o->steps.count = (int)strtol(optarg, NULL, 10);
		else if (c == 'w' && parse_wait(optarg, o) == 0)
			continue;
		else if (c == 'm' && steps_parse_list(&o->steps, optarg) == 0)
			continue;
		else if (c == 'a')
			o->steps.is_alternating = 1;
		else if (c == 'p')
			o->has_pin = 1;
		else if (c == 'v')
			o->is_telling = 1;
		else
			return -1;
	}
	return o->steps.count > 0 && o->steps.ms_count > 0 ? 0 : -1;
}

static void wait_for_all(enum wait_flavour how)
{
	MPI_Request request;
	int is_done = 0;

	if (how == WAIT_BARRIER) {
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	if (how == WAIT_ALLREDUCE) {
		MPI_Allreduce(MPI_IN_PLACE, &is_done, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		return;
	}
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (how == WAIT_WAIT)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	else
		while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
			if (how == WAIT_TEST_WORK)
				work_for_ns(100 * 1000);
			else if (how == WAIT_TEST_YIELD)
				(void)sched_yield();
}

int main(int argc, char **argv)
{
	struct options o = { .steps.count = 40 };
	struct steps_used used = { 0 };
	int rank, size;

	if (parse_options(argc, argv, &o) != 0) {
		fprintf(stderr,
			"usage: %s [-n steps] "
			"[-w barrier|wait|test|test-work|test-yield|allreduce] [-a] [-p] [-v] "
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
	for (int step = 0; step < o.steps.count; step++) {
		steps_work(&o.steps, step, rank, size, &used);
		wait_for_all(o.wait);
	}
	if (o.is_telling)
		steps_say(rank, &used);
	MPI_Finalize();
	return 0;
}
