// SPDX-License-Identifier: BSD-3-Clause
// What a program may do with its standard error before MPI_Finalize, and what must stay as it is.
//
// usage: last_line plain|closed|full|gone|read|abort|exit
//        last_line data FILE
//        last_line slow FILE: waits until it exists, before MPI_Finalize
// rank 0 prints "held" when the call kept errno, sent no signal and wrote only where it may
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends[2] = { -1, -1 };
static volatile sig_atomic_t signals;

static void count(int number)
{
	(void)number;
	signals++;
}

/* Before the first MPI call: standard error is an end of a pipe to this process. */
static void make_pipe(int end)
{
	if (pipe(ends) == 0)
		(void)dup2(ends[end], STDERR_FILENO);
}

static void fill(void)
{
	const int flags = fcntl(STDERR_FILENO, F_GETFL);
	const char bytes[4096] = { 0 };

	(void)fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
	while (write(STDERR_FILENO, bytes, sizeof(bytes)) > 0)
		;
	(void)fcntl(STDERR_FILENO, F_SETFL, flags);
}

static void prepare(const char *mode, const char *path)
{
	if (strcmp(mode, "closed") == 0 || strcmp(mode, "data") == 0)
		close(STDERR_FILENO);
	if (strcmp(mode, "data") == 0) {
		const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd != STDERR_FILENO || write(fd, "data", 4) != 4) /* the lowest number */
			exit(3);
	}
	if (strcmp(mode, "full") == 0)
		fill();
	if (strcmp(mode, "gone") == 0) {
		close(ends[0]);
		close(ends[1]);
	}
	if (strcmp(mode, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (strcmp(mode, "exit") == 0)
		exit(0);
}

static int is_untouched(const char *mode)
{
	char bytes[4096];
	struct pollfd entry = { .fd = ends[0], .events = POLLIN };
	int is_clean = 1;

	if (strcmp(mode, "data") == 0)
		return write(STDERR_FILENO, "end", 3) == 3;
	if (strcmp(mode, "read") == 0)
		return poll(&entry, 1, 0) == 0;
	while (strcmp(mode, "full") == 0 && poll(&entry, 1, 0) == 1) {
		const ssize_t length = read(ends[0], bytes, sizeof(bytes));

		for (ssize_t i = 0; i < length; i++)
			is_clean &= bytes[i] == 0;
		if (length <= 0)
			break;
	}
	return is_clean;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	int rank, error;

	(void)signal(SIGPIPE, count);
	if (strcmp(mode, "full") == 0 || strcmp(mode, "gone") == 0)
		make_pipe(1);
	if (strcmp(mode, "read") == 0)
		make_pipe(0);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; strcmp(mode, "slow") == 0 && access(argv[2], F_OK) && i < 2000; i++)
		(void)usleep(10000);
	if (rank == 0 || strcmp(mode, "exit") == 0)
		prepare(mode, argc > 2 ? argv[2] : "");
	errno = 0;
	MPI_Finalize();
	error = errno;
	if (rank == 0 && is_untouched(mode) && signals == 0)
		printf("held, errno %d\n", error);
	return 0;
}
