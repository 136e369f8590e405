// SPDX-License-Identifier: BSD-3-Clause
// A client that means harm: speaks the collector's protocol well enough to be let in, then lies.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"

#define BUFFER_BYTES (CRIT_THREAD_BUFFER_RING_OFFSET + CRIT_RING_SLOTS * CRIT_SLOT_BYTES)
#define MEMORY_BYTES (CRIT_SHM_HEAD_BYTES + (size_t)CRIT_THREAD_BUFFERS_MIN * BUFFER_BYTES)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define FLOOD 200000
#define MANY_SLOTS 4096u
#define MANY_BUFFER_BYTES (CRIT_THREAD_BUFFER_RING_OFFSET + MANY_SLOTS * CRIT_SLOT_BYTES)
#define MANY_BYTES (CRIT_SHM_HEAD_BYTES + (off_t)CRIT_THREAD_BUFFERS_MAX * MANY_BUFFER_BYTES)

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct timeval patience = { .tv_sec = 5 };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		printf("refused: connect: %s\n", strerror(errno));
		exit(0);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void send_with(int fd, const void *message, size_t size, const int *fds, int fd_count)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { .iov_base = (void *)(uintptr_t)message, .iov_len = size };
	struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd_count > 0) {
		struct cmsghdr *c = &control.align;

		head.msg_control = control.bytes;
		head.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)fd_count * sizeof(int));
	}
	if (sendmsg(fd, &head, MSG_NOSIGNAL) < 0)
		printf("refused: send: %s\n", strerror(errno));
}

static void say_hello(int fd, const char *key)
{
	struct crit_message_hello hello = {
		.head = { CRIT_M_HELLO, CRIT_SOCKET_VERSION, sizeof(hello) },
		.role = CRIT_ROLE_SHIM,
		.flavour = CRIT_FLAVOUR_OPENMPI,
	};

	snprintf(hello.run_key, sizeof(hello.run_key), "%s", key);
	snprintf(hello.exe, sizeof(hello.exe), "/hostile");
	send_with(fd, &hello, sizeof(hello), NULL, 0);
}

/* What the collector says, or that it hangs up; answers the kind of message, 0 at the end. */
static int hear(int fd, const char *what)
{
	_Alignas(8) char buffer[CRIT_MESSAGE_MAX];
	const struct crit_message_head *head = (const void *)buffer;
	const struct crit_message_registered *answer = (const void *)buffer;
	ssize_t got = recv(fd, buffer, sizeof(buffer), 0);

	if (got < (ssize_t)sizeof(*head)) {
		printf("refused: %s: %s\n", what, got == 0 ? "hung up" : strerror(errno));
		return 0;
	}
	if ((head->kind == CRIT_M_REGISTERED || head->kind == CRIT_M_WELCOME) && answer->status < 0)
		printf("refused: %s: %s\n", what, strerror(-answer->status));
	else
		printf("answered: %s: kind %d\n", what, head->kind);
	return head->kind;
}

/* A memory that looks right, but for what the mode asks. */
static int make_memory(const char *mode)
{
	struct crit_shm_head head = {
		.magic = CRIT_SHM_MAGIC,
		.version = CRIT_SHM_VERSION,
		.head_bytes = CRIT_SHM_HEAD_BYTES,
		.buffer_count = CRIT_THREAD_BUFFERS_MIN,
		.buffer_bytes = BUFFER_BYTES,
		.ring_slots = CRIT_RING_SLOTS,
		.counter_count = CRIT_COUNTERS,
		.buffers_used = 1,
		.level = CRIT_LEVEL_TRACE,
	};
	struct crit_thread_buffer_head buffer = { .state = CRIT_THREAD_BUFFER_OWNED,
						  .ns_tid = (__u32)getpid(),
						  .claim_ns = 1 };
	int is_huge = strcmp(mode, "hugetlb") == 0;
	int fd = memfd_create("hostile",
			      MFD_CLOEXEC | MFD_ALLOW_SEALING | (is_huge ? MFD_HUGETLB : 0));

	if (strcmp(mode, "corrupt") == 0) {
		buffer.write_pos = 0xfffffffffffffff0ull;
		buffer.claim_pos = 0x8000000000000001ull;
		buffer.open_call = 0xffffffffu;
	}
	if (strcmp(mode, "geometry") == 0) {
		head.buffer_count = 0xffffffffu;
		head.ring_slots = 0x80000000u;
	}
	if (fd < 0 || ftruncate(fd, is_huge ? (off_t)2 << 20 : (off_t)MEMORY_BYTES) != 0)
		perror("hostile: memory");
	if (!is_huge && (pwrite(fd, &head, sizeof(head), 0) < 0 ||
			 pwrite(fd, &buffer, sizeof(buffer), CRIT_SHM_HEAD_BYTES) < 0))
		perror("hostile: memory");
	if (strcmp(mode, "unsealed") != 0)
		fcntl(fd, F_ADD_SEALS, SEALS);
	return fd;
}

static void register_with(int fd, int memory)
{
	struct crit_message_register message = {
		.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(message) },
		.tls_offset = CRIT_TLS_NONE,
		.ns_pid = (__u32)getpid(),
		.has_memfd = memory >= 0,
		.arguments = "hostile",
	};

	send_with(fd, &message, sizeof(message), &memory, memory >= 0);
}

/* The output of a run of our own: a FIFO instead of a file, or a file not ours to append to. */
static void offer_output(int fd, const char *directory)
{
	struct crit_message_output output = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(output) },
		.max_bytes = 1 << 20,
		.level = CRIT_LEVEL_TRACE,
		.host = "hostile",
	};
	char path[512];
	int pair[2], fds[2];

	snprintf(path, sizeof(path), "%s/fifo-%d", directory, (int)getpid());
	snprintf(output.directory, sizeof(output.directory), "%s", directory);
	if (mkfifo(path, 0600) != 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
		perror("hostile: fifo");
	fds[0] = open(path, O_RDWR | O_APPEND | O_NONBLOCK);
	fds[1] = pair[0];
	send_with(fd, &output, sizeof(output), fds, 2);
	unlink(path);
}

static void flood(int fd)
{
	char garbage[CRIT_MESSAGE_MAX];

	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (char)(i * 37);
	for (int i = 0; i < FLOOD; i++)
		if (send(fd, garbage, (size_t)(i % (int)sizeof(garbage)) + 1,
			 MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		    errno != EAGAIN)
			break;
}

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000u + (__u64)now.tv_nsec;
}

/* Room for as many thread buffers as are allowed, all of them claimed; by an honest rank one. */
static int make_many(bool is_honest)
{
	const struct crit_shm_head head = {
		.magic = CRIT_SHM_MAGIC,
		.version = CRIT_SHM_VERSION,
		.head_bytes = CRIT_SHM_HEAD_BYTES,
		.buffer_count = CRIT_THREAD_BUFFERS_MAX,
		.buffer_bytes = MANY_BUFFER_BYTES,
		.ring_slots = MANY_SLOTS,
		.counter_count = CRIT_COUNTERS,
		.buffers_used = is_honest ? 1 : CRIT_THREAD_BUFFERS_MAX,
		.level = CRIT_LEVEL_TRACE,
	};
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, MANY_BYTES) != 0 || pwrite(fd, &head, sizeof(head), 0) < 0 ||
	    fcntl(fd, F_ADD_SEALS, SEALS) != 0)
		perror("hostile: memory");
	return fd;
}

static off_t buffer_at(int buffer)
{
	return CRIT_SHM_HEAD_BYTES + (off_t)buffer * MANY_BUFFER_BYTES;
}

/* An owner that has written so many slots, and is there or gone. */
static void put_buffer(int memory, int buffer, __u32 state, __u64 slots)
{
	const struct crit_thread_buffer_head head = {
		.state = state,
		.ns_tid = (__u32)getpid(),
		.claim_ns = now_ns(),
		.write_pos = slots,
	};

	if (pwrite(memory, &head, 192, buffer_at(buffer)) < 0)
		perror("hostile: stripe");
}

/* Streams that begin and end without a slot, as fast as the collector takes them. */
static void be_reborn(int memory)
{
	for (int i = 0; i < (int)CRIT_THREAD_BUFFERS_MAX; i++)
		put_buffer(memory, i, CRIT_THREAD_BUFFER_RELEASED, 0);
	usleep(1000);
}

/* Takes away the pages that the collector is about to write to. */
static void punch(int memory, int round)
{
	const struct crit_counter counter = { .call = 1, .count = 1 };

	for (int i = 0; i < 64; i++) {
		const int buffer = (round * 64 + i) % (int)CRIT_THREAD_BUFFERS_MAX;

		if (pwrite(memory, &counter, sizeof(counter),
			   buffer_at(buffer) + CRIT_THREAD_BUFFER_HEAD_BYTES) < 0)
			perror("hostile: counter");
		put_buffer(memory, buffer, CRIT_THREAD_BUFFER_RELEASED, 1);
		if (fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, buffer_at(buffer),
			      CRIT_THREAD_BUFFER_RING_OFFSET) != 0)
			perror("hostile: punch");
		put_buffer(memory, buffer, CRIT_THREAD_BUFFER_RELEASED, 1);
	}
}

static void hurry(int fd)
{
	const struct crit_message_head message = { CRIT_M_DRAIN, CRIT_SOCKET_VERSION,
						   sizeof(message) };

	if (send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		usleep(1000);
}

static void connect_again(const char *path, const char *key)
{
	int fd = connect_to(path);

	say_hello(fd, key);
	close(fd);
}

/* Registers with many thread buffers, and then does something over and over. */
static void keep_busy(int fd, const char *path, const char *key, const char *mode, double seconds)
{
	const __u64 until_ns = now_ns() + (__u64)(seconds * 1e9);
	const bool is_honest = strcmp(mode, "honest") == 0;
	int memory = make_many(is_honest);

	for (int i = 0; i < (is_honest ? 1 : (int)CRIT_THREAD_BUFFERS_MAX); i++)
		put_buffer(memory, i, CRIT_THREAD_BUFFER_OWNED, 0);
	register_with(fd, memory);
	hear(fd, mode);
	for (int round = 0; now_ns() < until_ns; round++) {
		if (strcmp(mode, "reborn") == 0)
			be_reborn(memory);
		else if (strcmp(mode, "punched") == 0)
			punch(memory, round);
		else if (strcmp(mode, "hurried") == 0)
			hurry(fd);
		else if (strcmp(mode, "calls") == 0)
			connect_again(path, key);
		else
			usleep(10000);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[3] : "";
	int fd;

	if (argc < 4) {
		fprintf(stderr,
			"usage: %s SOCKET RUN-KEY "
			"good|unsealed|hugetlb|corrupt|geometry|fifo|flood|"
			"plain [DIRECTORY]\n"
			"       %s SOCKET RUN-KEY honest|idle|reborn|punched|hurried|calls "
			"SECONDS\n",
			argv[0], argv[0]);
		return 2;
	}
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	fd = connect_to(argv[1]);
	say_hello(fd, argv[2]);
	if (hear(fd, "hello") == 0)
		return 0;
	if (argc > 4 && strtod(argv[4], NULL) > 0) {
		keep_busy(fd, argv[1], argv[2], mode, strtod(argv[4], NULL));
		return 0;
	}
	if (strcmp(mode, "fifo") == 0)
		offer_output(fd, argc > 4 ? argv[4] : ".");
	else if (strcmp(mode, "flood") == 0)
		flood(fd);
	if (strcmp(mode, "plain") == 0)
		register_with(fd, open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	else
		register_with(fd, make_memory(mode));
	hear(fd, mode);
	usleep(300000);
	return 0;
}
