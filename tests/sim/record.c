// SPDX-License-Identifier: BSD-3-Clause
// Writes the events of a scenario as the kernel half, the shims and critd would have.
#include <stdlib.h>
#include <string.h>

#include "tests/maker/maker.h"
#include "tests/sim/scenario.h"

struct recorder {
	const struct crit_scenario *s;
	struct crit_maker *m;
	uint32_t streams[CRIT_SCENARIO_THREADS]; /* 0: none yet, or released */
	uint32_t buffers;
	uint32_t node;
};

static const struct crit_scenario_process *process_of(const struct recorder *r, uint32_t thread)
{
	if (thread >= r->s->thread_count)
		crit_maker_fail("find the thread of an event");
	return &r->s->processes[r->s->threads[thread].process];
}

static uint64_t tag_of(const struct recorder *r, uint32_t thread, uint32_t poll_call)
{
	if (thread == CRIT_SCENARIO_NONE || !r->streams[thread])
		return 0;
	if (poll_call)
		return crit_maker_poll_tag(r->m, r->streams[thread], poll_call);
	return crit_maker_tag(r->m, r->streams[thread]);
}

static struct crit_kernel_head head_of(const struct crit_scenario_event *e)
{
	struct crit_kernel_head head = {
		.cpu = (uint16_t)e->cpu,
		.state = (uint8_t)e->state,
		.time_ns = e->time_ns,
	};

	if (e->is_stale)
		head.flags |= CRIT_KF_TAG_STALE;
	if (e->is_preempted)
		head.flags |= CRIT_KF_PREEMPTED;
	return head;
}

static uint32_t tid_of(const struct recorder *r, uint32_t thread)
{
	return thread == CRIT_SCENARIO_NONE ? 0 : r->s->threads[thread].tid;
}

static void record_switch(struct recorder *r, const struct crit_scenario_event *e)
{
	if (e->ran_ns)
		crit_maker_ran(r->m, (struct crit_kernel_ran){ .head = { .time_ns = e->time_ns,
									 .cpu = (uint16_t)e->cpu },
							       .tid = tid_of(r, e->thread),
							       .ran_ns = e->ran_ns });
	crit_maker_switch(r->m, (struct crit_kernel_switch){
					.head = head_of(e),
					.prev_tid = tid_of(r, e->thread),
					.next_tid = tid_of(r, e->other),
					.prev_tag = e->is_stale ? 0 : tag_of(r, e->thread, e->call),
				});
}

static void record_fork(struct recorder *r, const struct crit_scenario_event *e)
{
	const struct crit_scenario_thread *t = &r->s->threads[e->thread];
	struct crit_kernel_fork fork = {
		.head = head_of(e),
		.parent_tid = tid_of(r, e->other),
		.parent_tgid = process_of(r, e->other)->pid,
		.tid = t->tid,
		.tgid = process_of(r, e->thread)->pid,
		.ns_tid = t->ns_tid,
		.parent_tag = tag_of(r, e->other, 0),
		.comm = "born",
	};

	if (t->process != r->s->threads[e->other].process)
		fork.head.flags |= CRIT_KF_NEW_PROCESS;
	crit_maker_fork(r->m, fork);
	crit_maker_wake_new(r->m, (struct crit_kernel_wake){ .head = { .time_ns = e->time_ns,
								       .cpu = (uint16_t)e->cpu },
							     .tid = t->tid,
							     .waker_tid = fork.parent_tid });
}

static void record_kernel(struct recorder *r, const struct crit_scenario_event *e)
{
	const struct crit_scenario_thread *t =
		&r->s->threads[e->thread == CRIT_SCENARIO_NONE ? 0 : e->thread];
	struct crit_kernel_head head = head_of(e);
	uint32_t tid = t->tid, tgid = process_of(r, (uint32_t)(t - r->s->threads))->pid;

	if (e->kind == CRIT_EV_SWITCH) {
		record_switch(r, e);
	} else if (e->kind == CRIT_EV_WAKE) {
		head.state = tid_of(r, e->other) ? CRIT_WAKER_MEMBER : CRIT_WAKER_INTERRUPT;
		crit_maker_wake(
			r->m, (struct crit_kernel_wake){
				      .head = head, .tid = tid, .waker_tid = tid_of(r, e->other) });
	} else if (e->kind == CRIT_EV_FORK) {
		record_fork(r, e);
	} else if (e->kind == CRIT_EV_EXEC) {
		crit_maker_exec(r->m, (struct crit_kernel_exec){ .head = head,
								 .tid = tid,
								 .old_tid = tid,
								 .tgid = tgid,
								 .ns_tid = t->ns_tid,
								 .comm = "program" });
	} else if (e->kind == CRIT_EV_ENROL) {
		head.flags |= CRIT_KF_RUNNING;
		crit_maker_enrol(r->m, (struct crit_kernel_enrol){ .head = head,
								   .tid = tid,
								   .tgid = tgid,
								   .ns_tid = t->ns_tid });
	} else if (e->kind == CRIT_EV_EXIT) {
		crit_maker_exit(r->m, (struct crit_kernel_exit){ .head = head,
								 .tid = tid,
								 .tgid = tgid,
								 .tag = tag_of(r, e->thread, 0) });
	}
}

static void record_claim(struct recorder *r, const struct crit_scenario_event *e)
{
	const struct crit_scenario_thread *t = &r->s->threads[e->thread];

	/* thread buffers are reused: their positions go on, and may be near the tag's wrap */
	r->streams[e->thread] = crit_maker_stream(
		r->m, (struct crit_rec_stream){ .pid = process_of(r, e->thread)->pid,
						.ns_tid = t->ns_tid,
						.buffer = r->buffers++,
						.claim_ns = e->time_ns,
						.claim_pos = t->tid % 3 ? 0 : (1u << 24) - 2 });
}

/* The end of a stream: a poll span that is still open stands in the thread buffer's header. */
static void record_release(struct recorder *r, const struct crit_scenario_event *e)
{
	bool is_released = !e->begin_ns && !(r->s->is_cut && e->time_ns == r->s->end_ns);
	struct crit_rec_stream_end end = { .release_ns = is_released ? e->time_ns : 0 };

	if (!r->streams[e->thread])
		return;
	if (e->begin_ns) {
		end.open_call = e->call;
		end.open_class = CRIT_CLASS_MPI_POLL;
		end.open_first_ns = e->begin_ns;
		end.open_last_ns = e->time_ns;
		end.open_count = 1000;
	}
	crit_maker_stream_end(r->m, r->streams[e->thread], end);
	r->streams[e->thread] = 0;
}

static void record_process(struct recorder *r, const struct crit_scenario_event *e)
{
	const struct crit_scenario_process *p = process_of(r, e->thread);

	if (e->kind == CRIT_EV_REGISTER)
		crit_maker_process(r->m, (struct crit_rec_process){ .pid = p->pid,
								    .ns_pid = p->ns_pid,
								    .flavour = CRIT_FLAVOUR_OPENMPI,
								    .has_memfd = 1,
								    .time_ns = e->time_ns,
								    .exe = "/bin/program",
								    .arguments = "program 1" });
	else if (e->kind == CRIT_EV_RANK)
		crit_maker_rank(r->m, (struct crit_rec_rank){ .pid = p->pid,
							      .rank = p->rank,
							      .size = r->s->rank_count,
							      .open_ns = p->open_ns,
							      .world = "world",
							      .library = "Library 1" });
	else if (e->kind == CRIT_EV_CLOSE)
		crit_maker_close(r->m,
				 (struct crit_rec_close){ .pid = p->pid, .close_ns = e->time_ns });
	else
		crit_maker_gone(r->m,
				(struct crit_rec_gone){ .pid = p->pid, .time_ns = e->time_ns });
}

static void record_shim(struct recorder *r, const struct crit_scenario_event *e)
{
	switch (e->kind) {
	case CRIT_EV_CLAIM:
		record_claim(r, e);
		break;
	case CRIT_EV_RELEASE:
		record_release(r, e);
		break;
	case CRIT_EV_ENTER:
		crit_maker_enter(r->m, r->streams[e->thread], e->time_ns, e->call);
		break;
	case CRIT_EV_LEAVE:
		crit_maker_leave(r->m, r->streams[e->thread], e->time_ns, e->call);
		break;
	case CRIT_EV_POLL:
		crit_maker_poll(
			r->m, r->streams[e->thread],
			(struct crit_maker_poll){ .first_ns = e->begin_ns,
						  .last_ns = e->time_ns,
						  .call = e->call,
						  .count = 1 + (e->time_ns - e->begin_ns) / 400,
						  .gap_sum_ns = (e->time_ns - e->begin_ns) / 3,
						  .site = 0x401000 });
		break;
	default:
		record_process(r, e);
		break;
	}
}

static void record_file(struct recorder *r)
{
	struct crit_rec_file file = {
		.cpu_count = 4,
		.uid = 1000,
		.level = CRIT_LEVEL_TRACE,
		.kernel_status = r->s->has_kernel[r->node] ? 0 : -1,
		.start_mono_ns = r->s->begin_ns,
		.start_real_ns = 1700000000000000000ull + r->s->begin_ns,
		.run_id = 7,
		.max_bytes = 1ull << 31,
		.boot = "boot",
		.run_key = "key",
		.kernel_release = "6.1",
		.critd_version = "0",
		.exe = "/bin/program",
	};

	(void)snprintf(file.host, sizeof(file.host), "node%u", r->node);
	crit_maker_file(r->m, file);
}

static bool is_kernel_event(enum crit_scenario_kind kind)
{
	return kind <= CRIT_EV_ENROL;
}

struct crit_maker *crit_scenario_record(const struct crit_scenario *s, uint32_t node,
					const struct crit_maker_options *options)
{
	struct recorder r = { .s = s, .node = node };
	uint64_t drains = 0;
	bool is_due = s->window_ns[node] > 0;

	r.m = crit_maker_create(options);
	record_file(&r);
	for (size_t i = 0; i < s->event_count; i++) {
		const struct crit_scenario_event *e = &s->events[i];

		if (e->node != node)
			continue;
		if (is_due && e->time_ns > s->window_ns[node]) {
			crit_maker_window(r.m, s->window_ns[node]);
			is_due = false;
		}
		if (!is_kernel_event(e->kind))
			record_shim(&r, e);
		else if (s->has_kernel[node])
			record_kernel(&r, e);
		if (++drains % 64 == 0)
			crit_maker_drain(r.m);
	}
	if (is_due)
		crit_maker_window(r.m, s->window_ns[node]);
	crit_maker_foot(r.m, (struct crit_rec_foot){ .time_ns = s->end_ns,
						     .kernel_records = crit_maker_kernel_count(r.m),
						     .shim_slots = crit_maker_slot_count(r.m),
						     .critd_cpu_ns = 1 });
	return r.m;
}
