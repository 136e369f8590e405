// SPDX-License-Identifier: BSD-3-Clause
// Starts critd and the finisher so that the caller never has a child nor a SIGCHLD of ours.
//
// A clone with exit signal 0 is invisible to wait() and sends no signal when it ends.  An exec
// would give it SIGCHLD back, so it only starts the program as its own child and ends; it is
// reaped here by __WCLONE, and the program belongs to init.  Why an exec failed comes back as the
// clone's exit status, for a pipe in the caller could be inherited by others of its children.
// The memory stays the caller's all the way to the exec, as with posix_spawn: a copy would cost a
// large rank its page tables and a fault for each page it writes next, and move pages that a
// network card writes to.  So the calling thread waits meanwhile, and nothing but system calls
// happens.
#include "core/client/client_spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/close_from.h"
#include "core/client/client_env.h"

#define PASS_FD 3
#define SIGNALS 64
#define ENVIRONMENT_MAX 48
#define STACK_BYTES 16384

extern char **environ;

static int set_signal_mask(uint64_t mask, uint64_t *ret_old)
{
	/* not sigprocmask: glibc's keeps the signal of thread cancellation open */
	return (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, ret_old, sizeof(mask));
}

static bool is_kept_variable(const char *entry)
{
	static const char *const names[] = {
		"PATH=",   "HOME=",         "USER=",         "LANG=",
		"LC_ALL=", "TZ=",           "TMPDIR=",       "XDG_RUNTIME_DIR=",
		"CRIT_",   "ASAN_OPTIONS=", "UBSAN_OPTIONS="
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void pick_environment(const char *ret_environment[ENVIRONMENT_MAX + 1])
{
	int count = 0;

	for (char **entry = environ; entry && *entry && count < ENVIRONMENT_MAX; entry++)
		if (is_kept_variable(*entry))
			ret_environment[count++] = *entry;
	ret_environment[count] = NULL;
}

/* Puts the three standard descriptors and pass_fd in place and closes all others. */
static bool place_descriptors(const struct crit_client_program *program)
{
	int pass = fcntl(program->pass_fd, F_DUPFD, 10);
	int error = program->error_fd >= 0 ? fcntl(program->error_fd, F_DUPFD, 10) : -1;
	int null = open("/dev/null", O_RDWR);

	if (pass < 0 || null < 0)
		return false;
	if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(error >= 0 ? error : null, 2) < 0 ||
	    dup2(pass, PASS_FD) < 0)
		return false;
	crit_close_from(PASS_FD + 1);
	return true;
}

/* A launcher binds a rank to its core, may make it real-time: neither is meant for us. */
static void leave_binding(void)
{
	const struct sched_param plain = { .sched_priority = 0 };
	unsigned char every_cpu[1024]; /* the kernel cuts it to what the cpuset allows */

	memset(every_cpu, 0xff, sizeof(every_cpu));
	(void)syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &plain);
	(void)syscall(SYS_sched_setaffinity, 0, sizeof(every_cpu), every_cpu);
}

struct start {
	const struct crit_client_program *program;
	const char *const *environment;
	volatile int error; /* errno of what kept the program from being executed; else 0 */
	char *stacks; /* of the clone, and of the program until it execs */
};

static int become_program(void *context)
{
	struct start *start = context;
	const struct crit_client_program *program = start->program;
	const struct sigaction by_default = { .sa_handler = SIG_DFL };

	for (int signal = 1; signal <= SIGNALS; signal++)
		(void)sigaction(signal, &by_default, NULL); /* KILL and STOP refuse */
	(void)sigaction(SIGXFSZ, &(const struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	leave_binding();
	if (setsid() >= 0 && chdir("/") == 0 && place_descriptors(program)) {
		(void)set_signal_mask(0, NULL);
		(void)execve(program->path, (char *const *)(uintptr_t)program->arguments,
			     (char *const *)(uintptr_t)start->environment);
	}
	start->error = errno;
	return 127;
}

/* Starts a function as a process in our memory, and waits until that execs or ends. */
static pid_t clone_and_wait(int (*function)(void *), char *stack, int exit_signal,
			    struct start *start)
{
	/* not vfork, whose child could spoil our frame, and of which sanitizers make a fork */
	return clone(function, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | exit_signal, start);
}

/*
 * The clone: starts the program as a child of its own, and ends with the error of that.  The child
 * holds our caller's connections until it execs, and the caller may exec, too: so it waits.
 */
static int start_program(void *context)
{
	struct start *start = context;

	if (clone_and_wait(become_program, start->stacks + STACK_BYTES, SIGCHLD, start) < 0)
		return errno;
	return start->error;
}

/* Answers what the clone ended with; 0 when that is not known. */
static int reap(pid_t pid)
{
	int status = 0;
	pid_t reaped;

	do
		reaped = waitpid(pid, &status, __WCLONE);
	while (reaped < 0 && errno == EINTR);
	return reaped == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : 0;
}

static int start_clone(struct start *start)
{
	pid_t pid;
	int error;

	start->stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (start->stacks == MAP_FAILED)
		return -errno;
	pid = clone_and_wait(start_program, start->stacks, 0, start);
	error = pid < 0 ? -errno : reap(pid);
	(void)munmap(start->stacks, 2 * STACK_BYTES);
	return error;
}

int crit_client_spawn(const struct crit_client_program *program)
{
	const char *environment[ENVIRONMENT_MAX + 1];
	struct start start = { .program = program, .environment = environment };
	uint64_t old_mask = 0;
	int is_subreaper = 0;
	int error;

	if (access(program->path, X_OK) < 0)
		return -errno;
	pick_environment(environment);
	if (set_signal_mask(~0ull, &old_mask) < 0)
		return -errno;
	/* a subreaper would be given our grandchild as a child of its own */
	(void)prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	if (is_subreaper)
		(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
	error = start_clone(&start);
	(void)set_signal_mask(old_mask, NULL);
	if (is_subreaper)
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	return error;
}

/* The object file this code was loaded from: libcrit_core.so, or the program itself. */
static bool find_own_object(char ret_path[CRIT_PATH_BYTES])
{
	Dl_info info;
	char real[4096];
	ssize_t length;

	if (dladdr((void *)(uintptr_t)find_own_object, &info) && info.dli_fname &&
	    strchr(info.dli_fname, '/') && realpath(info.dli_fname, real))
		return crit_client_copy(ret_path, CRIT_PATH_BYTES, real);
	length = readlink("/proc/self/exe", ret_path, CRIT_PATH_BYTES - 1);
	if (length <= 0)
		return false;
	ret_path[length] = '\0';
	return true;
}

int crit_client_find_program(const char *name, char *ret_path, size_t size)
{
	static const char *const ways[] = { "../bin", CRIT_BIN_FROM_LIB };
	char object[CRIT_PATH_BYTES];
	char *slash;

	if (!find_own_object(object) || !(slash = strrchr(object, '/')))
		return -ENOENT;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (snprintf(ret_path, size, "%s/%s/%s", object, ways[i], name) < (int)size &&
		    access(ret_path, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}
