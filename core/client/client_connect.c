// SPDX-License-Identifier: BSD-3-Clause
// Connects to the collector's socket; if nobody listens, takes the lock beside it and starts critd.
#include "core/client/client_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/client/client_directory.h"
#include "core/client/client_log.h"
#include "core/client/client_spawn.h"

#define BACKLOG 4096
#define RETRY_NS 2000000
#define LEAST_FD 64
#define ARGUMENTS_MAX 8 /* of critd */
#define CPU_TEXT_BYTES 16

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)crit_client_copy(address.sun_path, sizeof(address.sun_path), path);
	return address;
}

/* Out of the way of programs that count on low numbers; low it stays where the limit is low. */
static int move_up(int fd)
{
	const int moved = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);

	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

/* Answers the descriptor. */
static int try_connect(const char *path, char ret_path[CRIT_SOCKET_PATH_BYTES])
{
	const struct sockaddr_un address = address_of(path);
	crit_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int connected;

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	(void)crit_client_copy(ret_path, CRIT_SOCKET_PATH_BYTES, path);
	connected = move_up(fd);
	fd = -1;
	return connected;
}

/* Where a prolog or a unit put a socket for us. */
static int try_room(const char *name, char ret_path[CRIT_SOCKET_PATH_BYTES])
{
	char path[CRIT_SOCKET_PATH_BYTES];

	if (snprintf(path, sizeof(path), "/run/crit/%u/%s.sock", (unsigned int)geteuid(), name) >=
	    (int)sizeof(path))
		return -ENOENT;
	return try_connect(path, ret_path);
}

static int try_given_sockets(const struct crit_client_env *env,
			     char ret_path[CRIT_SOCKET_PATH_BYTES])
{
	const char *job = getenv("SLURM_JOB_ID");
	int fd = env->socket[0] ? try_connect(env->socket, ret_path) : -ENOENT;

	if (fd < 0 && job && *job && !strchr(job, '/'))
		fd = try_room(job, ret_path);
	return fd < 0 ? try_room("node", ret_path) : fd;
}

/* Answers the listening descriptor; under the lock. */
static int listen_at(const char *path)
{
	const struct sockaddr_un address = address_of(path);
	crit_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int listening = fd;

	if (fd < 0)
		return -errno;
	(void)unlink(path); /* left by a client that was killed */
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0600) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	fd = -1;
	return listening;
}

/*
 * Under the lock: others find the socket only when we are connected and have said what we have to
 * say, so critd takes us and that first.  What lies at path was left by a critd that was killed:
 * nobody answers there.  Answers the descriptor to listen with.
 */
static int listen_first(const char *path, const struct crit_message_hello *greeting,
			char ret_path[CRIT_SOCKET_PATH_BYTES], int *ret_fd)
{
	char new_path[CRIT_SOCKET_PATH_BYTES];
	crit_autoclose int listen_fd = -1;
	crit_autoclose int fd = -1;
	int listening;

	if (snprintf(new_path, sizeof(new_path), "%s.new", path) >= (int)sizeof(new_path))
		return -ENAMETOOLONG;
	listen_fd = listen_at(new_path);
	if (listen_fd < 0)
		return listen_fd;
	fd = try_connect(new_path, ret_path);
	if (fd < 0)
		return fd;
	if (greeting && send(fd, greeting, sizeof(*greeting), MSG_NOSIGNAL) < 0)
		return -errno;
	if (rename(new_path, path) < 0)
		return -errno;
	(void)crit_client_copy(ret_path, CRIT_SOCKET_PATH_BYTES, path);
	*ret_fd = fd;
	listening = listen_fd;
	fd = listen_fd = -1;
	return listening;
}

static int open_log(const char *socket_path)
{
	char directory[CRIT_SOCKET_PATH_BYTES];
	const char *slash = strrchr(socket_path, '/');

	(void)snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - socket_path) : 0,
		       socket_path);
	return crit_client_open_log(directory, CRIT_CRITD_LOG_NAME);
}

static bool is_bounded(int capability)
{
	return prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 0;
}

static int cannot_start(struct crit_err *err, int error, const char *program)
{
	/* the kernel executes no file that has the effective bit for what it cannot be given */
	if (error == -EPERM && (is_bounded(CAP_BPF) || is_bounded(CAP_PERFMON)))
		return crit_err_set(err, error,
				    "cannot start critd: %s; its file capabilities are not in this "
				    "container's bounding set; fix: sudo setcap "
				    "cap_bpf,cap_perfmon+p %.100s",
				    strerrordesc_np(EPERM), program);
	return crit_err_set(err, error, "cannot start %.200s: %s", program,
			    strerrordesc_np(-error));
}

static int cannot(struct crit_err *err, int error, const char *what, const char *path)
{
	return crit_err_set(err, error, "cannot %s %s: %s", what, path, strerrordesc_np(-error));
}

/* What critd is told beyond its socket.  Who has a greeting for it goes on, where it is now. */
static void add_options(const struct crit_client_search *search, char ret_cpu[CPU_TEXT_BYTES],
			const char *arguments[ARGUMENTS_MAX + 1])
{
	const int cpu = search->greeting ? sched_getcpu() : -1;
	int count = 0;

	while (arguments[count])
		count++;
	if (search->has_no_kernel)
		arguments[count++] = "--no-kernel";
	if (cpu >= 0) {
		(void)snprintf(ret_cpu, CPU_TEXT_BYTES, "%d", cpu);
		arguments[count++] = "--beside-cpu";
		arguments[count] = ret_cpu;
	}
}

/* Under the lock: binds the socket and hands it to a new critd.  Answers the connection. */
static int start_critd(const struct crit_client_search *search, const char *path,
		       char ret_path[CRIT_SOCKET_PATH_BYTES], struct crit_err *err)
{
	const char *arguments[ARGUMENTS_MAX + 1] = { "critd", "--listen-fd", "3", "--socket-path",
						     path };
	char program[CRIT_PATH_BYTES], cpu[CPU_TEXT_BYTES];
	crit_autoclose int listen_fd = -1;
	crit_autoclose int log_fd = -1;
	crit_autoclose int fd = -1;
	int error = crit_client_find_program("critd", program, sizeof(program));
	int connected;

	if (error < 0)
		return crit_err_set(err, error,
				    "cannot find critd in " CRIT_BIN_FROM_LIB
				    " beside this library; reinstall crit");
	listen_fd = listen_first(path, search->greeting, ret_path, &fd);
	if (listen_fd < 0)
		return cannot(err, listen_fd, "bind socket", path);
	log_fd = open_log(path);
	add_options(search, cpu, arguments);
	error = crit_client_spawn(&(struct crit_client_program){ .path = program,
								 .arguments = arguments,
								 .pass_fd = listen_fd,
								 .error_fd = log_fd });
	if (error < 0) {
		(void)unlink(path);
		return cannot_start(err, error, program);
	}
	connected = fd;
	fd = -1;
	return connected;
}

/* Under the lock; its holder before us may have started one. */
static int start_and_connect(const struct crit_client_search *search, const char *path,
			     char ret_path[CRIT_SOCKET_PATH_BYTES], enum crit_client_way *ret_way,
			     struct crit_err *err)
{
	int fd = try_connect(path, ret_path);

	if (fd == -ENOENT || fd == -ECONNREFUSED) {
		fd = start_critd(search, path, ret_path, err);
		if (fd >= 0)
			*ret_way = CRIT_CLIENT_STARTED;
		return fd;
	}
	return fd < 0 ? cannot(err, fd, "connect to", path) : fd;
}

static int connect_or_start(const struct crit_client_search *search, const char *path,
			    char ret_path[CRIT_SOCKET_PATH_BYTES], enum crit_client_way *ret_way,
			    struct crit_err *err)
{
	char lock_path[CRIT_SOCKET_PATH_BYTES + 8];
	crit_autoclose int lock_fd = -1;
	int fd = try_connect(path, ret_path);
	int error;

	if (fd >= 0)
		return fd;
	if (fd != -ENOENT && fd != -ECONNREFUSED)
		return cannot(err, fd, "connect to", path);
	(void)snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
	error = crit_client_take_lock(lock_path, &lock_fd);
	if (error < 0)
		return cannot(err, error, "lock", lock_path);
	fd = start_and_connect(search, path, ret_path, ret_way, err);
	(void)unlink(lock_path);
	(void)flock(lock_fd, LOCK_UN); /* a program just started may hold a copy until its exec */
	return fd;
}

int crit_client_connect(const struct crit_client_search *search,
			char ret_path[CRIT_SOCKET_PATH_BYTES], enum crit_client_way *ret_way,
			struct crit_err *err)
{
	char directory[CRIT_SOCKET_PATH_BYTES];
	char path[CRIT_SOCKET_PATH_BYTES];
	int fd = try_given_sockets(search->env, ret_path);
	int error;

	*ret_way = fd >= 0 ? CRIT_CLIENT_GIVEN : CRIT_CLIENT_FOUND;
	if (fd >= 0)
		return fd;
	error = crit_client_socket_directory(directory, sizeof(directory), err);
	if (error < 0)
		return error;
	if (snprintf(path, sizeof(path), "%s/%.24s-%016" PRIx64 ".sock", directory, search->host,
		     crit_hash_text(search->run_key)) >= (int)sizeof(path))
		return crit_err_set(err, -ENAMETOOLONG, "path of the socket in %s is too long",
				    directory);
	do {
		fd = connect_or_start(search, path, ret_path, ret_way, err);
		if (fd != -EAGAIN)
			return fd;
		crit_clock_pause_ns(RETRY_NS);
	} while (crit_clock_monotonic_ns() < search->deadline_ns);
	return crit_err_set(err, -ETIMEDOUT, "nobody answers at %s", path);
}
