/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calling contexts: regions that are entered, and below them the frames of samples.
 *
 * A frame is a function at a line, inlined ones each by itself.  A sample's frames hang below the
 * innermost region that its thread is in, all of them, as many as are known; of one in an MPI call
 * those inside the call, since the region stands for the others.  docs/vampir.md.
 */
#ifndef CRIT_OTF2_CONTEXT_TABLE_H
#define CRIT_OTF2_CONTEXT_TABLE_H

#include <otf2/otf2.h>
#include <stdint.h>

#include "analysis/schema/trace.h"
#include "otf2/archive/strings.h"
#include "otf2/definitions/call_site_table.h"
#include "otf2/definitions/layout.h"
#include "otf2/definitions/region_definitions.h"

#define CRIT_OTF2_SAMPLING_CLOCK 0u /* the only interrupt generator */

/* The place of a byte of a file, as crit_symbols_find_in_file has it. */
typedef void crit_otf2_frame_place(void *user, const char *path, uint64_t offset,
				   struct crit_source_location *ret_place);

struct crit_otf2_contexts;

struct crit_otf2_context_tables { /* what contexts are made of */
	const struct crit_otf2_layout *layout;
	struct crit_otf2_regions *regions;
	const struct crit_otf2_call_sites *call_sites;
	struct crit_otf2_strings *strings;
};

/* Everything is borrowed; place may be NULL.  Errors: NULL when out of memory. */
struct crit_otf2_contexts *crit_otf2_contexts_create(const struct crit_otf2_context_tables *tables,
						     crit_otf2_frame_place *place, void *user);
void crit_otf2_contexts_destroy(struct crit_otf2_contexts *contexts); /* accepts NULL */

/*
 * The context of a region entered in parent, CRIT_NONE at the outermost; of a sample of a thread of
 * group whose innermost region has the context base.  Errors: CRIT_NONE when out of memory.
 */
uint32_t crit_otf2_contexts_enter(struct crit_otf2_contexts *contexts, uint32_t parent,
				  uint32_t region);
uint32_t crit_otf2_contexts_sample(struct crit_otf2_contexts *contexts, uint32_t base,
				   uint32_t group, const struct crit_trace_sample *sample);

/* CRIT_NONE has none. */
uint32_t crit_otf2_contexts_parent(const struct crit_otf2_contexts *contexts, uint32_t context);

/* The unwind distance of a context after another: frames that are new, and 1. */
uint32_t crit_otf2_contexts_distance(const struct crit_otf2_contexts *contexts, uint32_t before,
				     uint32_t now);

/* All events are written: adds functions to the regions, and strings.  Errors: -ENOMEM. */
int crit_otf2_contexts_name(struct crit_otf2_contexts *contexts);

/* Defines the clock, source code locations and contexts; final: of a provisional region. */
OTF2_ErrorCode crit_otf2_contexts_write(const struct crit_otf2_contexts *contexts,
					OTF2_GlobalDefWriter *global,
					uint32_t (*final)(const void *user, uint32_t region),
					const void *user);

#endif
