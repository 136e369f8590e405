// SPDX-License-Identifier: BSD-3-Clause
// Parents and ranks as /proc has them, and a tree of two generations.
#include "cli/launch/process_tree.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

static const struct {
	const char *stat;
	pid_t parent;
} stats[] = {
	{ "17 (solver) S 12 17 17 0 -1 4194304 120\n", 12 },
	{ "17 (a) R 99 (b) S 12 17\n", 12 },
	{ "17 ()) Z 1 17\n", 1 },
	{ "1 (init) S 0 1 1\n", 0 },
	{ "17 (solver", 0 },
	{ "17 (solver) S", 0 },
	{ "17 (solver) S -3", 0 },
	{ "", 0 },
};

static void test_parents(void)
{
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
		CHECK_CASE("stat %zu", i);
		CHECK_INT_EQ(crit_process_tree_parent(stats[i].stat), stats[i].parent);
	}
}

#define ENVIRONMENT(text) text, sizeof(text) - 1

static const struct {
	const char *text;
	size_t bytes;
	long rank;
} environments[] = {
	{ ENVIRONMENT("HOME=/root\0PMIX_RANK=3\0"), 3 },
	{ ENVIRONMENT("PMI_RANK=0\0PATH=/bin\0"), 0 },
	{ ENVIRONMENT("OMPI_COMM_WORLD_RANK=1023\0"), 1023 },
	{ ENVIRONMENT("MY_PMIX_RANK=3\0PMIX_RANK_X=3\0X=PMI_RANK=1\0"), -1 },
	{ ENVIRONMENT("PMIX_RANK=\0PMI_RANK=-1\0"), -1 },
	{ ENVIRONMENT("PMIX_RANK=x\0PMI_RANK=2x\0PMIX_RANK=4\0"), 4 },
	{ ENVIRONMENT("HOME=/root\0PMIX_RANK=3"), -1 }, /* cut */
	{ ENVIRONMENT(""), -1 },
};

static void test_ranks(void)
{
	for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
		CHECK_CASE("environment %zu", i);
		CHECK_INT_EQ(crit_process_tree_rank(environments[i].text, environments[i].bytes),
			     environments[i].rank);
	}
}

struct visits {
	pid_t pids[8];
	int count;
};

static void visit(void *context, pid_t pid)
{
	struct visits *visits = context;

	if (visits->count < 8)
		visits->pids[visits->count] = pid;
	visits->count++;
}

/* A process with a child: it writes the child's number, and both live until the pipe is closed. */
static pid_t start_two(int ends[2], pid_t *ret_child)
{
	int born[2];
	pid_t first;

	if (pipe(born))
		_exit(3);
	first = fork();
	if (first == 0) {
		char byte;
		pid_t child = fork();

		(void)close(ends[1]);
		if (child > 0)
			(void)!write(born[1], &child, sizeof(child));
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	CHECK_INT_EQ(read(born[0], ret_child, sizeof(*ret_child)), (long)sizeof(*ret_child));
	(void)close(born[0]);
	(void)close(born[1]);
	return first;
}

/* This process is left out, and so is what is below it. */
static void test_walk(void)
{
	struct visits below = { .count = 0 }, none = { .count = 0 };
	pid_t first, second = 0;
	int ends[2];

	if (!CHECK_INT_EQ(pipe(ends), 0))
		return;
	first = start_two(ends, &second);
	CHECK_INT_EQ(crit_process_tree_walk(first, visit, &below), 0);
	CHECK_INT_EQ(below.count, 1);
	CHECK_INT_EQ(below.pids[0], second);
	CHECK_INT_EQ(crit_process_tree_walk(second, visit, &none), 0);
	CHECK_INT_EQ(none.count, 0);
	CHECK_INT_EQ(crit_process_tree_walk(getppid(), visit, &none), 0);
	for (int i = 0; i < none.count && i < 8; i++)
		CHECK(none.pids[i] != getpid() && none.pids[i] != first);
	(void)close(ends[1]);
	(void)waitpid(first, NULL, 0);
}

int main(void)
{
	test_parents();
	test_ranks();
	test_walk();
	return check_done();
}
