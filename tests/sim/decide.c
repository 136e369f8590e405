// SPDX-License-Identifier: BSD-3-Clause
//
// What a simulated thread does when it is its turn: run, block, call, poll, give birth, die.
//
// Every decision goes to two places, the thread's lists (what is true) and the log of events
// (what the
// kernel and the shims would tell).  Nothing here knows how either is read.
#include "core/base/call.h"
#include "tests/sim/scheduler.h"

static const uint32_t wait_calls[] = { CRIT_MPI_Barrier, CRIT_MPI_Recv, CRIT_MPI_Wait,
				       CRIT_MPI_Allreduce };
static const uint32_t other_calls[] = { CRIT_MPI_Send, CRIT_MPI_Isend, CRIT_MPI_Comm_rank,
					CRIT_MPI_Irecv };
static const uint32_t poll_calls[] = { CRIT_MPI_Test, CRIT_MPI_Iprobe };

static struct crit_scenario_thread *thread_of(struct crit_sim *m, uint32_t thread)
{
	return &m->s->threads[thread];
}

struct crit_scenario_event *crit_sim_emit(struct crit_sim *m, enum crit_scenario_kind kind,
					  uint32_t thread)
{
	m->events++;
	return crit_scenario_add_event(m->s, (struct crit_scenario_event){
						     .time_ns = m->now_ns,
						     .kind = kind,
						     .node = m->node,
						     .thread = thread,
						     .other = CRIT_SCENARIO_NONE,
					     });
}

void crit_sim_set_state(struct crit_sim *m, uint32_t thread, enum crit_kernel_state state)
{
	m->actors[thread].state = state;
	crit_scenario_add_piece(thread_of(m, thread), m->now_ns, state);
}

void crit_sim_enqueue(struct crit_sim *m, uint32_t thread)
{
	m->queue[m->queue_length++] = thread;
}

uint32_t crit_sim_dequeue(struct crit_sim *m)
{
	size_t i = (size_t)crit_random_below(&m->random, m->queue_length);
	uint32_t thread = m->queue[i];

	m->queue[i] = m->queue[--m->queue_length];
	return thread;
}

void crit_sim_start_running(struct crit_sim *m, uint32_t cpu, uint32_t thread)
{
	struct crit_sim_actor *a = &m->actors[thread];

	m->cpu_thread[cpu] = thread;
	m->slice_end_ns[cpu] = m->now_ns + crit_random_wait_ns(&m->random, 3 * m->shape->step_ns);
	a->run_since_ns = m->now_ns;
	if (!a->todo_ns)
		a->todo_ns = crit_random_wait_ns(&m->random, m->shape->step_ns);
	crit_sim_set_state(m, thread, CRIT_STATE_RUNNING);
}

void crit_sim_make_idle(struct crit_sim *m, uint32_t cpu)
{
	m->cpu_thread[cpu] = CRIT_SCENARIO_NONE;
	m->dispatch_ns[cpu] = m->now_ns + crit_random_below(&m->random, 1 + m->shape->step_ns / 2);
}

/* The running thread of cpu leaves it; somebody else may take it at the same stamp. */
void crit_sim_switch_out(struct crit_sim *m, uint32_t cpu, unsigned int state, bool is_preempted)
{
	uint32_t thread = m->cpu_thread[cpu];
	struct crit_sim_actor *a = &m->actors[thread];
	struct crit_scenario_event *e = crit_sim_emit(m, CRIT_EV_SWITCH, thread);
	bool is_handed_on = m->queue_length && crit_random_is(&m->random, 70);
	uint32_t next = is_handed_on ? crit_sim_dequeue(m) : CRIT_SCENARIO_NONE;

	e->cpu = cpu;
	e->state = state;
	e->is_preempted = is_preempted;
	e->is_stale = state == 0x80 || crit_random_is(&m->random, 3);
	e->call = a->is_polling && crit_random_is(&m->random, 70) ? a->call : 0;
	e->other = next;
	if (state == 0)
		crit_sim_set_state(m, thread, CRIT_STATE_RUNNABLE);
	else if (state != 0x80)
		crit_sim_set_state(m, thread, CRIT_STATE_BLOCKED);
	if (next != CRIT_SCENARIO_NONE)
		crit_sim_start_running(m, cpu, next);
	else
		crit_sim_make_idle(m, cpu);
	if (state == 0)
		crit_sim_enqueue(m, thread);
}

static void end_span(struct crit_sim *m, uint32_t thread)
{
	struct crit_sim_actor *a = &m->actors[thread];
	struct crit_scenario_span span = { .begin_ns = a->span_begin_ns,
					   .end_ns = m->now_ns,
					   .call = a->call,
					   .is_poll = a->is_polling };

	if (a->call)
		crit_scenario_add_span(thread_of(m, thread), span);
	a->call = 0;
	a->is_polling = false;
}

static void claim(struct crit_sim *m, uint32_t thread)
{
	if (m->actors[thread].is_claimed)
		return;
	m->actors[thread].is_claimed = true;
	thread_of(m, thread)->has_stream = true;
	if (m->actors[thread].plan == PLAN_MAIN) {
		crit_sim_process(m, thread)->has_shim = true;
		(void)crit_sim_emit(m, CRIT_EV_REGISTER, thread);
	}
	(void)crit_sim_emit(m, CRIT_EV_CLAIM, thread);
}

static void enter(struct crit_sim *m, uint32_t thread, uint32_t call)
{
	struct crit_sim_actor *a = &m->actors[thread];

	claim(m, thread);
	a->call = call;
	a->span_begin_ns = m->now_ns;
	crit_sim_emit(m, CRIT_EV_ENTER, thread)->call = call;
}

static void leave(struct crit_sim *m, uint32_t thread)
{
	crit_sim_emit(m, CRIT_EV_LEAVE, thread)->call = m->actors[thread].call;
	end_span(m, thread);
}

static void begin_poll(struct crit_sim *m, uint32_t thread)
{
	static const uint64_t edges[] = { 19999, 20000, 20001 };
	struct crit_sim_actor *a = &m->actors[thread];

	claim(m, thread);
	a->call = poll_calls[crit_random_below(&m->random, 2)];
	a->is_polling = true;
	a->span_begin_ns = m->now_ns;
	if (m->shape->has_exact_polls && crit_random_is(&m->random, 60))
		a->todo_ns = edges[crit_random_below(&m->random, 3)];
	else if (crit_random_is(&m->random, 50))
		a->todo_ns = crit_random_wait_ns(&m->random, 20000);
}

static void end_poll(struct crit_sim *m, uint32_t thread)
{
	struct crit_scenario_event *e = crit_sim_emit(m, CRIT_EV_POLL, thread);

	e->begin_ns = m->actors[thread].span_begin_ns;
	e->call = m->actors[thread].call;
	end_span(m, thread);
}

static void give_birth(struct crit_sim *m, uint32_t parent, uint32_t cpu)
{
	struct crit_sim_actor *a = &m->actors[parent];
	uint32_t thread = a->children[--a->child_count];
	struct crit_scenario_event *e = crit_sim_emit(m, CRIT_EV_FORK, thread);

	e->other = parent;
	e->cpu = cpu;
	thread_of(m, thread)->birth_ns = m->now_ns;
	thread_of(m, thread)->death_ns = UINT64_MAX;
	crit_sim_set_state(m, thread, CRIT_STATE_RUNNABLE);
	crit_sim_enqueue(m, thread);
}

static bool has_living_siblings(struct crit_sim *m, uint32_t thread)
{
	for (size_t i = 0; i < m->s->thread_count; i++) {
		bool is_kin = m->s->threads[i].process == m->s->threads[thread].process ||
			      m->actors[thread].plan == PLAN_LAUNCHER;

		if (i != thread && is_kin &&
		    m->s->processes[m->s->threads[i].process].node == m->node &&
		    m->actors[i].state != CRIT_STATE_NONE)
			return true;
	}
	return false;
}

static bool is_last_of_process(struct crit_sim *m, uint32_t thread)
{
	for (size_t i = 0; i < m->s->thread_count; i++)
		if (i != thread && m->s->threads[i].process == m->s->threads[thread].process &&
		    m->actors[i].state != CRIT_STATE_NONE)
			return false;
	return true;
}

/* A life ends at its last switch-out, a little after the exit record. */
static void die(struct crit_sim *m, uint32_t thread, uint32_t cpu)
{
	struct crit_sim_actor *a = &m->actors[thread];
	struct crit_scenario_process *p = crit_sim_process(m, thread);

	if (a->is_claimed) {
		struct crit_scenario_event *e = crit_sim_emit(m, CRIT_EV_RELEASE, thread);

		e->begin_ns = a->is_polling ? a->span_begin_ns : 0;
		e->call = a->call;
	}
	if (a->is_polling)
		end_span(m, thread);
	crit_sim_emit(m, CRIT_EV_EXIT, thread)->cpu = cpu;
	if (crit_random_is(&m->random, 50))
		m->now_ns += crit_random_below(&m->random, 100);
	end_span(m, thread); /* a call that never returned lasts until death */
	a->state = CRIT_STATE_NONE;
	thread_of(m, thread)->death_ns = m->now_ns;
	crit_sim_switch_out(m, cpu, 0x80, false);
	if (!is_last_of_process(m, thread))
		return;
	p->gone_ns = m->now_ns;
	if (p->has_open && !p->has_close)
		p->close_ns = m->now_ns;
	if (p->has_shim)
		(void)crit_sim_emit(m, CRIT_EV_GONE, thread);
}

/* The main thread of a rank: Init, its part of the window, Finalize.  True when it acted. */
static bool act_rank(struct crit_sim *m, uint32_t thread, uint32_t cpu)
{
	struct crit_sim_actor *a = &m->actors[thread];
	struct crit_scenario_process *p = crit_sim_process(m, thread);

	if (a->phase == PHASE_EARLY && (m->is_ending || crit_random_is(&m->random, 50))) {
		enter(m, thread, CRIT_MPI_Init);
		a->phase = PHASE_INIT;
	} else if (a->phase == PHASE_INIT) {
		if (a->child_count &&
		    m->actors[a->children[a->child_count - 1]].plan == PLAN_SERVICE) {
			give_birth(m, thread, cpu);
			return true;
		}
		if (!m->is_ending && crit_random_is(&m->random, 40))
			return false;
		leave(m, thread);
		p->has_open = true;
		p->open_ns = m->now_ns;
		(void)crit_sim_emit(m, CRIT_EV_RANK, thread);
		a->phase = PHASE_OPEN;
	} else if (a->phase == PHASE_OPEN && m->is_ending && !a->call && p->pid % 4 != 3) {
		(void)crit_sim_emit(m, CRIT_EV_CLOSE, thread);
		p->has_close = true;
		p->close_ns = m->now_ns;
		enter(m, thread, CRIT_MPI_Finalize);
		a->phase = PHASE_FINALIZE;
	} else if (a->phase == PHASE_FINALIZE) {
		if (a->call && crit_random_is(&m->random, 60))
			leave(m, thread);
		else
			return false;
		a->phase = PHASE_LATE;
	} else {
		return false;
	}
	return true;
}

static void act_shim(struct crit_sim *m, uint32_t thread)
{
	struct crit_sim_actor *a = &m->actors[thread];
	uint64_t die_roll = crit_random_below(&m->random, 100);

	if (a->is_polling)
		end_poll(m, thread);
	else if (a->call)
		leave(m, thread);
	else if (die_roll < 45)
		enter(m, thread, wait_calls[crit_random_below(&m->random, 4)]);
	else if (die_roll < 75)
		enter(m, thread, other_calls[crit_random_below(&m->random, 4)]);
	else
		begin_poll(m, thread);
}

static bool may_call(const struct crit_sim_actor *a)
{
	return (a->plan == PLAN_MAIN && a->phase == PHASE_OPEN) || a->plan == PLAN_WORKER;
}

static void block(struct crit_sim *m, uint32_t thread, uint32_t cpu)
{
	uint64_t scale = m->is_ending ? 1 + m->shape->step_ns / 8 : 2 * m->shape->step_ns;

	m->actors[thread].wake_ns = m->now_ns + crit_random_wait_ns(&m->random, scale);
	crit_sim_switch_out(m, cpu, crit_random_is(&m->random, 70) ? 1 : 2, false);
}

static bool may_die(struct crit_sim *m, uint32_t thread)
{
	struct crit_sim_actor *a = &m->actors[thread];
	bool is_leader = a->plan != PLAN_WORKER && a->plan != PLAN_PLAIN && a->plan != PLAN_SERVICE;

	if (!m->is_ending && (is_leader || !crit_random_is(&m->random, 2)))
		return false;
	if (a->plan == PLAN_MAIN &&
	    (a->phase < PHASE_OPEN || a->phase == PHASE_FINALIZE ||
	     (a->phase == PHASE_OPEN && crit_sim_process(m, thread)->pid % 4 != 3)))
		return false;
	if (a->child_count && (!m->is_ending || a->plan == PLAN_LAUNCHER))
		return false;
	/* a shim alone cannot tell how long a call lasted that never returned */
	if (!m->s->has_kernel[m->node] && a->call && !a->is_polling)
		return false;
	return !is_leader || !has_living_siblings(m, thread);
}

void crit_sim_act(struct crit_sim *m, uint32_t cpu)
{
	uint32_t thread = m->cpu_thread[cpu];
	struct crit_sim_actor *a = &m->actors[thread];

	a->todo_ns = 0;
	a->run_since_ns = m->now_ns;
	if (may_die(m, thread)) {
		die(m, thread, cpu);
		return;
	}
	if (a->plan == PLAN_MAIN && act_rank(m, thread, cpu))
		;
	else if (a->child_count && a->plan != PLAN_MAIN && crit_random_is(&m->random, 60))
		give_birth(m, thread, cpu);
	else if (a->child_count && a->phase == PHASE_OPEN && !a->call && !m->is_ending &&
		 crit_random_is(&m->random, 50))
		give_birth(m, thread, cpu);
	else if (may_call(a) && crit_random_is(&m->random, 65))
		act_shim(m, thread);
	else if (crit_random_is(&m->random, 60))
		block(m, thread, cpu);
	else if (crit_random_is(&m->random, 40))
		crit_sim_switch_out(m, cpu, 0, false);
	if (m->actors[thread].state == CRIT_STATE_RUNNING && !a->todo_ns)
		a->todo_ns = crit_random_wait_ns(&m->random, m->shape->step_ns);
}
