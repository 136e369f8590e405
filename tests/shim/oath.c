// SPDX-License-Identifier: BSD-3-Clause
// What a shim must not spoil: children, signals, descriptors, forks, jumps out of MPI, threads.
//
// usage: oath CASE [PLUGIN]      prints lines that must not depend on a shim
#include <dirent.h>
#include <dlfcn.h>
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
		nanosleep(&pause, NULL); /* thread buffers come back once they are drained */
	}
	printf("%d threads: %d wrong, level %d\n", rank, wrong, provided);
	MPI_Finalize();
}

static void *ask_cancelled(void *ret_flag)
{
	pthread_cancel(pthread_self());
	MPI_Initialized(ret_flag);
	pthread_testcancel();
	return NULL;
}

/* A thread is cancelled in the first call of MPI. */
static void case_cancel(int *argc, char ***argv)
{
	pthread_t thread;
	void *end = NULL;
	int flag = -1;

	pthread_create(&thread, NULL, ask_cancelled, &flag);
	pthread_join(thread, &end);
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d cancelled: %d, flag %d\n", rank, end == PTHREAD_CANCELED, flag);
	MPI_Finalize();
}

static void *load_plugin(void *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int class_of(int answer)
{
	int error_class = MPI_SUCCESS;

	MPI_Error_class(answer, &error_class);
	return error_class;
}

/* Receives into too little room, statuses ignored; calls with wrong arguments. */
static void case_errors(int *argc, char ***argv)
{
	int in[4] = { 0 }, out[4] = { 1, 2, 3, 4 };
	MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	MPI_Status *volatile ignored = MPI_STATUSES_IGNORE; /* compilers warn of the constant */
	int answers[4] = { 0 };

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 1) {
		answers[0] = MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]);
		answers[1] = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		MPI_Irecv(in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(in, 4, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[1]);
		answers[2] = MPI_Waitall(2, requests, ignored);
	} else {
		for (int tag = 1; tag <= 4; tag++)
			MPI_Send(out, 4, MPI_INT, 1, tag, MPI_COMM_WORLD);
	}
	answers[3] = MPI_Send(out, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
	for (int i = 0; i < 4; i++)
		printf("%d error %d: class %d\n", rank, i, class_of(answers[i]));
	printf("%d class %d\n", rank,
	       class_of(MPI_Send(out, 1, MPI_DATATYPE_NULL, 1 - rank, 1, MPI_COMM_WORLD)));
	printf("%d class %d\n", rank, class_of(MPI_Waitall(-1, NULL, ignored)));
	printf("%d class %d\n", rank, class_of(MPI_Wait(NULL, MPI_STATUS_IGNORE)));
	MPI_Finalize();
}

/* The first call of MPI while another thread is in the constructor of a plug-in that calls it. */
static void case_constructor(int *argc, char ***argv)
{
	const struct timespec pause = { .tv_nsec = 500000000 };
	void *plugin = NULL;
	pthread_t thread;
	int flag;

	alarm(30); /* a dead-lock is no way to end */
	pthread_create(&thread, NULL, load_plugin, (*argv)[2]);
	nanosleep(&pause, NULL);
	MPI_Initialized(&flag);
	pthread_join(thread, &plugin);
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d plug-in: %d, flag %d\n", rank, plugin != NULL, flag);
	MPI_Finalize();
}

static const struct {
	const char *name;
	void (*run)(int *argc, char ***argv);
} cases[] = {
	{ "children", case_children },       { "signals", case_signals },
	{ "descriptors", case_descriptors }, { "fork", case_fork },
	{ "longjmp", case_longjmp },         { "threads", case_threads },
	{ "cancel", case_cancel },           { "constructor", case_constructor },
	{ "errors", case_errors },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc >= 2 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run(&argc, &argv);
			return 0;
		}
	fprintf(stderr, "usage: oath CASE [PLUGIN]; oath.c names the cases\n");
	return 2;
}
