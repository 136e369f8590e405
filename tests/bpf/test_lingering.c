// SPDX-License-Identifier: BSD-3-Clause
// Descriptors whose close() waits, handed to critd in every way: it serves others meanwhile.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define LINGER_S 3600 /* longer than any test: only we end it */
#define TCP_FIN_WAIT1 4 /* closed here, and not all data is taken over there */
#define PATIENCE_MS 5000
#define STOPS_MAX 10000 /* system calls of critd until it looks at the message */

static struct crit_harness harness;

/* A TCP connection to ourselves that is full; port is the passed end's. */
struct lingering {
	int passed_fd;
	int peer_fd;
	unsigned int port;
};

static void open_lingering(struct lingering *ret)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char bytes[1 << 16];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret->passed_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listen_fd, (struct sockaddr *)&address, length) || listen(listen_fd, 1) ||
	    getsockname(listen_fd, (struct sockaddr *)&address, &length) ||
	    connect(ret->passed_fd, (struct sockaddr *)&address, length) ||
	    getsockname(ret->passed_fd, (struct sockaddr *)&address, &length))
		exit(1);
	ret->port = ntohs(address.sin_port);
	ret->peer_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	close(listen_fd);
	(void)setsockopt(ret->passed_fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	while (send(ret->passed_fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
}

/* The state of our end as in /proc/net/tcp; 0: there is none. */
static unsigned int state_of(unsigned int port)
{
	FILE *in = fopen("/proc/net/tcp", "re");
	unsigned int own, state, found = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, " %*d: %*x:%x %*x:%*x %x", &own, &state) == 2 && own == port)
			found = state;
	}
	if (in)
		(void)fclose(in);
	return found;
}

static bool wait_closing(unsigned int port)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (state_of(port) == TCP_FIN_WAIT1)
			return true;
		(void)usleep(1000);
	}
	return false;
}

/* Another client of another run, from HELLO to REGISTERED. */
static void check_served(const char *key)
{
	struct crit_harness_client client;
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(crit_harness_join(&harness, key, CRIT_ROLE_SHIM, 0, &client) ||
				      crit_harness_register(&client, CRIT_TLS_NONE, -1)
			      ? 1
			      : 0);
	(void)waitpid(child, &status, 0);
	CHECK_INT_EQ(status, 0);
}

/* critd stands still meanwhile: then the descriptor it gets is the last one. */
static void stop_critd(void)
{
	int status;

	(void)kill(harness.critd, SIGSTOP);
	(void)waitpid(harness.critd, &status, WUNTRACED);
	CHECK(WIFSTOPPED(status));
}

static void send_last(int connection, const void *message, size_t bytes, int fd, int count)
{
	const int fds[] = { fd, fd };

	CHECK_INT_EQ(crit_harness_send(connection, message, bytes, fds, count), 0);
	close(fd);
	(void)kill(harness.critd, SIGCONT);
}

static void in_register(int fd)
{
	const struct crit_message_register message = {
		.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(message) },
		.has_memfd = 1,
	};
	struct crit_harness_client client;

	CHECK_INT_EQ(crit_harness_join(&harness, "register", CRIT_ROLE_SHIM, 0, &client), 0);
	stop_critd();
	send_last(client.fd, &message, sizeof(message), fd, 1);
	close(client.fd);
	close(client.finisher_fd);
}

static void in_output(int fd)
{
	const struct crit_message_output message = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(message) },
	};
	int connection = crit_harness_hello(&harness, "output", CRIT_ROLE_SHIM);

	stop_critd();
	send_last(connection, &message, sizeof(message), fd, 2);
	close(connection);
}

/* critd hangs up at the first message; the kernel closes what is in the second. */
static void left_unread(int fd)
{
	int connection;

	stop_critd();
	connection = crit_harness_hello(&harness, "unread", CRIT_ROLE_SHIM);
	CHECK_INT_EQ(crit_harness_send(connection, "x", 1, NULL, 0), 0);
	CHECK_INT_EQ(crit_harness_send(connection, "", 0, NULL, 0), 0); /* no end */
	send_last(connection, "x", 1, fd, 1);
	close(connection);
}

static void from_finisher(int fd)
{
	struct crit_harness_client client;

	CHECK_INT_EQ(crit_harness_join(&harness, "finisher", CRIT_ROLE_SHIM, 0, &client), 0);
	stop_critd();
	send_last(client.finisher_fd, "x", 1, fd, 1);
	close(client.finisher_fd);
	close(client.fd);
}

/* Stops critd behind its next look at a message that it leaves where it is. */
static bool stop_behind_peek(void)
{
	struct __ptrace_syscall_info info;
	bool is_peek = false;
	int status;

	for (int stops = 0; stops < STOPS_MAX; stops++) {
		if (ptrace(PTRACE_SYSCALL, harness.critd, NULL, NULL) ||
		    waitpid(harness.critd, &status, 0) < 0 || !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GET_SYSCALL_INFO, harness.critd, sizeof(info), &info) < 0)
			return false;
		if (info.op == PTRACE_SYSCALL_INFO_EXIT && is_peek)
			return true;
		is_peek = info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_recvmsg &&
			  (info.entry.args[2] & MSG_PEEK);
	}
	return false;
}

/* The run's output and finisher; ret_finisher: both ends, as the client keeps that of critd. */
static void begin_run(const char *key, int ret_finisher[2], int ret_clients[2])
{
	const struct crit_message_output message = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(message) },
	};
	struct crit_message_welcome welcome;
	char path[192];
	int fds[2];

	(void)snprintf(path, sizeof(path), "%s/%s.crit", harness.directory, key);
	fds[0] = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fds[0] < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_finisher))
		exit(1);
	fds[1] = ret_finisher[0];
	for (int i = 0; i < 2; i++) { /* the second is welcome when the output was taken */
		ret_clients[i] = crit_harness_hello(&harness, key, CRIT_ROLE_SHIM);
		if (i == 1)
			CHECK_INT_EQ(crit_harness_send(ret_clients[0], &message, sizeof(message),
						       fds, 2),
				     0);
		CHECK_INT_EQ(crit_harness_receive(ret_clients[i], &welcome, sizeof(welcome)),
			     (long)sizeof(welcome));
	}
	close(fds[0]);
}

/* critd looks at a message; the client, who has the same end, takes it and sends another. */
static void swapped_at_finisher(int fd)
{
	int finisher[2], clients[2], status;
	char byte;

	begin_run("swapped", finisher, clients);
	CHECK_INT_EQ(ptrace(PTRACE_SEIZE, harness.critd, NULL, PTRACE_O_TRACESYSGOOD), 0);
	CHECK_INT_EQ(ptrace(PTRACE_INTERRUPT, harness.critd, NULL, NULL), 0);
	(void)waitpid(harness.critd, &status, 0);
	CHECK_INT_EQ(crit_harness_send(finisher[1], "x", 1, NULL, 0), 0);
	CHECK(stop_behind_peek());
	CHECK_INT_EQ(recv(finisher[0], &byte, 1, MSG_DONTWAIT), 1);
	CHECK_INT_EQ(crit_harness_send(finisher[1], "x", 1, &fd, 1), 0);
	close(fd);
	(void)ptrace(PTRACE_DETACH, harness.critd, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		close(finisher[i]);
		close(clients[i]);
	}
}

static const struct way {
	const char *name;
	void (*pass)(int fd);
} ways[] = {
	{ "in REGISTER", in_register },
	{ "in OUTPUT", in_output },
	{ "left unread", left_unread },
	{ "from a finisher", from_finisher },
	{ "from a finisher, swapped", swapped_at_finisher },
};

static void try_way(const struct way *way, size_t number)
{
	struct lingering lingering;
	char key[16];

	CHECK_CASE("%s", way->name);
	open_lingering(&lingering);
	way->pass(lingering.passed_fd);
	CHECK(wait_closing(lingering.port));
	(void)snprintf(key, sizeof(key), "served %zu", number);
	check_served(key);
	CHECK_UINT_EQ(state_of(lingering.port), TCP_FIN_WAIT1); /* still */
	close(lingering.peer_fd); /* with unread data: a reset ends the waiting */
}

int main(void)
{
	const char *const arguments[] = { "--idle-exit", "1", "--no-kernel", NULL };

	crit_harness_start(&harness, arguments);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		try_way(&ways[i], i);
	CHECK_CASE("end");
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
	return check_done();
}
