// SPDX-License-Identifier: BSD-3-Clause
// Barriers of OpenMP teams: counts arrivals, and the time a member stays runnable after the last
// one.
//
// The barriers of an instance are numbered as they are complete: a member waits in round n until
// then, and is through as soon as the round is n + 1, whenever it leaves.
#include "analysis/account/barriers.h"

#include "analysis/account/engine.h"
#include "core/base/call.h"

static uint64_t runnable_of(const struct crit_engine *engine, const struct crit_team_member *member)
{
	return engine->accounts[member->thread].cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_OMP_WAIT];
}

static struct crit_instance *instance_of(struct crit_engine *engine,
					 const struct crit_team_member *member)
{
	return &engine->teams.instances[member->instance];
}

/* Who has arrived at a barrier that is complete. */
static void tell_arrival(struct crit_engine *engine, const struct crit_team_member *member,
			 const struct crit_instance *instance)
{
	crit_listeners_tell_edge(&engine->listeners,
				 &(struct crit_edge){ .begin_ns = member->arrived_ns,
						      .end_ns = instance->last_ns,
						      .cause_ns = member->arrived_ns,
						      .object = instance->meeting,
						      .place = CRIT_EDGE_TEAM,
						      .waiter = member->thread,
						      .cause = member->thread,
						      .call = member->barrier,
						      .kind = CRIT_EDGE_ARRIVAL });
}

/* The barrier is over if all have arrived.  Of a team of which one member came nothing is known. */
static void complete(struct crit_engine *engine, struct crit_instance *instance, uint32_t last,
		     uint64_t time_ns)
{
	const bool is_told = crit_listeners_want(&engine->listeners, CRIT_EDGE_ARRIVAL);

	if (instance->inside < 2 || instance->arrived < instance->inside)
		return;
	instance->last = last;
	instance->last_ns = time_ns;
	instance->meeting = ++engine->teams.meeting_count;
	for (uint32_t index = instance->first; index != CRIT_NONE;) {
		struct crit_team_member *member = &engine->teams.members[index];

		index = member->next;
		if (!member->is_in_barrier || member->round != instance->round)
			continue;
		crit_engine_close_cell(engine, &engine->accounts[member->thread], time_ns);
		member->runnable_mark_ns = runnable_of(engine, member);
		if (is_told)
			tell_arrival(engine, member, instance);
	}
	instance->round++;
	instance->arrived = 0;
}

/* It was not complete after all: members that did not leave it wait on, since no round began. */
static void reopen(struct crit_engine *engine, struct crit_instance *instance)
{
	if (!instance->round || instance->arrived)
		return;
	instance->round--;
	for (uint32_t index = instance->first; index != CRIT_NONE;
	     index = engine->teams.members[index].next)
		instance->arrived += engine->teams.members[index].is_in_barrier &&
				     engine->teams.members[index].round == instance->round;
}

/*
 * What a member was runnable for since the barrier it is in was complete, counted once.  Stays on
 * CPUs that were told of since then may lie before that: more than it was runnable for after it.
 */
static void take_runnable(const struct crit_engine *engine, struct crit_team_member *member)
{
	uint64_t now_ns = runnable_of(engine, member);

	if (now_ns > member->runnable_mark_ns)
		member->runnable_ns += now_ns - member->runnable_mark_ns;
	member->runnable_mark_ns = now_ns;
}

/* Where short waits are not recorded, arrivals cannot be counted. */
static void arrive(struct crit_engine *engine, struct crit_team_member *member, uint32_t call,
		   uint64_t time_ns)
{
	const struct crit_model *model = engine->model;
	struct crit_instance *instance = instance_of(engine, member);

	if (crit_model_is_folding(&model->nodes[model->threads[member->thread].node], time_ns))
		return;
	member->is_in_barrier = true;
	member->round = instance->round;
	member->barrier = (uint16_t)call;
	member->arrived_ns = time_ns;
	instance->arrived++;
	complete(engine, instance, member->thread, time_ns);
}

static void depart(struct crit_engine *engine, struct crit_team_member *member)
{
	struct crit_instance *instance = instance_of(engine, member);

	if (member->round == instance->round)
		instance->arrived--;
	else
		take_runnable(engine, member);
	member->is_in_barrier = false;
}

static void tell_edges(struct crit_engine *engine, const struct crit_team_member *member,
		       const struct crit_instance *instance, uint64_t time_ns)
{
	struct crit_edge edge = { .begin_ns = member->arrived_ns,
				  .end_ns = time_ns,
				  .cause_ns = instance->last_ns,
				  .object = instance->number,
				  .waiter = member->thread,
				  .cause = instance->last,
				  .call = member->barrier,
				  .kind = CRIT_EDGE_BARRIER };

	if (member->thread != instance->last) {
		edge.meeting = instance->meeting;
	} else {
		edge.kind = CRIT_EDGE_MEETING;
		edge.object = instance->meeting;
	}
	crit_listeners_tell_edge(&engine->listeners, &edge);
}

/* A member is through its barrier; who arrived last is told to listeners. */
static void tell_last(struct crit_engine *engine, const struct crit_team_member *member,
		      uint64_t time_ns)
{
	const struct crit_instance *instance = instance_of(engine, member);

	if (member->round != instance->round &&
	    (crit_listeners_want(&engine->listeners, CRIT_EDGE_BARRIER) ||
	     crit_listeners_want(&engine->listeners, CRIT_EDGE_MEETING)))
		tell_edges(engine, member, instance, time_ns);
}

/* A member works on in the barrier: until it is back nobody is kept from leaving by a CPU. */
static void interrupt(struct crit_engine *engine, struct crit_team_member *member, uint64_t time_ns)
{
	struct crit_instance *instance = instance_of(engine, member);

	if (member->round != instance->round) {
		for (uint32_t index = instance->first; index != CRIT_NONE;) {
			struct crit_team_member *other = &engine->teams.members[index];

			index = other->next;
			if (!other->is_in_barrier || other->round == instance->round)
				continue;
			crit_engine_close_cell(engine, &engine->accounts[other->thread], time_ns);
			take_runnable(engine, other);
		}
		reopen(engine, instance);
	}
	depart(engine, member);
}

static bool is_barrier(uint32_t call)
{
	return call == CRIT_CONSTRUCT_BARRIER || call == CRIT_CONSTRUCT_IMPLICIT_BARRIER ||
	       call == CRIT_CONSTRUCT_RUNTIME_BARRIER;
}

void crit_barriers_enter(struct crit_engine *engine, uint32_t thread, uint32_t call,
			 uint64_t time_ns)
{
	const struct crit_thread_account *account = &engine->accounts[thread];
	struct crit_team_member *member;

	if (account->member == CRIT_NONE)
		return;
	member = &engine->teams.members[account->member];
	if (member->is_in_barrier)
		interrupt(engine, member, time_ns);
	if (is_barrier(call))
		arrive(engine, member, call, time_ns);
}

void crit_barriers_leave(struct crit_engine *engine, uint32_t thread, uint64_t time_ns)
{
	const struct crit_thread_account *account = &engine->accounts[thread];
	struct crit_team_member *member;
	bool is_there;

	if (account->member == CRIT_NONE)
		return;
	member = &engine->teams.members[account->member];
	is_there = account->depth > member->depth &&
		   is_barrier(account->spans[account->depth - 1].call);
	if (is_there && !member->is_in_barrier) {
		arrive(engine, member, account->spans[account->depth - 1].call, time_ns);
	} else if (!is_there && member->is_in_barrier) {
		tell_last(engine, member, time_ns);
		depart(engine, member);
	}
}

void crit_barriers_forget(struct crit_engine *engine, uint32_t index, bool is_dead)
{
	struct crit_team_member *member = &engine->teams.members[index];

	if (!member->is_in_barrier)
		return;
	if (!is_dead)
		tell_last(engine, member, engine->accounts[member->thread].cell_since_ns);
	depart(engine, member);
}

void crit_barriers_joined(struct crit_engine *engine, uint32_t index)
{
	reopen(engine, &engine->teams.instances[index]);
}
