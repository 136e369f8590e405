/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a verification: definitions seen, counts, and the location being read. */
#ifndef CRIT_OTF2_VERIFIER_H
#define CRIT_OTF2_VERIFIER_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/map.h"
#include "otf2/verify/entered.h"
#include "otf2/verify/tally.h"

#define CRIT_OTF2_DEPTH_MAX 4096u
#define CRIT_OTF2_TEAMS_MAX 64u /* of a location at the same time */
#define CRIT_OTF2_HELD_MAX 64u /* locks, likewise */

struct crit_otf2_seen_location {
	uint64_t reference;
	uint64_t event_count; /* as defined */
	uint32_t group;
	bool has_events; /* its files can be opened */
	bool has_definitions;
	/* of its local definitions */
	uint32_t offset_count;
	uint64_t offset_ns; /* stamp of the last clock offset */
};

struct crit_otf2_seen_group {
	uint32_t reference;
	OTF2_GroupType type;
	OTF2_Paradigm paradigm;
	uint64_t *members;
	uint32_t member_count;
	bool is_filed; /* in memberships */
};

struct crit_otf2_seen_communicator {
	uint32_t group; /* indexes into groups, CRIT_NONE: MPI_COMM_SELF */
	uint32_t group_b; /* CRIT_NONE: no intercommunicator */
	uint32_t members_seen; /* that took part in a collective */
	uint32_t first_row; /* the first of these, in the tally */
};

struct crit_otf2_stream { /* the events of the location being read */
	uint32_t location; /* index */
	uint32_t rank; /* index in COMM_LOCATIONS, CRIT_NONE none */
	uint64_t last_ns;
	uint32_t depth;
	uint32_t regions[CRIT_OTF2_DEPTH_MAX];
	uint64_t isends, isend_completes;
	uint64_t receive_requests, receives_done, receives_cancelled, tests;
	uint64_t collective_begins, collective_ends;
	uint64_t collective_requests, collectives_done;
	uint64_t forks, joins, team_begins;
	uint32_t team_depth;
	uint32_t teams[CRIT_OTF2_TEAMS_MAX];
	struct crit_otf2_task {
		uint32_t team, creator, generation;
	} task; /* the one switched to last */
	uint32_t held_count;
	struct {
		uint32_t lock, order;
	} held[CRIT_OTF2_HELD_MAX];
	uint32_t told; /* bits of enum crit_otf2_fault already told of */
	bool is_stopped;
};

enum crit_otf2_fault { /* told once per location */
	CRIT_OTF2_FAULT_TIME = 0,
	CRIT_OTF2_FAULT_CLOCK,
	CRIT_OTF2_FAULT_BALANCE,
	CRIT_OTF2_FAULT_REGION,
	CRIT_OTF2_FAULT_REFERENCE,
	CRIT_OTF2_FAULT_PEER,
	CRIT_OTF2_FAULT_FORK,
	CRIT_OTF2_FAULT_TEAM,
	CRIT_OTF2_FAULT_LOCK,
	CRIT_OTF2_FAULT_TASK
};

struct crit_otf2_seen_lock {
	uint64_t count; /* times it was taken, again by who has it apart */
	uint32_t least, most; /* orders */
	uint32_t group, number;
};

struct crit_otf2_verifier {
	void (*fault)(void *user, const char *text);
	void *user;
	uint64_t fault_count, event_count, message_count;
	struct crit_err words; /* what the library said last */
	char base[4096]; /* path of the anchor without .otf2 */
	OTF2_Reader *reader;
	bool is_complete; /* the archive claims that all messages are there */
	uint32_t context_count; /* defined */
	bool has_all_forks, has_all_locks; /* likewise */
	bool has_clock;
	uint64_t begin_ns, length_ns;
	struct crit_otf2_seen_location *locations;
	size_t location_count, location_capacity;
	struct crit_map location_numbers; /* reference -> index */
	struct crit_map location_groups; /* reference -> 0 */
	struct crit_map ranks; /* location group -> index in COMM_LOCATIONS */
	struct crit_map regions; /* reference -> index into entered */
	struct crit_otf2_entered_list entered;
	size_t entered_capacity;
	struct crit_map text_numbers; /* reference of a string -> index into texts */
	char **texts;
	size_t text_count, text_capacity;
	struct crit_otf2_seen_group *groups;
	size_t group_count, group_capacity;
	struct crit_map group_numbers;
	struct crit_map memberships; /* index << 32 | member -> 0 */
	uint32_t comm_locations; /* index of the group, CRIT_NONE */
	uint32_t thread_locations; /* the same of OpenMP */
	struct crit_map threads; /* index of a location -> index in thread_locations */
	struct crit_otf2_seen_communicator *communicators;
	size_t communicator_count, communicator_capacity;
	struct crit_map communicator_numbers; /* reference -> index */
	struct crit_otf2_tally messages;
	struct crit_otf2_tally collectives; /* sender is the member, sends how many; the rest 0 */
	/* by (team, who made them): sends are made, receives complete, bytes their numbers' sums */
	struct crit_otf2_tally tasks;
	struct crit_otf2_seen_lock *locks;
	size_t lock_count, lock_capacity;
	struct crit_map lock_numbers; /* location group << 32 | lock -> index */
	struct crit_otf2_stream stream;
	bool has_unread; /* events of a location */
	int error; /* the first -ENOMEM */
};

#endif
