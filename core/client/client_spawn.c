// SPDX-License-Identifier: BSD-3-Clause
// Starts critd and the finisher so that the caller never has a child nor a SIGCHLD of ours.
//
// A clone with exit signal 0 is invisible to wait() and sends no signal when it ends.  An exec
// would give it SIGCHLD back, so it only starts the program as its own child and ends; it is
// reaped here by __WCLONE, and the program belongs to init.  Why an exec failed comes back as the
// clone's exit status, for a pipe in the caller could be inherited by others of its children.
// Between clone and exec nothing but system calls happens: the other threads of the caller, and
// their locks, are not there.  The caller's memory is copied once: the clone shares its copy with
// its child.
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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/close_from.h"
#include "core/client/client_env.h"

#define PASS_FD 3
#define SIGNALS 64
#define REAP_NS 2000000000ll
#define ENVIRONMENT_MAX 48

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

/* In the memory of the clone, which waits: what keeps the program from being executed. */
static _Noreturn void become(const struct crit_client_program *program,
			     const char *const *environment, volatile int *ret_error)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };

	for (int signal = 1; signal <= SIGNALS; signal++)
		(void)sigaction(signal, &by_default, NULL); /* KILL and STOP refuse */
	(void)sigaction(SIGXFSZ, &(const struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	leave_binding();
	if (setsid() >= 0 && chdir("/") == 0 && place_descriptors(program)) {
		(void)set_signal_mask(0, NULL);
		(void)execve(program->path, (char *const *)(uintptr_t)program->arguments,
			     (char *const *)(uintptr_t)environment);
	}
	*ret_error = errno;
	_exit(127);
}

/*
 * The clone: starts the program as a child of its own, and ends with the error of that.  The child
 * holds our caller's connections until it execs, and the caller may exec, too: vfork waits.
 */
static _Noreturn void start(const struct crit_client_program *program,
			    const char *const *environment)
{
	volatile int error = 0;
	const pid_t pid = vfork();

	if (pid == 0)
		become(program, environment, &error);
	_exit(pid < 0 ? errno : error);
}

/* Answers what the clone ended with; 0 when that is not known in time. */
static int reap(pid_t pid)
{
	const int64_t deadline_ns = crit_clock_monotonic_ns() + REAP_NS;
	int status = 0;
	pid_t reaped;

	while ((reaped = waitpid(pid, &status, __WCLONE | WNOHANG)) == 0 &&
	       crit_clock_monotonic_ns() < deadline_ns)
		crit_clock_pause_ns(200000);
	return reaped == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : 0;
}

int crit_client_spawn(const struct crit_client_program *program)
{
	const char *environment[ENVIRONMENT_MAX + 1];
	uint64_t old_mask = 0;
	int is_subreaper = 0;
	pid_t pid;
	int error = 0;

	if (access(program->path, X_OK) < 0)
		return -errno;
	pick_environment(environment);
	if (set_signal_mask(~0ull, &old_mask) < 0)
		return -errno;
	/* a subreaper would be given our grandchild as a child of its own */
	(void)prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	if (is_subreaper)
		(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
	pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (pid == 0)
		start(program, environment);
	if (pid < 0)
		error = -errno;
	(void)set_signal_mask(old_mask, NULL);
	if (pid > 0)
		error = reap(pid);
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
