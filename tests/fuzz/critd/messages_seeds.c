// SPDX-License-Identifier: BSD-3-Clause
// Conversations with critd as shims, runners and roots have them, and some that make no sense.
#include "tests/fuzz/seeds.h"

#include <string.h>

#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"
#include "tests/fuzz/critd/script.h"

#define CONVERSATIONS (sizeof(conversations) / sizeof(conversations[0]))

static void connect_as(struct script *script, unsigned int client, unsigned int process)
{
	script_add(script,
		   (struct hostile_step){ .act = HOSTILE_CONNECT,
					  .client = (uint8_t)client,
					  .how = (uint8_t)process },
		   NULL);
}

static void hang_up(struct script *script, unsigned int client)
{
	script_add(script, (struct hostile_step){ .act = HOSTILE_CLOSE, .client = (uint8_t)client },
		   NULL);
}

static void tick(struct script *script)
{
	script_add(script, (struct hostile_step){ .act = HOSTILE_TICK }, NULL);
}

static void say_hello(struct script *script, unsigned int client, uint32_t role, char key)
{
	struct crit_message_hello message = { .head.kind = CRIT_M_HELLO,
					      .role = role,
					      .flavour = CRIT_FLAVOUR_MPICH,
					      .run_key = { key },
					      .exe = "/bin/solver" };

	script_send(script, client, 0, &message, sizeof(message));
}

static void say_output(struct script *script, unsigned int client, uint32_t level, unsigned int fds)
{
	struct crit_message_output message = { .head.kind = CRIT_M_OUTPUT,
					       .max_bytes = 1,
					       .level = level,
					       .directory = "/tmp/crit-solver",
					       .host = "node" };

	script_send(script, client, fds, &message, sizeof(message));
}

static void say_register(struct script *script, unsigned int client, unsigned int fds)
{
	struct crit_message_register message = { .head.kind = CRIT_M_REGISTER,
						 .tls_offset = CRIT_TLS_NONE,
						 .ns_pid = 7,
						 .has_memfd = fds != 0,
						 .arguments = "solver -n 3" };

	script_send(script, client, fds, &message, sizeof(message));
}

static void say_rank(struct script *script, unsigned int client, uint32_t rank, uint32_t size)
{
	struct crit_message_rank message = { .head.kind = CRIT_M_RANK,
					     .rank = rank,
					     .size = size,
					     .open_ns = 1,
					     .world = "w",
					     .library = "MPICH Version: 4" };

	script_send(script, client, 0, &message, sizeof(message));
}

static void say_close(struct script *script, unsigned int client, uint32_t has_reopened)
{
	struct crit_message_close message = { .head.kind = CRIT_M_CLOSE,
					      .close_ns = has_reopened ? 0 : ~0ull >> 2,
					      .has_reopened = has_reopened };

	script_send(script, client, 0, &message, sizeof(message));
}

static void say_clock(struct script *script, unsigned int client)
{
	struct crit_message_clock message = { .head.kind = CRIT_M_CLOCK,
					      .time_ns = 5,
					      .offset_ns = -3,
					      .bound_ns = 9,
					      .reference = "other" };

	script_send(script, client, 0, &message, sizeof(message));
}

static void say_nodes(struct script *script, unsigned int client, uint32_t count)
{
	struct crit_message_nodes message = { .head.kind = CRIT_M_NODES,
					      .count = count,
					      .hosts = { "node", "other" } };

	script_send(script, client, 0, &message, sizeof(message));
}

static void say_job(struct script *script, unsigned int client)
{
	struct crit_message_job message = {
		.head.kind = CRIT_M_JOB,
		.job = { .task = 1, .scheduler = "slurm", .name = "n", .step = "0" }
	};

	script_send(script, client, 0, &message, sizeof(message));
}

static void say_only(struct script *script, unsigned int client, uint16_t kind, unsigned int fds)
{
	struct crit_message_head message = { .kind = kind };

	script_send(script, client, fds, &message, sizeof(message));
}

static void answer_as_finisher(struct script *script, unsigned int client)
{
	struct crit_message_status message = { .head = { CRIT_M_WRITTEN, CRIT_SOCKET_VERSION,
							 sizeof(message) } };

	script_add(script,
		   (struct hostile_step){ .act = HOSTILE_FINISHER,
					  .client = (uint8_t)client,
					  .length = sizeof(message) },
		   &message);
	tick(script);
	script_add(script,
		   (struct hostile_step){
			   .act = HOSTILE_FINISHER, .client = (uint8_t)client, .how = 1 },
		   NULL);
}

#define BOTH (HOSTILE_FD_OUTPUT | HOSTILE_FD_FINISHER << 4)

static void begin_rank(struct script *script, unsigned int client, char key)
{
	connect_as(script, client, client);
	say_hello(script, client, CRIT_ROLE_SHIM, key);
	say_output(script, client, CRIT_LEVEL_TRACE, BOTH); /* refused but to the first */
}

static void converse_alone(struct script *script)
{
	begin_rank(script, 0, 'a');
	say_register(script, 0, HOSTILE_FD_MEMORY);
	say_job(script, 0);
	say_rank(script, 0, 0, 1);
	say_clock(script, 0);
	say_nodes(script, 0, 2);
	say_only(script, 0, CRIT_M_DRAIN, 0);
	tick(script);
	say_close(script, 0, 0);
	tick(script);
	answer_as_finisher(script, 0);
	hang_up(script, 0);
}

static void converse_together(struct script *script)
{
	begin_rank(script, 0, 'a');
	connect_as(script, 1, 1);
	say_hello(script, 1, CRIT_ROLE_SHIM, 'a');
	for (unsigned int i = 0; i < 2; i++) {
		say_register(script, i, i ? HOSTILE_FD_WIDE : HOSTILE_FD_MEMORY);
		say_rank(script, i, i, 2);
	}
	tick(script);
	say_close(script, 0, 0);
	say_close(script, 1, 0);
	say_close(script, 1, 1);
	tick(script);
	say_close(script, 1, 0);
	hang_up(script, 0);
	tick(script);
	answer_as_finisher(script, 0);
}

static void converse_as_runner(struct script *script)
{
	connect_as(script, 0, 0);
	say_hello(script, 0, CRIT_ROLE_RUNNER, 'r');
	say_output(script, 0, CRIT_LEVEL_PROFILE, BOTH);
	connect_as(script, 1, 1);
	say_hello(script, 1, CRIT_ROLE_ROOT, 'r');
	say_register(script, 1, HOSTILE_FD_NONE);
	hang_up(script, 1);
	tick(script);
	connect_as(script, 2, 2);
	say_hello(script, 2, CRIT_ROLE_RUNNER, 'r');
	say_only(script, 2, CRIT_M_ATTACH, HOSTILE_FD_PIDFD);
	tick(script);
	hang_up(script, 2);
	tick(script);
}

static void converse_across_exec(struct script *script)
{
	begin_rank(script, 0, 'x');
	say_register(script, 0, HOSTILE_FD_MEMORY);
	say_rank(script, 0, 0, 1);
	hang_up(script, 0);
	connect_as(script, 1, 0);
	say_hello(script, 1, CRIT_ROLE_SHIM, 'x');
	say_register(script, 1, HOSTILE_FD_WIDE);
	say_rank(script, 1, 0, 1);
	say_close(script, 1, 0);
	tick(script);
}

static void converse_in_two_runs(struct script *script)
{
	begin_rank(script, 0, 'a');
	begin_rank(script, 1, 'b');
	say_register(script, 1, HOSTILE_FD_MEMORY);
	hang_up(script, 0);
	connect_as(script, 2, 2);
	say_hello(script, 2, CRIT_ROLE_SHIM, 'a');
	say_output(script, 2, CRIT_LEVEL_TRACE, BOTH);
	say_register(script, 2, HOSTILE_FD_MEMORY);
	tick(script);
}

static void converse_without_sense(struct script *script)
{
	connect_as(script, 0, 0);
	say_rank(script, 0, 0, 1);
	for (unsigned int kind = 1; kind < HOSTILE_FD_COUNT; kind++) {
		unsigned int client = kind % 8;

		connect_as(script, client, 0);
		say_hello(script, client, CRIT_ROLE_SHIM, (char)('a' + kind));
		say_output(script, client, kind, kind | HOSTILE_FD_FINISHER << 4);
		say_register(script, client, kind);
	}
	for (unsigned int kind = 0; kind <= CRIT_M_COUNT; kind++) {
		begin_rank(script, kind % 8, 'z');
		say_register(script, kind % 8, HOSTILE_FD_MEMORY);
		say_only(script, kind % 8, (uint16_t)kind, kind % 3);
	}
	begin_rank(script, 3, 'y');
	say_register(script, 3, HOSTILE_FD_MEMORY);
	say_nodes(script, 3, CRIT_NODES_MAX + 1);
	tick(script);
}

static void (*const conversations[])(struct script *script) = {
	converse_alone,       converse_together,    converse_as_runner,
	converse_across_exec, converse_in_two_runs, converse_without_sense,
};

struct input crit_fuzz_seed(size_t number)
{
	struct script script = { { NULL, 0 }, 0 };

	if (number < CONVERSATIONS)
		conversations[number](&script);
	return script.input;
}
