// SPDX-License-Identifier: BSD-3-Clause
// Where sockets go when XDG_RUNTIME_DIR is missing and somebody has taken the next name.
#include <errno.h>
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

/* As a user nobody else is: the directory found, or the error. */
static int search_as(uid_t uid, char ret_path[CRIT_SOCKET_PATH_BYTES], struct crit_err *ret_err)
{
	struct {
		int status;
		char path[CRIT_SOCKET_PATH_BYTES];
		struct crit_err err;
	} answer = { .status = -EIO };
	int ends[2], ended;
	pid_t child;

	if (pipe(ends) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
			_exit(2);
		answer.status =
			crit_client_socket_directory(answer.path, sizeof(answer.path), &answer.err);
		_exit(write(ends[1], &answer, sizeof(answer)) == sizeof(answer) ? 0 : 2);
	}
	(void)close(ends[1]);
	(void)!read(ends[0], &answer, sizeof(answer)); /* nothing read: -EIO stays */
	(void)close(ends[0]);
	(void)waitpid(child, &ended, 0);
	memcpy(ret_path, answer.path, sizeof(answer.path));
	*ret_err = answer.err;
	return answer.status;
}

int main(void)
{
	const uid_t uid = 1000000 + (uid_t)getpid();
	char found[CRIT_SOCKET_PATH_BYTES];
	struct crit_err err;

	if (geteuid() != 0)
		check_skip("only root can play another user");
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)snprintf(paths[TEMPORARY], sizeof(paths[0]), "/tmp/crit-%u", (unsigned int)uid);
	(void)snprintf(paths[SHARED], sizeof(paths[0]), "/dev/shm/crit-%u", (unsigned int)uid);

	CHECK_CASE("nobody is in the way");
	CHECK_INT_EQ(search_as(uid, found, &err), 0);
	CHECK_STR_EQ(found, paths[TEMPORARY]);
	CHECK_INT_EQ(rmdir(paths[TEMPORARY]), 0);
	CHECK_CASE("another user has the first name");
	CHECK_INT_EQ(mkdir(paths[TEMPORARY], 0777), 0);
	CHECK_INT_EQ(search_as(uid, found, &err), 0);
	CHECK_STR_EQ(found, paths[SHARED]);
	(void)rmdir(paths[SHARED]); /* made only where all is well */
	CHECK_CASE("a link, even to a directory of the user");
	CHECK_INT_EQ(symlink("/proc/self", paths[SHARED]), 0);
	CHECK_INT_EQ(search_as(uid, found, &err), -EPERM);
	CHECK(strstr(err.text, paths[SHARED]) != NULL);
	CHECK_INT_EQ(unlink(paths[SHARED]), 0);
	CHECK_INT_EQ(rmdir(paths[TEMPORARY]), 0);
	return check_done();
}
