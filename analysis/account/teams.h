/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP teams: which threads are in which instance of a parallel region, and how long each idles
 * there.
 *
 * When the primary thread of an instance leaves, or dies, the instance is over: the other members
 * are dismissed, their spans of it end then.  What they tell of it later is ignored; so is the late
 * arrival at one of the last CRIT_TEAMS_OVER instances.  A member that leaves earlier than the
 * primary and has nothing else to do idles in the instance until then.
 *
 * Memory: O(open spans of parallel regions).  Cost: O(1) per member of an instance.
 */
#ifndef CRIT_TEAMS_H
#define CRIT_TEAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/regions.h"
#include "core/base/index.h"

#define CRIT_TEAMS_OVER 1024u /* instances known to be over */

struct crit_bucket_key;
struct crit_engine;

struct crit_team_member { /* of an instance */
	uint32_t thread;
	uint32_t instance;
	uint32_t previous, next; /* of the instance, or CRIT_NONE; next: of the free ones, too */
	uint32_t outer; /* the member the thread was before, or CRIT_NONE */
	uint32_t depth; /* open spans around */
	bool has_left; /* idles until the instance is over */
	bool is_in_barrier; /* analysis/account/barriers.h; the next five with it */
	uint16_t barrier; /* construct */
	uint32_t round;
	uint64_t arrived_ns;
	uint64_t runnable_mark_ns; /* the thread's runnable time in waits when all had arrived */
	uint64_t runnable_ns; /* of its idle time, in barriers all had arrived at */
	uint64_t mark_ns; /* the thread's idle time when it came */
	uint64_t inner_ns; /* of its idle time since then, what belongs to instances inside */
};

struct crit_instance {
	uint64_t number; /* 0: not in the table */
	uint32_t process;
	uint32_t region; /* index into the regions, or CRIT_NONE */
	uint32_t next; /* of those that end, or of the free ones */
	uint32_t first; /* member */
	uint32_t primary; /* member, or CRIT_NONE */
	uint32_t inside; /* members that have not left */
	uint32_t arrived; /* of these, at the barrier of this round */
	uint32_t round; /* barriers that were complete */
	uint32_t last; /* thread that arrived last at the newest of them */
	uint64_t last_ns;
	uint64_t meeting; /* of it, as edges have it */
	bool is_over;
	bool is_alone; /* a team of one */
	uint32_t count; /* members that are through */
	uint64_t idle_sum_ns; /* of these */
	uint64_t idle_min_ns;
	uint64_t runnable_sum_ns; /* of these, no part of their idle time */
};

struct crit_teams {
	struct crit_regions regions;
	struct crit_team_member *members;
	size_t member_count, member_capacity;
	uint32_t free_member;
	struct crit_instance *instances;
	size_t instance_count, instance_capacity;
	uint32_t free_instance;
	struct crit_index numbers; /* of instances, by process and number */
	uint64_t meeting_count; /* barriers that were complete */
	uint32_t ending; /* the first instance whose members must be dismissed */
	uint32_t over[CRIT_TEAMS_OVER]; /* instances, the oldest at over_at */
	uint32_t over_at;
};

void crit_teams_init(struct crit_teams *teams);
void crit_teams_fini(struct crit_teams *teams);

/* Is it over, that a thread of this process tells of?  arg: of CRIT_S_ENTER. */
bool crit_teams_is_over(const struct crit_teams *teams, uint32_t process, uint64_t arg);

/*
 * The class of a span that a member (or CRIT_NONE) of a team begins: its own, but that a team of
 * one has nobody to wait for.
 */
uint8_t crit_teams_class(const struct crit_teams *teams, uint32_t member,
			 const struct crit_bucket_key *key);

/* A thread enters an instance, its cells are up to date.  Errors: -ENOMEM, or the member. */
int64_t crit_teams_join(struct crit_engine *engine, uint32_t thread, uint32_t region, uint64_t arg);

/* A member's span ends; its cells are up to date.  is_dead: nothing comes after it. */
void crit_teams_leave(struct crit_engine *engine, uint32_t member, bool is_dead);

/* An instance is over and has no members any more: its figures go to its region. */
void crit_teams_end(struct crit_teams *teams, uint32_t index);

/* A thread that idles in an instance it has left does so no longer; its cells are up to date. */
void crit_teams_end_idling(struct crit_engine *engine, uint32_t thread);

#endif
