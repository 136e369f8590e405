/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP in an archive: teams, locks, and the regions of constructs and phases.
 *
 * Who is in a team, and what a construct is called, is known only when all is told.  Until then
 * events name provisional numbers, which each location's mapping tables turn into the global ones.
 *
 * A team is what a thread forks at one depth, asking for so many threads: one communicator for all
 * its instances, of everybody who was ever in one.
 */
#ifndef CRIT_OTF2_OPENMP_H
#define CRIT_OTF2_OPENMP_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "core/base/index.h"
#include "core/base/map.h"
#include "analysis/schema/trace.h"
#include "otf2/live.h"
#include "otf2/parts.h"

#define CRIT_OTF2_TEAM_DEPTH 16u
#define CRIT_OTF2_TASK_DEPTH 64u /* tasks a thread is in at the same time */
#define CRIT_OTF2_LOCKS_HELD 32u /* by a thread at the same time */
#define CRIT_OTF2_CONSTRUCTS_MAX 4096u /* of a group, and teams; its tables must fit a chunk */
#define CRIT_OTF2_CONSTRUCT_BASE (1u << 20) /* of provisional regions */
#define CRIT_OTF2_TEAM_BASE (1u << 24) /* of provisional communicators */

struct crit_otf2_writer;

struct crit_otf2_team {
	uint32_t group; /* location group */
	uint32_t next; /* of the same group, CRIT_NONE */
	uint32_t size; /* of the largest instance so far */
	uint32_t name, communicator; /* string and reference, once all is told */
	uint32_t *members; /* rows of locations, the primary first */
	size_t count, capacity;
};

struct crit_otf2_construct {
	uint64_t site; /* code address; 0 of a phase, or unknown */
	uint32_t number; /* of the region in force, where there is no address */
	uint32_t group;
	bool is_fork_wait; /* a runtime barrier of the primary alone */
	uint32_t next; /* of the same group, CRIT_NONE */
	uint32_t region; /* the global one, once all is told */
	uint16_t call;
};

/* What a thread is in. */
struct crit_otf2_member {
	uint32_t depth;
	struct {
		uint64_t instance;
		uint64_t site; /* of the region */
		uint32_t team;
		uint32_t position; /* among the team's members */
		bool is_primary;
	} frames[CRIT_OTF2_TEAM_DEPTH];
	uint32_t task_depth;
	struct {
		uint64_t task;
		uint32_t team, creator;
		uint32_t frame; /* depth it is executed at */
		bool is_told, is_paused;
	} tasks[CRIT_OTF2_TASK_DEPTH];
	uint32_t held_count;
	struct {
		uint32_t lock, order;
	} held[CRIT_OTF2_LOCKS_HELD];
};

struct crit_otf2_openmp {
	struct crit_otf2_team *teams;
	size_t team_count, team_capacity;
	uint32_t *team_order; /* as their communicators are numbered, once all is told */
	struct crit_map team_numbers; /* location, depth and size, or group -> index */
	struct crit_map memberships; /* team << 32 | row of the location -> position */
	struct crit_otf2_live instances; /* of parallel regions */
	struct crit_otf2_live tasks; /* explicit ones */
	struct crit_otf2_construct *constructs;
	size_t construct_count, construct_capacity;
	struct crit_index construct_numbers; /* by what identifies one */
	struct crit_map lock_numbers; /* group and lock -> index */
	struct crit_otf2_lock *locks;
	size_t lock_count, lock_capacity;
	uint64_t forks, acquisitions;
	uint64_t lost_teams; /* members of instances nobody forked, or no room */
	uint64_t lost_tasks; /* made or complete, not both as far as is known; or no room */
	uint64_t lost_locks; /* given back and not taken, or the other way round */
	bool has_constructs, has_joined; /* of OpenMP; too many, so some are joined by kind */
};

void crit_otf2_openmp_init(struct crit_otf2_openmp *openmp);
void crit_otf2_openmp_fini(struct crit_otf2_openmp *openmp);

/* Enters, or leaves, an instance of a parallel region.  Errors: -ENOMEM, -EIO. */
int crit_otf2_team_enter(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns, const struct crit_trace_span *span);
int crit_otf2_team_leave(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns);

/*
 * The thread enters, or leaves, a span of a task, which is a switch to it, or to what was left for
 * it.  Errors: -ENOMEM, -EIO.
 */
int crit_otf2_task_enter(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns, uint64_t task);
int crit_otf2_task_leave(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns);
/* Part of the sink. */
int crit_otf2_task_told(void *user, uint32_t thread, uint64_t time_ns, uint16_t note,
			uint64_t task);

/* A wait for a lock is over: the thread has it.  Errors: -ENOMEM, -EIO. */
int crit_otf2_lock_taken(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns, uint64_t lock);
/* A section under a lock is over: gives it back, unless that was told already. */
int crit_otf2_section_left(struct crit_otf2_writer *writer,
			   const struct crit_otf2_location *location, uint64_t time_ns,
			   uint64_t lock);
/* Part of the sink. */
int crit_otf2_lock_released(void *user, uint32_t thread, uint64_t time_ns, uint16_t call,
			    uint64_t lock);

/* The provisional region of a construct or phase.  Errors: CRIT_NONE when out of memory. */
uint32_t crit_otf2_construct_region(struct crit_otf2_writer *writer,
				    const struct crit_otf2_location *location,
				    const struct crit_trace_span *span);

/* Once all is told: makes the global regions.  Errors: -ENOMEM. */
int crit_otf2_name_constructs(struct crit_otf2_writer *writer, const struct crit_results *results);

/* Likewise for teams, behind all other communicators. */
int crit_otf2_name_teams(struct crit_otf2_writer *writer);

/* From provisional to global numbers, part of a location's own definitions. */
OTF2_ErrorCode crit_otf2_write_maps(const struct crit_otf2_writer *writer,
				    const struct crit_otf2_location *location,
				    OTF2_DefWriter *local);

/* The groups and communicators of teams, of these references on. */
OTF2_ErrorCode crit_otf2_write_team_groups(struct crit_otf2_writer *writer,
					   OTF2_GlobalDefWriter *global, uint32_t first,
					   uint32_t name);
OTF2_ErrorCode crit_otf2_write_team_comms(struct crit_otf2_writer *writer,
					  OTF2_GlobalDefWriter *global, uint32_t first_group);

#endif
