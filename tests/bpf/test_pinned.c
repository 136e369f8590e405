// SPDX-License-Identifier: BSD-3-Clause
// A descriptor on a file system that never answers, handed to critd: its run ends nevertheless.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define PATIENCE_S 20

static struct crit_harness harness;
static char mount_path[80];

/* A FUSE file system without a daemon.  Returns the daemon's end; closing it ends what waits. */
static int mount_hanging(void)
{
	char options[128];
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	(void)snprintf(mount_path, sizeof(mount_path), "%s/hanging", harness.directory);
	(void)snprintf(options, sizeof(options),
		       "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (device < 0 || mkdir(mount_path, 0700) ||
	    mount("hanging", mount_path, "fuse", 0, options))
		return -errno;
	return device;
}

/* Hands over an output whose fstat() waits. */
static void send_hanging(int fd)
{
	const struct crit_message_output message = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(message) },
	};
	int pair[2], fds[2];

	fds[0] = open(mount_path, O_PATH | O_CLOEXEC);
	if (!CHECK_INT_GE(fds[0], 0) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		exit(1);
	fds[1] = pair[0];
	CHECK_INT_EQ(crit_harness_send(fd, &message, sizeof(message), fds, 2), 0);
	close(fds[0]);
	close(pair[0]);
	close(pair[1]);
}

/* critd hangs up: end of file or reset. */
static bool is_hung_up(int fd)
{
	char bytes[CRIT_MESSAGE_MAX];
	long got = -ETIMEDOUT;

	for (int tries = 0; tries < PATIENCE_S / 5 && got == -ETIMEDOUT; tries++) {
		do {
			got = crit_harness_receive(fd, bytes, sizeof(bytes));
		} while (got > 0);
	}
	return got == 0 || got == -ECONNRESET;
}

static long receive_welcome(int fd, struct crit_message_welcome *ret_welcome)
{
	long bytes = -ETIMEDOUT;

	for (int tries = 0; tries < PATIENCE_S / 5 && bytes == -ETIMEDOUT; tries++)
		bytes = crit_harness_receive(fd, ret_welcome, sizeof(*ret_welcome));
	return bytes;
}

/* Whose output is never examined is not waited for: the next one is asked. */
static void try_first(void)
{
	struct crit_message_welcome welcome = { 0 };
	int first = crit_harness_hello(&harness, "first", CRIT_ROLE_SHIM);
	int second;

	CHECK_CASE("first");
	CHECK_INT_EQ(receive_welcome(first, &welcome), (long)sizeof(welcome));
	CHECK(welcome.is_first);
	send_hanging(first);
	welcome.is_first = 0;
	second = crit_harness_hello(&harness, "first", CRIT_ROLE_SHIM);
	CHECK_INT_EQ(receive_welcome(second, &welcome), (long)sizeof(welcome));
	CHECK(welcome.is_first);
	CHECK(is_hung_up(first));
	close(first);
	close(second);
}

static bool has_chunk(const char *file, __u16 kind, int code)
{
	struct crit_harness_recording recording = { 0 };
	const struct crit_chunk_head *chunk = NULL;
	bool is_found = false;

	(void)crit_harness_read(file, &recording); /* what is not there yet has no chunks */
	while (!is_found && recording.data && (chunk = crit_harness_next(&recording, chunk)))
		is_found = chunk->kind == kind &&
			   (kind != CRIT_C_NOTE ||
			    (int)((const struct crit_rec_note *)(chunk + 1))->code == code);
	crit_harness_free(&recording);
	return is_found;
}

/* The honest process of a run is gone; what is left is a client of which nothing will come. */
static void try_last(void)
{
	struct crit_harness_client client;
	struct crit_message_welcome welcome;
	bool has_foot = false;
	int pinning, status;
	pid_t child = fork();

	CHECK_CASE("last");
	if (child == 0) {
		status = crit_harness_join(&harness, "last", CRIT_ROLE_SHIM, 0, &client) ||
			 crit_harness_register(&client, CRIT_TLS_NONE, -1);
		(void)usleep(300000);
		_exit(status ? 1 : 0);
	}
	(void)usleep(100000);
	pinning = crit_harness_hello(&harness, "last", CRIT_ROLE_SHIM);
	CHECK_INT_EQ(receive_welcome(pinning, &welcome), (long)sizeof(welcome));
	send_hanging(pinning);
	(void)waitpid(child, &status, 0);
	CHECK_INT_EQ(status, 0);
	(void)snprintf(client.file, sizeof(client.file), "%s/last.crit", harness.directory);
	for (int i = 0; i < 10 * PATIENCE_S && !has_foot; i++) {
		(void)usleep(100000);
		has_foot = has_chunk(client.file, CRIT_C_FOOT, 0);
	}
	CHECK(has_foot);
	CHECK(has_chunk(client.file, CRIT_C_NOTE, CRIT_NOTE_REFUSED));
	CHECK(is_hung_up(pinning));
	close(pinning);
}

int main(void)
{
	const char *const arguments[] = { "--idle-exit", "1", "--no-kernel", NULL };
	int device;

	crit_harness_start(&harness, arguments);
	device = mount_hanging();
	if (device < 0) {
		printf("skip: cannot mount a FUSE file system: %s\n", strerror(-device));
		(void)crit_harness_stop(&harness, true);
		crit_harness_clean(&harness);
		return 77;
	}
	try_first();
	try_last();
	CHECK_CASE("end");
	close(device); /* what waits in the file system fails */
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	CHECK_INT_EQ(umount2(mount_path, MNT_DETACH), 0);
	crit_harness_clean(&harness);
	return check_done();
}
