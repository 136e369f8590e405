/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of OpenMP from their beginning to their end, by location group and number: instances of
 * parallel regions, and explicit tasks.
 *
 * A recording may begin a number again whose end is lost; the newest object has it then, and the
 * one before gets it back.
 */
#ifndef CRIT_OTF2_LIVE_OBJECTS_H
#define CRIT_OTF2_LIVE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

#define CRIT_OTF2_LIVE_MAX (1u << 20) /* at the same time */

struct crit_otf2_object {
	uint64_t number;
	uint32_t group;
	uint32_t team;
	uint32_t members; /* of an instance: how many have entered it */
	uint32_t creator; /* of a task: position in the team */
	uint32_t older; /* with the same number, or in the list of free rows */
};

struct crit_otf2_live {
	struct crit_otf2_object *rows;
	size_t count, capacity; /* rows ever used at the same time */
	size_t objects; /* of these, live now */
	uint32_t free; /* list of rows */
	struct crit_index newest; /* group and number -> row */
};

void crit_otf2_live_init(struct crit_otf2_live *live);
void crit_otf2_live_fini(struct crit_otf2_live *live);

/* The object of a number; NULL: none lives.  Valid until the next one is added. */
struct crit_otf2_object *crit_otf2_live_find(const struct crit_otf2_live *live, uint32_t group,
					     uint64_t number);

/* A new object of which group and number are set.  Errors: -ENOMEM, -ENOSPC: there are too many. */
int crit_otf2_live_add(struct crit_otf2_live *live, uint32_t group, uint64_t number,
		       struct crit_otf2_object **ret_object);

/* Ends the object of a number, if there is one. */
void crit_otf2_live_remove(struct crit_otf2_live *live, uint32_t group, uint64_t number);

#endif
