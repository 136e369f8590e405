// SPDX-License-Identifier: BSD-3-Clause
// critd's main loop: one epoll set, one timer, all work in one thread but what may hang.
#include "collector/loop/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "collector/loop/clients.h"
#include "collector/loop/inspection.h"
#include "collector/loop/lifecycle.h"
#include "collector/loop/listener.h"
#include "collector/loop/protocol.h"
#include "collector/loop/run_list.h"
#include "collector/loop/server_state.h"
#include "collector/loop/sweep.h"
#include "collector/member/members.h"
#include "collector/privileges.h"
#include "collector/system/now.h"
#include "collector/system/scheduling.h"
#include "core/base/clock.h"

#define EVENTS_AT_ONCE 64
#define SLOW_NS 100000000ull
#define IDLE_LOOK_MS 100
#define DEAF_NS 100000000ull
#define LAST_WRITE_MS 3000u
#define SLOTS_PER_TICK 16384u /* of a thread buffer: the others fill meanwhile */
#define FAST_FOR_NS 100000000ull
#define BUSY_FOR_NS 100000000ull
#define BUSY_SLOTS 2048u /* of a thread buffer, at a tick */
#define SHORT_LOOKS 10u /* a second of slow looks */

static int open_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a write past the limit is -EFBIG, like a full disk */
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_descriptors(struct crit_server *server, struct crit_err *err)
{
	server->signal_fd = open_signals();
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	server->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	server->reserve_fd = fcntl(server->epoll_fd, F_DUPFD_CLOEXEC, 0);
	if (server->signal_fd < 0 || server->epoll_fd < 0 || server->timer_fd < 0 ||
	    server->proc_fd < 0 || server->reserve_fd < 0)
		return crit_err_set(err, -errno, "cannot open what the main loop needs: %s",
				    strerror(errno));
	if (crit_watch_add(server->epoll_fd, server->listen_fd, CRIT_WATCH_LISTENER, 0) ||
	    crit_watch_add(server->epoll_fd, server->timer_fd, CRIT_WATCH_TIMER, 0) ||
	    crit_watch_add(server->epoll_fd, server->signal_fd, CRIT_WATCH_SIGNAL, 0))
		return crit_err_set(err, -EINVAL, "the descriptor to listen on is of no use");
	return 0;
}

/* Every process costs three descriptors. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int start_threads(struct crit_server *server)
{
	int rc = crit_writer_start(&server->writer);

	if (!rc)
		rc = crit_workers_create(&server->inspectors);
	if (!rc)
		rc = crit_workers_create(&server->closers);
	if (!rc)
		rc = crit_memory_maps_create(server->proc_fd, server->meter, &server->maps);
	if (!rc)
		rc = crit_watch_add(server->epoll_fd, crit_workers_done_fd(server->inspectors),
				    CRIT_WATCH_INSPECTED, 0);
	return rc;
}

/* Returns false when one of them is stuck. */
static bool stop_threads(struct crit_server *server)
{
	bool has_stopped = crit_writer_stop(&server->writer, LAST_WRITE_MS);

	has_stopped = crit_memory_maps_destroy(server->maps) && has_stopped;

	/* one that is stuck still hands its descriptors to the closers */
	return crit_workers_destroy(server->inspectors, crit_inspection_drop) &&
	       crit_workers_destroy(server->closers, NULL) && has_stopped;
}

static void on_expelled(void *user, uint32_t tgid)
{
	const struct crit_server *server = user;

	crit_members_expel(server->members, tgid);
}

static void on_life(void *user, struct crit_run *run, const struct crit_kernel_head *record,
		    uint64_t time_ns)
{
	const struct crit_server *server = user;

	crit_memory_maps_learn(server->maps, run, record, time_ns);
}

/* Opens what records, and gives up the privileges for that in between. */
static int open_sources(struct crit_server *server, struct crit_err *err)
{
	const struct crit_options *options = &server->options;
	const struct crit_source_context context = { server->runs, server->proc_fd, on_expelled,
						     on_life, server };
	int rc = crit_sources_create(&context, &options->sources, &server->sources);

	if (rc)
		return crit_err_set(err, rc, "no memory for sources");
	crit_scheduling_begin(options->beside_cpu);
	if (!options->has_no_kernel)
		(void)crit_sources_open(server->sources, true, err); /* their status says so */
	crit_scheduling_drain();
	crit_scheduling_go_first();
	crit_scheduling_bound();
	rc = crit_privileges_drop(options->served_uid, geteuid() == 0 && options->served_uid != 0,
				  server->sources, err);
	if (rc)
		return rc;
	if (!options->has_no_kernel)
		(void)crit_sources_open(server->sources, false, err); /* likewise */
	rc = crit_sources_watch(server->sources, server->epoll_fd);
	if (rc)
		return crit_err_set(err, rc, "cannot watch the kernel's ring: %s", strerror(-rc));
	rc = crit_members_create(server->sources, server->meter, server->proc_fd, server->epoll_fd,
				 &server->members);
	return rc ? crit_err_set(err, rc, "no memory for members") : 0;
}

static int open_all(struct crit_server *server, struct crit_err *err)
{
	const struct crit_options *options = &server->options;
	const struct crit_source_status *status;
	int rc = crit_listener_open(options, &server->listen_fd, err);

	if (!rc)
		rc = open_descriptors(server, err);
	if (!rc)
		rc = crit_run_list_open(server, err);
	if (rc)
		return rc;
	raise_limits();
	rc = open_sources(server, err);
	if (rc)
		return rc;
	if (options->listen_fd >= 0 && options->socket_path) /* in a directory of the user's */
		crit_sweep(options->socket_path);
	rc = start_threads(server);
	if (rc)
		return crit_err_set(err, rc, "cannot start threads: %s", strerror(-rc));
	rc = crit_privileges_confine(crit_sources_need_perf_events(server->sources), err);
	status = crit_sources_status(server->sources);
	if (!rc && !options->has_no_kernel && (status->kernel || status->perf < 0))
		server->say(err->text);
	return rc;
}

int crit_server_open(const struct crit_options *options, void (*say)(const char *text),
		     struct crit_server **ret_server, struct crit_err *err)
{
	struct crit_server *server = calloc(1, sizeof(*server));
	int rc;

	if (!server)
		return crit_err_set(err, -ENOMEM, "no memory");
	crit_now_init();
	server->options = *options;
	server->say = say;
	server->listen_fd = server->epoll_fd = server->timer_fd = -1;
	server->signal_fd = server->proc_fd = server->reserve_fd = server->runs_fd = -1;
	server->next_number = 1;
	server->meter = crit_meter_create();
	server->runs = calloc(CRIT_RUN_SLOTS, sizeof(*server->runs));
	rc = server->meter && server->runs ? open_all(server, err)
					   : crit_err_set(err, -ENOMEM, "no memory for runs");
	if (rc) {
		crit_server_close(server);
		return rc;
	}
	*ret_server = server;
	return 0;
}

static void be_busy(struct crit_server *server)
{
	server->busy_until_ns = crit_now_ns() + BUSY_FOR_NS;
}

static void set_timer(struct crit_server *server, uint32_t tick_ns)
{
	const struct itimerspec spec = { { 0, tick_ns }, { 0, tick_ns } };

	if (tick_ns == server->tick_ns)
		return;
	crit_sources_set_seldom(server->sources, tick_ns == CRIT_LONG_TICK_NS);
	if (tick_ns == CRIT_LONG_TICK_NS && crit_sources_drain(server->sources))
		be_busy(server); /* what came before has woken nobody */
	(void)timerfd_settime(server->timer_fd, 0, &spec, NULL);
	server->tick_ns = tick_ns;
}

static void tell_busy(struct crit_server *server)
{
	if (server->is_busy_told ||
	    (!crit_workers_are_busy(server->inspectors) && !crit_workers_are_busy(server->closers)))
		return;
	server->is_busy_told = true;
	server->say("descriptors that programs pass keep all threads waiting: a file system hangs, "
		    "or a program does harm; runs that start now may wait too");
}

/* Ranks that deliver nothing have at most their part of a CPU, but for long not at our priority. */
static void check_meter(struct crit_server *server)
{
	server->short_count = crit_meter_was_short(server->meter) ? server->short_count + 1 : 0;
	if (server->short_count == SHORT_LOOKS && crit_scheduling_step_back())
		server->say("for 1 s processes that deliver nothing wanted more than 6 % of a CPU: "
			    "gave up its real-time priority");
}

static void do_slow_things(struct crit_server *server, uint64_t now_ns)
{
	if (now_ns - server->slow_ns < SLOW_NS)
		return;
	server->slow_ns = now_ns;
	if (crit_scheduling_ask_stepped_back())
		server->say("worked for 1 s without a pause: gave up its real-time priority");
	tell_busy(server);
	crit_inspection_give_up(server, now_ns);
	check_meter(server);
	crit_sources_look(server->sources);
	crit_members_look_at_cpus(server->members, now_ns);
}

/* In turns, too, but one at least: else idle processes would keep every run from its end. */
static void step_runs(struct crit_server *server, uint64_t now_ns)
{
	bool has_stepped = false;

	for (uint32_t n = 0;
	     n < server->run_end && (!has_stepped || crit_meter_allows(server->meter, NULL, false));
	     n++) {
		const uint32_t index = server->run_next < server->run_end ? server->run_next : 0;

		server->run_next = index + 1;
		if (server->runs[index].state == CRIT_RUN_FREE)
			continue;
		if (server->runs[index].is_list_due)
			crit_run_list_retry(server, &server->runs[index]);
		crit_lifecycle_step(server, &server->runs[index], now_ns);
		has_stepped = true;
		crit_meter_look(server->meter, NULL);
	}
}

static void tick(struct crit_server *server)
{
	const uint64_t begin_cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t now_ns = crit_now_ns();
	bool is_busy = crit_sources_drain(server->sources);
	uint32_t fullest;

	do_slow_things(server, now_ns);
	if (server->is_stopping) /* the end is bounded by itself */
		crit_meter_refill(server->meter);
	crit_meter_begin(server->meter, now_ns);
	fullest = crit_members_drain(server->members, now_ns, SLOTS_PER_TICK);
	if (is_busy || fullest > BUSY_SLOTS || crit_lifecycle_is_ending(server))
		be_busy(server);
	server->is_behind = fullest > SLOTS_PER_TICK;
	if (server->is_behind)
		server->fast_until_ns = now_ns + FAST_FOR_NS;
	crit_memory_maps_step(server->maps, now_ns);
	step_runs(server, now_ns);
	crit_meter_settle(server->meter, NULL);
	crit_meter_except_tick(server->meter, begin_cpu_ns);
}

/* What others decide how often it comes. */
static void on_call(struct crit_server *server, enum crit_watch_kind kind, uint32_t index)
{
	switch (kind) {
	case CRIT_WATCH_LISTENER:
		be_busy(server);
		crit_clients_accept(server);
		break;
	case CRIT_WATCH_CLIENT:
		be_busy(server);
		if (server->clients[index] && !server->clients[index]->is_over)
			crit_clients_read(server, server->clients[index]);
		break;
	case CRIT_WATCH_PROCESS:
		be_busy(server);
		crit_members_end(server->members, index);
		break;
	case CRIT_WATCH_FINISHER:
		if (server->runs[index].finisher_fd >= 0)
			crit_lifecycle_on_finisher(server, &server->runs[index]);
		break;
	case CRIT_WATCH_INSPECTED:
		crit_inspection_collect(server, crit_protocol_handle);
		break;
	default:
		break;
	}
}

static void on_event(struct crit_server *server, uint64_t data)
{
	const enum crit_watch_kind kind = (enum crit_watch_kind)(data >> 32);
	const uint32_t index = (uint32_t)data;
	uint64_t expirations;

	switch (kind) {
	case CRIT_WATCH_TIMER:
		(void)!read(server->timer_fd, &expirations, sizeof(expirations));
		tick(server);
		break;
	case CRIT_WATCH_SOURCE:
		tick(server);
		break;
	case CRIT_WATCH_SIGNAL:
		server->is_stopping = true;
		break;
	default:
		on_call(server, kind, index);
		break;
	}
}

static bool has_calls(const struct epoll_event *events, int count)
{
	for (int i = 0; i < count; i++) {
		const uint64_t kind = events[i].data.u64 >> 32;

		if (kind != CRIT_WATCH_TIMER && kind != CRIT_WATCH_SOURCE)
			return true;
	}
	return false;
}

/* Connections and messages have used up their time: these wait. */
static void put_off(struct crit_server *server, const struct epoll_event *events, int count)
{
	if (!server->has_told_calls)
		server->say(
			"calls took more than 6 % of a CPU: connections and messages have to wait");
	server->has_told_calls = true;
	for (int i = 0; i < count; i++) {
		const uint64_t kind = events[i].data.u64 >> 32;
		const uint32_t index = (uint32_t)events[i].data.u64;

		if (kind == CRIT_WATCH_CLIENT)
			crit_clients_mute(server, index);
		else if (kind == CRIT_WATCH_FINISHER)
			crit_lifecycle_mute(server, &server->runs[index]);
	}
	crit_listener_pause(server);
}

/* Handles what has come. */
static void serve(struct crit_server *server, const struct epoll_event *events, int count)
{
	const bool is_called = has_calls(events, count);

	if (is_called)
		crit_meter_begin_calls(server->meter);
	for (int i = 0; i < count; i++)
		on_event(server, events[i].data.u64);
	if (server->is_behind)
		tick(server);
	crit_clients_reap(server);
	if (is_called && !crit_meter_end_calls(server->meter, crit_now_ns()))
		put_off(server, events, count);
}

/* Nobody is connected and nothing is recorded: an auto-started critd may go. */
static bool is_idle_for_long(struct crit_server *server)
{
	const uint64_t now_ns = crit_now_ns();

	if (server->client_count > 0 || server->run_count > 0 || server->options.is_service) {
		server->idle_since_ns = 0;
		return false;
	}
	if (server->idle_since_ns == 0)
		server->idle_since_ns = now_ns;
	return now_ns - server->idle_since_ns >= server->options.idle_exit_s * 1000000000ull;
}

/* A listener nobody can be accepted from would wake the loop without end. */
static void listen_again(struct crit_server *server)
{
	const uint64_t now_ns = server->deaf_ns ? crit_now_ns() : 0;

	if (server->deaf_ns == 0 || now_ns - server->deaf_ns < DEAF_NS ||
	    !crit_meter_allows_calls(server->meter, now_ns))
		return;
	crit_clients_unmute(server);
	crit_lifecycle_unmute(server);
	if (crit_watch_add(server->epoll_fd, server->listen_fd, CRIT_WATCH_LISTENER, 0) == 0)
		server->deaf_ns = 0;
}

static void finish_all(struct crit_server *server)
{
	const uint64_t until_ns = crit_now_ns() + LAST_WRITE_MS * 1000000ull;

	for (uint32_t i = 0; i < server->run_end; i++)
		crit_lifecycle_end(server, &server->runs[i]);
	while (crit_lifecycle_is_ending(server) && crit_now_ns() < until_ns) {
		tick(server);
		crit_clock_pause_ns(1000000);
	}
}

/* The timer runs only while there is a run, or a client to be given up. */
static uint32_t tick_length_ns(const struct crit_server *server)
{
	const uint64_t now_ns = crit_now_ns();

	if (server->run_count == 0 && server->inspected_count == 0)
		return 0;
	if (now_ns >= server->busy_until_ns)
		return CRIT_LONG_TICK_NS;
	if (!crit_members_exist(server->members))
		return CRIT_SLOW_TICK_NS;
	return now_ns < server->fast_until_ns ? CRIT_FAST_TICK_NS : CRIT_TICK_NS;
}

/* How long to wait for an event, in ms. */
static int patience(const struct crit_server *server)
{
	if (server->is_behind)
		return 0;
	return server->tick_ns || (server->options.is_service && !server->deaf_ns) ? -1
										   : IDLE_LOOK_MS;
}

int crit_server_run(struct crit_server *server, struct crit_err *err)
{
	struct epoll_event events[EVENTS_AT_ONCE];

	while (!server->is_stopping) {
		int count = epoll_wait(server->epoll_fd, events, EVENTS_AT_ONCE, patience(server));

		if (count < 0 && errno != EINTR)
			return crit_err_set(err, -errno, "cannot wait for events: %s",
					    strerror(errno));
		crit_members_begin_round(server->members);
		serve(server, events, count);
		listen_again(server);
		set_timer(server, tick_length_ns(server));
		if (is_idle_for_long(server))
			break;
	}
	finish_all(server);
	return 0;
}

/* Nothing is recorded any more: the threads that write end when their queues are empty. */
static void close_runs(struct crit_server *server)
{
	for (uint32_t i = 0; i < server->run_end; i++) {
		if (server->runs[i].state != CRIT_RUN_FREE)
			crit_run_fini(&server->runs[i]);
	}
}

void crit_server_close(struct crit_server *server)
{
	if (!server)
		return;

	const int fds[] = { server->listen_fd, server->epoll_fd, server->timer_fd,
			    server->signal_fd, server->proc_fd,  server->reserve_fd,
			    server->runs_fd };
	bool has_stopped;

	/* while we still listen: once we do not, the next one may bind this path */
	if (server->options.socket_path && server->listen_fd >= 0)
		(void)unlink(server->options.socket_path);
	close_runs(server);
	has_stopped = stop_threads(server);
	crit_members_destroy(server->members);
	crit_sources_destroy(server->sources);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	crit_meter_destroy(server->meter);
	free(server->runs);
	if (has_stopped)
		free(server);
}
