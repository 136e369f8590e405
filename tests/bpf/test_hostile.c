// SPDX-License-Identifier: BSD-3-Clause
// Clients that lie, flood, or hand over the wrong things; critd outlives them.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define MEMORY_BUFFER_BYTES (CRIT_THREAD_BUFFER_RING_OFFSET + 1024 * CRIT_SLOT_BYTES)
#define MEMORY_BYTES (CRIT_SHM_HEAD_BYTES + CRIT_THREAD_BUFFERS_MIN * MEMORY_BUFFER_BYTES)
#define HURRIES 10000 /* more than a client may say of anything else */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static struct crit_harness harness;

/* critd hangs up: end of file or reset, in time; what it says before is skipped. */
static bool is_hung_up(int fd)
{
	char bytes[CRIT_MESSAGE_MAX];
	long got;

	do {
		got = crit_harness_receive(fd, bytes, sizeof(bytes));
	} while (got > 0);
	return got == 0 || got == -ECONNRESET;
}

static void send_raw(const void *message, size_t bytes, const char *what)
{
	int fd = crit_harness_hello(&harness, what, CRIT_ROLE_SHIM);

	CHECK_CASE("%s", what);
	(void)crit_harness_send(fd, message, bytes, NULL, 0);
	CHECK(is_hung_up(fd));
	close(fd);
}

static void try_messages(void)
{
	struct crit_message_head head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(head) };
	static char big[2 * CRIT_MESSAGE_MAX];

	send_raw("x", 1, "one byte");
	send_raw(&head, sizeof(head), "short REGISTER");
	head.kind = CRIT_M_WELCOME;
	send_raw(&head, sizeof(head), "a message of critd's");
	head.kind = 999;
	send_raw(&head, sizeof(head), "unknown kind");
	head.kind = CRIT_M_HELLO;
	head.version = 77;
	send_raw(&head, sizeof(head), "other version");
	send_raw(big, sizeof(big), "huge message");
}

/* The first client hands over something that is no output; the next one is asked instead. */
static void try_output(int output, const char *what)
{
	struct crit_message_output message = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(message) },
	};
	struct crit_message_welcome welcome;
	struct crit_harness_client next;
	int pair[2], fds[2];
	int fd = crit_harness_hello(&harness, what, CRIT_ROLE_SHIM);

	CHECK_CASE("output: %s", what);
	CHECK_INT_EQ(crit_harness_receive(fd, &welcome, sizeof(welcome)), (long)sizeof(welcome));
	CHECK_INT_EQ(welcome.is_first, 1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		exit(1);
	fds[0] = output;
	fds[1] = pair[0];
	(void)crit_harness_send(fd, &message, sizeof(message), fds, 2);
	CHECK(is_hung_up(fd));
	CHECK_INT_EQ(crit_harness_join(&harness, what, CRIT_ROLE_SHIM, 0, &next), 0);
	CHECK(next.is_first);
	close(fd);
	close(next.fd);
	close(next.finisher_fd);
	close(pair[0]);
	close(pair[1]);
	close(output);
}

static void try_outputs(void)
{
	/* regular files of the user's, by all that fstat tells */
	static const char *const interfaces[][2] = {
		{ "/proc/self/mem", "its memory" },
		{ "/proc/self/comm", "its name" },
		{ "/proc/self/oom_score_adj", "its badness" },
		{ "/proc/self/clear_refs", "its page bits" },
	};
	char path[192];

	(void)snprintf(path, sizeof(path), "%s/fifo", harness.directory);
	CHECK_INT_EQ(mkfifo(path, 0600), 0);
	try_output(open(path, O_RDWR | O_APPEND), "fifo");
	(void)snprintf(path, sizeof(path), "%s/plain", harness.directory);
	try_output(open(path, O_WRONLY | O_CREAT, 0600), "not for appending");
	try_output(open(path, O_RDONLY | O_APPEND), "read only");
	(void)snprintf(path, sizeof(path), "%s/linked", harness.directory);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	{
		char other[200];

		(void)snprintf(other, sizeof(other), "%s2", path);
		CHECK_INT_EQ(link(path, other), 0);
	}
	try_output(open(path, O_WRONLY | O_APPEND), "two links");
	if (geteuid() == 0) {
		(void)snprintf(path, sizeof(path), "%s/foreign", harness.directory);
		close(open(path, O_WRONLY | O_CREAT, 0600));
		CHECK_INT_EQ(chown(path, 65534, 65534), 0);
		try_output(open(path, O_WRONLY | O_APPEND), "of another user");
	}
	try_output(open("/dev/null", O_WRONLY | O_APPEND), "a device");
	for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++) {
		int fd = open(interfaces[i][0], O_WRONLY | O_APPEND | O_CLOEXEC);

		if (CHECK_INT_GT(fd, -1))
			try_output(fd, interfaces[i][1]);
	}
}

/* REGISTERED says no to this memory; critd goes on. */
static void try_memory(int memfd, const char *what)
{
	struct crit_harness_client client;

	CHECK_CASE("memory: %s", what);
	CHECK_INT_EQ(crit_harness_join(&harness, what, CRIT_ROLE_SHIM, 0, &client), 0);
	CHECK_INT_EQ(crit_harness_register(&client, CRIT_TLS_NONE, memfd), -EINVAL);
	CHECK(is_hung_up(client.fd));
	close(client.fd);
	close(client.finisher_fd);
	close(memfd);
}

static int make_memory(unsigned int flags, int seals, off_t bytes, __u32 buffer_count)
{
	const struct crit_shm_head head = {
		.magic = CRIT_SHM_MAGIC,
		.version = CRIT_SHM_VERSION,
		.head_bytes = CRIT_SHM_HEAD_BYTES,
		.buffer_count = buffer_count,
		.buffer_bytes = MEMORY_BUFFER_BYTES,
		.ring_slots = 1024,
		.counter_count = CRIT_COUNTERS,
	};
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	if (fd < 0 || ftruncate(fd, bytes))
		return fd;
	(void)pwrite(fd, &head, sizeof(head), 0);
	(void)fcntl(fd, F_ADD_SEALS, seals);
	return fd;
}

static void try_memories(void)
{
	int pipe_fds[2];

	try_memory(make_memory(0, 0, MEMORY_BYTES, CRIT_THREAD_BUFFERS_MIN), "unsealed");
	try_memory(make_memory(0, F_SEAL_SHRINK, MEMORY_BYTES, CRIT_THREAD_BUFFERS_MIN),
		   "half sealed");
	try_memory(make_memory(MFD_HUGETLB, SEALS, 2 << 20, CRIT_THREAD_BUFFERS_MIN), "huge pages");
	try_memory(make_memory(0, SEALS, MEMORY_BYTES - 1, CRIT_THREAD_BUFFERS_MIN), "too small");
	try_memory(make_memory(0, SEALS, MEMORY_BYTES, 4000), "too many stripes");
	try_memory(make_memory(0, SEALS, MEMORY_BYTES, 0), "no stripes");
	try_memory(make_memory(0, SEALS | F_SEAL_WRITE, MEMORY_BYTES, CRIT_THREAD_BUFFERS_MIN),
		   "sealed against writing");
	if (pipe(pipe_fds) == 0) {
		try_memory(pipe_fds[0], "a pipe");
		close(pipe_fds[1]);
	}
}

/* A thread buffer whose positions make no sense is left alone, and noted. */
static void try_corrupt(void)
{
	struct crit_harness_recording recording;
	struct crit_harness_client client;
	struct crit_thread_buffer_head buffer = { .state = CRIT_THREAD_BUFFER_OWNED,
						  .claim_ns = 5,
						  .write_pos = ~0ull / 2 };
	const __u32 used = 0xffffffff;
	int memfd = make_memory(0, SEALS, MEMORY_BYTES, CRIT_THREAD_BUFFERS_MIN);
	pid_t child = fork();
	const struct crit_chunk_head *note;

	CHECK_CASE("corrupt stripe");
	if (child == 0) {
		if (crit_harness_join(&harness, "corrupt", CRIT_ROLE_SHIM, 0, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, memfd))
			_exit(1);
		(void)pwrite(memfd, &buffer, sizeof(buffer), CRIT_SHM_HEAD_BYTES);
		(void)pwrite(memfd, &used, sizeof(used), 128);
		(void)usleep(50000);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	close(memfd);
	(void)usleep(200000);
	(void)snprintf(client.file, sizeof(client.file), "%s/corrupt.crit", harness.directory);
	if (!CHECK(crit_harness_read(client.file, &recording)))
		return;
	note = crit_harness_find(&recording, CRIT_C_NOTE);
	if (CHECK(note))
		CHECK_INT_EQ(((const struct crit_rec_note *)(note + 1))->code, CRIT_NOTE_CORRUPT);
	CHECK(crit_harness_find(&recording, CRIT_C_FOOT));
	crit_harness_free(&recording);
}

/* Many connections and many messages at once. */
static void try_flood(void)
{
	const struct crit_message_close message = {
		.head = { CRIT_M_CLOSE, CRIT_SOCKET_VERSION, sizeof(message) },
	};
	static int fds[500];

	CHECK_CASE("flood");
	for (size_t i = 0; i < 500; i++) {
		fds[i] = crit_harness_hello(&harness, "flood", CRIT_ROLE_SHIM);
		(void)crit_harness_send(fds[i], &message, sizeof(message), NULL, 0);
	}
	for (size_t i = 0; i < 500; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static int drain_and_register(void)
{
	const struct crit_message_head message = { CRIT_M_DRAIN, CRIT_SOCKET_VERSION,
						   sizeof(message) };
	struct crit_harness_client client;
	int rc = crit_harness_join(&harness, "hurries", CRIT_ROLE_SHIM, 0, &client);

	for (int i = 0; i < HURRIES && !rc; i++)
		rc = crit_harness_send(client.fd, &message, sizeof(message), NULL, 0);
	return rc ? rc : crit_harness_register(&client, CRIT_TLS_NONE, -1);
}

/* They come as often as rings fill. */
static void check_hurries(void)
{
	pid_t child = fork();
	int status = -1;

	CHECK_CASE("hurries");
	if (child == 0)
		_exit(drain_and_register() ? 1 : 0);
	(void)waitpid(child, &status, 0);
	CHECK_INT_EQ(status, 0);
}

static void check_honest(void)
{
	struct crit_harness_client client;
	pid_t child = fork();
	int status = -1;

	CHECK_CASE("honest client afterwards");
	if (child == 0)
		_exit(crit_harness_join(&harness, "honest", CRIT_ROLE_SHIM, 0, &client) ||
				      crit_harness_register(&client, CRIT_TLS_NONE, -1)
			      ? 1
			      : 0);
	(void)waitpid(child, &status, 0);
	CHECK_INT_EQ(status, 0);
}

/* Who comes beyond the limit of open files is told so at once; who comes later is served. */
static void run_few_descriptors(void)
{
	const char *const arguments[] = { "--idle-exit", "1", "--no-kernel", NULL };
	const struct rlimit few = { 48, 48 };
	struct crit_message_welcome welcome;
	int fds[100], told = 0;

	CHECK_CASE("few descriptors");
	crit_harness_start(&harness, arguments);
	fds[0] = crit_harness_hello(&harness, "full", CRIT_ROLE_SHIM);
	CHECK_INT_EQ(crit_harness_receive(fds[0], &welcome, sizeof(welcome)),
		     (long)sizeof(welcome));
	CHECK_INT_EQ(prlimit(harness.critd, RLIMIT_NOFILE, &few, NULL), 0);
	for (size_t i = 1; i < 100; i++)
		fds[i] = crit_harness_hello(&harness, "full", CRIT_ROLE_SHIM);
	for (size_t i = 50; i < 100; i++) {
		if (crit_harness_receive(fds[i], &welcome, sizeof(welcome)) !=
		    (long)sizeof(welcome))
			break;
		told += welcome.status == -EMFILE;
	}
	CHECK_INT_EQ(told, 50);
	for (size_t i = 0; i < 100; i++)
		close(fds[i]);
	check_honest();
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
}

static bool is_silent(int fd)
{
	char byte;

	return recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Where no descriptor is left to take a finisher's message, it is heard all the same, and once. */
static void run_few_for_finisher(void)
{
	const char *const arguments[] = { "--idle-exit", "1", "--no-kernel", NULL };
	const struct rlimit none = { 3, 48 }, few = { 48, 48 };
	struct crit_message_status message = { .head = { CRIT_M_WRITTEN, CRIT_SOCKET_VERSION,
							 sizeof(message) } };
	struct crit_harness_client client;

	CHECK_CASE("no descriptor for the finisher");
	crit_harness_start(&harness, arguments);
	CHECK_INT_EQ(crit_harness_join(&harness, "finisher", CRIT_ROLE_SHIM, 0, &client), 0);
	CHECK_INT_EQ(crit_harness_register(&client, CRIT_TLS_NONE, -1), 0);
	CHECK_INT_EQ(prlimit(harness.critd, RLIMIT_NOFILE, &none, NULL), 0);
	CHECK_INT_EQ(crit_harness_send(client.finisher_fd, &message, sizeof(message), NULL, 0), 0);
	CHECK_INT_EQ(crit_harness_receive(client.fd, &message, sizeof(message)),
		     (long)sizeof(message));
	CHECK_INT_EQ(message.head.kind, CRIT_M_WRITTEN);
	(void)usleep(300000);
	CHECK_INT_EQ(prlimit(harness.critd, RLIMIT_NOFILE, &few, NULL), 0);
	(void)usleep(300000);
	CHECK(is_silent(client.finisher_fd)); /* not hung up */
	CHECK(is_silent(client.fd));
	close(client.fd);
	close(client.finisher_fd);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
}

int main(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };

	crit_harness_start(&harness, arguments);
	try_messages();
	try_outputs();
	try_memories();
	try_corrupt();
	try_flood();
	check_hurries();
	check_honest();
	CHECK_CASE("end");
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
	run_few_descriptors();
	run_few_for_finisher();
	return check_done();
}
