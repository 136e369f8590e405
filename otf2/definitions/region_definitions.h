/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions of an archive: programs, MPI calls, and constructs of OpenMP with user's phases.
 *
 * Events name regions of calls by provisional references, because which calls there are is known
 * only at the end; each location's mapping table turns them into the final ones.
 */
#ifndef CRIT_OTF2_REGION_DEFINITIONS_H
#define CRIT_OTF2_REGION_DEFINITIONS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/schema/results.h"
#include "core/abi/abi_tag.h"
#include "otf2/archive/strings.h"

#define CRIT_OTF2_CALLS (1u << CRIT_TAG_CALL_BITS)
#define CRIT_OTF2_SYSTEM_CALLS 1024u /* of higher numbers there are no names */

struct crit_otf2_regions;

/* Strings are borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_regions *crit_otf2_regions_create(struct crit_otf2_strings *strings);
void crit_otf2_regions_destroy(struct crit_otf2_regions *regions);

/* The region of a program's own code, by the string of its name.  Errors: CRIT_NONE, no memory. */
uint32_t crit_otf2_regions_program(struct crit_otf2_regions *regions, uint32_t name);

/* Kernel states other than running become regions.  Errors: -ENOMEM. */
int crit_otf2_regions_add_states(struct crit_otf2_regions *regions);

/* The region of a kernel state; CRIT_NONE: it has none, and is drawn as the code it is in. */
uint32_t crit_otf2_regions_state(const struct crit_otf2_regions *regions,
				 enum crit_kernel_state state);

/* All programs are known: provisional references of calls begin behind theirs. */
void crit_otf2_regions_begin_calls(struct crit_otf2_regions *regions);

/* The provisional region of a call, or CRIT_NONE. */
uint32_t crit_otf2_regions_call(struct crit_otf2_regions *regions, unsigned int call);

/* Likewise, of being blocked in a system call; the one for all where its number has no name. */
uint32_t crit_otf2_regions_blocked(struct crit_otf2_regions *regions, int system_call);

/* Once all events are written: gives calls their final regions.  Errors: -ENOMEM. */
int crit_otf2_regions_name_calls(struct crit_otf2_regions *regions);

struct crit_otf2_construct_name {
	const char *name;
	const char *file; /* NULL: not known */
	uint32_t line;
	bool is_fork_wait; /* a runtime barrier of the primary alone: no barrier to readers */
};

/* The final region of a construct or phase, one for all with the same name and line. */
uint32_t crit_otf2_regions_construct(struct crit_otf2_regions *regions, unsigned int call,
				     const struct crit_otf2_construct_name *name);

/* The final region of a sampled function, by strings; file CRIT_NONE: not known. */
uint32_t crit_otf2_regions_function(struct crit_otf2_regions *regions, uint32_t name,
				    uint32_t file);

/* Is a provisional region a call's?  The final one of one that is. */
bool crit_otf2_regions_is_call(const struct crit_otf2_regions *regions, uint32_t region);
uint32_t crit_otf2_regions_final(const struct crit_otf2_regions *regions, uint32_t region);

/* Adds the final regions of calls to a location's mapping table. */
void crit_otf2_regions_map(const struct crit_otf2_regions *regions, OTF2_IdMap *map);

OTF2_ErrorCode crit_otf2_regions_write(const struct crit_otf2_regions *regions,
				       OTF2_GlobalDefWriter *global);

/* Which calls there are, for process 0, and their final regions back.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_regions_pack(const struct crit_otf2_regions *regions,
			   struct crit_exchange_buffer *buffer);
int crit_otf2_regions_unpack(struct crit_otf2_regions *regions,
			     const struct crit_exchange_buffer *buffer, size_t *at);
int crit_otf2_regions_pack_numbers(const struct crit_otf2_regions *regions,
				   struct crit_exchange_buffer *buffer);
int crit_otf2_regions_unpack_numbers(struct crit_otf2_regions *regions,
				     const struct crit_exchange_buffer *buffer, size_t *at);

#endif
