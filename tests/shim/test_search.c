// SPDX-License-Identifier: BSD-3-Clause
// Where sockets go when XDG_RUNTIME_DIR is missing and somebody has taken the next name; what is
// said when there can be none.
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/client.h"
#include "tests/lib/check.h"

enum place {
	TEMPORARY,
	SHARED,
	PLACE_COUNT
};

static char paths[PLACE_COUNT][64];

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
static struct answer ask_as(uid_t uid, void (*question)(struct answer *ret_answer))
{
	struct answer answer = { .status = -EIO };
	int ends[2], ended;
	pid_t child;

	if (pipe(ends) < 0)
		return answer;
	child = fork();
	if (child == 0) {
		if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
			_exit(2);
		question(&answer);
		_exit(write(ends[1], &answer, sizeof(answer)) == sizeof(answer) ? 0 : 2);
	}
	(void)close(ends[1]);
	(void)!read(ends[0], &answer, sizeof(answer)); /* nothing read: -EIO stays */
	(void)close(ends[0]);
	(void)waitpid(child, &ended, 0);
	return answer;
}

int main(void)
{
	const uid_t uid = 1000000 + (uid_t)getpid();
	struct answer answer;

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
	(void)rmdir(paths[SHARED]); /* made only where all is well */
	CHECK_CASE("a link, even to a directory of the user");
	CHECK_INT_EQ(symlink("/proc/self", paths[SHARED]), 0);
	answer = ask_as(uid, search);
	CHECK_INT_EQ(answer.status, -EPERM);
	CHECK(strstr(answer.err.text, paths[SHARED]) != NULL);
	CHECK_INT_EQ(unlink(paths[SHARED]), 0);
	CHECK_INT_EQ(rmdir(paths[TEMPORARY]), 0);
	CHECK_CASE("no descriptor is left for a socket");
	answer = ask_as(uid, open_without_descriptors);
	CHECK_INT_EQ(answer.status, -EMFILE);
	CHECK(strstr(answer.err.text, "Too many open files") != NULL);
	(void)rmdir(paths[TEMPORARY]);
	return check_done();
}
