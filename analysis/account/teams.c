// SPDX-License-Identifier: BSD-3-Clause
// Tracks which threads are in which parallel region.
#include "analysis/account/teams.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/account/barriers.h"
#include "analysis/account/engine.h"
#include "core/base/call.h"
#include "core/base/hash.h"

void crit_teams_init(struct crit_teams *teams)
{
	*teams = (struct crit_teams){ .free_member = CRIT_NONE,
				      .free_instance = CRIT_NONE,
				      .ending = CRIT_NONE };
	for (uint32_t i = 0; i < CRIT_TEAMS_OVER; i++)
		teams->over[i] = CRIT_NONE;
}

void crit_teams_fini(struct crit_teams *teams)
{
	crit_regions_fini(&teams->regions);
	free(teams->members);
	free(teams->instances);
	crit_index_fini(&teams->numbers);
	crit_teams_init(teams);
}

static uint64_t hash_of(uint32_t process, uint64_t number)
{
	return crit_hash_mix(number, (uint64_t)process << 40);
}

static uint32_t find(const struct crit_teams *teams, uint32_t process, uint64_t number,
		     struct crit_probe *ret_probe)
{
	uint32_t index = crit_index_first(&teams->numbers, hash_of(process, number), ret_probe);

	while (index != CRIT_NONE && (teams->instances[index].number != number ||
				      teams->instances[index].process != process))
		index = crit_index_next(&teams->numbers, ret_probe);
	return index;
}

/* The number may be used again: what is found under it is not this instance. */
static void forget_number(struct crit_teams *teams, uint32_t index)
{
	struct crit_instance *instance = &teams->instances[index];
	struct crit_probe probe;

	if (!instance->number)
		return;
	(void)find(teams, instance->process, instance->number, &probe); /* it is there */
	crit_index_remove(&teams->numbers, &probe);
	instance->number = 0;
}

/* Errors: -ENOMEM, or its index. */
static int64_t add_instance(struct crit_teams *teams, const struct crit_instance *instance)
{
	uint32_t index = teams->free_instance;
	bool is_new = index == CRIT_NONE;
	int rc = 0;

	if (is_new) {
		index = (uint32_t)teams->instance_count;
		rc = crit_array_grow(&teams->instances, &teams->instance_capacity,
				     teams->instance_count + 1, sizeof(*teams->instances));
	}
	if (!rc)
		rc = crit_index_put(&teams->numbers, hash_of(instance->process, instance->number),
				    index);
	if (rc)
		return rc;
	if (is_new)
		teams->instance_count++;
	else
		teams->free_instance = teams->instances[index].next;
	teams->instances[index] = *instance;
	return index;
}

bool crit_teams_is_over(const struct crit_teams *teams, uint32_t process, uint64_t arg)
{
	struct crit_probe probe;
	uint32_t index;

	if (arg & CRIT_INSTANCE_PRIMARY || !CRIT_INSTANCE_NUMBER(arg))
		return false;
	index = find(teams, process, CRIT_INSTANCE_NUMBER(arg), &probe);
	return index != CRIT_NONE && teams->instances[index].is_over;
}

/* By what is told, or because nobody else of its process tells anything. */
static bool is_alone(const struct crit_engine *engine, uint32_t process, uint64_t arg)
{
	return CRIT_INSTANCE_TEAM(arg) == 1 ||
	       (process != CRIT_NONE && engine->model->processes[process].stream_count == 1);
}

/* Waits for the rest of the team; those for a lock may be for another one. */
static bool is_for_team(uint32_t call)
{
	switch (call) {
	case CRIT_CONSTRUCT_BARRIER:
	case CRIT_CONSTRUCT_IMPLICIT_BARRIER:
	case CRIT_CONSTRUCT_RUNTIME_BARRIER:
	case CRIT_CONSTRUCT_TASKWAIT:
	case CRIT_CONSTRUCT_TASKGROUP:
	case CRIT_CONSTRUCT_REDUCTION:
	case CRIT_CONSTRUCT_ORDERED_WAIT:
		return true;
	default:
		return false;
	}
}

uint8_t crit_teams_class(const struct crit_teams *teams, uint32_t member,
			 const struct crit_bucket_key *key)
{
	if (member == CRIT_NONE || !is_for_team(key->call) ||
	    !teams->instances[teams->members[member].instance].is_alone)
		return key->span_class;
	return CRIT_CLASS_OMP;
}

/* The instance a thread enters, begun by it when new.  Errors: -ENOMEM, or its index. */
static int64_t enter_instance(struct crit_engine *engine, uint32_t process, uint32_t region,
			      uint64_t arg)
{
	struct crit_teams *teams = &engine->teams;
	uint64_t number = CRIT_INSTANCE_NUMBER(arg);
	struct crit_probe probe;
	uint32_t index = find(teams, process, number, &probe);
	int64_t row;

	if (index != CRIT_NONE && !teams->instances[index].is_over)
		return index;
	if (index != CRIT_NONE) /* a new program counts from 1 again */
		forget_number(teams, index);
	row = crit_regions_get(&teams->regions, process, region);
	if (row == -ENOMEM)
		return row;
	return add_instance(teams,
			    &(struct crit_instance){ .number = number,
						     .process = process,
						     .region = row < 0 ? CRIT_NONE : (uint32_t)row,
						     .next = CRIT_NONE,
						     .first = CRIT_NONE,
						     .primary = CRIT_NONE,
						     .is_alone = is_alone(engine, process, arg),
						     .idle_min_ns = UINT64_MAX });
}

/* How long a thread has idled in OpenMP so far. */
static uint64_t idle_of(const struct crit_thread_account *account)
{
	uint64_t sum_ns = 0;

	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		sum_ns += account->cells.ns[state][CRIT_CLASS_OMP_WAIT] +
			  account->cells.ns[state][CRIT_CLASS_OMP_IDLE];
	return sum_ns;
}

int64_t crit_teams_join(struct crit_engine *engine, uint32_t thread, uint32_t region, uint64_t arg)
{
	struct crit_teams *teams = &engine->teams;
	struct crit_thread_account *account = &engine->accounts[thread];
	uint32_t index = teams->free_member;
	struct crit_instance *instance;
	int64_t found;
	int rc;

	found = enter_instance(engine, engine->model->threads[thread].process, region, arg);
	if (found < 0)
		return found;
	if (index == CRIT_NONE) {
		rc = crit_array_grow(&teams->members, &teams->member_capacity,
				     teams->member_count + 1, sizeof(*teams->members));
		if (rc)
			return rc;
		index = (uint32_t)teams->member_count++;
	} else {
		teams->free_member = teams->members[index].next;
	}
	instance = &teams->instances[found];
	teams->members[index] = (struct crit_team_member){ .thread = thread,
							   .instance = (uint32_t)found,
							   .previous = CRIT_NONE,
							   .next = instance->first,
							   .outer = account->member,
							   .depth = account->depth,
							   .mark_ns = idle_of(account) };
	if (instance->first != CRIT_NONE)
		teams->members[instance->first].previous = index;
	instance->first = index;
	instance->inside++;
	if (arg & CRIT_INSTANCE_PRIMARY && instance->primary == CRIT_NONE)
		instance->primary = index;
	account->member = index;
	crit_barriers_joined(engine, (uint32_t)found);
	return index;
}

/* A member is through: what it idled counts, in the next team where its own is one of one. */
static void settle(struct crit_engine *engine, uint32_t index)
{
	struct crit_teams *teams = &engine->teams;
	struct crit_team_member *member = &teams->members[index];
	struct crit_instance *instance = &teams->instances[member->instance];
	uint64_t idle_ns = idle_of(&engine->accounts[member->thread]) - member->mark_ns;

	if (member->outer != CRIT_NONE)
		teams->members[member->outer].inner_ns += instance->is_alone ? member->inner_ns
									     : idle_ns;
	idle_ns = instance->is_alone ? 0 : idle_ns - member->inner_ns - member->runnable_ns;
	instance->runnable_sum_ns += member->runnable_ns;
	instance->count++;
	instance->idle_sum_ns += idle_ns;
	if (idle_ns < instance->idle_min_ns)
		instance->idle_min_ns = idle_ns;
	if (member->next != CRIT_NONE)
		teams->members[member->next].previous = member->previous;
	if (member->previous != CRIT_NONE)
		teams->members[member->previous].next = member->next;
	else
		instance->first = member->next;
	member->next = teams->free_member;
	teams->free_member = index;
}

static void end_instance(struct crit_teams *teams, uint32_t index)
{
	struct crit_instance *instance = &teams->instances[index];

	if (instance->is_over)
		return;
	instance->is_over = true;
	instance->next = teams->ending;
	teams->ending = index;
}

void crit_teams_leave(struct crit_engine *engine, uint32_t index, bool is_dead)
{
	struct crit_teams *teams = &engine->teams;
	struct crit_team_member *member = &teams->members[index];
	struct crit_instance *instance = &teams->instances[member->instance];
	struct crit_thread_account *account = &engine->accounts[member->thread];

	crit_barriers_forget(engine, index, is_dead);
	account->member = member->outer;
	instance->inside--;
	if (instance->primary == index || (instance->primary == CRIT_NONE && !instance->inside))
		end_instance(teams, member->instance);
	if (instance->is_over || is_dead || member->depth) {
		settle(engine, index);
		return;
	}
	member->has_left = true;
	account->idling = index;
}

void crit_teams_end_idling(struct crit_engine *engine, uint32_t thread)
{
	struct crit_thread_account *account = &engine->accounts[thread];

	if (account->idling != CRIT_NONE)
		settle(engine, account->idling);
	account->idling = CRIT_NONE;
}

/* After DLB TALP's compute_parallel_not_useful (docs/metric.md). */
static void book(struct crit_teams *teams, uint32_t index)
{
	struct crit_instance *instance = &teams->instances[index];
	struct crit_region *region;
	uint64_t common_ns = instance->count * instance->idle_min_ns;

	if (instance->region == CRIT_NONE || !instance->count)
		return;
	region = &teams->regions.rows[instance->region];
	region->scheduling_ns += common_ns;
	region->imbalance_ns += instance->idle_sum_ns - common_ns;
	region->runnable_ns += instance->runnable_sum_ns;
	if (instance->count > region->team_max)
		region->team_max = instance->count;
}

/* Remembers an instance that is over, and forgets the one that has been so for longest. */
static void remember(struct crit_teams *teams, uint32_t index)
{
	uint32_t *place = &teams->over[teams->over_at++ % CRIT_TEAMS_OVER];

	if (*place != CRIT_NONE) {
		forget_number(teams, *place);
		teams->instances[*place].next = teams->free_instance;
		teams->free_instance = *place;
	}
	*place = index;
}

void crit_teams_end(struct crit_teams *teams, uint32_t index)
{
	book(teams, index);
	remember(teams, index);
}
