/* SPDX-License-Identifier: BSD-3-Clause */
/* An archive being verified: what its parts share. */
#ifndef CRIT_OTF2_VERIFIER_H
#define CRIT_OTF2_VERIFIER_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "core/base/map.h"
#include "otf2/verify/seen.h"
#include "otf2/verify/tally.h"
#include "otf2/verify/verify.h"

struct crit_otf2_verifier {
	void (*fault)(void *user, const char *text);
	void *user;
	struct crit_otf2_verified verified;
	struct crit_err words; /* what the library said last */
	char base[4096]; /* path of the anchor without .otf2 */
	OTF2_Reader *reader;
	bool is_complete; /* the archive claims that all messages are there */
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

/* Tells of a fault. */
void crit_otf2_fault(struct crit_otf2_verifier *verifier, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for the location being read; the first of its kind only. */
void crit_otf2_stream_fault(struct crit_otf2_verifier *verifier, enum crit_otf2_fault kind,
			    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reads and checks the global definitions: 1, or 0 if they cannot be read.  Errors: -ENOMEM. */
int crit_otf2_verify_definitions(struct crit_otf2_verifier *verifier);

/* Reads and checks every location's own definitions.  Errors: -ENOMEM. */
int crit_otf2_verify_offsets(struct crit_otf2_verifier *verifier);

/* Reads and checks all events.  Errors: -ENOMEM. */
int crit_otf2_verify_events(struct crit_otf2_verifier *verifier);

/* The parameters that callbacks of all events have. */
#define CRIT_OTF2_EVENT                                                                            \
	OTF2_LocationRef location __attribute__((unused)), OTF2_TimeStamp time_ns,                 \
		uint64_t position __attribute__((unused)), void *user,                             \
		OTF2_AttributeList *attributes __attribute__((unused))

/* What every event obeys; the answer of its callback. */
OTF2_CallbackCode crit_otf2_verify_time(struct crit_otf2_verifier *verifier, uint64_t time_ns);

/* The communicator of a reference, NULL with a fault when it is not defined. */
struct crit_otf2_seen_communicator *crit_otf2_verify_find(struct crit_otf2_verifier *verifier,
							  uint32_t reference);

/* Is somebody in a group?  Cost: O(1), once every member was looked at.  Errors: -ENOMEM. */
bool crit_otf2_verify_is_member(struct crit_otf2_verifier *verifier, uint32_t group,
				uint32_t member);

/* Strings and regions: their callbacks, counts of enters, and what crit says of its archive. */
void crit_otf2_verify_set_regions(OTF2_GlobalDefReaderCallbacks *calls);
bool crit_otf2_verify_enter(struct crit_otf2_verifier *verifier, uint32_t region);
void crit_otf2_verify_claims(struct crit_otf2_verifier *verifier);
void crit_otf2_verify_fini_regions(struct crit_otf2_verifier *verifier);

/* Forks, teams and locks: their callbacks; the end of a location; after all events. */
void crit_otf2_verify_set_threads(OTF2_EvtReaderCallbacks *calls);
void crit_otf2_verify_thread(struct crit_otf2_verifier *verifier);
void crit_otf2_verify_locks(struct crit_otf2_verifier *verifier);

/* The same of tasks. */
void crit_otf2_verify_set_tasks(OTF2_EvtReaderCallbacks *calls);
void crit_otf2_verify_tasks(struct crit_otf2_verifier *verifier);

/* A message or a collective of the stream's rank. */
void crit_otf2_verify_message(struct crit_otf2_verifier *verifier, bool is_send, uint32_t peer,
			      uint32_t communicator, uint32_t tag, uint64_t bytes);
void crit_otf2_verify_collective(struct crit_otf2_verifier *verifier, uint32_t communicator);

/* After all events: does what was sent equal what was received? */
void crit_otf2_verify_matches(struct crit_otf2_verifier *verifier);

#endif
