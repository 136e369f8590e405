// SPDX-License-Identifier: BSD-3-Clause
// Takes the steps of a script one after another, and looks at the recordings afterwards.
#include "tests/fuzz/critd/hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"
#include "core/base/err.h"
#include "tests/fuzz/critd/critd_inside.h"
#include "tests/lib/analysed.h"
#include "tests/lib/critd_harness.h"

#define CLIENTS 8u
#define OUTPUTS 4u
#define STEPS_MAX 400u
#define FDS_MAX 8u
#define LITTLE_SLOTS 64u
#define WIDE_SLOTS 32768u

struct client {
	int fd;
	int finisher_fd; /* our end */
	int memory_fd; /* ours, beside what critd holds */
	uint32_t ring_slots;
	unsigned int process;
};

struct play {
	const uint8_t *data;
	size_t size, at;
	unsigned int steps;
	unsigned int prelude; /* steps of a rank that are still to be taken */
	unsigned int outputs;
	struct client clients[CLIENTS];
};

static char directory[] = "/dev/shm/crit-fuzz-XXXXXX";

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void output_path(unsigned int number, char ret_path[64])
{
	(void)snprintf(ret_path, 64, "%s/%u.crit", directory, number);
}

static void remove_outputs(void)
{
	char path[64];

	for (unsigned int i = 0; i < OUTPUTS; i++) {
		output_path(i, path);
		(void)unlink(path);
	}
	(void)rmdir(directory);
}

static int open_memory(uint32_t slots)
{
	struct crit_shm_head head = { .magic = CRIT_SHM_MAGIC,
				      .version = CRIT_SHM_VERSION,
				      .head_bytes = CRIT_SHM_HEAD_BYTES,
				      .buffer_count = CRIT_THREAD_BUFFERS_MIN,
				      .buffer_bytes = CRIT_THREAD_BUFFER_RING_OFFSET +
						      slots * CRIT_SLOT_BYTES,
				      .ring_slots = slots,
				      .counter_count = CRIT_COUNTERS };
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 ||
	    ftruncate(fd,
		      (off_t)CRIT_SHM_HEAD_BYTES + (off_t)head.buffer_count * head.buffer_bytes) ||
	    pwrite(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		abort();
	return fd;
}

/* The client's memory; it has one from its first use on. */
static int own_memory(struct client *client, uint32_t slots)
{
	if (client->memory_fd < 0) {
		client->memory_fd = open_memory(slots);
		client->ring_slots = slots;
	}
	return fcntl(client->memory_fd, F_DUPFD_CLOEXEC, 0);
}

static int open_output(struct play *play, int flags)
{
	char path[64];

	if (play->outputs >= OUTPUTS)
		return open("/dev/null", flags | O_CLOEXEC);
	output_path(play->outputs++, path);
	return open(path, flags | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static int open_pair(int type, int *ret_ours)
{
	int pair[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -1;
	drop(ret_ours);
	*ret_ours = pair[1];
	return pair[0];
}

static int open_pipe(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	close(ends[1]);
	return ends[0];
}

static int open_fd(struct play *play, struct client *client, unsigned int kind)
{
	switch (kind) {
	case HOSTILE_FD_MEMORY:
		return own_memory(client, LITTLE_SLOTS);
	case HOSTILE_FD_WIDE:
		return own_memory(client, WIDE_SLOTS);
	case HOSTILE_FD_UNSEALED:
		return memfd_create("unsealed", MFD_CLOEXEC);
	case HOSTILE_FD_OUTPUT:
		return open_output(play, O_WRONLY | O_APPEND);
	case HOSTILE_FD_FINISHER:
		return open_pair(SOCK_SEQPACKET, &client->finisher_fd);
	case HOSTILE_FD_PIPE:
		return open_pipe();
	case HOSTILE_FD_PIDFD:
		return (int)syscall(SYS_pidfd_open, inside_pid(client->process + 1), 0);
	case HOSTILE_FD_NULL:
		return open("/dev/null", O_RDWR | O_APPEND | O_CLOEXEC);
	case HOSTILE_FD_READ_ONLY:
		return open_output(play, O_RDONLY);
	case HOSTILE_FD_STREAM:
		return open_pair(SOCK_STREAM, &client->finisher_fd);
	case HOSTILE_FD_DIRECTORY:
		return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	default:
		return -1;
	}
}

static size_t least_bytes(uint16_t kind)
{
	static const size_t sizes[CRIT_M_COUNT] = {
		[CRIT_M_HELLO] = sizeof(struct crit_message_hello),
		[CRIT_M_OUTPUT] = sizeof(struct crit_message_output),
		[CRIT_M_REGISTER] = sizeof(struct crit_message_register),
		[CRIT_M_RANK] = sizeof(struct crit_message_rank),
		[CRIT_M_CLOSE] = sizeof(struct crit_message_close),
		[CRIT_M_CLOCK] = sizeof(struct crit_message_clock),
		[CRIT_M_NODES] = sizeof(struct crit_message_nodes),
		[CRIT_M_JOB] = sizeof(struct crit_message_job),
	};

	return kind < CRIT_M_COUNT && sizes[kind] ? sizes[kind] : sizeof(struct crit_message_head);
}

static void send_message(struct play *play, struct client *client, const struct hostile_step *step,
			 const uint8_t *bytes)
{
	union {
		struct crit_message_head head;
		uint8_t bytes[CRIT_MESSAGE_MAX + 64];
	} message = { .bytes = { 0 } };
	size_t size = step->length < sizeof(message) ? step->length : sizeof(message);
	int fds[FDS_MAX];
	int count = 0;

	memcpy(message.bytes, bytes, size);
	if (step->flags & HOSTILE_RIGHT) {
		size_t least = least_bytes(message.head.kind);

		size = size > least ? size : least;
		message.head.version = CRIT_SOCKET_VERSION;
		message.head.size = (uint32_t)size;
	}
	for (unsigned int i = 0; i < 2; i++) {
		int fd = open_fd(play, client, step->how >> (4 * i) & 15);

		if (fd >= 0)
			fds[count++] = fd;
	}
	for (unsigned int i = 0; step->flags & HOSTILE_MANY && i < 6; i++)
		fds[count++] = open_pipe();
	if (size > 0)
		(void)crit_harness_send(client->fd, message.bytes, size, fds, count);
	while (count > 0)
		close(fds[--count]);
}

static void write_memory(struct client *client, const struct hostile_step *step,
			 const uint8_t *bytes)
{
	int fd = own_memory(client, LITTLE_SLOTS);
	off_t at = step->at;

	if (step->how > 0) {
		at = CRIT_SHM_HEAD_BYTES + (off_t)((step->how - 1) % CRIT_THREAD_BUFFERS_MIN) *
						   (CRIT_THREAD_BUFFER_RING_OFFSET +
						    client->ring_slots * CRIT_SLOT_BYTES);
		if (step->flags & HOSTILE_RING)
			at += CRIT_THREAD_BUFFER_RING_OFFSET + (off_t)step->at * CRIT_SLOT_BYTES;
		else if (step->flags & HOSTILE_COUNTERS)
			at += CRIT_THREAD_BUFFER_HEAD_BYTES + step->at;
		else
			at += step->at;
	}
	(void)!pwrite(fd, bytes, step->length, at); /* its end may lie behind the memory's */
	close(fd);
}

static void use_finisher(struct client *client, const struct hostile_step *step,
			 const uint8_t *bytes)
{
	if (client->finisher_fd < 0)
		return;
	if (step->how & 1)
		drop(&client->finisher_fd);
	else if (step->length > 0)
		(void)send(client->finisher_fd, bytes, step->length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void take_step(struct play *play, const struct hostile_step *step, const uint8_t *bytes)
{
	struct client *client = &play->clients[step->client % CLIENTS];

	switch (step->act % HOSTILE_ACT_COUNT) {
	case HOSTILE_CONNECT:
		drop(&client->fd);
		client->process = step->how % INSIDE_PROCESSES;
		client->fd = inside_connect(client->process);
		break;
	case HOSTILE_SEND:
		if (client->fd >= 0)
			send_message(play, client, step, bytes);
		break;
	case HOSTILE_CLOSE:
		drop(&client->fd);
		break;
	case HOSTILE_MEMORY:
		write_memory(client, step, bytes);
		break;
	case HOSTILE_TICK:
		inside_tick();
		break;
	default:
		use_finisher(client, step, bytes);
		break;
	}
}

/* What a well-behaved rank does first, in as many steps. */
#define PRELUDE 5u

static void take_prelude(struct play *play)
{
	struct client *client = &play->clients[0];
	struct crit_message_hello hello = { .head.kind = CRIT_M_HELLO,
					    .role = CRIT_ROLE_SHIM,
					    .flavour = CRIT_FLAVOUR_OPENMPI,
					    .run_key = "k" };
	struct crit_message_head output = { .kind = CRIT_M_OUTPUT };
	struct crit_message_register rank = { .head.kind = CRIT_M_REGISTER,
					      .tls_offset = CRIT_TLS_NONE,
					      .has_memfd = 1 };
	struct crit_message_rank world = { .head.kind = CRIT_M_RANK, .size = 2, .open_ns = 1 };
	struct hostile_step step = { .flags = HOSTILE_RIGHT };

	switch (PRELUDE - play->prelude--) {
	case 0:
		client->fd = inside_connect(0);
		break;
	case 1:
		step.length = sizeof(hello);
		send_message(play, client, &step, (uint8_t *)&hello);
		break;
	case 2:
		step.how = HOSTILE_FD_OUTPUT | HOSTILE_FD_FINISHER << 4;
		step.length = sizeof(output);
		send_message(play, client, &step, (uint8_t *)&output);
		break;
	case 3:
		step.how = play->size & 1 ? HOSTILE_FD_MEMORY : HOSTILE_FD_WIDE;
		step.length = sizeof(rank);
		send_message(play, client, &step, (uint8_t *)&rank);
		break;
	default:
		step.length = sizeof(world);
		send_message(play, client, &step, (uint8_t *)&world);
		break;
	}
}

static void hang_up(struct play *play)
{
	for (unsigned int i = 0; i < CLIENTS; i++) {
		drop(&play->clients[i].fd);
		drop(&play->clients[i].finisher_fd);
		drop(&play->clients[i].memory_fd);
	}
}

static bool act(void *user)
{
	struct play *play = user;
	struct hostile_step step;

	if (play->prelude > 0) {
		take_prelude(play);
		return true;
	}
	if (play->size - play->at < sizeof(step) || play->steps++ >= STEPS_MAX) {
		hang_up(play);
		return false;
	}
	memcpy(&step, play->data + play->at, sizeof(step));
	play->at += sizeof(step);
	if (step.length > play->size - play->at)
		step.length = (uint16_t)(play->size - play->at);
	take_step(play, &step, play->data + play->at);
	play->at += step.length;
	return true;
}

static void check_output(unsigned int number)
{
	struct crit_harness_recording recording;
	struct crit_analysis_options options = { 0 };
	struct crit_results *results = NULL;
	struct crit_err err = { "" };
	const char *broken = NULL;
	char path[64];
	const char *paths[] = { path };
	int rc = 0;

	output_path(number, path);
	if (!crit_harness_read(path, &recording)) {
		crit_harness_free(&recording);
		return; /* it was never taken */
	}
	if (!recording.is_whole)
		broken = "the recording is not whole";
	else
		rc = crit_analyse(paths, 1, &options, &results, &err);
	if (rc)
		broken = err.text;
	else if (!broken)
		broken = crit_analysed_failed_check(results);
	crit_results_destroy(results);
	crit_harness_free(&recording);
	if (broken) {
		fprintf(stderr, "broken: %s\n", broken);
		abort();
	}
}

void hostile_play(const uint8_t *data, size_t size, bool has_rank)
{
	static bool has_directory;
	struct play play = { .data = data, .size = size, .prelude = has_rank ? PRELUDE : 0 };

	if (!has_directory) {
		has_directory = true;
		if (!mkdtemp(directory) || atexit(remove_outputs))
			abort();
	}
	for (unsigned int i = 0; i < CLIENTS; i++)
		play.clients[i] = (struct client){ .fd = -1, .finisher_fd = -1, .memory_fd = -1 };
	inside_serve(act, &play);
	for (unsigned int i = 0; i < play.outputs; i++)
		check_output(i);
}
