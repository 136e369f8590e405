// SPDX-License-Identifier: BSD-3-Clause
// Who may register, what critd gives up, and that a member that gains privileges is left alone.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_tag.h"
#include "core/base/cleanup.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define USER 65534u
#define USER_TEXT "65534"

static __thread volatile __u64 tag_word;

static __s64 tag_offset(void)
{
	return (__s64)((char *)&tag_word - (char *)__builtin_thread_pointer());
}

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(9);
}

static int wait_status(pid_t pid)
{
	int status = -1;

	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* A program that becomes root, sleeps some times and starts a child. */
static void install_setuid(const struct crit_harness *harness, char *ret_path, size_t bytes)
{
	char command[512];

	(void)snprintf(ret_path, bytes, "%s/setuid", harness->directory);
	(void)snprintf(command, sizeof(command), "cp '%s' '%s' && chmod 4755 '%s'", SETUID_PATH,
		       ret_path, ret_path);
	CHECK_INT_EQ(system(command), 0);
}

static void check_status(const char *text, const char *name, const char *wanted)
{
	const char *line = strstr(text, name);

	if (CHECK_MSG(line, "no line '%s'", name))
		CHECK_MSG(strncmp(line + strlen(name), wanted, strlen(wanted)) == 0, "%.60s", line);
}

/* The status of critd once it has confined itself, or after 10 s. */
static void read_status(pid_t critd, char *ret_text, size_t bytes)
{
	const struct timespec pause = { 0, 10000000 };
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", critd);
	for (int i = 0; i < 1000; i++) {
		crit_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t length = read(fd, ret_text, bytes - 1);

		ret_text[length > 0 ? length : 0] = '\0';
		if (strstr(ret_text, "\nSeccomp:\t2"))
			return;
		(void)nanosleep(&pause, NULL);
	}
}

static void check_dropped(pid_t critd)
{
	char text[4096];

	read_status(critd, text, sizeof(text));
	check_status(text, "\nUid:\t", USER_TEXT "\t" USER_TEXT "\t" USER_TEXT "\t" USER_TEXT);
	check_status(text, "\nGid:\t", USER_TEXT "\t" USER_TEXT "\t" USER_TEXT "\t" USER_TEXT);
	check_status(text, "\nGroups:\t", " \n");
	check_status(text, "\nCapPrm:\t", "0000000000000000\n");
	check_status(text, "\nCapEff:\t", "0000000000000000\n");
	check_status(text, "\nNoNewPrivs:\t", "1\n");
	check_status(text, "\nSeccomp:\t", "2\n");
}

/* The member: registers, then becomes root by exec, at once when it does not wait for an answer. */
static void member_main(const struct crit_harness *harness, const char *program, bool is_hasty)
{
	struct crit_harness_client client;

	become(USER);
	tag_word = crit_tag_pack(3, 0, 7, CRIT_CLASS_MPI, 0);
	if (crit_harness_join(harness, "trust", CRIT_ROLE_SHIM, 0, &client))
		_exit(1);
	if (is_hasty) {
		struct crit_message_register message = {
			.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(message) },
			.tls_offset = tag_offset(),
			.ns_pid = (__u32)getpid(),
		};

		(void)kill(harness->critd, SIGSTOP); /* it handles REGISTER when we are root */
		(void)crit_harness_send(client.fd, &message, sizeof(message), NULL, 0);
	} else if (crit_harness_register(&client, tag_offset(), -1)) {
		_exit(2);
	}
	(void)execl(program, "setuid", (char *)NULL);
	_exit(127);
}

/*
 * Nothing is known of the task after it gained privileges; where it waits for its registration, it
 * is seen before its exec already, not dumpable since it changed its user.
 */
static void check_expelled(const char *file, __u32 member, bool is_hasty)
{
	struct crit_harness_recording recording;
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	int expelled = 0, after = 0;

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	CHECK(recording.is_whole);
	while ((record = crit_harness_next_kernel(&recording, &chunk, record))) {
		const struct crit_kernel_exec *exec = (const void *)record;

		if (record->kind == CRIT_K_EXEC && exec->tid == member &&
		    (record->flags & CRIT_KF_EXPELLED))
			expelled += CHECK_INT_EQ(record->state, is_hasty
									? CRIT_EXPELLED_USER
									: CRIT_EXPELLED_UNREADABLE);
		else
			after += expelled > 0;
		if (is_hasty && record->kind == CRIT_K_SWITCH)
			CHECK(!(record->flags & CRIT_KF_HAS_TAG) ||
			      (record->flags & CRIT_KF_TAG_STALE));
	}
	CHECK_INT_EQ(expelled, 1);
	CHECK_INT_EQ(after, 0);
	CHECK(crit_harness_find(&recording, CRIT_C_GONE));
	CHECK(crit_harness_find(&recording, CRIT_C_FOOT));
	crit_harness_free(&recording);
}

static void run_expulsion(bool is_hasty, const char *variant)
{
	const char *const arguments[] = { "--idle-exit", "1", "--uid", USER_TEXT, variant, NULL };
	const struct timespec pause = { 0, 300000000 };
	struct crit_harness harness;
	char program[80], file[192];
	pid_t member;

	CHECK_CASE("%s, %s", is_hasty ? "hasty" : "patient", variant ? variant : "defaults");
	crit_harness_start(&harness, arguments);
	install_setuid(&harness, program, sizeof(program));
	check_dropped(harness.critd);
	member = fork();
	if (member == 0)
		member_main(&harness, program, is_hasty);
	if (is_hasty) {
		(void)nanosleep(&pause, NULL);
		(void)kill(harness.critd, SIGCONT);
	}
	CHECK_INT_EQ(wait_status(member), 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/trust.crit", harness.directory);
	check_expelled(file, (__u32)member, is_hasty);
	crit_harness_clean(&harness);
}

/* A run that root asked for keeps who becomes another user: its exec and its exit are recorded. */
static void run_kept(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness_recording recording;
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	struct crit_harness harness;
	int execs = 0, exits = 0;
	char file[192];
	pid_t member;

	CHECK_CASE("root's own run");
	crit_harness_start(&harness, arguments);
	member = fork();
	if (member == 0) {
		struct crit_harness_client client;

		if (crit_harness_join(&harness, "kept", CRIT_ROLE_SHIM, 0, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, -1))
			_exit(1);
		become(USER);
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	CHECK_INT_EQ(wait_status(member), 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/kept.crit", harness.directory);
	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	while ((record = crit_harness_next_kernel(&recording, &chunk, record))) {
		execs += record->kind == CRIT_K_EXEC && !(record->flags & CRIT_KF_EXPELLED);
		exits += record->kind == CRIT_K_EXIT;
	}
	CHECK_INT_EQ(execs, 1);
	CHECK_INT_EQ(exits, 1);
	crit_harness_free(&recording);
	crit_harness_clean(&harness);
}

/* Another user is told so, and leaves no trace. */
static void run_stranger(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness harness;
	pid_t stranger;

	CHECK_CASE("stranger");
	crit_harness_start(&harness, arguments);
	stranger = fork();
	if (stranger == 0) {
		struct crit_harness_client client;

		become(USER);
		_exit(-crit_harness_join(&harness, "stranger", CRIT_ROLE_SHIM, 0, &client));
	}
	CHECK_INT_EQ(wait_status(stranger), EACCES);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	crit_harness_clean(&harness);
}

/* A child of the user that registers, and becomes another program when told. */
static pid_t start_obedient(const struct crit_harness *harness, const char *program, int go_fd,
			    int ready_fd)
{
	pid_t member = fork();

	if (member == 0) {
		struct crit_harness_client client;
		char byte = 0;

		become(USER);
		if (crit_harness_join(harness, "place", CRIT_ROLE_SHIM, 0, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, -1) ||
		    write(ready_fd, &byte, 1) != 1 || read(go_fd, &byte, 1) != 1)
			_exit(1);
		(void)execl(program, "setuid", (char *)NULL);
		_exit(127);
	}
	return member;
}

/* Registers without waiting for the answer, then sleeps. */
static pid_t start_hasty(const struct crit_harness *harness, int go_fd, int ready_fd)
{
	const struct crit_message_register message = {
		.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(message) },
		.tls_offset = CRIT_TLS_NONE,
	};
	pid_t member = fork();

	if (member == 0) {
		struct crit_harness_client client;
		char byte = 0;

		become(USER);
		if (crit_harness_join(harness, "place", CRIT_ROLE_SHIM, 0, &client) ||
		    write(ready_fd, &byte, 1) != 1 || read(go_fd, &byte, 1) != 1 ||
		    crit_harness_send(client.fd, &message, sizeof(message), NULL, 0) ||
		    write(ready_fd, &byte, 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	return member;
}

static void check_not_gone(const struct crit_harness *harness, __u32 pid, __u64 not_before_ns)
{
	struct crit_harness_recording recording;
	const struct crit_chunk_head *head = NULL;
	char file[192];
	int gone = 0;

	(void)snprintf(file, sizeof(file), "%s/place.crit", harness->directory);
	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	while ((head = crit_harness_next(&recording, head))) {
		const struct crit_rec_gone *record = (const void *)(head + 1);

		if (head->kind != CRIT_C_GONE || record->pid != pid)
			continue;
		gone++;
		CHECK_MSG(record->time_ns >= not_before_ns, "gone while it lived");
	}
	CHECK_INT_EQ(gone, 1);
	crit_harness_free(&recording);
}

/*
 * While critd is stopped: its timer is due, a member is expelled, somebody registers, and the
 * expelled one ends.  Its place in the table is taken by then; its end must not be the other's.
 */
static void run_same_place(void)
{
	const char *const arguments[] = { "--idle-exit", "1", "--uid", USER_TEXT, NULL };
	const struct timespec pause = { 0, 100000000 };
	int ready[2], go_out[2], go_in[2];
	struct crit_harness harness;
	struct timespec now;
	pid_t leaver, comer;
	char program[80], byte = 0;

	CHECK_CASE("same place");
	if (pipe(ready) || pipe(go_out) || pipe(go_in))
		exit(1);
	crit_harness_start(&harness, arguments);
	install_setuid(&harness, program, sizeof(program));
	leaver = start_obedient(&harness, program, go_out[0], ready[1]);
	CHECK_INT_EQ(read(ready[0], &byte, 1), 1);
	comer = start_hasty(&harness, go_in[0], ready[1]);
	CHECK_INT_EQ(read(ready[0], &byte, 1), 1);
	(void)kill(harness.critd, SIGSTOP);
	(void)nanosleep(&pause, NULL);
	CHECK_INT_EQ(write(go_in[1], &byte, 1), 1);
	CHECK_INT_EQ(read(ready[0], &byte, 1), 1);
	CHECK_INT_EQ(write(go_out[1], &byte, 1), 1);
	CHECK_INT_EQ(wait_status(leaver), 0);
	(void)kill(harness.critd, SIGCONT);
	(void)nanosleep(&pause, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	check_not_gone(&harness, (__u32)comer,
		       (__u64)now.tv_sec * 1000000000ull + (__u64)now.tv_nsec);
	(void)kill(comer, SIGKILL);
	(void)waitpid(comer, NULL, 0);
	crit_harness_clean(&harness);
}

int main(void)
{
	if (geteuid() != 0)
		check_skip("needs root, to be several users");
	crit_harness_keep_busy();
	run_stranger();
	run_kept();
	run_same_place();
	run_expulsion(false, NULL);
	run_expulsion(false, "--no-task-storage");
	run_expulsion(true, NULL);
	run_expulsion(true, "--no-task-storage");
	return check_done();
}
