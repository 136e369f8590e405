// SPDX-License-Identifier: BSD-3-Clause
// A process is killed at each of its system calls between HELLO and REGISTERED, in turn: the run
// has a report, or a file or a log says why not, and no lock stays.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_member.h"
#include "core/base/cleanup.h"
#include "core/client/client.h"
#include "core/client/client_log.h"
#include "tests/lib/check.h"

#define STOPS_MAX 400 /* two of each system call */
#define STEP_NS 5000000
#define STEPS_MAX 2000
#define LOG_MAX (1u << 20)

static char base[] = P_tmpdir "/crit-test-XXXXXX";

struct trial {
	char program[64]; /* what the run is of, in logs */
	char directory[64];
};

static _Noreturn void be_client(const struct trial *trial)
{
	const struct crit_client_member member = { .tls_offset = CRIT_TLS_NONE, .memfd = -1 };
	struct crit_client_options options = { .role = CRIT_ROLE_SHIM, .exe = trial->program };
	struct crit_client_env env;
	struct crit_client client;
	struct crit_err err;

	(void)setenv("CRIT_DIR", trial->directory, 1);
	(void)setenv("CRIT_RUN", trial->program, 1);
	crit_client_env_read(&env);
	options.env = &env;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(CHECK_SKIP_EXIT);
	(void)raise(SIGSTOP);
	if (crit_client_open(&client, &options, &err) ||
	    crit_client_register(&client, &member, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	_exit(0);
}

/* Goes on to begin or end of the next system call; false when the process has ended. */
static bool step(pid_t pid, int *ret_status)
{
	return ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, ret_status, 0) == pid &&
	       WIFSTOPPED(*ret_status);
}

/* HELLO is the first message of all, and SENT when that call is about to return. */
static bool go_to_hello(pid_t pid, int *ret_status)
{
	struct __ptrace_syscall_info info;
	bool is_hello = false;

	while (step(pid, ret_status)) {
		(void)ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
		if (is_hello)
			return true;
		is_hello = info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_sendmsg;
	}
	return false;
}

/* Kills the client after that many stops; answers its status, of waitpid. */
static int run_client(const struct trial *trial, int stops)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		be_client(trial);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return status;
	(void)ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	if (!go_to_hello(pid, &status))
		return status;
	while (stops-- > 0)
		if (!step(pid, &status))
			return status;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return status;
}

static bool has_file(const struct trial *trial, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", trial->directory, name);
	return access(path, F_OK) == 0;
}

static bool is_in_log(const struct trial *trial, const char *name)
{
	crit_autofree char *text = calloc(1, LOG_MAX + 1);
	crit_autofclose FILE *log = NULL;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/crit/%s", base, name);
	log = fopen(path, "r");
	return text && log && fread(text, 1, LOG_MAX, log) > 0 && strstr(text, trial->program);
}

static bool has_outcome(const struct trial *trial)
{
	return has_file(trial, "report.txt") || has_file(trial, "NO-REPORT.txt") ||
	       is_in_log(trial, CRIT_LOG_NAME) || is_in_log(trial, CRIT_CRITD_LOG_NAME);
}

static void check_outcome(const struct trial *trial)
{
	const struct timespec pause = { .tv_nsec = STEP_NS };
	bool is_done = false;

	for (int i = 0; i < STEPS_MAX && !is_done; i++) {
		(void)nanosleep(&pause, NULL);
		is_done = has_outcome(trial) && !has_file(trial, ".finish.lock");
	}
	CHECK(has_outcome(trial));
	CHECK(!has_file(trial, ".finish.lock"));
}

int main(void)
{
	char command[64];
	int status = 0;
	int stops = 0;

	if (!mkdtemp(base))
		return 1;
	(void)setenv("XDG_RUNTIME_DIR", base, 1);
	(void)setenv("CRIT_OTF2", "0", 1);
	do {
		struct trial trial;

		CHECK_CASE("killed at stop %d after HELLO", stops);
		(void)snprintf(trial.program, sizeof(trial.program), "/trial-%03d", stops);
		(void)snprintf(trial.directory, sizeof(trial.directory), "%s/%03d", base, stops);
		status = run_client(&trial, stops);
		if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIP_EXIT)
			break;
		check_outcome(&trial);
	} while (WIFSIGNALED(status) && ++stops < STOPS_MAX);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", base);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIP_EXIT) {
		printf("skip: cannot trace a child: %s\n", strerror(errno));
		return system(command) ? 1 : CHECK_SKIP_EXIT;
	}
	CHECK_CASE("the last is not killed");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_INT_GE(stops, 20);
	CHECK_INT_EQ(system(command), 0);
	printf("killed at %d stops\n", stops);
	return check_done();
}
