// SPDX-License-Identifier: BSD-3-Clause
// Speaks the protocol of core/abi/abi_socket.h with critd, every step against a deadline.
#include "core/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/guard.h"
#include "core/client/client_connect.h"
#include "core/client/client_job.h"
#include "core/client/client_key.h"
#include "core/client/client_log.h"
#include "core/client/client_output.h"

#define ATTEMPTS 3 /* a critd that had nothing to do may end just when we connect */
#define SEND_NS 1000000000ll
#define LEAST_NS 100000000ll

/* The program may have closed our descriptor and given its number to a file of its own. */
static bool has_connection(struct crit_client *client)
{
	struct stat status;

	if (client->fd >= 0 && (fstat(client->fd, &status) < 0 || status.st_dev != client->device ||
				status.st_ino != client->inode))
		client->fd = -1;
	return client->fd >= 0;
}

/* Answers 0 when fd is ready for events, -ETIMEDOUT or -errno. */
static int wait_ready(int fd, short events, int64_t deadline_ns)
{
	for (;;) {
		struct pollfd entry = { .fd = fd, .events = events };
		int64_t left_ns = deadline_ns - crit_clock_monotonic_ns();
		int count;

		if (left_ns <= 0)
			return -ETIMEDOUT;
		count = poll(&entry, 1, (int)((left_ns + 999999) / 1000000));
		if (count > 0)
			return 0;
		if (count < 0 && errno != EINTR)
			return -errno;
	}
}

struct envelope {
	struct crit_message_head *message;
	int fds[2];
	int fd_count;
};

static int send_message(struct crit_client *client, const struct envelope *envelope,
			int64_t deadline_ns)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { .iov_base = envelope->message, .iov_len = envelope->message->size };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };

	if (envelope->fd_count > 0) {
		const size_t bytes = (size_t)envelope->fd_count * sizeof(int);
		struct cmsghdr *rights = &control.align;

		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(bytes);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(rights), envelope->fds, bytes);
	}
	for (;;) {
		int error;

		if (!has_connection(client))
			return -ENOTCONN;
		if (sendmsg(client->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		error = wait_ready(client->fd, POLLOUT, deadline_ns);
		if (error < 0)
			return error;
	}
}

static int send_plain(struct crit_client *client, struct crit_message_head *message,
		      enum crit_message_kind kind, uint32_t size)
{
	message->kind = (__u16)kind;
	message->version = CRIT_SOCKET_VERSION;
	message->size = size;
	return send_message(client, &(struct envelope){ .message = message },
			    crit_clock_monotonic_ns() + SEND_NS);
}

/* Takes messages until one of this kind and size arrives; others are not for us and are skipped. */
static int receive_message(struct crit_client *client, enum crit_message_kind kind,
			   void *ret_message, size_t size, int64_t deadline_ns)
{
	union {
		char bytes[CRIT_MESSAGE_MAX];
		struct crit_message_head head;
	} buffer;

	for (;;) {
		ssize_t length;
		int error;

		if (!has_connection(client))
			return -ENOTCONN;
		error = wait_ready(client->fd, POLLIN, deadline_ns);
		if (error < 0)
			return error;
		if (!has_connection(client))
			return -ENOTCONN;
		length = recv(client->fd, buffer.bytes, sizeof(buffer.bytes), MSG_DONTWAIT);
		if (length == 0)
			return -EPIPE;
		if (length < 0 && errno != EAGAIN && errno != EINTR)
			return errno == ECONNRESET ? -EPIPE : -errno;
		if (length < (ssize_t)sizeof(buffer.head) || buffer.head.kind != (int)kind)
			continue;
		if (buffer.head.version != CRIT_SOCKET_VERSION || (size_t)length != size)
			return -EPROTO;
		memcpy(ret_message, buffer.bytes, size);
		return 0;
	}
}

static struct crit_message_hello hello_of(const struct crit_client *client,
					  enum crit_client_role role, enum crit_flavour flavour)
{
	struct crit_message_hello hello = {
		.head = { CRIT_M_HELLO, CRIT_SOCKET_VERSION, sizeof(hello) },
		.role = role,
		.flavour = flavour,
	};

	memcpy(hello.run_key, client->run_key, sizeof(hello.run_key));
	memcpy(hello.exe, client->exe, sizeof(hello.exe));
	return hello;
}

static int send_hello(struct crit_client *client, const struct crit_client_options *options)
{
	struct crit_message_hello hello = hello_of(client, options->role, options->flavour);

	return send_message(client, &(struct envelope){ .message = &hello.head },
			    client->deadline_ns);
}

/* One that announced itself may have been answered; if not, critd now knows that it waits. */
static int say_hello(struct crit_client *client, const struct crit_client_options *options,
		     struct crit_message_welcome *ret_welcome)
{
	int error = send_hello(client, options);

	/* who is turned away at once cannot speak any more, but can read why */
	if (error < 0 && error != -ECONNRESET && error != -EPIPE)
		return error;
	return receive_message(client, CRIT_M_WELCOME, ret_welcome, sizeof(*ret_welcome),
			       client->deadline_ns);
}

static int hand_over_output(struct crit_client *client, const struct crit_client_env *env,
			    struct crit_err *err)
{
	struct crit_message_output output = {
		.head = { CRIT_M_OUTPUT, CRIT_SOCKET_VERSION, sizeof(output) },
		.max_bytes = env->max_bytes,
		.level = env->level,
		.sample_hz = env->sample_hz,
		.sample_budget = env->sample_budget,
	};
	crit_autoclose int file_fd = -1;
	crit_autoclose int finisher_fd = -1;
	struct crit_err reason;
	const struct crit_client_output names = { .template = env->directory,
						  .exe = client->exe,
						  .host = client->host,
						  .run_key = client->run_key };
	int error = crit_client_make_output(&names, client->directory, &file_fd, err);

	if (error < 0)
		return error;
	if (crit_client_start_finisher(client->directory, &finisher_fd, &reason) < 0)
		crit_client_log(client->exe, reason.text);
	if (finisher_fd < 0)
		return crit_err_set(err, -EMFILE, "%s", reason.text);
	memcpy(output.directory, client->directory, sizeof(output.directory));
	memcpy(output.host, client->host, sizeof(output.host));
	error = send_message(client,
			     &(struct envelope){ .message = &output.head,
						 .fds = { file_fd, finisher_fd },
						 .fd_count = 2 },
			     client->deadline_ns);
	return error < 0 ? crit_err_set(err, error, "critd did not take the recording: %s",
					strerrordesc_np(-error))
			 : 0;
}

static int64_t start_deadline_ns(void)
{
	return crit_clock_monotonic_ns() + CRIT_CLIENT_START_MS * 1000000ll;
}

static void describe_self(struct crit_client *client, const struct crit_client_options *options)
{
	ssize_t length;

	if (options->exe) {
		(void)crit_client_copy(client->exe, sizeof(client->exe), options->exe);
	} else {
		length = readlink("/proc/self/exe", client->exe, sizeof(client->exe) - 1);
		if (length < 0)
			(void)crit_client_copy(client->exe, sizeof(client->exe), "unknown");
	}
	crit_client_host(client->host);
	crit_client_run_key(options->env, client->run_key);
}

/* What the descriptor is: the program may close it and give its number to a file of its own. */
static int connect_to_critd(struct crit_client *client, const struct crit_client_options *options,
			    struct crit_err *err)
{
	const bool is_in_init = options->role == CRIT_ROLE_IN_INIT;
	const struct crit_message_hello greeting =
		hello_of(client, CRIT_ROLE_STARTER, options->flavour);
	const struct crit_client_search search = { .env = options->env,
						   .host = client->host,
						   .run_key = client->run_key,
						   .deadline_ns = client->deadline_ns,
						   .has_no_kernel = options->has_no_kernel,
						   .greeting = is_in_init ? &greeting : NULL };
	int fd = crit_client_connect(&search, client->socket_path, &client->way, err);
	struct stat status;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0) {
		close(fd);
		return crit_err_set(err, -EBADF, "lost the connection to %s", client->socket_path);
	}
	client->fd = fd;
	client->device = status.st_dev;
	client->inode = status.st_ino;
	return 0;
}

/* Says why there is no critd for us.  Yields the error. */
static int refuse(const struct crit_client *client, int error, struct crit_err *err)
{
	if (error == -ETIMEDOUT)
		return crit_err_set(
			err, error,
			"critd at %s has not answered for %d s, as where a busy machine "
			"gives it no CPU; see critd.log there",
			client->socket_path, CRIT_CLIENT_START_MS / 1000);
	return crit_err_set(err, error, "critd at %s does not serve us: %s; see critd.log there",
			    client->socket_path, strerrordesc_np(-error));
}

/* Says HELLO, on the connection there is or a new one. */
static int ask_welcome(struct crit_client *client, const struct crit_client_options *options,
		       struct crit_message_welcome *ret_welcome, struct crit_err *err)
{
	int error = -ENOENT;

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		error = has_connection(client) ? 0 : connect_to_critd(client, options, err);
		if (error < 0)
			return error;
		error = say_hello(client, options, ret_welcome);
		if (error != -EPIPE || client->is_first)
			break;
		crit_client_fini(client);
	}
	if (error == 0)
		error = ret_welcome->status;
	return error < 0 ? refuse(client, error, err) : 0;
}

static int enter_run(struct crit_client *client, const struct crit_client_options *options,
		     struct crit_err *err)
{
	const bool has_output = client->is_first;
	struct crit_message_welcome welcome;
	int error = ask_welcome(client, options, &welcome, err);

	if (error < 0)
		return error;
	client->run_id = welcome.run_id;
	client->kernel_status = welcome.kernel_status;
	client->perf_status = welcome.perf_status;
	client->is_first = welcome.is_first != 0;
	return !has_output && client->is_first ? hand_over_output(client, options->env, err) : 0;
}

int crit_client_begin(struct crit_client *ret_client, const struct crit_client_options *options,
		      struct crit_err *err)
{
	CRIT_GUARD;

	memset(ret_client, 0, sizeof(*ret_client));
	ret_client->fd = -1;
	ret_client->deadline_ns = start_deadline_ns();
	describe_self(ret_client, options);
	return connect_to_critd(ret_client, options, err);
}

int crit_client_finish(struct crit_client *client, const struct crit_client_options *options,
		       struct crit_err *err)
{
	CRIT_GUARD;
	int error;

	if (client->deadline_ns == 0)
		client->deadline_ns = start_deadline_ns();
	error = enter_run(client, options, err);

	if (error < 0)
		crit_client_fini(client);
	return error;
}

int crit_client_open(struct crit_client *ret_client, const struct crit_client_options *options,
		     struct crit_err *err)
{
	int error = crit_client_begin(ret_client, options, err);

	return error < 0 ? error : crit_client_finish(ret_client, options, err);
}

/* The command line, blanks for NULs, cut. */
static void read_arguments(char ret_text[CRIT_EXE_BYTES])
{
	crit_autoclose int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, ret_text, CRIT_EXE_BYTES - 1);

	if (length < 0)
		length = 0;
	while (length > 0 && ret_text[length - 1] == '\0')
		length--;
	for (ssize_t i = 0; i < length; i++)
		if (ret_text[i] == '\0')
			ret_text[i] = ' ';
	ret_text[length] = '\0';
}

static void join_arguments(char *const *arguments, char ret_text[CRIT_EXE_BYTES])
{
	size_t length = 0;

	for (; *arguments && length < CRIT_EXE_BYTES; arguments++) {
		int added = snprintf(ret_text + length, CRIT_EXE_BYTES - length, "%s%s",
				     length ? " " : "", *arguments);

		length += added > 0 ? (size_t)added : 0;
	}
}

static int await_registered(struct crit_client *client, struct crit_message_registered *ret_answer,
			    struct crit_err *err)
{
	int64_t deadline_ns = crit_clock_monotonic_ns() + LEAST_NS;
	struct crit_message_registered answer;
	int error;

	if (deadline_ns < client->deadline_ns)
		deadline_ns = client->deadline_ns;
	error = receive_message(client, CRIT_M_REGISTERED, &answer, sizeof(answer), deadline_ns);
	if (error == 0)
		error = answer.status;
	if (error < 0)
		return crit_err_set(err, error, "critd at %s did not register the process: %s",
				    client->socket_path, strerrordesc_np(-error));
	answer.directory[sizeof(answer.directory) - 1] = '\0';
	memcpy(client->directory, answer.directory, sizeof(client->directory));
	if (ret_answer)
		*ret_answer = answer;
	return 0;
}

/* Nobody answers; a job that is not told is only not named. */
static void tell_job(struct crit_client *client)
{
	struct crit_message_job message;

	if (crit_client_job(&message.job))
		(void)send_plain(client, &message.head, CRIT_M_JOB, sizeof(message));
}

static int send_register(struct crit_client *client, const struct crit_client_member *member)
{
	struct crit_message_register message = {
		.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(message) },
		.tls_offset = member->tls_offset,
		.clock_offset_ns = member->clock_offset_ns,
		.ns_pid = (__u32)getpid(),
		.has_memfd = member->memfd >= 0,
		.flags = member->flags,
	};

	if (member->arguments)
		join_arguments(member->arguments, message.arguments);
	else
		read_arguments(message.arguments);
	return send_message(client,
			    &(struct envelope){ .message = &message.head,
						.fds = { member->memfd },
						.fd_count = member->memfd >= 0 },
			    crit_clock_monotonic_ns() + SEND_NS);
}

int crit_client_register(struct crit_client *client, const struct crit_client_member *member,
			 struct crit_message_registered *ret_answer, struct crit_err *err)
{
	CRIT_GUARD;
	int error = client->is_register_sent ? 0 : send_register(client, member);

	if (error < 0)
		return crit_err_set(err, error, "cannot send to critd at %s: %s",
				    client->socket_path, strerrordesc_np(-error));
	error = await_registered(client, ret_answer, err);
	if (error == 0)
		tell_job(client);
	return error;
}

int crit_client_announce(struct crit_client *client, const struct crit_client_options *options,
			 const struct crit_client_member *member, struct crit_err *err)
{
	CRIT_GUARD;
	int error;

	if (client->way == CRIT_CLIENT_STARTED) {
		error = hand_over_output(client, options->env, err);
		if (error < 0)
			return error;
		client->is_first = true;
	} else {
		(void)send_hello(client, options); /* what fails shows at the end */
	}
	client->is_register_sent = send_register(client, member) == 0;
	client->deadline_ns = 0;
	return 0;
}

int crit_client_attach(struct crit_client *client, int pidfd, struct crit_err *err)
{
	CRIT_GUARD;
	struct crit_message_head message = { CRIT_M_ATTACH, CRIT_SOCKET_VERSION, sizeof(message) };
	int error = send_message(
		client, &(struct envelope){ .message = &message, .fds = { pidfd }, .fd_count = 1 },
		crit_clock_monotonic_ns() + SEND_NS);

	if (error < 0)
		return crit_err_set(err, error, "cannot send to critd at %s: %s",
				    client->socket_path, strerrordesc_np(-error));
	return await_registered(client, NULL, err);
}

int crit_client_send_rank(struct crit_client *client, struct crit_message_rank *message)
{
	CRIT_GUARD;

	return send_plain(client, &message->head, CRIT_M_RANK, sizeof(*message));
}

int crit_client_send_close(struct crit_client *client, uint64_t close_ns, bool has_reopened)
{
	CRIT_GUARD;
	struct crit_message_close message = { .close_ns = close_ns, .has_reopened = has_reopened };

	return send_plain(client, &message.head, CRIT_M_CLOSE, sizeof(message));
}

int crit_client_send_clock(struct crit_client *client, struct crit_message_clock *message)
{
	CRIT_GUARD;

	return send_plain(client, &message->head, CRIT_M_CLOCK, sizeof(*message));
}

int crit_client_send_nodes(struct crit_client *client, struct crit_message_nodes *message)
{
	CRIT_GUARD;

	return send_plain(client, &message->head, CRIT_M_NODES, sizeof(*message));
}

void crit_client_send_drain(struct crit_client *client)
{
	CRIT_GUARD;
	struct crit_message_head message = { CRIT_M_DRAIN, CRIT_SOCKET_VERSION, sizeof(message) };

	(void)send_message(client, &(struct envelope){ .message = &message }, 0);
}

int crit_client_wait_written(struct crit_client *client, int timeout_ms, int *ret_status)
{
	CRIT_GUARD;
	struct crit_message_status message;
	int error = receive_message(client, CRIT_M_WRITTEN, &message, sizeof(message),
				    crit_clock_monotonic_ns() + timeout_ms * 1000000ll);

	if (error < 0)
		return error;
	*ret_status = message.status;
	return 0;
}

void crit_client_fini(struct crit_client *client)
{
	CRIT_GUARD;

	if (has_connection(client))
		close(client->fd);
	client->fd = -1;
	client->is_register_sent = false;
}
