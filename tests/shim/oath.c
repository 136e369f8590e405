// SPDX-License-Identifier: BSD-3-Clause
// What a shim must not spoil: children, signals, descriptors, forks, jumps out of MPI, threads.
//
// usage: oath CASE      prints lines that must not depend on a shim
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank;
static volatile sig_atomic_t child_signals;
static jmp_buf escape;

static void on_child(int number)
{
	(void)number;
	child_signals++;
}

/* Nobody but MPI may have given us children; MPI gives none. */
static void look_for_children(const char *when)
{
	int count = 0;

	while (wait(NULL) > 0)
		count++;
	printf("%d children %s: %d, errno %d, signals %d\n", rank, when, count, errno == ECHILD,
	       (int)child_signals);
}

static void case_children(int *argc, char ***argv)
{
	struct sigaction action = { .sa_handler = on_child };

	sigaction(SIGCHLD, &action, NULL);
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	look_for_children("after Init");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	look_for_children("after Finalize");
}

static void case_signals(int *argc, char ***argv)
{
	sigset_t before, after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGUSR2, SIG_IGN);
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sigprocmask(SIG_SETMASK, NULL, &after);
	printf("%d mask: %d %d %d\n", rank, sigismember(&after, SIGUSR1),
	       sigismember(&after, SIGTERM), signal(SIGUSR2, SIG_IGN) == SIG_IGN);
	MPI_Finalize();
}

/* Descriptors an exec'd child would inherit beyond what MPI leaves open. */
static void case_descriptors(int *argc, char ***argv)
{
	int status = 0;
	pid_t child;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "ls -l /proc/self/fd | grep -c -e crit -e memfd",
		      (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	MPI_Finalize();
}

static void case_fork(int *argc, char ***argv)
{
	int sum = 0, one = 1, status = 1;
	pid_t child;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	child = fork();
	if (child == 0)
		_exit(7);
	waitpid(child, &status, 0);
	printf("%d system: %d\n", rank, system("true"));
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("%d fork: %d sum %d\n", rank, WEXITSTATUS(status), sum);
	MPI_Finalize();
}

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(escape, 1);
}

static void case_longjmp(int *argc, char ***argv)
{
	static int jumps; /* not in a register across longjmp */
	MPI_Errhandler handler;
	int flag;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_create_errhandler(jump, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (jumps = 0; jumps < 10; jumps++)
		if (setjmp(escape) == 0)
			MPI_Send(NULL, 0, MPI_BYTE, 4711, 0, MPI_COMM_WORLD);
	MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d jumps: %d\n", rank, jumps);
	MPI_Finalize();
}

static void *ask_rank(void *argument)
{
	int answer;

	for (int i = 0; i < 10; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &answer);
	*(int *)argument = answer;
	return NULL;
}

static void case_threads(int *argc, char ***argv)
{
	int provided, answer, wrong = 0;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 50; i++) {
		const struct timespec pause = { .tv_nsec = 20000000 };
		pthread_t threads[4];

		for (int t = 0; t < 4; t++)
			pthread_create(&threads[t], NULL, ask_rank, &answer);
		for (int t = 0; t < 4; t++)
			pthread_join(threads[t], NULL);
		wrong += answer != rank;
		nanosleep(&pause, NULL); /* stripes come back once they are drained */
	}
	printf("%d threads: %d wrong, level %d\n", rank, wrong, provided);
	MPI_Finalize();
}

static const struct {
	const char *name;
	void (*run)(int *argc, char ***argv);
} cases[] = {
	{ "children", case_children },       { "signals", case_signals },
	{ "descriptors", case_descriptors }, { "fork", case_fork },
	{ "longjmp", case_longjmp },         { "threads", case_threads },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run(&argc, &argv);
			return 0;
		}
	fprintf(stderr, "usage: oath children|signals|descriptors|fork|longjmp|threads\n");
	return 2;
}
