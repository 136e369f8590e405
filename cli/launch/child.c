// SPDX-License-Identifier: BSD-3-Clause
// The child stays in our process group, so the terminal's signals, and others sent to the group,
// reach it without us; what somebody sends to us alone is sent on.
#include "cli/launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/witness.h"
#include "core/client/client.h"

#define FILES_LEAST 64u /* for the collector, which has our limit */
#define STATUS_SIGNAL 128

static const int passed_signals[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
				      SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH };

static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (S_ISDIR(status.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int crit_child_find(const char *name, char *ret_path)
{
	const char *path = getenv("PATH");
	int rc = -ENOENT;

	if (strchr(name, '/')) {
		(void)snprintf(ret_path, PATH_MAX, "%s", name);
		return check_executable(ret_path);
	}
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*name) {
		size_t length = strcspn(path, ":");
		int found;

		(void)snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)length, path,
			       length ? "/" : "./", name);
		found = check_executable(ret_path);
		if (found == 0)
			return 0;
		if (found == -EACCES)
			rc = found;
		if (path[length] == '\0')
			break;
		path += length + 1;
	}
	return rc;
}

enum crit_linkage crit_child_linkage(char *const *program, const char **ret_name)
{
	char path[PATH_MAX];
	enum crit_linkage linkage = CRIT_LINKAGE_OPEN;

	if (!strchr(program[0], '/') && crit_child_find(program[0], path) == 0)
		linkage = crit_linkage_of(path);
	*ret_name = program[0];
	return linkage == CRIT_LINKAGE_OPEN ? crit_linkage_of_words(program, ret_name) : linkage;
}

static void fill_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	for (size_t i = 0; i < sizeof(passed_signals) / sizeof(passed_signals[0]); i++)
		(void)sigaddset(set, passed_signals[i]);
	(void)sigaddset(set, SIGCHLD);
}

void crit_child_say_unrecorded(int rc, const struct crit_err *err)
{
	struct rlimit limit;
	const bool has_few_files = getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
				   limit.rlim_cur < FILES_LEAST;

	fprintf(stderr, "crit run: nothing is recorded: %s%s\n",
		err->text[0] ? err->text : strerror(-rc),
		has_few_files ? "; too few files may be open here, 64 are needed (ulimit -n)" : "");
}

static void register_root(const struct crit_child *child)
{
	const struct crit_client_options options = {
		.role = CRIT_ROLE_ROOT,
		.env = child->env,
		.exe = child->exe,
	};
	struct crit_client_member member = { .tls_offset = CRIT_TLS_NONE,
					     .memfd = -1,
					     .arguments = child->program };
	const char *name;
	struct crit_client client;
	struct crit_err err = { { 0 } };
	int rc = crit_client_open(&client, &options, &err);

	if (child->has_shim)
		member.flags = (uint16_t)(crit_child_linkage(child->program, &name)
					  << CRIT_PF_LINKAGE_SHIFT);
	if (!rc)
		rc = crit_client_register(&client, &member, NULL, &err);
	if (rc && !child->is_quiet)
		crit_child_say_unrecorded(rc, &err);
	/* The connection closes by itself at exec: until then it vouches for this process. */
}

static _Noreturn void become(const struct crit_child *child, const sigset_t *old_mask, int error_fd)
{
	int code;

	if (child->is_recorded)
		register_root(child);
	(void)sigprocmask(SIG_SETMASK, old_mask, NULL);
	(void)execvp(child->exe, child->program);
	code = errno;
	(void)!write(error_fd, &code, sizeof(code)); /* the parent sees an early end all the same */
	_exit(code == ENOENT ? 127 : 126);
}

/* Passes signals on until the child ends; answers its wait status. */
static int attend(pid_t pid, const sigset_t *signals, struct crit_witness *witness)
{
	for (;;) {
		siginfo_t info;
		int wait_status;
		bool is_for_all;
		int number = sigwaitinfo(signals, &info);

		if (waitpid(pid, &wait_status, WNOHANG) == pid)
			return wait_status;
		if (number < 0 || number == SIGCHLD)
			continue;
		is_for_all = crit_witness_saw(witness, number);
		if (!is_for_all && info.si_code <= 0) /* sent by a process, not by the terminal */
			(void)kill(pid, number);
		if (number == SIGTSTP)
			(void)kill(getpid(),
				   SIGSTOP); /* stop with the child, as the shell expects */
	}
}

int crit_child_run(const struct crit_child *child, int *ret_wait_status)
{
	sigset_t signals;
	sigset_t old_mask;
	sighandler_t old_action;
	struct crit_witness witness;
	int error_pipe[2];
	int code = 0;
	pid_t pid;

	if (pipe2(error_pipe, O_CLOEXEC))
		return -errno;
	fill_signals(&signals);
	(void)sigprocmask(SIG_BLOCK, &signals, &old_mask);
	/* ignored, it would hide the child's end; set later, it would drop a pending one */
	old_action = signal(SIGCHLD, SIG_DFL);
	crit_witness_init(&witness);
	pid = fork();
	if (pid == 0) {
		(void)signal(SIGCHLD, old_action);
		become(child, &old_mask, error_pipe[1]);
	}
	code = pid < 0 ? errno : 0;
	close(error_pipe[1]);
	if (pid > 0)
		*ret_wait_status = attend(pid, &signals, &witness);
	crit_witness_fini(&witness); /* it has the other end of the pipe, too */
	if (pid > 0 && read(error_pipe[0], &code, sizeof(code)) != (ssize_t)sizeof(code))
		code = 0;
	close(error_pipe[0]);
	(void)sigprocmask(SIG_SETMASK, &old_mask, NULL);
	return -code;
}

int crit_child_end_like(int wait_status)
{
	const struct rlimit no_core = { 0 };
	sigset_t one;
	int number;

	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	number = WTERMSIG(wait_status);
	(void)setrlimit(RLIMIT_CORE, &no_core); /* the program's own core is the one that matters */
	(void)fflush(NULL);
	(void)signal(number, SIG_DFL);
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)kill(getpid(), number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	return STATUS_SIGNAL + number;
}

int crit_child_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int number)
{
	(void)number;
	is_interrupted = 1;
}

void crit_child_watch(int pidfd)
{
	const struct sigaction action = { .sa_handler = on_interrupt };
	struct pollfd entry = { .fd = pidfd, .events = POLLIN };
	sigset_t ends;
	sigset_t old_mask;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &ends, &old_mask);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	while (!is_interrupted && ppoll(&entry, 1, NULL, &old_mask) < 0 && errno == EINTR)
		;
	(void)sigprocmask(SIG_SETMASK, &old_mask, NULL);
}
