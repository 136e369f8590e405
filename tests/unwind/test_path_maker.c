// SPDX-License-Identifier: BSD-3-Clause
// The process that makes call paths, with the test as critd: what it says and when it ends.
#include "cli/results/path_maker.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/abi/abi_recording.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "tests/lib/check.h"
#include "tests/unwind/ring_writer.h"

#define WAIT_MS 30000 /* for a message on a loaded machine */

static union {
	struct crit_message_paths paths;
	unsigned char bytes[CRIT_PATHS_MESSAGE_MAX];
} message;

static int ends[2]; /* critd's, the finisher's */
static struct ring_writer writer;

static void send_stacks(int fd)
{
	struct crit_message_head head = { CRIT_M_STACKS, CRIT_SOCKET_VERSION, sizeof(head) };
	struct iovec part = { &head, sizeof(head) };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr out = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		out.msg_control = &control;
		out.msg_controllen = sizeof(control);
	}
	CHECK_INT_EQ(sendmsg(ends[0], &out, 0), sizeof(head));
}

static void begin(void)
{
	CHECK_INT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	ring_writer_init(&writer, 1 << 20);
}

/* All processes of the test are gone; critd's end hangs up. */
static void end(void)
{
	close(ends[0]);
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(ends[1]);
	ring_writer_fini(&writer);
}

/* The next message's kind; 0: none comes. */
static uint16_t receive(void)
{
	struct pollfd peer = { .fd = ends[0], .events = POLLIN };
	ssize_t length;

	if (poll(&peer, 1, WAIT_MS) <= 0)
		return 0;
	length = recv(ends[0], &message, sizeof(message), 0);
	if (!CHECK_INT_GE(length, sizeof(message.paths.head)))
		return 0;
	CHECK_UINT_EQ(message.paths.head.size, length);
	CHECK_UINT_EQ(message.paths.head.version, CRIT_SOCKET_VERSION);
	if (message.paths.head.kind == CRIT_M_PATHS)
		CHECK_UINT_EQ(message.paths.bytes + sizeof(message.paths), length);
	return message.paths.head.kind;
}

static void put_own_maps(void)
{
	static char text[1 << 16];
	size_t used = 0;
	ssize_t count = 1;
	crit_autoclose int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && count > 0) {
		count = read(fd, text + used, sizeof(text) - used);
		used += count > 0 ? (size_t)count : 0;
	}
	ring_writer_put_maps(&writer, 5, 1, text, used);
}

__attribute__((noinline)) static void put_own_stack(uint32_t request)
{
	ring_writer_put_own(&writer, request);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static void check_chunk(uint32_t kind)
{
	CHECK_UINT_EQ(receive(), CRIT_M_PATHS);
	CHECK_UINT_EQ(message.paths.chunk_kind, kind);
}

static uint32_t sample(void) /* of the only one in the message: its request */
{
	struct crit_rec_sample_path one;

	check_chunk(CRIT_C_SAMPLES);
	CHECK_UINT_EQ(message.paths.bytes, sizeof(one));
	memcpy(&one, message.bytes + sizeof(message.paths), sizeof(one));
	CHECK_INT_GE(one.path, CRIT_PATH_FIRST);
	return one.request;
}

/* It says what it knows while the run goes on, and the rest when critd says that it is over. */
static void check_run(void)
{
	begin();
	put_own_maps();
	put_own_stack(1);
	send_stacks(writer.fd);
	crit_path_maker_start(ends[1]);
	check_chunk(CRIT_C_PATH_FILES);
	check_chunk(CRIT_C_PATHS);
	CHECK_UINT_EQ(sample(), 1);
	put_own_stack(2);
	ring_writer_end(&writer);
	check_chunk(CRIT_C_PATHS); /* of another call */
	CHECK_UINT_EQ(sample(), 2);
	CHECK_UINT_EQ(receive(), CRIT_M_PATHS_END);
	end();
}

/* critd is gone, or will hear nothing of a ring that it is not. */
static void check_without(void)
{
	int pipes[2];

	begin();
	send_stacks(writer.fd);
	crit_path_maker_start(ends[1]);
	end(); /* returns, since the process does */
	begin();
	send_stacks(-1);
	crit_path_maker_start(ends[1]);
	CHECK_UINT_EQ(receive(), CRIT_M_PATHS_END);
	CHECK_INT_EQ(pipe(pipes), 0);
	send_stacks(pipes[0]);
	crit_path_maker_start(ends[1]);
	CHECK_UINT_EQ(receive(), CRIT_M_PATHS_END);
	writer.head->magic++;
	send_stacks(writer.fd);
	crit_path_maker_start(ends[1]);
	CHECK_UINT_EQ(receive(), CRIT_M_PATHS_END);
	close(pipes[0]);
	close(pipes[1]);
	end();
}

/* critd takes no messages: the process gives up, and does not wait for ever. */
static void check_deaf(void)
{
	const struct crit_message_head filler = { CRIT_M_DRAIN, CRIT_SOCKET_VERSION,
						  sizeof(filler) };

	begin();
	put_own_maps();
	put_own_stack(1);
	send_stacks(writer.fd);
	while (send(ends[1], &filler, sizeof(filler), MSG_DONTWAIT) > 0)
		;
	ring_writer_end(&writer);
	crit_path_maker_start(ends[1]);
	while (waitpid(-1, NULL, 0) > 0)
		;
	CHECK_UINT_EQ(receive(), CRIT_M_DRAIN);
	end();
}

int main(void)
{
	check_run();
	check_without();
	check_deaf();
	return check_done();
}
