// SPDX-License-Identifier: BSD-3-Clause
// Wraps the two system calls (ld --wrap) by which critd waits and learns who its clients are.
#include "tests/fuzz/critd/critd_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/system/now.h"
#include "collector/loop/lifecycle.h"
#include "collector/loop/server.h"
#include "collector/loop/server_state.h"

#define CONNECTS_MAX 64u
#define LAST_ROUNDS 10000u /* of a millisecond */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int __real_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms);
int __real_getsockopt(int fd, int level, int option, void *value, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *length);

static struct {
	struct crit_server *server;
	struct sockaddr_un address;
	socklen_t address_bytes;
	bool (*act)(void *user);
	void *user;
	bool is_over; /* act has ended */
	unsigned int rounds; /* since then */
	pid_t pids[INSIDE_PROCESSES];
	pid_t connected[CONNECTS_MAX]; /* in order; critd accepts in that order */
	unsigned int connects, accepts;
} inside;

static void die(const char *what)
{
	perror(what);
	abort();
}

static void say(const char *text)
{
	(void)text;
}

static pid_t start_sleeper(void)
{
	const pid_t parent = getpid();
	const pid_t pid = fork();

	if (pid < 0)
		die("cannot fork");
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || close_range(0, ~0u, 0)) /* holds nobody's pipe open */
			_exit(1);
		(void)execl("/bin/sleep", "sleep", "infinity", (char *)NULL);
		_exit(127);
	}
	return pid;
}

pid_t inside_pid(unsigned int process)
{
	return inside.pids[process % INSIDE_PROCESSES];
}

int inside_connect(unsigned int process)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (inside.connects >= CONNECTS_MAX ||
	    connect(fd, (struct sockaddr *)&inside.address, inside.address_bytes)) {
		close(fd);
		return -1;
	}
	inside.connected[inside.connects++] = inside_pid(process);
	return fd;
}

void inside_tick(void)
{
	inside.server->is_behind = true;
	inside.server->slow_ns = 0;
}

/* Without --wrap of both, critd would wait for ever, or see nobody but the fuzzer. */
int __wrap_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
	(void)timeout_ms;
	if (!inside.is_over)
		inside.is_over = !inside.act(inside.user);
	else if (inside.server->client_count == 0)
		inside.server->is_stopping = true;
	else if (inside.rounds++ > LAST_ROUNDS)
		die("a client stays that has hung up");
	/* other threads of critd may have work to end */
	return __real_epoll_wait(fd, events, count, inside.is_over && inside.rounds > 0);
}

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
	if (level == SOL_SOCKET && option == SO_PEERPIDFD) {
		errno = ENOPROTOOPT; /* critd asks by the number instead */
		return -1;
	}
	if (level == SOL_SOCKET && option == SO_PEERCRED && inside.accepts < inside.connects) {
		struct ucred *peer = value;

		*peer = (struct ucred){ inside.connected[inside.accepts++], getuid(), getgid() };
		return 0;
	}
	return __real_getsockopt(fd, level, option, value, length);
}

/* An abstract name the kernel chooses. */
static int open_listener(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	inside.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	inside.address_bytes = sizeof(inside.address);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&inside.address, sizeof(inside.address.sun_family)) ||
	    listen(fd, CONNECTS_MAX) ||
	    getsockname(fd, (struct sockaddr *)&inside.address, &inside.address_bytes))
		die("cannot listen");
	return fd;
}

/* critd leaves it to its exit to free what is left. */
static void release_runs(struct crit_server *server)
{
	for (unsigned int round = 0; server->run_count > 0; round++) {
		if (round > LAST_ROUNDS)
			die("a run does not end");
		for (__u32 i = 0; i < server->run_end; i++) {
			if (server->runs[i].state != CRIT_RUN_FREE)
				crit_lifecycle_step(server, &server->runs[i], crit_now_ns());
		}
		if (round > 0)
			(void)usleep(1000);
	}
}

void inside_serve(bool (*act)(void *user), void *user)
{
	const struct crit_options options = { .listen_fd = open_listener(),
					      .served_uid = getuid(),
					      .is_service = true,
					      .has_no_kernel = true };
	struct crit_err err = { "" };
	sigset_t before;

	for (unsigned int i = 0; i < INSIDE_PROCESSES; i++)
		if (!inside.pids[i])
			inside.pids[i] = start_sleeper();
	inside.act = act;
	inside.user = user;
	inside.is_over = false;
	inside.rounds = inside.connects = inside.accepts = 0;
	(void)sigprocmask(SIG_SETMASK, NULL, &before);
	if (crit_server_open(&options, say, &inside.server, &err) ||
	    crit_server_run(inside.server, &err))
		die(err.text);
	release_runs(inside.server);
	crit_server_close(inside.server);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}
