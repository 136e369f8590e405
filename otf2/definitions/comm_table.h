/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI communicators, and the groups of their members: equal groups are written once. */
#ifndef CRIT_OTF2_COMM_TABLE_H
#define CRIT_OTF2_COMM_TABLE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/trace.h"
#include "otf2/archive/strings.h"
#include "otf2/definitions/layout.h"

#define CRIT_OTF2_PEERS_MAX (1u << 22) /* sum of all peer limits; messages beyond are left out */

struct crit_otf2_comms;

/* Everything is borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_comms *crit_otf2_comms_create(const struct crit_results *run,
					       struct crit_otf2_layout *layout,
					       struct crit_otf2_strings *strings);
void crit_otf2_comms_destroy(struct crit_otf2_comms *comms);

/*
 * Notes that a message names a peer: the group must have as many members, known or not.
 * Errors: -ENOSPC there are too many of them, -ENOMEM.
 */
int crit_otf2_comms_note_peer(struct crit_otf2_comms *comms, uint32_t communicator, uint32_t peer);

/* The next communicator: its reference is the replay's number.  Errors: -ENOMEM. */
int crit_otf2_comms_add(struct crit_otf2_comms *comms, const struct crit_trace_communicator *told);

/* The communicators every run has, for a replay that told of none.  Errors: -ENOMEM. */
int crit_otf2_comms_add_worlds(struct crit_otf2_comms *comms);

/* How many communicators and groups there are, COMM_LOCATIONS apart. */
size_t crit_otf2_comms_count(const struct crit_otf2_comms *comms);
size_t crit_otf2_comms_group_count(const struct crit_otf2_comms *comms);

/* Is a member of a group not known? */
bool crit_otf2_comms_has_strangers(const struct crit_otf2_comms *comms);

/* Defines COMM_LOCATIONS, under this name, as group 0, and the groups of members behind it. */
OTF2_ErrorCode crit_otf2_comms_write_groups(const struct crit_otf2_comms *comms,
					    OTF2_GlobalDefWriter *global, uint32_t name);
OTF2_ErrorCode crit_otf2_comms_write(const struct crit_otf2_comms *comms,
				     OTF2_GlobalDefWriter *global);

#endif
