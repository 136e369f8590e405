// SPDX-License-Identifier: BSD-3-Clause
// Ways to leave a call of MPI other than by its return, and to leave the process: later calls are
// made and counted all the same.
//
// usage: leave CASE      prints lines that must not depend on a shim
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* on purpose: a deep stack */

#define FAR (1u << 20) /* bytes of stack between a call that is left and a later one */

static int rank;
static jmp_buf escape;

static void begin(int *argc, char ***argv, int level)
{
	int provided;

	MPI_Init_thread(argc, argv, level, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (provided < level)
		MPI_Abort(MPI_COMM_WORLD, 2);
}

static void set_handler(MPI_Comm_errhandler_function *function)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(function, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

/* Makes calls of its own, then never returns. */
static void jump(MPI_Comm *comm, int *code, ...)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	(void)comm;
	MPI_Error_string(*code, text, &length);
	longjmp(escape, 1);
}

__attribute__((noinline)) static void send_to_nobody(void)
{
	if (setjmp(escape) == 0)
		MPI_Send(NULL, 0, MPI_BYTE, 4711, 0, MPI_COMM_WORLD);
}

/* A solver with large arrays, which it uses. */
__attribute__((noinline)) static int solve(void)
{
	volatile char work[FAR];
	int sum = 0, one = 1;

	for (size_t i = 0; i < sizeof(work); i++)
		work[i] = (char)i;
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return sum + work[1] - 1;
}

static void case_jump(int *argc, char ***argv)
{
	int sum = 0;

	begin(argc, argv, MPI_THREAD_SINGLE);
	set_handler(jump);
	for (int i = 0; i < 5; i++) {
		send_to_nobody();
		sum += solve();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d jumps: sum %d\n", rank, sum);
}

static void stop_here(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	pthread_testcancel();
}

static void *send_cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	MPI_Send(NULL, 0, MPI_BYTE, 4711, 0, MPI_COMM_WORLD);
	return NULL;
}

/*
 * Threads end in an error handler, at a point of cancellation; others come after them.  In a call
 * that waits neither MPI survives it: a lock stays taken.
 */
static void case_cancel(int *argc, char ***argv)
{
	int ends = 0;

	begin(argc, argv, MPI_THREAD_SERIALIZED);
	set_handler(stop_here);
	for (int i = 0; i < 5; i++) {
		pthread_t thread;
		void *end = NULL;

		pthread_create(&thread, NULL, send_cancelled, NULL);
		pthread_join(thread, &end);
		ends += end == PTHREAD_CANCELED;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("%d cancelled: %d\n", rank, ends);
}

static int in_child(void (*work)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		work();
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void leave_at_once(void)
{
	_exit(3);
}

/* All a worker of a pool does: it forks, works, ends by exit() with its handlers. */
static void work_in_pool(void)
{
	exit(4 + in_child(leave_at_once));
}

/* Whether there is MPI is all a child may ask. */
static void ask(void)
{
	int flag = 0;

	MPI_Initialized(&flag);
	_exit(10 + flag);
}

static void case_workers(int *argc, char ***argv)
{
	int sum = 0, one = 1, ends[3];

	begin(argc, argv, MPI_THREAD_SINGLE);
	MPI_Barrier(MPI_COMM_WORLD);
	ends[0] = in_child(leave_at_once);
	ends[1] = in_child(work_in_pool);
	ends[2] = in_child(ask);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("%d workers: %d %d %d system %d sum %d\n", rank, ends[0], ends[1], ends[2],
	       system("exit 5"), sum);
}

/* The program that calls MPI replaces another, which has asked for it already. */
static void case_exec(int *argc, char ***argv)
{
	int flag = -1;

	if (!getenv("LEAVE_SECOND")) {
		MPI_Initialized(&flag);
		setenv("LEAVE_SECOND", "1", 1);
		execv("/proc/self/exe", *argv);
	}
	begin(argc, argv, MPI_THREAD_SINGLE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	execlp("echo", "echo", "and then another program", (char *)NULL);
}

static const struct {
	const char *name;
	void (*run)(int *argc, char ***argv);
} cases[] = {
	{ "jump", case_jump },
	{ "cancel", case_cancel },
	{ "workers", case_workers },
	{ "exec", case_exec },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc >= 2 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run(&argc, &argv);
			MPI_Finalize();
			return 0;
		}
	fprintf(stderr, "usage: leave CASE; leave.c names the cases\n");
	return 2;
}
