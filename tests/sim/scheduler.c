// SPDX-License-Identifier: BSD-3-Clause
// A small scheduler: threads that run, block, call and poll on a few CPUs, node by node.
#include <stdlib.h>

#include "tests/maker/maker.h"
#include "tests/sim/scheduler.h"

struct next {
	uint64_t time_ns;
	uint32_t cpu; /* NONE: a wakeup of thread */
	uint32_t thread;
	bool is_slice_end;
};

static void consider(struct next *best, struct next other)
{
	if (other.time_ns < best->time_ns)
		*best = other;
}

static struct next find_next(struct crit_sim *m)
{
	struct next best = { .time_ns = UINT64_MAX };

	for (uint32_t cpu = 0; cpu < m->cpu_count; cpu++) {
		uint32_t thread = m->cpu_thread[cpu];

		if (thread == CRIT_SCENARIO_NONE) {
			uint64_t at = m->dispatch_ns[cpu] > m->now_ns ? m->dispatch_ns[cpu]
								      : m->now_ns;

			if (m->queue_length)
				consider(&best, (struct next){ at, cpu, thread, false });
			continue;
		}
		consider(&best,
			 (struct next){ m->actors[thread].run_since_ns + m->actors[thread].todo_ns,
					cpu, thread, false });
		if (m->queue_length) {
			uint64_t at = m->slice_end_ns[cpu] > m->now_ns ? m->slice_end_ns[cpu]
								       : m->now_ns;

			consider(&best, (struct next){ at, cpu, thread, true });
		}
	}
	for (uint32_t i = 0; i < m->s->thread_count; i++)
		if (m->actors[i].state == CRIT_STATE_BLOCKED &&
		    m->s->processes[m->s->threads[i].process].node == m->node)
			consider(&best, (struct next){ m->actors[i].wake_ns, CRIT_SCENARIO_NONE, i,
						       false });
	return best;
}

/* A thread that is on a CPU wakes it, or an interrupt of an idle one. */
static uint32_t waker_of(const struct crit_sim *m, uint32_t thread)
{
	return m->cpu_thread[(thread + m->events) % m->cpu_count];
}

static void do_next(struct crit_sim *m, struct next next)
{
	struct crit_sim_actor *a = next.thread == CRIT_SCENARIO_NONE ? NULL
								     : &m->actors[next.thread];

	if (next.time_ns > m->now_ns)
		m->now_ns = next.time_ns;
	if (next.cpu == CRIT_SCENARIO_NONE) {
		crit_sim_emit(m, CRIT_EV_WAKE, next.thread)->other = waker_of(m, next.thread);
		crit_sim_set_state(m, next.thread, CRIT_STATE_RUNNABLE);
		crit_sim_enqueue(m, next.thread);
	} else if (!a) {
		uint32_t thread = crit_sim_dequeue(m);
		struct crit_scenario_event *e =
			crit_sim_emit(m, CRIT_EV_SWITCH, CRIT_SCENARIO_NONE);

		e->other = thread;
		e->cpu = next.cpu;
		crit_sim_start_running(m, next.cpu, thread);
	} else if (next.is_slice_end && a->run_since_ns + a->todo_ns > m->now_ns) {
		a->todo_ns -= m->now_ns - a->run_since_ns;
		crit_sim_switch_out(m, next.cpu, 0, true);
	} else {
		crit_sim_act(m, next.cpu);
	}
}

/* Threads that still live at the cut, and their open spans, end there. */
static void cut(struct crit_sim *m)
{
	m->now_ns += 1 + crit_random_below(&m->random, m->shape->step_ns);
	for (uint32_t i = 0; i < m->s->thread_count; i++) {
		struct crit_sim_actor *a = &m->actors[i];
		struct crit_scenario_event *e;

		if (a->state == CRIT_STATE_NONE || crit_sim_process(m, i)->node != m->node)
			continue;
		if (a->is_polling) {
			e = crit_sim_emit(m, CRIT_EV_RELEASE, i);
			e->begin_ns = a->span_begin_ns;
			e->call = a->call;
		}
	}
}

static void start_node(struct crit_sim *m, uint32_t root)
{
	m->now_ns = m->s->begin_ns + crit_random_below(&m->random, m->shape->step_ns + 1);
	for (uint32_t cpu = 0; cpu < m->cpu_count; cpu++)
		crit_sim_make_idle(m, cpu);
	(void)crit_sim_emit(m, CRIT_EV_ENROL, root);
	m->s->threads[root].birth_ns = m->now_ns;
	m->s->threads[root].death_ns = UINT64_MAX;
	(void)crit_sim_emit(m, CRIT_EV_EXEC, root);
	crit_sim_start_running(m, 0, root);
}

static bool anybody_lives(struct crit_sim *m)
{
	for (uint32_t i = 0; i < m->s->thread_count; i++)
		if (m->actors[i].state != CRIT_STATE_NONE &&
		    crit_sim_process(m, i)->node == m->node)
			return true;
	return false;
}

static void run_node(struct crit_sim *m)
{
	m->events = 0;
	m->is_ending = false;
	m->queue_length = 0;
	m->cpu_count = 1 + (uint32_t)crit_random_below(&m->random, CRIT_SIM_CPUS);
	start_node(m, crit_sim_plan_node(m));
	while (anybody_lives(m)) {
		m->is_ending = m->events > m->shape->events_max;
		if (m->shape->is_cut && m->is_ending) {
			cut(m);
			break;
		}
		do_next(m, find_next(m));
	}
	if (m->now_ns >= m->s->end_ns)
		m->s->end_ns = m->now_ns + 1;
}

/* A cut comes on all nodes at once: a record of strangers, so that each node has the last stamp. */
static void end_nodes(struct crit_sim *m)
{
	m->now_ns = m->s->end_ns;
	for (m->node = 0; m->node < m->s->node_count; m->node++)
		crit_sim_emit(m, CRIT_EV_SWITCH, CRIT_SCENARIO_NONE)->cpu = CRIT_SIM_CPUS;
}

/*
 * Without the kernel half a thread lives from its first to its last event, a main thread until its
 * process is gone, and is assumed to run.
 */
static void assume(struct crit_scenario *s, struct crit_scenario_thread *t)
{
	const struct crit_scenario_process *p = &s->processes[t->process];

	t->piece_count = 0;
	t->birth_ns = t->death_ns = 0;
	if (!t->span_count)
		return;
	t->birth_ns = t->spans[0].begin_ns;
	t->death_ns = t->tid == p->pid ? p->gone_ns : t->spans[t->span_count - 1].end_ns;
	crit_scenario_add_piece(t, t->birth_ns, CRIT_STATE_ASSUMED);
}

/* What the last stamp settles: lives, open spans, and parts of the window that nobody closed. */
static void settle(struct crit_sim *m)
{
	struct crit_scenario *s = m->s;

	for (uint32_t i = 0; i < s->thread_count; i++) {
		struct crit_scenario_thread *t = &s->threads[i];
		struct crit_sim_actor *a = &m->actors[i];

		if (t->death_ns == UINT64_MAX) {
			t->death_ns = s->end_ns;
			if (a->call)
				crit_scenario_add_span(t, (struct crit_scenario_span){
								  .begin_ns = a->span_begin_ns,
								  .end_ns = s->end_ns,
								  .call = a->call,
								  .is_poll = a->is_polling });
		}
		if (!s->has_kernel[s->processes[t->process].node])
			assume(s, t);
	}
	for (size_t i = 0; i < s->process_count; i++) {
		struct crit_scenario_process *p = &s->processes[i];

		if (p->has_open && !p->has_close && !p->gone_ns)
			p->close_ns = s->end_ns;
	}
}

/*
 * What a recording that was cut early cannot tell: a process that did not yet call MPI looks like a
 * launcher, and a run in which no rank opened its part has no ranks.
 */
static void forget_unopened(struct crit_scenario *s)
{
	bool has_ranks = false;

	for (size_t i = 0; i < s->process_count; i++)
		has_ranks |= s->processes[i].has_open;
	if (!has_ranks)
		s->rank_count = 0;
	for (size_t i = 0; i < s->thread_count; i++) {
		struct crit_scenario_process *p = &s->processes[s->threads[i].process];
		bool is_stranger = p->has_rank && !p->has_shim && s->rank_count;

		if (is_stranger)
			s->threads[i].role = CRIT_THREAD_LAUNCHER;
		if (is_stranger || !s->rank_count)
			p->owner = CRIT_SCENARIO_NONE;
		if (!s->rank_count && s->threads[i].role == CRIT_THREAD_LAUNCHER)
			s->threads[i].role = CRIT_THREAD_APP;
	}
}

/* When all ranks of a node have closed, critd says so, and lives are cut there. */
static void close_windows(struct crit_scenario *s)
{
	for (uint32_t node = 0; node < s->node_count && !s->is_cut; node++) {
		uint64_t closed_ns = 0;

		for (size_t i = 0; i < s->process_count; i++)
			if (s->processes[i].node == node && s->processes[i].has_open &&
			    s->processes[i].close_ns > closed_ns)
				closed_ns = s->processes[i].close_ns;
		/* without ranks, and in every other run, only when all is over */
		s->window_ns[node] = closed_ns && s->seed % 2 ? closed_ns : s->end_ns;
		for (size_t i = 0; i < s->thread_count; i++) {
			struct crit_scenario_thread *t = &s->threads[i];

			if (s->processes[t->process].node != node)
				continue;
			if (t->death_ns > s->window_ns[node])
				t->death_ns = s->window_ns[node];
			if (t->birth_ns > t->death_ns)
				t->birth_ns = t->death_ns;
		}
	}
}

/* How a thread leaves the CPU that it has at an event. */
static struct crit_scenario_event *find_leaving(struct crit_scenario *s, size_t from,
						uint32_t thread)
{
	for (size_t i = from; i < s->event_count; i++)
		if (s->events[i].kind == CRIT_EV_SWITCH && s->events[i].thread == thread)
			return &s->events[i];
	return NULL;
}

static uint64_t runnable_since(const struct crit_scenario *s, size_t before, uint32_t thread)
{
	for (size_t i = before; i--;) {
		const struct crit_scenario_event *e = &s->events[i];

		if (e->thread == thread && (e->kind == CRIT_EV_SWITCH || e->kind == CRIT_EV_WAKE ||
					    e->kind == CRIT_EV_FORK))
			return e->time_ns;
	}
	return 0;
}

/* Some switches from an idle CPU are not told of, but how long the thread then ran. */
static void hide_switches(struct crit_scenario *s)
{
	struct crit_random random = { .state = s->seed ^ 0x41d3ull };

	for (size_t i = 0; i < s->event_count; i++) {
		struct crit_scenario_event *e = &s->events[i];
		struct crit_scenario_event *leaving;

		if (e->kind != CRIT_EV_SWITCH || e->thread != CRIT_SCENARIO_NONE ||
		    e->other == CRIT_SCENARIO_NONE || !s->has_kernel[e->node] ||
		    !crit_random_is(&random, 40))
			continue;
		leaving = find_leaving(s, i, e->other);
		if (!leaving || leaving->time_ns > s->window_ns[e->node] ||
		    leaving->time_ns == e->time_ns || e->time_ns == runnable_since(s, i, e->other))
			continue;
		leaving->ran_ns = leaving->time_ns - e->time_ns;
		e->kind = CRIT_EV_NONE;
	}
}

struct crit_scenario *crit_scenario_simulate(const struct crit_scenario_shape *shape)
{
	struct crit_sim *m = calloc(1, sizeof(*m));
	struct crit_scenario *s = calloc(1, sizeof(*s));

	if (!m || !s)
		crit_maker_fail("get memory");
	m->s = s;
	m->shape = shape;
	m->random.state = shape->seed;
	s->seed = shape->seed;
	s->node_count = shape->nodes;
	s->rank_count = shape->ranks;
	s->is_cut = shape->is_cut;
	s->begin_ns = 1000000000ull + crit_random_below(&m->random, 1ull << 40);
	s->end_ns = s->begin_ns + 1;
	for (m->node = 0; m->node < shape->nodes; m->node++) {
		s->has_kernel[m->node] = !shape->is_shim_only &&
					 !(shape->is_mixed && m->node + 1 == shape->nodes);
		run_node(m);
	}
	/* a cut comes on all nodes at once; without the kernel half the last event ends a life */
	settle(m);
	forget_unopened(s);
	close_windows(s);
	if (shape->hides_switches)
		hide_switches(s);
	if (s->is_cut)
		end_nodes(m);
	for (size_t i = 0; i < s->event_count; i++) {
		struct crit_scenario_event *e = &s->events[i];

		if (e->kind != CRIT_EV_RELEASE)
			continue;
		if (s->is_cut && m->actors[e->thread].state != CRIT_STATE_NONE)
			e->time_ns = s->end_ns;
		else if (!s->has_kernel[e->node] && s->threads[e->thread].span_count)
			e->time_ns = s->threads[e->thread]
					     .spans[s->threads[e->thread].span_count - 1]
					     .end_ns;
	}
	free(m);
	return s;
}

struct crit_scenario_shape crit_scenario_draw(uint64_t seed, uint32_t events_max)
{
	struct crit_random random = { .state = seed ^ 0xc217ull };
	struct crit_scenario_shape shape = { .seed = seed };

	shape.nodes = crit_random_is(&random, 60) ? 1 : 1 + (uint32_t)crit_random_below(&random, 3);
	shape.ranks = shape.nodes + (uint32_t)crit_random_below(&random, 5 - shape.nodes);
	shape.threads_max = 1 + (uint32_t)crit_random_below(&random, 4);
	shape.events_max = 20 + (uint32_t)crit_random_below(&random, events_max);
	shape.step_ns = 200ull << crit_random_below(&random, 18);
	shape.is_shim_only = crit_random_is(&random, 15);
	shape.is_mixed = shape.nodes > 1 && crit_random_is(&random, 20);
	shape.is_cut = !shape.is_shim_only && !shape.is_mixed && crit_random_is(&random, 20);
	shape.has_exact_polls = shape.step_ns < 20000 || crit_random_is(&random, 30);
	if (!shape.is_shim_only && crit_random_is(&random, 20)) {
		shape.ranks = 0;
		shape.nodes = 1;
		shape.is_mixed = false;
	}
	shape.hides_switches = !shape.is_cut && crit_random_is(&random, 30);
	return shape;
}
