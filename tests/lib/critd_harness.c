// SPDX-License-Identifier: BSD-3-Clause
// A minimal client of critd, apart from core/client, so that the two are tests of each other.
#include "tests/lib/critd_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/abi/abi_wake.h"
#include "core/base/chunk.h"
#include "core/base/cleanup.h"

#define ARGUMENTS_MAX 24
#define RECEIVE_MS 5000

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64))
		die("cannot listen");
	(void)chmod(path, 0666);
	return fd;
}

void crit_harness_start(struct crit_harness *harness, const char *const *arguments)
{
	const char *argv[ARGUMENTS_MAX] = { "critd", "--listen-fd", "3", "--socket-path" };
	int count = 4;
	int fd;

	memset(harness, 0, sizeof(*harness));
	harness->sample_hz = 199;
	(void)snprintf(harness->directory, sizeof(harness->directory),
		       P_tmpdir "/crit-test-XXXXXX");
	if (!mkdtemp(harness->directory))
		die("cannot make a directory");
	(void)chmod(harness->directory, 0777);
	(void)snprintf(harness->socket, sizeof(harness->socket), "%s/socket", harness->directory);
	argv[count++] = harness->socket;
	for (int i = 0; arguments && arguments[i] && count < ARGUMENTS_MAX - 1; i++)
		argv[count++] = arguments[i];
	fd = listen_on(harness->socket);
	harness->critd = fork();
	if (harness->critd < 0)
		die("cannot fork");
	if (harness->critd == 0) {
		if (fd == 3)
			(void)fcntl(3, F_SETFD, 0);
		else
			(void)dup2(fd, 3);
		(void)execv(CRITD_PATH, (char *const *)argv);
		_exit(127);
	}
	close(fd);
}

void crit_harness_keep_busy(void)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		die("cannot read the affinity");
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("cannot set the affinity");
	if (fork())
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)nice(19);
	for (;;)
		__asm__ volatile("");
}

int crit_harness_stop(struct crit_harness *harness, bool is_killed)
{
	int status = -1;

	if (is_killed)
		(void)kill(harness->critd, SIGTERM);
	(void)waitpid(harness->critd, &status, 0);
	harness->critd = -1;
	return status;
}

void crit_harness_clean(const struct crit_harness *harness)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", harness->directory);
	if (system(command))
		perror(command);
}

int crit_harness_send(int fd, const void *message, size_t bytes, const int *fds, int fd_count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 8)];
	} control;
	struct iovec part = { (void *)message, bytes };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd_count > 0) {
		size_t length = (size_t)fd_count * sizeof(int);
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(length);
		c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(length);
		memcpy(CMSG_DATA(c), fds, length);
	}
	return sendmsg(fd, &header, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

long crit_harness_receive(int fd, void *ret_message, size_t bytes)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	ssize_t done;

	if (poll(&wait, 1, RECEIVE_MS) <= 0)
		return -ETIMEDOUT;
	done = recv(fd, ret_message, bytes, 0);
	return done < 0 ? -errno : (long)done;
}

int crit_harness_hello(const struct crit_harness *harness, const char *key, __u32 role)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct crit_message_hello message = {
		.head = { CRIT_M_HELLO, CRIT_SOCKET_VERSION, sizeof(message) },
		.role = role,
		.flavour = CRIT_FLAVOUR_OPENMPI,
		.exe = "/test",
	};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int rc;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", harness->socket);
	(void)snprintf(message.run_key, sizeof(message.run_key), "%s", key);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	rc = crit_harness_send(fd, &message, sizeof(message), NULL, 0);
	/* who is turned away at once can still read why */
	return rc && rc != -EPIPE && rc != -ECONNRESET ? rc : fd;
}

int crit_harness_output(const struct crit_harness *harness, const char *key, __u64 max_bytes,
			struct crit_harness_client *client)
{
	struct crit_message_output message = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(message) },
		.max_bytes = max_bytes,
		.level = CRIT_LEVEL_TRACE,
		.sample_hz = harness->sample_hz,
		.sample_budget = harness->sample_budget,
		.host = "host",
	};
	int pair[2], fds[2], rc;

	(void)snprintf(message.directory, sizeof(message.directory), "%s", harness->directory);
	(void)snprintf(client->file, sizeof(client->file), "%s/%s.crit", harness->directory, key);
	fds[0] = open(client->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fds[0] < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	fds[1] = pair[0];
	client->finisher_fd = pair[1];
	rc = crit_harness_send(client->fd, &message, sizeof(message), fds, 2);
	close(fds[0]);
	close(fds[1]);
	return rc;
}

int crit_harness_join(const struct crit_harness *harness, const char *key, __u32 role,
		      __u64 max_bytes, struct crit_harness_client *ret_client)
{
	struct crit_message_welcome welcome;
	long bytes;

	memset(ret_client, 0, sizeof(*ret_client));
	ret_client->finisher_fd = -1;
	ret_client->fd = crit_harness_hello(harness, key, role);
	if (ret_client->fd < 0)
		return ret_client->fd;
	bytes = crit_harness_receive(ret_client->fd, &welcome, sizeof(welcome));
	if (bytes != (long)sizeof(welcome) || welcome.head.kind != CRIT_M_WELCOME)
		return bytes < 0 ? (int)bytes : -EPROTO;
	if (welcome.status)
		return welcome.status;
	ret_client->is_first = welcome.is_first;
	ret_client->kernel_status = welcome.kernel_status;
	return welcome.is_first ? crit_harness_output(harness, key, max_bytes, ret_client) : 0;
}

int crit_harness_register(struct crit_harness_client *client, __s64 tls_offset, int memfd)
{
	struct crit_message_register message = {
		.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(message) },
		.tls_offset = tls_offset,
		.ns_pid = (__u32)getpid(),
		.has_memfd = memfd >= 0,
		.arguments = "test",
	};
	struct crit_message_registered answer;
	long bytes;
	int rc = crit_harness_send(client->fd, &message, sizeof(message), &memfd, memfd >= 0);

	if (rc)
		return rc;
	bytes = crit_harness_receive(client->fd, &answer, sizeof(answer));
	if (bytes != (long)sizeof(answer) || answer.head.kind != CRIT_M_REGISTERED)
		return bytes < 0 ? (int)bytes : -EPROTO;
	return answer.status;
}

int crit_harness_attach(struct crit_harness_client *client, pid_t pid)
{
	struct crit_message_head message = { CRIT_M_ATTACH, CRIT_SOCKET_VERSION, sizeof(message) };
	struct crit_message_registered answer;
	crit_autoclose int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int rc = crit_harness_send(client->fd, &message, sizeof(message), &pidfd, 1);

	if (!rc && crit_harness_receive(client->fd, &answer, sizeof(answer)) != sizeof(answer))
		rc = -EPROTO;
	return rc ? rc : answer.status;
}

bool crit_harness_read(const char *file, struct crit_harness_recording *ret_recording)
{
	crit_autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
	const struct crit_chunk_head *head = NULL;
	size_t at = 0;
	struct stat st;

	memset(ret_recording, 0, sizeof(*ret_recording));
	if (fd < 0 || fstat(fd, &st))
		return false;
	ret_recording->bytes = (size_t)st.st_size;
	ret_recording->data = malloc(ret_recording->bytes + sizeof(*head));
	if (!ret_recording->data ||
	    read(fd, ret_recording->data, ret_recording->bytes) != st.st_size)
		return false;
	while (at + sizeof(*head) <= ret_recording->bytes) {
		head = (const void *)(ret_recording->data + at);
		if (!crit_chunk_head_is_sane(head) ||
		    at + sizeof(*head) + head->length > ret_recording->bytes ||
		    !crit_chunk_is_whole(head, head + 1))
			break;
		at += sizeof(*head) + crit_chunk_padded(head->length);
	}
	ret_recording->is_whole = at == ret_recording->bytes;
	ret_recording->bytes = at;
	return at > 0;
}

void crit_harness_free(struct crit_harness_recording *recording)
{
	free(recording->data);
	recording->data = NULL;
}

const struct crit_chunk_head *crit_harness_next(const struct crit_harness_recording *recording,
						const struct crit_chunk_head *head)
{
	const char *at = recording->data;

	if (head)
		at = (const char *)(head + 1) + crit_chunk_padded(head->length);
	return at < recording->data + recording->bytes ? (const void *)at : NULL;
}

const struct crit_kernel_head *
crit_harness_next_kernel(const struct crit_harness_recording *recording,
			 const struct crit_chunk_head **chunk,
			 const struct crit_kernel_head *record)
{
	if (record) {
		record = (const void *)((const char *)record + record->size);
		if ((const char *)record < (const char *)(*chunk + 1) + (*chunk)->length)
			return record;
	}
	do {
		*chunk = crit_harness_next(recording, *chunk);
	} while (*chunk && ((*chunk)->kind != CRIT_C_KERNEL || (*chunk)->length == 0));
	return *chunk ? (const void *)(*chunk + 1) : NULL;
}

/* The number of the task a record is about; SWITCH counts for prev. */
static __u32 tid_of(const struct crit_kernel_head *record)
{
	switch (record->kind) {
	case CRIT_K_SWITCH:
		return ((const struct crit_kernel_switch *)record)->prev_tid;
	case CRIT_K_FORK:
		return ((const struct crit_kernel_fork *)record)->tid;
	default: /* the others begin with it */
		return ((const struct crit_kernel_wake *)record)->tid;
	}
}

size_t crit_harness_count_kernel(const struct crit_harness_recording *recording, __u8 kind,
				 __u32 tid)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	size_t count = 0;

	while ((record = crit_harness_next_kernel(recording, &chunk, record)))
		count += record->kind == kind && (tid == 0 || tid_of(record) == tid);
	return count;
}

const struct crit_chunk_head *crit_harness_find(const struct crit_harness_recording *recording,
						__u16 kind)
{
	const struct crit_chunk_head *head = NULL;

	while ((head = crit_harness_next(recording, head))) {
		if (head->kind == kind)
			return head;
	}
	return NULL;
}
