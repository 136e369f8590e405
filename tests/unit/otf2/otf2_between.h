/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands between the writer and libotf2: keeps what is defined, and plants faults in it. */
#ifndef OTF2_BETWEEN_H
#define OTF2_BETWEEN_H

#include <otf2/otf2.h>
#include <stdint.h>

#define OTF2_BETWEEN_MAX 16u /* groups and communicators that are kept */
#define OTF2_BETWEEN_MEMBERS 8u

struct otf2_group {
	OTF2_GroupType type;
	OTF2_Paradigm paradigm;
	uint32_t count;
	uint64_t members[OTF2_BETWEEN_MEMBERS]; /* the first ones */
};

extern struct otf2_group otf2_between_groups[OTF2_BETWEEN_MAX]; /* by reference */
extern uint32_t otf2_between_comms[OTF2_BETWEEN_MAX]; /* reference -> group */
extern OTF2_RegionRole otf2_between_roles[OTF2_BETWEEN_MAX]; /* of regions */
extern OTF2_EvtWriter *otf2_between_events; /* of location 0 */

/* Changes a group of few members before it is written; NULL: leaves it. */
extern void (*otf2_between_change)(struct otf2_group *group);
extern uint64_t otf2_between_more_events; /* than location 1 has, are defined */

#endif
