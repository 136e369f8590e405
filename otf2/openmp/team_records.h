/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of OpenMP: forks, joins and members as event records, and a communicator for each team.
 *
 * A team is what a thread forks at one depth, asking for so many threads: one communicator for all
 * its instances, with every location that was ever in one.  The members are known only at the end;
 * until then events name provisional communicators, which each location's mapping table turns into
 * the final ones.
 */
#ifndef CRIT_OTF2_TEAM_RECORDS_H
#define CRIT_OTF2_TEAM_RECORDS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/schema/trace.h"
#include "otf2/archive/archive_files.h"
#include "otf2/archive/strings.h"
#include "otf2/archive/told.h"
#include "otf2/definitions/layout.h"
#include "otf2/events/streams.h"

#define CRIT_OTF2_TEAM_DEPTH 16u
#define CRIT_OTF2_TEAMS_MAX_OF_GROUP 4096u /* the mapping table must fit a chunk */
#define CRIT_OTF2_TEAM_BASE (1u << 24) /* of provisional communicators */

struct crit_otf2_teams;

struct crit_otf2_frame { /* an instance of a team that a thread is in */
	uint64_t site; /* of the region */
	uint32_t team;
	uint32_t position; /* among the team's members */
};

/* Everything is borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_teams *crit_otf2_teams_create(struct crit_otf2_files *files,
					       const struct crit_otf2_layout *layout);
void crit_otf2_teams_destroy(struct crit_otf2_teams *teams);

/* Enters, or leaves, an instance of a parallel region.  Errors: -ENOMEM, -EIO. */
int crit_otf2_teams_enter(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at,
			  const struct crit_trace_span *span);
int crit_otf2_teams_leave(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at);

/* How many teams a location is in, and the innermost; NULL: it is in none, or too deep. */
uint32_t crit_otf2_teams_depth(const struct crit_otf2_teams *teams, uint32_t row);
const struct crit_otf2_frame *crit_otf2_teams_innermost(const struct crit_otf2_teams *teams,
							uint32_t row);

/* Were there forks, and is every member of every instance known? */
bool crit_otf2_teams_are_whole(const struct crit_otf2_teams *teams);

/* Once all events are written: numbers teams behind other communicators.  Errors: -ENOMEM. */
int crit_otf2_teams_name(struct crit_otf2_teams *teams, struct crit_otf2_strings *strings,
			 size_t communicator_count);

/* Adds the final communicators of a group to a location's mapping table. */
void crit_otf2_teams_map(const struct crit_otf2_teams *teams, uint32_t group, OTF2_IdMap *map);

/* Defines the groups of members, from this reference on, and the communicators. */
OTF2_ErrorCode crit_otf2_teams_write_groups(const struct crit_otf2_teams *teams,
					    OTF2_GlobalDefWriter *global, uint32_t first,
					    uint32_t name);
OTF2_ErrorCode crit_otf2_teams_write(const struct crit_otf2_teams *teams,
				     OTF2_GlobalDefWriter *global, uint32_t first_group);

/* Teams and counts, for process 0, and final communicators back.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_teams_pack(const struct crit_otf2_teams *teams, struct crit_exchange_buffer *buffer);
int crit_otf2_teams_unpack(struct crit_otf2_teams *teams, const struct crit_exchange_buffer *buffer,
			   size_t *at, struct crit_otf2_told *ret_told);
int crit_otf2_teams_pack_numbers(const struct crit_otf2_teams *teams, struct crit_otf2_told told,
				 struct crit_exchange_buffer *buffer);
int crit_otf2_teams_unpack_numbers(struct crit_otf2_teams *teams,
				   const struct crit_exchange_buffer *buffer, size_t *at);

#endif
