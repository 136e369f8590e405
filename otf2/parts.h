/* SPDX-License-Identifier: BSD-3-Clause */
/* What an archive is made of: attributes, groups, locations, regions, communicators. */
#ifndef CRIT_OTF2_PARTS_H
#define CRIT_OTF2_PARTS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

enum crit_otf2_attribute { /* their references in the archive */
	CRIT_OTF2_CMETRIC = 0,
	CRIT_OTF2_STALL,
	CRIT_OTF2_RUNNING,
	CRIT_OTF2_RUNNABLE,
	CRIT_OTF2_BLOCKED,
	CRIT_OTF2_POLLED,
	CRIT_OTF2_SITE,
	CRIT_OTF2_ATTRIBUTE_COUNT
};

#define CRIT_OTF2_METRIC 0u /* the only metric class: CMetric */

struct crit_otf2_group { /* a location group: a rank, or a process without one */
	uint32_t node;
	uint32_t pid;
	int32_t rank_row; /* -1: no rank */
	bool has_kernel; /* its node's kernel half was recorded */
	uint32_t name; /* string */
	uint32_t program; /* region: everything outside MPI */
	uint32_t first_construct, first_team; /* of its own, CRIT_NONE */
	uint32_t construct_count, team_count, lock_count;
};

struct crit_otf2_location {
	uint64_t reference; /* thread << 32 | group */
	OTF2_EvtWriter *events; /* NULL: not open */
	struct crit_otf2_member *member; /* of OpenMP teams, NULL: of none so far */
	struct crit_trace_sums *last_sums; /* of the program's end, once is_over */
	uint64_t event_count;
	uint64_t last_ns;
	uint32_t name; /* string */
	uint32_t group;
	uint32_t team_index; /* in COMM_LOCATIONS of OpenMP, once all is told; CRIT_NONE */
	bool is_listed; /* belongs into the archive */
	bool is_own; /* written by this process, not by another */
	bool is_begun; /* its first event is written */
	bool has_init; /* it has called MPI_Init, and may be told to call MPI_Finalize */
	bool is_over; /* only MPI_Finalize and the program's end are to come */
	bool is_closed; /* its file is whole */
};

/* Does the program of a rank begin and end here? */
static inline bool crit_otf2_is_main(const struct crit_otf2_group *group,
				     const struct crit_otf2_location *location)
{
	return group->rank_row >= 0 && location->reference >> 32 == 0;
}

struct crit_otf2_region {
	uint32_t name;
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
	uint32_t file; /* string, CRIT_NONE */
	uint32_t line;
};

struct crit_otf2_communicator {
	uint32_t group, group_b; /* references; group_b of an intercommunicator only */
	uint32_t name;
	uint32_t parent;
	bool is_inter;
};

struct crit_otf2_lock { /* of OpenMP */
	uint32_t number; /* in the archive */
	uint32_t order; /* times it was taken */
};

struct crit_otf2_members { /* a COMM_GROUP */
	uint64_t *members; /* indexes into COMM_LOCATIONS; NULL: MPI_COMM_SELF */
	uint32_t count, name;
};

#endif
