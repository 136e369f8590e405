// SPDX-License-Identifier: BSD-3-Clause
// SPANK plug-in for Slurm: --crit[=dir] of srun, sbatch and salloc preloads the shim into tasks.
//
// It sets the environment of tasks whose user asked for it, and has the prolog start the collector
// of a step that asks in a job that did not.  Whatever goes wrong, the step starts as it would
// without: every callback but that of a wrong option answers 0.  The line in plugstack.conf:
// optional PATH [library=PATH-OF-libcrit_pmpi.so] [prolog=PATH-OF-crit's-prolog] [prolog_s=SECONDS]
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/close_from.h"
#include "core/base/linkage.h"

// cppcheck-suppress unknownMacro
SPANK_PLUGIN(crit, 1)

#define PROLOG_S 20 /* a prolog waits 10 s for its collector, and for another prolog */
#define PROLOG_S_MAX 3600
#define LOOK_NS 5000000

static struct {
	bool is_wanted; /* --crit was given */
	char directory[PATH_MAX]; /* --crit=dir, "" none */
} request;

static int on_option(int value, const char *text, int is_remote)
{
	(void)value;
	(void)is_remote;
	if (text && strlen(text) >= sizeof(request.directory)) {
		slurm_error("--crit: the directory's name is too long");
		return -1;
	}
	request.is_wanted = true;
	(void)snprintf(request.directory, sizeof(request.directory), "%s", text ? text : "");
	return 0;
}

static struct spank_option option = {
	.name = (char *)(uintptr_t)("crit"),
	.arginfo = (char *)(uintptr_t)("directory"),
	.usage = (char *)(uintptr_t)("record what holds up this MPI or OpenMP program; see "
				     "crit-slurm(7)"),
	.has_arg = 2, /* may have one */
	.cb = on_option,
};

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	const spank_context_t context = spank_context();

	(void)count;
	(void)arguments;
	if ((context == S_CTX_LOCAL || context == S_CTX_REMOTE || context == S_CTX_ALLOCATOR) &&
	    spank_option_register(spank, &option) != ESPANK_SUCCESS)
		slurm_error("crit: cannot offer --crit");
	return 0;
}

/* What plugstack.conf says behind key, "library=" or "prolog="; NULL: nothing. */
static const char *argument_of(const char *key, int count, char **arguments)
{
	const size_t length = strlen(key);

	for (int i = 0; i < count; i++) {
		if (strncmp(arguments[i], key, length) == 0)
			return arguments[i] + length;
	}
	return NULL;
}

/* After a fork: as slurmd starts a prolog, with nothing of slurmstepd's. */
static _Noreturn void become_prolog(const char *path, char *const environment[])
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	const int null = open("/dev/null", O_RDWR);
	sigset_t none;

	(void)setpgid(0, 0);
	for (int signal = 1; signal < NSIG; signal++)
		(void)sigaction(signal, &by_default, NULL); /* KILL and STOP refuse */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	crit_close_from(3);
	(void)execve(path, (char *[]){ (char *)(uintptr_t)path, NULL }, environment);
	_exit(127);
}

static time_t now_s(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * Waits for a prolog, at most about wait_s; then its group is killed, but not waited for: what
 * hangs in a file system cannot die.  The collector has a session of its own.
 * Errors: -ETIMEDOUT, or -ECHILD where the status is not known; ret_status is then unchanged.
 */
static int await_prolog(pid_t pid, long wait_s, int *ret_status)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	const time_t end_s = now_s() + (time_t)wait_s;
	pid_t ended;

	while ((ended = waitpid(pid, ret_status, WNOHANG)) <= 0) {
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (now_s() > end_s) {
			(void)kill(-pid, SIGKILL);
			(void)kill(pid, SIGKILL); /* it may not lead its group yet */
			return -ETIMEDOUT;
		}
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static long prolog_limit_s(const char *text)
{
	char *end = NULL;
	const long wait_s = text ? strtol(text, &end, 10) : 0;

	if (text && *text && !*end && wait_s > 0 && wait_s <= PROLOG_S_MAX)
		return wait_s;
	if (text)
		slurm_error("crit: prolog_s=%s is no number of seconds from 1 to %d: %d is taken",
			    text, PROLOG_S_MAX, PROLOG_S);
	return PROLOG_S;
}

/*
 * The prolog, as root, for a step that asks for crit: a job that asked has its collector already,
 * and the prolog finds it.  The epilog ends it in either case.
 */
static void run_prolog(spank_t spank, const char *path, long wait_s)
{
	static const char less[] = "no collector with privileges for this step, so its report sees "
				   "less of the kernel";
	char job[32], user[32], group[32];
	char asked[] = "SPANK_CRIT=1";
	char *environment[] = { job, user, group, asked, NULL };
	uint32_t job_id;
	uid_t uid;
	gid_t gid;
	int rc = 0;
	int error = 0;
	pid_t pid;

	if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_GID, &gid) != ESPANK_SUCCESS)
		return;
	(void)snprintf(job, sizeof(job), "SLURM_JOB_ID=%u", job_id);
	(void)snprintf(user, sizeof(user), "SLURM_JOB_UID=%u", (unsigned int)uid);
	(void)snprintf(group, sizeof(group), "SLURM_JOB_GID=%u", (unsigned int)gid);
	pid = fork();
	if (pid == 0)
		become_prolog(path, environment);
	if (pid > 0)
		error = await_prolog(pid, wait_s, &rc);
	if (error == -ETIMEDOUT)
		slurm_error("crit: %s did not end within %ld s and was killed: %s; see "
			    "crit-slurm.log on this node",
			    path, wait_s, less);
	else if (pid < 0 || error || rc)
		slurm_error("crit: cannot run %s: %s", path, less);
}

/* Prologs that start a collector only where one is asked for see SPANK_CRIT=1. */
int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	const char *prolog = argument_of("prolog=", count, arguments);

	if (!request.is_wanted)
		return 0;
	if (spank_context() != S_CTX_REMOTE)
		(void)spank_job_control_setenv(spank, "CRIT", "1", 1);
	else if (prolog)
		run_prolog(spank, prolog,
			   prolog_limit_s(argument_of("prolog_s=", count, arguments)));
	return 0;
}

/*
 * Where plugstack.conf says, else where it is installed: one directory up from this file, by its
 * plain name.
 */
static bool find_library(int count, char **arguments, char ret_path[PATH_MAX])
{
	static const char name[] = "/libcrit_pmpi.so";
	const char *given = argument_of("library=", count, arguments);
	char directory[PATH_MAX];
	const char *slash;
	Dl_info info;

	if (given)
		return snprintf(ret_path, PATH_MAX, "%s", given) < PATH_MAX;
	if (!dladdr((void *)(uintptr_t)slurm_spank_init, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	if (!slash || snprintf(directory, sizeof(directory), "%.*s/..",
			       (int)(slash - info.dli_fname), info.dli_fname) >= PATH_MAX)
		return false;
	if (!realpath(directory, ret_path) || strlen(ret_path) + sizeof(name) > PATH_MAX)
		return false;
	memcpy(ret_path + strlen(ret_path), name, sizeof(name));
	return true;
}

/* In front of what the user preloads, if it is not there already. */
static void preload(spank_t spank, const char *library)
{
	char before[PATH_MAX], after[2 * PATH_MAX + 2];

	if (spank_getenv(spank, "LD_PRELOAD", before, sizeof(before)) != ESPANK_SUCCESS)
		before[0] = '\0';
	if (strstr(before, "libcrit_pmpi.so"))
		return;
	(void)snprintf(after, sizeof(after), "%s%s%s", library, *before ? ":" : "", before);
	if (spank_setenv(spank, "LD_PRELOAD", after, 1) != ESPANK_SUCCESS)
		slurm_error("crit: cannot set LD_PRELOAD of a task: it is not recorded");
}

/* Once for a step. */
static void tell_unseen(spank_t spank)
{
	enum crit_linkage linkage;
	const char *name;
	uint32_t task = 0;
	char **words = NULL;
	int count = 0;

	if (spank_get_item(spank, S_TASK_GLOBAL_ID, &task) != ESPANK_SUCCESS || task != 0 ||
	    spank_get_item(spank, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || !words)
		return;
	linkage = crit_linkage_of_words(words, &name);
	if (linkage != CRIT_LINKAGE_OPEN)
		slurm_error("crit: %s %s: libcrit_pmpi.so cannot be loaded into it, so it is not "
			    "recorded; %s",
			    name, crit_linkage_text(linkage), crit_linkage_fix(linkage));
}

/* In the task, before its exec, as its user. */
int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	char library[PATH_MAX];

	if (!request.is_wanted)
		return 0;
	if (!find_library(count, arguments, library) || access(library, R_OK) != 0) {
		slurm_error("crit: libcrit_pmpi.so is not on this node: its tasks are not "
			    "recorded");
		return 0;
	}
	preload(spank, library);
	tell_unseen(spank);
	if (request.directory[0])
		(void)spank_setenv(spank, "CRIT_DIR", request.directory, 1);
	return 0;
}
