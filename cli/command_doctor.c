// SPDX-License-Identifier: BSD-3-Clause
// crit doctor: what this machine lacks for crit, and the one command that fixes each lack.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/command.h"
#include "cli/install/grant.h"
#include "cli/install/installation.h"
#include "cli/results/finish_lock.h"
#include "cli/results/recording_set.h"
#include "cli/console/syntax.h"
#include "core/base/cleanup.h"
#include "core/client/client.h"
#include "core/client/client_directory.h"
#include "core/client/client_log.h"
#include "core/base/linkage.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define TRIAL_WAIT_MS 5000
#define LOG_LINES 3
#define PARANOID_MAX 2

struct visit {
	int lacks; /* what keeps crit from its full mode */
	char critd[PATH_MAX];
	bool has_critd;
	bool has_kernel_half; /* the trial found one */
	bool is_useless; /* no run can be begun */
};

static void say(struct visit *visit, bool is_fine, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct visit *visit, bool is_fine, const char *what, const char *format, ...)
{
	va_list arguments;

	visit->lacks += !is_fine;
	printf("%-7s %-18s ", is_fine ? "ok" : "MISSING", what);
	va_start(arguments, format);
	(void)vprintf(format, arguments);
	va_end(arguments);
	(void)putchar('\n');
}

static void fix(const char *command)
{
	printf("%-7s %-18s fix: %s\n", "", "", command);
}

static void check_libraries(struct visit *visit)
{
	static const char *const names[] = { "libcrit_pmpi.so", "libcrit_core.so",
					     "libcrit_pmpi_openmpi.so", "libcrit_pmpi_mpich.so",
					     "libcrit_ompt.so" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool is_found = crit_installation_library(names[i], path, sizeof(path)) == 0;
		bool is_optional = i >= 2;

		if (is_found)
			say(visit, true, "library", "%s", path);
		else if (is_optional)
			printf("%-7s %-18s %s is not built: that %s is not seen\n", "-", "library",
			       names[i], i < 4 ? "MPI" : "OpenMP");
		else
			say(visit, false, "library", "%s is neither beside crit nor installed",
			    names[i]);
	}
}

/* Runs critd --version: 0, or -errno of what keeps it from being executed. */
static int try_critd(const char *path)
{
	char *arguments[] = { (char *)(uintptr_t)path, (char *)(uintptr_t)("--version"), NULL };
	posix_spawn_file_actions_t actions;
	int wait_status = 0;
	pid_t pid;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return -error;
	error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!error)
		error = posix_spawn(&pid, path, &actions, NULL, arguments, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (error)
		return -error;
	if (waitpid(pid, &wait_status, 0) != pid)
		return -errno;
	return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 ? 0 : -ENOEXEC;
}

static void check_critd(struct visit *visit)
{
	struct crit_grant grant;
	int error;

	visit->has_critd = crit_installation_program("critd", visit->critd, sizeof(visit->critd)) ==
			   0;
	if (!visit->has_critd) {
		say(visit, false, "critd", "is neither beside crit nor installed; reinstall crit");
		return;
	}
	crit_grant_find(visit->critd, &grant);
	error = try_critd(visit->critd);
	if (error && !grant.is_refused)
		say(visit, false, "critd", "cannot execute %s: %s", visit->critd, strerror(-error));
	else
		say(visit, !error, "critd", "%s", visit->critd);
}

/* After the trial: a collector that others started has what it needs. */
static void check_privileges(struct visit *visit)
{
	struct crit_grant grant;

	if (!visit->has_critd)
		return;
	crit_grant_find(visit->critd, &grant);
	if (!grant.is_given && visit->has_kernel_half) {
		say(visit, true, "privileges", "the collector that serves you has them");
		return;
	}
	say(visit, grant.is_given, "privileges", "%s", grant.reason);
	if (!grant.is_given)
		fix(grant.fix);
}

/* After the trial, too. */
static void check_kernel(struct visit *visit)
{
	if (access(BTF_PATH, R_OK) == 0)
		say(visit, true, "kernel BTF", BTF_PATH);
	else if (visit->has_kernel_half)
		say(visit, true, "kernel BTF", "the collector that serves you has it");
	else
		say(visit, false, "kernel BTF", "%s: %s; needs a kernel with CONFIG_DEBUG_INFO_BTF",
		    BTF_PATH, strerror(errno));
}

static void check_mpi(void)
{
	static const char *const names[] = { "mpirun.openmpi", "mpirun.mpich", "mpirun", "mpiexec",
					     "srun" };
	char path[PATH_MAX];
	int found = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (crit_child_find(names[i], path) == 0) {
			found++;
			printf("%-7s %-18s %s\n", "ok", "MPI launcher", path);
		}
	if (!found)
		printf("%-7s %-18s none in PATH; programs without MPI are recorded all the same\n",
		       "-", "MPI launcher");
}

/* Beyond PARANOID_MAX some kernels refuse perf events to ordinary users. */
static int read_paranoid(void)
{
	crit_autofclose FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	char text[16];

	return in && fgets(text, sizeof(text), in) ? (int)strtol(text, NULL, 10) : 0;
}

/* Removes the trial's files and its directory; a leftover there is no harm. */
static void remove_directory(const char *directory)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, NULL, NULL);
	char path[PATH_MAX];

	for (int i = 0; entries && i < count; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		(void)unlink(path); /* . and .. refuse */
		free(entries[i]);
	}
	free(entries);
	(void)rmdir(directory);
}

static const char *why(int kernel_status)
{
	return kernel_status == -EXDEV ? "not the host's pid namespace" : strerror(-kernel_status);
}

/* Which kernel half the critd of this machine has for this user. */
static void judge_trial(struct visit *visit, const struct crit_client *client)
{
	const int paranoid = read_paranoid();

	if (!client->kernel_status) {
		visit->has_kernel_half = true;
		say(visit, true, "trial run", "critd serves with the kernel half");
		if (client->perf_status)
			say(visit, false, "samples", "no perf events of whole CPUs: %s",
			    strerror(-client->perf_status));
		return;
	}
	if (client->perf_status == 1) {
		say(visit, false, "trial run",
		    "critd serves with an approximate kernel half, perf events: %s",
		    why(client->kernel_status));
		return;
	}
	say(visit, false, "trial run", "critd serves, but without the kernel half: %s",
	    why(client->kernel_status));
	if (client->perf_status < 0 && paranoid > PARANOID_MAX) {
		say(visit, false, "perf events", "are refused: kernel.perf_event_paranoid is %d",
		    paranoid);
		fix("sudo sysctl kernel.perf_event_paranoid=2 (an approximate kernel half)");
	} else if (client->perf_status < 0) {
		say(visit, false, "perf events", "are refused: %s", strerror(-client->perf_status));
	}
}

/* Starts a real critd for a run without members: socket, privileges, BPF load, output, finisher. */
static void check_trial(struct visit *visit)
{
	char directory[] = "/tmp/crit-doctor-XXXXXX";
	struct crit_client_env env;
	const struct crit_client_options options = { .role = CRIT_ROLE_RUNNER,
						     .env = &env,
						     .exe = "/crit-doctor" };
	struct crit_client client = { .fd = -1 };
	struct crit_err err = { { 0 } };
	int rc;

	if (!visit->has_critd)
		return;
	if (!mkdtemp(directory)) {
		say(visit, false, "trial", "cannot make %s: %s", directory, strerror(errno));
		return;
	}
	crit_client_env_read(&env);
	(void)crit_client_copy(env.directory, sizeof(env.directory), directory);
	(void)snprintf(env.run, sizeof(env.run), "doctor-%d", (int)getpid());
	rc = crit_client_open(&client, &options, &err);
	visit->is_useless = rc != 0;
	if (rc)
		say(visit, false, "trial run", "%s", err.text[0] ? err.text : strerror(-rc));
	else
		judge_trial(visit, &client);
	crit_client_fini(&client);
	if (!rc)
		(void)crit_finish_lock_wait_report(
			directory, TRIAL_WAIT_MS); /* it holds files we want to remove */
	remove_directory(directory);
}

/* The last lines of a log; each names the directory or program it is about. */
static void show_log(const char *directory, const char *name)
{
	char path[PATH_MAX];
	char text[4096] = "";
	char *line;
	size_t length;
	crit_autofclose FILE *in = NULL;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	in = fopen(path, "re");
	if (!in)
		return;
	if (fseek(in, -(long)sizeof(text) + 1, SEEK_END)) /* a short one is shown from its begin */
		(void)fseek(in, 0, SEEK_SET);
	length = fread(text, 1, sizeof(text) - 1, in);
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	if (length == 0)
		return;
	line = text + length;
	for (int lines = 0; line > text && lines < LOG_LINES; line--)
		lines += line[-1] == '\n';
	printf("%-7s %-18s last lines of %s:\n%s\n", "-", "log", path,
	       *line == '\n' ? line + 1 : line);
}

static void check_sockets(struct visit *visit)
{
	char directory[CRIT_SOCKET_PATH_BYTES];
	struct crit_err err = { { 0 } };
	int rc = crit_client_socket_directory(directory, sizeof(directory), &err);
	size_t at = 0;

	if (rc) {
		say(visit, false, "socket directory", "%s", err.text[0] ? err.text : strerror(-rc));
		return;
	}
	say(visit, true, "socket directory", "%s", directory);
	while (crit_client_blocked_directory(&at, &err) == 0)
		printf("%-7s %-18s %s; ask root to remove it\n", "-", "socket directory", err.text);
	show_log(directory, CRIT_LOG_NAME);
	show_log(directory, CRIT_CRITD_LOG_NAME);
}

/* Programs into which the shims cannot be loaded have no MPI and OpenMP calls in a report. */
static void check_program(struct visit *visit, const char *name)
{
	char path[PATH_MAX];
	int rc = crit_child_find(name, path);
	enum crit_linkage linkage;

	if (rc) {
		say(visit, false, "program", "%s: %s", name, strerror(-rc));
		return;
	}
	linkage = crit_linkage_of(path);
	say(visit, linkage == CRIT_LINKAGE_OPEN, "program", "%s %s%s", path,
	    crit_linkage_text(linkage),
	    linkage == CRIT_LINKAGE_OPEN
		    ? ""
		    : ": libcrit_pmpi.so cannot be loaded into it, its MPI and OpenMP calls are "
		      "not seen");
	if (linkage != CRIT_LINKAGE_OPEN)
		fix(crit_linkage_fix(linkage));
}

static int conclude(const struct visit *visit)
{
	printf("%s\n", visit->is_useless ? "crit records nothing here"
		       : visit->lacks    ? "crit works, but not in its full mode"
					 : "nothing is missing");
	return visit->lacks ? CRIT_EXIT_FAILED : CRIT_EXIT_OK;
}

int crit_command_doctor(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	static const struct crit_syntax syntax = {
		.command = "crit doctor",
		.letters = "+h",
		.names = names,
		.usage = "usage: crit doctor [PROGRAM]\n"
			 "Checks what crit needs on this machine, and whether PROGRAM loads its "
			 "libraries;\n"
			 "0: all is there, 1: something is missing.\n",
	};
	struct visit visit = { 0 };
	int code = crit_syntax_read(&syntax, argc, argv, NULL);

	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would take the status of what is tried */
	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (argc > optind + 1)
		return crit_syntax_refuse(&syntax, "more than one program:", argv[optind + 1]);
	check_critd(&visit);
	check_libraries(&visit);
	check_mpi();
	check_trial(&visit);
	check_privileges(&visit);
	check_kernel(&visit);
	check_sockets(&visit);
	if (argc > optind)
		check_program(&visit, argv[optind]);
	return conclude(&visit);
}
