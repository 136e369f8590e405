/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's inside: its threads and CPUs, shared by planning, acting and the loop. */
#ifndef CRIT_TESTS_SCHEDULER_H
#define CRIT_TESTS_SCHEDULER_H

#include "tests/maker/random.h"
#include "tests/sim/scenario.h"

#define CRIT_SIM_CPUS 6
#define CRIT_SIM_CHILDREN 16

enum crit_sim_plan {
	PLAN_NONE = 0,
	PLAN_LAUNCHER,
	PLAN_MAIN, /* of a rank */
	PLAN_WORKER, /* of a rank, calls MPI */
	PLAN_PLAIN, /* app, no shim */
	PLAN_SERVICE,
	PLAN_CHILD, /* main thread of a process that a rank started */
	PLAN_ROOT /* first thread of a run without ranks */
};

enum crit_sim_phase {
	PHASE_EARLY = 0,
	PHASE_INIT,
	PHASE_OPEN,
	PHASE_FINALIZE,
	PHASE_LATE
};

struct crit_sim_actor {
	enum crit_sim_plan plan;
	enum crit_sim_phase phase;
	enum crit_kernel_state state;
	uint64_t wake_ns;
	uint64_t run_since_ns;
	uint64_t todo_ns; /* CPU time until it acts */
	uint32_t call; /* open span or poll */
	bool is_polling;
	bool is_claimed;
	uint64_t span_begin_ns;
	uint32_t children[CRIT_SIM_CHILDREN];
	size_t child_count; /* still to be born */
};

struct crit_sim {
	struct crit_scenario *s;
	const struct crit_scenario_shape *shape;
	struct crit_random random;
	struct crit_sim_actor actors[CRIT_SCENARIO_THREADS];
	uint32_t cpu_thread[CRIT_SIM_CPUS]; /* NONE: idle */
	uint64_t slice_end_ns[CRIT_SIM_CPUS];
	uint64_t dispatch_ns[CRIT_SIM_CPUS]; /* idle: when it looks at the queue */
	uint32_t cpu_count;
	uint32_t queue[CRIT_SCENARIO_THREADS];
	size_t queue_length;
	uint32_t node;
	uint32_t events;
	uint64_t now_ns;
	bool is_ending;
};

static inline struct crit_scenario_process *crit_sim_process(struct crit_sim *m, uint32_t thread)
{
	return &m->s->processes[m->s->threads[thread].process];
}

/* Yields the first thread of the node, which has the others as children to come. */
uint32_t crit_sim_plan_node(struct crit_sim *m);

struct crit_scenario_event *crit_sim_emit(struct crit_sim *m, enum crit_scenario_kind kind,
					  uint32_t thread);
void crit_sim_set_state(struct crit_sim *m, uint32_t thread, enum crit_kernel_state state);
void crit_sim_enqueue(struct crit_sim *m, uint32_t thread);
uint32_t crit_sim_dequeue(struct crit_sim *m);
void crit_sim_start_running(struct crit_sim *m, uint32_t cpu, uint32_t thread);
void crit_sim_make_idle(struct crit_sim *m, uint32_t cpu);

/* The running thread of cpu leaves it in a kernel state; another may take it at the same stamp. */
void crit_sim_switch_out(struct crit_sim *m, uint32_t cpu, unsigned int state, bool is_preempted);

/* The running thread of cpu does what it does next. */
void crit_sim_act(struct crit_sim *m, uint32_t cpu);

#endif
