// SPDX-License-Identifier: BSD-3-Clause
// Where sockets go when XDG_RUNTIME_DIR is missing and somebody has taken the next name; what is
// said when there can be none.
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/client/client.h"
#include "core/client/client_directory.h"
#include "tests/lib/check.h"

enum place {
	TEMPORARY,
	SHARED,
	PLACE_COUNT
};

#define NUMBERED 9

static char paths[PLACE_COUNT][64];
static uid_t uid; /* nobody else's */

static void name_numbered(char *ret_path, size_t size, int number)
{
	(void)snprintf(ret_path, size, "/tmp/crit-%u-%d", (unsigned int)uid, number);
}

struct answer {
	int status;
	char path[CRIT_SOCKET_PATH_BYTES];
	struct crit_err err;
};

static void search(struct answer *ret_answer)
{
	ret_answer->status = crit_client_socket_directory(
		ret_answer->path, sizeof(ret_answer->path), &ret_answer->err);
}

static void count_blocked(struct answer *ret_answer)
{
	size_t at = 0;

	ret_answer->status = 0;
	while (crit_client_blocked_directory(&at, &ret_answer->err) == 0)
		ret_answer->status++;
}

static void open_without_descriptors(struct answer *ret_answer)
{
	const struct rlimit none = { 0 };
	struct crit_client_env env = { 0 };
	struct crit_client client;

	(void)setrlimit(RLIMIT_NOFILE, &none);
	ret_answer->status = crit_client_open(&client, &(struct crit_client_options){ .env = &env },
					      &ret_answer->err);
	crit_client_fini(&client);
}

/* As a user nobody else is. */
static struct answer ask_as(uid_t as, void (*question)(struct answer *ret_answer))
{
	struct answer answer = { .status = -EIO };
	int ends[2], ended;
	pid_t child;

	if (pipe(ends) < 0)
		return answer;
	child = fork();
	if (child == 0) {
		if (setresgid(as, as, as) < 0 || setresuid(as, as, as) < 0)
			_exit(2);
		question(&answer);
		_exit(write(ends[1], &answer, sizeof(answer)) == sizeof(answer) ? 0 : 2);
	}
	close(ends[1]);
	(void)!read(ends[0], &answer, sizeof(answer)); /* nothing read: -EIO stays */
	close(ends[0]);
	(void)waitpid(child, &ended, 0);
	return answer;
}

static void try_all_taken(void)
{
	struct answer answer;
	char path[64];

	CHECK_CASE("another user has all names");
	for (int i = 1; i <= NUMBERED; i++) {
		name_numbered(path, sizeof(path), i);
		CHECK_INT_EQ(mkdir(path, 0755), 0);
	}
	answer = ask_as(uid, search);
	CHECK_INT_EQ(answer.status, -EPERM);
	CHECK(strstr(answer.err.text, paths[TEMPORARY]) != NULL);
	CHECK(strstr(answer.err.text, "belongs to user 0") != NULL);
	CHECK(strstr(answer.err.text, "XDG_RUNTIME_DIR") != NULL);
	answer = ask_as(uid, count_blocked);
	CHECK_INT_EQ(answer.status, 2 + NUMBERED);
	for (int i = 1; i <= NUMBERED; i++) {
		name_numbered(path, sizeof(path), i);
		CHECK_INT_EQ(rmdir(path), 0);
	}
}

int main(void)
{
	struct answer answer;
	char path[64];

	uid = 1000000 + (uid_t)getpid();

	if (geteuid() != 0)
		check_skip("only root can play another user");
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)snprintf(paths[TEMPORARY], sizeof(paths[0]), "/tmp/crit-%u", (unsigned int)uid);
	(void)snprintf(paths[SHARED], sizeof(paths[0]), "/dev/shm/crit-%u", (unsigned int)uid);

	CHECK_CASE("nobody is in the way");
	answer = ask_as(uid, search);
	CHECK_INT_EQ(answer.status, 0);
	CHECK_STR_EQ(answer.path, paths[TEMPORARY]);
	CHECK_INT_EQ(rmdir(paths[TEMPORARY]), 0);
	CHECK_CASE("another user has the first name");
	CHECK_INT_EQ(mkdir(paths[TEMPORARY], 0777), 0);
	answer = ask_as(uid, search);
	CHECK_INT_EQ(answer.status, 0);
	CHECK_STR_EQ(answer.path, paths[SHARED]);
	CHECK_CASE("the first name is free again, and a process has found the second");
	CHECK_INT_EQ(rmdir(paths[TEMPORARY]), 0);
	answer = ask_as(uid, search);
	CHECK_STR_EQ(answer.path, paths[SHARED]);
	(void)rmdir(paths[SHARED]);
	CHECK_CASE("a link, even to a directory of the user");
	CHECK_INT_EQ(mkdir(paths[TEMPORARY], 0777), 0);
	CHECK_INT_EQ(symlink("/proc/self", paths[SHARED]), 0);
	answer = ask_as(uid, search);
	CHECK_INT_EQ(answer.status, 0);
	name_numbered(path, sizeof(path), 1);
	CHECK_STR_EQ(answer.path, path);
	(void)rmdir(path); /* made only where all is well */
	try_all_taken();
	CHECK_INT_EQ(unlink(paths[SHARED]), 0);
	CHECK_INT_EQ(rmdir(paths[TEMPORARY]), 0);
	CHECK_CASE("no descriptor is left for a socket");
	answer = ask_as(uid, open_without_descriptors);
	CHECK_INT_EQ(answer.status, -EMFILE);
	CHECK(strstr(answer.err.text, "Too many open files") != NULL);
	(void)rmdir(paths[TEMPORARY]);
	return check_done();
}
