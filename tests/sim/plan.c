// SPDX-License-Identifier: BSD-3-Clause
// Draws who takes part in a simulated run: launcher, ranks, their threads and children.
#include "tests/maker/maker.h"
#include "tests/sim/scheduler.h"

static void adopt(struct crit_sim *m, uint32_t parent, uint32_t child)
{
	struct crit_sim_actor *a = &m->actors[parent];

	if (a->child_count == CRIT_SIM_CHILDREN)
		crit_maker_fail("have so many children");
	a->children[a->child_count++] = child;
}

static uint32_t plan_thread(struct crit_sim *m, uint32_t process, enum crit_sim_plan plan)
{
	struct crit_scenario_process *p = &m->s->processes[process];
	enum crit_role role = plan == PLAN_LAUNCHER  ? CRIT_THREAD_LAUNCHER
			      : plan == PLAN_SERVICE ? CRIT_THREAD_SERVICE
						     : CRIT_THREAD_APP;
	uint32_t thread = crit_scenario_add_thread(
		m->s, (struct crit_scenario_thread){ .process = process, .role = role });
	struct crit_scenario_thread *t = &m->s->threads[thread];
	bool is_leader = plan != PLAN_WORKER && plan != PLAN_PLAIN && plan != PLAN_SERVICE;

	t->tid = is_leader ? p->pid : 5000 + thread;
	t->ns_tid = t->tid - (p->pid - p->ns_pid);
	m->actors[thread].plan = plan;
	return thread;
}

static uint32_t plan_process(struct crit_sim *m, uint32_t parent, uint32_t owner)
{
	uint32_t pid = 1000 + (uint32_t)m->s->process_count * 7;
	uint32_t shift = m->shape->seed % 3 ? 0 : 900;
	uint32_t index = crit_scenario_add_process(
		m->s, (struct crit_scenario_process){ .node = m->node,
						      .pid = pid,
						      .ns_pid = pid - shift,
						      .parent = parent,
						      .owner = owner });

	return index;
}

static void plan_rank(struct crit_sim *m, uint32_t launcher, uint32_t rank)
{
	uint32_t process = plan_process(m, m->s->threads[launcher].process, CRIT_SCENARIO_NONE);
	uint32_t main_thread = plan_thread(m, process, PLAN_MAIN);
	uint32_t extra = (uint32_t)crit_random_below(&m->random, m->shape->threads_max);

	m->s->processes[process].owner = process;
	m->s->processes[process].has_rank = true;
	m->s->processes[process].rank = rank;
	adopt(m, launcher, main_thread);
	if (m->shape->threads_max > 1 && !m->shape->is_shim_only &&
	    crit_random_is(&m->random, 25)) {
		uint32_t child = plan_process(m, process, process);

		adopt(m, main_thread, plan_thread(m, child, PLAN_CHILD));
	}
	for (uint32_t i = 0; i < extra; i++)
		adopt(m, main_thread,
		      plan_thread(m, process,
				  crit_random_is(&m->random, 60) ? PLAN_WORKER : PLAN_PLAIN));
	/* born first, as the list is taken from its end */
	if (crit_random_is(&m->random, 50))
		adopt(m, main_thread, plan_thread(m, process, PLAN_SERVICE));
}

uint32_t crit_sim_plan_node(struct crit_sim *m)
{
	uint32_t nodes = m->shape->nodes;
	uint32_t root_process = plan_process(m, CRIT_SCENARIO_NONE, CRIT_SCENARIO_NONE);
	uint32_t root = plan_thread(m, root_process, m->shape->ranks ? PLAN_LAUNCHER : PLAN_ROOT);

	for (uint32_t rank = m->node; rank < m->shape->ranks; rank += nodes)
		plan_rank(m, root, rank);
	if (!m->shape->ranks) {
		uint32_t extra = 1 + (uint32_t)crit_random_below(&m->random, 6);

		for (uint32_t i = 0; i < extra; i++)
			adopt(m, root, plan_thread(m, root_process, PLAN_PLAIN));
		adopt(m, root,
		      plan_thread(m, plan_process(m, root_process, CRIT_SCENARIO_NONE),
				  PLAN_CHILD));
	}
	return root;
}
