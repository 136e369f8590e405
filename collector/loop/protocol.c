// SPDX-License-Identifier: BSD-3-Clause
// The protocol of core/abi/abi_socket.h, critd's side.
#include "collector/loop/protocol.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/loop/connections.h"
#include "collector/loop/lifecycle.h"
#include "collector/loop/run_list.h"
#include "collector/loop/run_output.h"
#include "collector/member/members.h"
#include "collector/system/now.h"
#include "collector/system/procfs.h"
#include "core/base/clock.h"

#define MESSAGES_MAX 4096u /* of one client: sessions may come and go */

#define terminate(field) ((field)[sizeof(field) - 1] = '\0')

static struct crit_run *find_run(const struct crit_server *server, const char *key)
{
	for (uint32_t i = 0; i < server->run_end; i++) {
		struct crit_run *run = &server->runs[i];

		if ((run->state == CRIT_RUN_STARTING || run->state == CRIT_RUN_RECORDING) &&
		    strcmp(run->key, key) == 0)
			return run;
	}
	return NULL;
}

/* Slots are taken in turn, so that a late record of an old run does not hit a new one. */
static struct crit_run *begin_run(struct crit_server *server,
				  const struct crit_message_hello *hello)
{
	for (uint32_t i = 0; i < CRIT_RUN_SLOTS; i++) {
		const uint32_t number = server->next_number++;
		const uint32_t slot = number & (CRIT_RUN_SLOTS - 1);
		struct crit_run *run = &server->runs[slot];

		if (run->state != CRIT_RUN_FREE)
			continue;
		memset(run, 0, sizeof(*run));
		run->state = CRIT_RUN_STARTING;
		run->slot = slot;
		run->number = number;
		run->run_id = crit_clock_ns(CLOCK_REALTIME) ^ ((uint64_t)slot << 54);
		run->writer = &server->writer;
		run->meter = server->meter;
		run->finisher_fd = -1;
		memcpy(run->key, hello->run_key, sizeof(run->key));
		memcpy(run->exe, hello->exe, sizeof(run->exe));
		server->run_count++;
		if (slot >= server->run_end)
			server->run_end = slot + 1;
		return run;
	}
	return NULL;
}

static void send_welcome(const struct crit_server *server, struct crit_connection *client, int rc)
{
	struct crit_message_welcome message = {
		.head = { CRIT_M_WELCOME, CRIT_SOCKET_VERSION, sizeof(message) },
		.status = rc,
		.kernel_status = crit_sources_status(server->sources)->kernel,
		.perf_status = crit_sources_status(server->sources)->perf,
	};

	if (!rc) {
		message.is_first = client->run->first == client;
		message.run_id = client->run->run_id;
		client->is_welcome = true;
	}
	crit_connections_send(client, &message, sizeof(message));
	if (rc)
		client->is_over = true;
}

/* Those who wait for the run's output may go on; without a first, one of them is asked for it. */
static void welcome_waiting(struct crit_server *server, struct crit_run *run)
{
	for (uint32_t i = 0; i < server->client_end; i++) {
		struct crit_connection *client = server->clients[i];

		if (!client || client->run != run || client->is_welcome || client->is_over)
			continue;
		if (run->state == CRIT_RUN_STARTING && client->is_in_init)
			continue;
		if (run->state == CRIT_RUN_STARTING) {
			if (run->first)
				return;
			run->first = client;
		}
		send_welcome(server, client, 0);
	}
}

static void on_hello(struct crit_server *server, struct crit_connection *client,
		     struct crit_message_in *in)
{
	struct crit_message_hello *hello = (void *)in->bytes;

	terminate(hello->run_key);
	terminate(hello->exe);
	if (client->is_in_init && hello->role == CRIT_ROLE_SHIM) { /* not any more */
		client->is_in_init = false;
		welcome_waiting(server, client->run);
		return;
	}
	if (client->run || hello->role < CRIT_ROLE_SHIM || hello->role > CRIT_ROLE_STARTER) {
		crit_connections_refuse(server, client, "HELLO makes no sense here");
		return;
	}
	client->is_in_init = hello->role == CRIT_ROLE_IN_INIT || hello->role == CRIT_ROLE_STARTER;
	client->role = client->is_in_init ? CRIT_ROLE_SHIM : hello->role;
	client->flavour = hello->flavour;
	memcpy(client->exe, hello->exe, sizeof(client->exe));
	client->run = find_run(server, hello->run_key);
	if (!client->run)
		client->run = begin_run(server, hello);
	if (!client->run) {
		send_welcome(server, client, -EUSERS);
		return;
	}
	client->run->pending_clients++;
	if (hello->role == CRIT_ROLE_STARTER && !client->run->first)
		client->run->first = client; /* its OUTPUT follows, unasked */
	welcome_waiting(server, client->run);
}

static void put_process(const struct crit_connection *client,
			const struct crit_client_process *process,
			const struct crit_message_register *message)
{
	struct crit_rec_process record = {
		.pid = process->pid,
		.ns_pid = message->ns_pid,
		.flavour = client->flavour,
		.has_memfd = process->shm.fd >= 0,
		.flags = message->flags,
		.clock_offset_ns = message->clock_offset_ns,
		.time_ns = crit_now_ns(),
	};

	memcpy(record.exe, client->exe, sizeof(record.exe));
	memcpy(record.arguments, message->arguments, sizeof(record.arguments));
	crit_run_put_record(client->run, CRIT_C_PROCESS, 0, record.time_ns, &record);
}

static void answer_register(struct crit_connection *client, int rc)
{
	struct crit_message_registered answer = {
		.head = { CRIT_M_REGISTERED, CRIT_SOCKET_VERSION, sizeof(answer) },
		.status = rc,
		.level = client->run->level,
		.tau_ns = client->run->tau_ns,
	};

	memcpy(answer.directory, client->run->directory, sizeof(answer.directory));
	crit_connections_send(client, &answer, sizeof(answer));
}

/* The memory that came with REGISTER.  On success the descriptor is ret_shm's. */
static int take_memfd(const struct crit_message_register *message, struct crit_message_in *in,
		      struct crit_shm *ret_shm, struct crit_err *err)
{
	ret_shm->fd = -1;
	if (!message->has_memfd && in->fd_count == 0)
		return 0;
	if (!message->has_memfd || in->fd_count != 1)
		return crit_err_set(err, -EINVAL, "REGISTER came with %d descriptors",
				    in->fd_count);
	if (in->found.status) {
		*err = in->found.err;
		return in->found.status;
	}
	*ret_shm = in->found.shm;
	in->fds[0] = -1;
	return 0;
}

/* Registering, by REGISTER or ATTACH, ends a client's claim to keep the run alive by waiting. */
static void settle(struct crit_connection *client)
{
	if (client->run->pending_clients > 0 && client->role != CRIT_ROLE_NONE)
		client->run->pending_clients--;
	client->role = CRIT_ROLE_NONE;
}

/* A runner keeps its run alive only until its child is in, so each child frees one of them. */
static void settle_runner(struct crit_server *server, const struct crit_run *run)
{
	for (uint32_t i = 0; i < server->client_end; i++) {
		struct crit_connection *client = server->clients[i];

		if (client && client->run == run && client->role == CRIT_ROLE_RUNNER) {
			settle(client);
			return;
		}
	}
}

static enum crit_arrival arrival_of(const struct crit_message_register *message)
{
	return message->has_memfd ? CRIT_ARRIVAL_SHIM : CRIT_ARRIVAL_BEFORE_EXEC;
}

/* REGISTER of a client in MPI_Init, until the run records. */
static void hold(struct crit_connection *client, struct crit_message_in *in)
{
	client->held = malloc(sizeof(*client->held));
	if (!client->held) {
		client->is_over = true;
		return;
	}
	*client->held = *in;
	in->fd_count = 0; /* they are its own now */
}

static void put_maps(struct crit_server *server, struct crit_client_process *process)
{
	const uint64_t digest = crit_members_put_maps(server->members, process);

	if (digest)
		crit_memory_maps_follow(server->maps, process->pid, digest, crit_now_ns());
}

static void on_register(struct crit_server *server, struct crit_connection *client,
			struct crit_message_in *in)
{
	struct crit_message_register *message = (void *)in->bytes;
	struct crit_candidate candidate = { .pid = client->pid, .tls_offset = message->tls_offset };
	struct crit_err err = { "" };
	int rc;

	terminate(message->arguments);
	if (client->is_in_init && client->run->state == CRIT_RUN_STARTING && !client->held) {
		hold(client, in);
		return;
	}
	if (!client->run || client->run->state != CRIT_RUN_RECORDING || client->process ||
	    client->pidfd < 0) {
		crit_connections_refuse(server, client, "REGISTER makes no sense here");
		return;
	}
	rc = take_memfd(message, in, &candidate.shm, &err);
	if (rc) {
		answer_register(client, rc);
		crit_connections_refuse(server, client, err.text);
		return;
	}
	candidate.pidfd = client->pidfd;
	client->pidfd = -1;
	rc = crit_members_add(server->members, client->run, &candidate, &client->process);
	if (!rc) {
		client->process->holder = &client->process;
		client->process->ns_pid = message->ns_pid;
		client->process->is_mpi = client->role == CRIT_ROLE_SHIM &&
					  (client->flavour == CRIT_FLAVOUR_OPENMPI ||
					   client->flavour == CRIT_FLAVOUR_MPICH);
		put_process(client, client->process, message);
		crit_cpu_limits_begin(&client->process->cpu_limits,
				      client->process->is_mpi ? CRIT_CPU_LIMITS_IN_INIT
							      : CRIT_CPU_LIMITS_SOON,
				      crit_now_ns());
		crit_memory_maps_add(server->maps, client->run, client->process->pid,
				     arrival_of(message), crit_now_ns());
		if (message->has_memfd && !client->process->is_mpi) /* no RANK will come */
			put_maps(server, client->process);
	}
	settle(client);
	if (!rc) {
		crit_meter_credit_arrival(server->meter, crit_now_ns());
		if (arrival_of(message) == CRIT_ARRIVAL_BEFORE_EXEC)
			settle_runner(server, client->run);
	}
	answer_register(client, rc);
}

/* They came before the run's output did. */
static void register_held(struct crit_server *server, const struct crit_run *run)
{
	for (uint32_t i = 0; i < server->client_end; i++) {
		struct crit_connection *client = server->clients[i];
		struct crit_message_in *held = client ? client->held : NULL;

		if (!held || client->run != run || client->is_over)
			continue;
		client->held = NULL;
		on_register(server, client, held);
		crit_message_in_close(server->closers, held);
		free(held);
	}
}

static void on_output(struct crit_server *server, struct crit_connection *client,
		      struct crit_message_in *in)
{
	struct crit_message_output *output = (void *)in->bytes;
	struct crit_run *run = client->run;
	struct crit_err err = { "" };

	terminate(output->directory);
	terminate(output->host);
	if (in->size < sizeof(*output))
		output->sample_budget = 0;
	if (!run || run->state != CRIT_RUN_STARTING || run->first != client) {
		crit_connections_refuse(server, client, "OUTPUT was not asked for");
		return;
	}
	if (crit_run_output_take(server, run, output, in, &err)) {
		crit_connections_refuse(server, client, err.text);
		return;
	}
	welcome_waiting(server, run);
	register_held(server, run);
}

static int attach(struct crit_server *server, struct crit_connection *client,
		  struct crit_message_in *in)
{
	struct crit_candidate candidate = { .tls_offset = CRIT_TLS_NONE, .shm.fd = -1 };
	struct crit_message_register message = { .clock_offset_ns = 0 };
	struct crit_client_process *process;
	uint32_t uid = 0;
	int rc = -EINVAL;

	if (in->fd_count == 1) {
		rc = in->found.status;
		candidate.pid = in->found.pid;
	}
	if (!rc)
		rc = crit_procfs_owner(server->proc_fd, candidate.pid, &uid);
	if (!rc && uid != server->options.served_uid)
		rc = -EACCES;
	if (rc)
		return rc;
	candidate.pidfd = in->fds[0];
	in->fds[0] = -1;
	rc = crit_members_add(server->members, client->run, &candidate, &process);
	if (rc)
		return rc;
	message.ns_pid = candidate.pid;
	put_process(client, process, &message); /* without arguments: that says attached */
	crit_cpu_limits_begin(&process->cpu_limits, CRIT_CPU_LIMITS_AT_ONCE, crit_now_ns());
	crit_memory_maps_add(server->maps, client->run, process->pid, CRIT_ARRIVAL_RUNNING,
			     crit_now_ns());
	return 0;
}

static void on_attach(struct crit_server *server, struct crit_connection *client,
		      struct crit_message_in *in)
{
	int rc;

	if (!client->run || client->run->state != CRIT_RUN_RECORDING) {
		crit_connections_refuse(server, client, "ATTACH makes no sense here");
		return;
	}
	rc = attach(server, client, in);
	if (!rc) {
		client->has_attached = true;
		settle(client);
	}
	answer_register(client, rc);
}

static void on_rank(struct crit_server *server, struct crit_connection *client,
		    struct crit_message_in *in)
{
	struct crit_message_rank *message = (void *)in->bytes;
	const uint64_t init_ns = message->open_ns - message->init_us * 1000ull;
	struct crit_rec_rank record;

	terminate(message->world);
	terminate(message->library);
	if (!client->process || client->process->has_rank || message->rank >= message->size) {
		crit_connections_refuse(server, client, "RANK makes no sense here");
		return;
	}
	record = (struct crit_rec_rank){
		.pid = client->process->pid,
		.rank = message->rank,
		.size = message->size,
		.thread_level = message->thread_level,
		.open_ns = message->open_ns,
	};
	memcpy(record.world, message->world, sizeof(record.world));
	memcpy(record.library, message->library, sizeof(record.library));
	client->process->has_rank = true;
	client->run->has_ranks = true;
	crit_run_put(client->run, CRIT_C_RANK, 0, message->open_ns,
		     (const struct crit_chunk_part[2]){
			     { &record, sizeof(record) },
			     { &init_ns, message->init_us ? sizeof(init_ns) : 0 } });
	put_maps(server, client->process);
	crit_cpu_limits_begin(&client->process->cpu_limits, CRIT_CPU_LIMITS_SOON, crit_now_ns());
}

static void on_close(struct crit_server *server, struct crit_connection *client,
		     struct crit_message_in *in)
{
	const struct crit_message_close *message = (const void *)in->bytes;
	struct crit_rec_close record;

	if (!client->process || !client->process->has_rank) {
		crit_connections_refuse(server, client, "CLOSE came without RANK");
		return;
	}
	record = (struct crit_rec_close){
		.pid = client->process->pid,
		.has_reopened = message->has_reopened,
		.close_ns = message->close_ns,
	};
	client->process->is_closed = !message->has_reopened;
	client->run->due_ns = client->process->is_closed ? crit_now_ns() : 0;
	crit_run_put_record(client->run, CRIT_C_CLOSE, 0, message->close_ns, &record);
	(void)crit_members_put_maps(server->members, client->process);
	crit_memory_maps_add(server->maps, client->run, client->process->pid, CRIT_ARRIVAL_SHIM,
			     crit_now_ns()); /* what it does from now on is in no window */
	crit_members_look_at_cpus_of(server->members, client->process, crit_now_ns());
}

static void on_clock(struct crit_server *server, struct crit_connection *client,
		     struct crit_message_in *in)
{
	struct crit_message_clock *message = (void *)in->bytes;
	struct crit_rec_clock record = {
		.time_ns = message->time_ns,
		.offset_ns = message->offset_ns,
		.bound_ns = message->bound_ns,
	};

	terminate(message->reference);
	if (!client->process) {
		crit_connections_refuse(server, client, "CLOCK came before REGISTER");
		return;
	}
	memcpy(record.reference, message->reference, sizeof(record.reference));
	crit_run_put_record(client->run, CRIT_C_CLOCK, 0, message->time_ns, &record);
}

static void on_job(struct crit_server *server, struct crit_connection *client,
		   struct crit_message_in *in)
{
	struct crit_message_job *message = (void *)in->bytes;
	struct crit_rec_job record = { .time_ns = crit_now_ns() };

	terminate(message->job.scheduler);
	terminate(message->job.name);
	terminate(message->job.step);
	terminate(message->job.array);
	if (!client->process) {
		crit_connections_refuse(server, client, "JOB came before REGISTER");
		return;
	}
	record.pid = client->process->pid;
	record.job = message->job;
	crit_run_list_add(server, client->run, message->job.name);
	crit_run_put_record(client->run, CRIT_C_JOB, 0, record.time_ns, &record);
}

static void on_nodes(struct crit_server *server, struct crit_connection *client,
		     struct crit_message_in *in)
{
	struct crit_message_nodes *message = (void *)in->bytes;

	if (!client->process || message->count > CRIT_NODES_MAX) {
		crit_connections_refuse(server, client, "NODES makes no sense here");
		return;
	}
	for (uint32_t i = 0; i < message->count; i++)
		terminate(message->hosts[i]);
	crit_run_put(client->run, CRIT_C_NODES, 0, crit_now_ns(),
		     (const struct crit_chunk_part[2]){
			     { message->hosts, message->count * sizeof(message->hosts[0]) },
			     { NULL, 0 } });
}

/* A ring is half full, and may be full before the next tick. */
static void on_drain(struct crit_server *server, struct crit_connection *client,
		     struct crit_message_in *in)
{
	(void)in;
	if (client->process && crit_process_call(client->process, crit_now_ns()))
		server->is_behind = true;
}

static const struct {
	size_t size;
	void (*handle)(struct crit_server *server, struct crit_connection *client,
		       struct crit_message_in *in);
} kinds[CRIT_M_COUNT] = {
	[CRIT_M_HELLO] = { sizeof(struct crit_message_hello), on_hello },
	[CRIT_M_OUTPUT] = { offsetof(struct crit_message_output, sample_budget), on_output },
	[CRIT_M_REGISTER] = { sizeof(struct crit_message_register), on_register },
	[CRIT_M_ATTACH] = { sizeof(struct crit_message_head), on_attach },
	[CRIT_M_RANK] = { sizeof(struct crit_message_rank), on_rank },
	[CRIT_M_CLOSE] = { sizeof(struct crit_message_close), on_close },
	[CRIT_M_JOB] = { sizeof(struct crit_message_job), on_job },
	[CRIT_M_NODES] = { sizeof(struct crit_message_nodes), on_nodes },
	[CRIT_M_DRAIN] = { sizeof(struct crit_message_head), on_drain },
	[CRIT_M_CLOCK] = { sizeof(struct crit_message_clock), on_clock },
};

void crit_protocol_handle(struct crit_server *server, struct crit_connection *client,
			  struct crit_message_in *in)
{
	const struct crit_message_head *head = (const void *)in->bytes;

	if (in->size < sizeof(*head) || head->size != in->size || head->kind >= CRIT_M_COUNT ||
	    !kinds[head->kind].handle) {
		crit_connections_refuse(server, client, "a message of no known kind");
		return;
	}
	if (head->version != CRIT_SOCKET_VERSION) {
		send_welcome(server, client, -EPROTO);
		crit_connections_refuse(server, client, "a message of another version");
		return;
	}
	if (in->size < kinds[head->kind].size) {
		crit_connections_refuse(server, client, "a message that is too short");
		return;
	}
	if (head->kind != CRIT_M_DRAIN && client->message_count++ >= MESSAGES_MAX) {
		crit_connections_refuse(server, client, "more messages than any program needs");
		return;
	}
	kinds[head->kind].handle(server, client, in);
}

void crit_protocol_leave(struct crit_server *server, struct crit_connection *client)
{
	struct crit_run *run = client->run;

	if (client->held)
		crit_message_in_close(server->closers, client->held);
	free(client->held);
	client->held = NULL;
	if (client->process)
		client->process->holder = NULL;
	if (!run)
		return;
	settle(client);
	client->run = NULL;
	if (client->has_attached)
		crit_lifecycle_end(server, run);
	if (run->first == client) {
		run->first = NULL;
		if (run->state == CRIT_RUN_STARTING)
			welcome_waiting(server, run);
	}
}
