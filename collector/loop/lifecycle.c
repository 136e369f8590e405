// SPDX-License-Identifier: BSD-3-Clause
// Decides when a run's window is closed and when its recording is complete.
#include "collector/loop/lifecycle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/loop/connections.h"
#include "collector/loop/inspection.h"
#include "collector/loop/listener.h"
#include "collector/loop/message_in.h"
#include "collector/loop/run_list.h"
#include "collector/loop/unwinding.h"
#include "collector/member/members.h"
#include "collector/system/now.h"
#include "core/base/clock.h"
#include "core/base/line.h"

#define SEARCH_NS 10000000000ull /* from one to the next */
#define SEARCHES 2u /* in a row */
#define UNRECORDED_LINES_MAX 100 /* of one critd: a flood of HELLOs must not fill its log */

/* Every rank here has closed or died, and nobody is left who may still become one. */
static bool is_window_over(const struct crit_server *server, const struct crit_run *run)
{
	return run->has_ranks && run->due_ns && run->pending_clients == 0 &&
	       !crit_members_hold_window(server->members, run, crit_now_ns() - run->due_ns);
}

static void drain_run(struct crit_server *server, struct crit_run *run, bool has_counters)
{
	crit_sources_drain(server->sources);
	crit_sources_count_lost(server->sources, run);
	crit_members_drain_run(server->members, run, has_counters);
	if (run->kernel.lost) /* even without a record after them */
		(void)crit_batch_room(&run->kernel, 0, crit_now_ns());
	crit_run_flush(run, &run->kernel);
}

static void close_window(struct crit_server *server, struct crit_run *run)
{
	struct crit_rec_window window;

	drain_run(server, run, true);
	crit_members_put_names(server->members, run);
	window.closed_ns = crit_now_ns();
	crit_run_put_record(run, CRIT_C_WINDOW, 0, window.closed_ns, &window);
	run->window_put_count = run->sink->put_count;
	run->due_ns = 0;
	run->is_window_written = true;
	run->is_closed_sent = false; /* the ranks of this window have an answer of their own */
	run->is_written_known = false;
	run->closed_ns = window.closed_ns;
	crit_meter_forgive(server->meter);
}

/* CLOSED goes out once the file holds everything up to WINDOW. */
static void tell_finisher(struct crit_server *server, struct crit_run *run)
{
	struct crit_message_status message = {
		.head = { CRIT_M_CLOSED, CRIT_SOCKET_VERSION, sizeof(message) },
		.time_ns = run->closed_ns,
	};

	if (!run->is_window_written || run->is_closed_sent ||
	    __atomic_load_n(&run->sink->done_count, __ATOMIC_ACQUIRE) < run->window_put_count)
		return;
	run->is_closed_sent = true;
	message.status = __atomic_load_n(&run->sink->last_error, __ATOMIC_RELAXED);
	if (!run->is_finisher_gone)
		(void)send(run->finisher_fd, &message, sizeof(message),
			   MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		crit_connections_tell_written(server, run, -EPIPE);
}

/*
 * The run has no process left, but living threads by their count.  Two searches in a row that find
 * none prove that wrong: a task that is born during one of them may be missed by it.
 */
static bool is_miscounted(const struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	char text[sizeof(run->exe) + 128];
	int length;

	if (run->searched_ns == 0) {
		run->searched_ns = now_ns;
		run->fruitless_searches = 0;
	}
	if (now_ns - run->searched_ns < SEARCH_NS)
		return false;
	run->searched_ns = now_ns;
	if (crit_sources_have_living(server->sources, run))
		run->fruitless_searches = 0;
	else
		run->fruitless_searches++;
	if (run->fruitless_searches < SEARCHES)
		return false;
	length = snprintf(text, sizeof(text),
			  "the run of %s ends: %" PRId64
			  " of its threads should live, none is there",
			  run->exe, crit_sources_live(server->sources, run));
	crit_line_tame(text, (size_t)length, false);
	server->say(text);
	return true;
}

/* Has this run lost its last member?  A run nobody registered with ends with its last client. */
static bool is_deserted(const struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	if (run->live_processes > 0 || run->pending_clients > 0) {
		run->searched_ns = 0;
		return false;
	}
	return !run->has_registered || crit_sources_live(server->sources, run) <= 0 ||
	       is_miscounted(server, run, now_ns);
}

static void put_foot(struct crit_run *run)
{
	const struct crit_sink *sink = run->sink;
	struct crit_rec_foot foot = {
		.time_ns = crit_now_ns(),
		.kernel_records = run->kernel_records,
		.kernel_lost = run->lost_seen,
		.shim_slots = run->shim_slots,
		.shim_lost = run->shim_lost,
		.write_errors = __atomic_load_n(&sink->write_errors, __ATOMIC_RELAXED),
		.critd_cpu_ns = crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.no_buffer = run->no_buffer,
	};

	foot.kernel_lost += __atomic_load_n(&sink->unwritten_kernel, __ATOMIC_RELAXED);
	foot.shim_lost += (__atomic_load_n(&sink->unwritten_shim, __ATOMIC_RELAXED) + 1) / 2;
	crit_run_put_record(run, CRIT_C_FOOT, 0, foot.time_ns, &foot);
}

/* The foot is written when all call paths are in that come soon. */
static void step_unwinding(const struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	if (!crit_unwinding_is_over(server, run, now_ns))
		return;
	put_foot(run);
	run->state = CRIT_RUN_ENDING;
}

void crit_lifecycle_end(struct crit_server *server, struct crit_run *run)
{
	const uint64_t now_ns = crit_now_ns();

	if (run->state == CRIT_RUN_STARTING) {
		run->state = CRIT_RUN_ENDED;
		return;
	}
	if (run->state != CRIT_RUN_RECORDING)
		return;
	crit_run_list_add(server, run, ""); /* no process named a job */
	crit_sources_stop(server->sources, run);
	crit_sources_drain(server->sources);
	crit_members_end_run(server->members, run);
	crit_memory_maps_end_run(server->maps, run, now_ns);
	if (is_window_over(server, run))
		close_window(server, run);
	drain_run(server, run, false);
	crit_unwinding_end(server, run, now_ns);
	crit_sources_end(server->sources, run);
	run->state = CRIT_RUN_UNWINDING;
	step_unwinding(server, run, now_ns);
	crit_meter_forgive(server->meter);
}

bool crit_lifecycle_is_ending(const struct crit_server *server)
{
	for (uint32_t i = 0; i < server->run_end; i++) {
		if (server->runs[i].state == CRIT_RUN_UNWINDING ||
		    server->runs[i].state == CRIT_RUN_ENDING || server->runs[i].is_list_due)
			return true;
	}
	return false;
}

/* In a worker: what its peer left in the queue may make closing wait. */
static void close_finisher(struct crit_server *server, struct crit_run *run)
{
	if (run->finisher_fd < 0)
		return;
	crit_watch_remove(server->epoll_fd, run->finisher_fd);
	(void)shutdown(run->finisher_fd, SHUT_RDWR);
	crit_workers_close(server->closers, run->finisher_fd);
	run->finisher_fd = -1;
}

static void release(struct crit_server *server, struct crit_run *run)
{
	crit_connections_close_all(server, run);
	close_finisher(server, run);
	crit_run_fini(run);
	server->run_count--;
}

/* No finisher can: its end of the socket pair comes with the recording file. */
static void say_unrecorded(struct crit_server *server, const struct crit_run *run)
{
	char text[sizeof(run->exe) + 128];
	const int length = snprintf(text, sizeof(text),
				    "no report of %s: its processes died, or failed, before they "
				    "handed over a recording file",
				    run->exe);

	if (server->unrecorded_count++ >= UNRECORDED_LINES_MAX)
		return;
	crit_line_tame(text, (size_t)length, false);
	server->say(text);
}

void crit_lifecycle_on_finisher(struct crit_server *server, struct crit_run *run)
{
	static struct crit_message_in in; /* main loop only */
	const struct crit_message_status *message = (const void *)in.bytes;
	int rc = crit_message_in_peek(run->finisher_fd, &in);

	if (rc == 1 && in.size == sizeof(*message) && message->head.kind == CRIT_M_WRITTEN &&
	    !run->is_front_told) {
		run->is_front_told = true;
		run->is_written_known = true;
		crit_connections_tell_written(server, run, message->status);
	}
	if (rc == 1 && crit_inspection_take_finisher(server, run)) {
		crit_lifecycle_mute(server, run); /* no descriptor, or no memory: later */
		crit_listener_pause(server);
	}
	if (rc >= 0)
		return;
	run->is_finisher_gone = true;
	crit_sources_stop_stacks(server->sources, run);
	if (!run->is_written_known)
		crit_connections_tell_written(server, run, -EPIPE);
	run->is_written_known = true;
	close_finisher(server, run);
}

void crit_lifecycle_mute(struct crit_server *server, struct crit_run *run)
{
	if (run->finisher_fd < 0 || run->is_finisher_muted || run->is_finisher_inspected)
		return;
	run->is_finisher_muted = true;
	crit_watch_remove(server->epoll_fd, run->finisher_fd);
}

void crit_lifecycle_unmute(struct crit_server *server)
{
	for (uint32_t i = 0; i < server->run_end; i++) {
		struct crit_run *run = &server->runs[i];

		if (!run->is_finisher_muted)
			continue;
		run->is_finisher_muted = false;
		if (run->finisher_fd >= 0)
			(void)crit_watch_add(server->epoll_fd, run->finisher_fd,
					     CRIT_WATCH_FINISHER, i);
	}
}

/* Tells the ranks what to record, when that changed. */
static void push_level(struct crit_server *server, struct crit_run *run)
{
	if (!run->is_level_new)
		return;
	run->is_level_new = false;
	crit_members_write_level(server->members, run);
}

static void step_recording(struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	crit_sources_count_lost(server->sources, run);
	if (crit_batch_is_old(&run->kernel, now_ns))
		crit_run_flush(run, &run->kernel);
	crit_run_note_output(run);
	push_level(server, run);
	/* with a full queue the rings cannot be drained yet */
	if (!crit_sink_is_full(run->sink) && is_window_over(server, run))
		close_window(server, run);
	tell_finisher(server, run);
	if (is_deserted(server, run, now_ns))
		crit_lifecycle_end(server, run);
}

void crit_lifecycle_step(struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	switch (run->state) {
	case CRIT_RUN_STARTING:
		if (run->pending_clients > 0)
			break;
		say_unrecorded(server, run);
		release(server, run);
		break;
	case CRIT_RUN_RECORDING:
		step_recording(server, run, now_ns);
		break;
	case CRIT_RUN_UNWINDING:
		step_unwinding(server, run, now_ns);
		break;
	case CRIT_RUN_ENDING:
		tell_finisher(server, run);
		if (!crit_sink_is_idle(run->sink))
			break;
		if (run->finisher_fd >= 0)
			(void)shutdown(run->finisher_fd, SHUT_WR);
		run->state = CRIT_RUN_ENDED;
		break;
	case CRIT_RUN_ENDED:
		/* the list may be held, or somebody may still wait for the report */
		if (run->is_list_due)
			break;
		if (run->is_finisher_gone || run->finisher_fd < 0 ||
		    !crit_connections_has_any(server, run))
			release(server, run);
		break;
	default:
		break;
	}
}
