/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructs of OpenMP and the user's phases: one region per kind and source location, or name.
 *
 * Source locations are looked up at the end; until then events name provisional regions, which
 * each location's mapping table turns into the final ones.
 */
#ifndef CRIT_OTF2_CONSTRUCT_TABLE_H
#define CRIT_OTF2_CONSTRUCT_TABLE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/schema/trace.h"
#include "otf2/archive/told.h"
#include "otf2/events/streams.h"

struct crit_otf2_constructs;

/* Everything is borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_constructs *crit_otf2_constructs_create(const struct crit_otf2_definitions *named);
void crit_otf2_constructs_destroy(struct crit_otf2_constructs *constructs);

/*
 * The provisional region of a construct or phase; team_site: of the region the thread is in, or 0.
 * Errors: CRIT_NONE when out of memory.
 */
uint32_t crit_otf2_constructs_region(struct crit_otf2_constructs *constructs, uint32_t group,
				     const struct crit_trace_span *span, uint64_t team_site);

/* Once all events are written: gives constructs their final regions.  Errors: -ENOMEM. */
int crit_otf2_constructs_name(struct crit_otf2_constructs *constructs,
			      const struct crit_region_results *results);

/* The final region of a provisional one; region itself if it is none of a construct. */
uint32_t crit_otf2_constructs_final(const struct crit_otf2_constructs *constructs, uint32_t region);

/* Is one of OpenMP?  Were there too many, so that some are joined by kind? */
bool crit_otf2_constructs_has_openmp(const struct crit_otf2_constructs *constructs);
bool crit_otf2_constructs_has_joined(const struct crit_otf2_constructs *constructs);

/* Adds the final regions of a group to a location's mapping table. */
void crit_otf2_constructs_map(const struct crit_otf2_constructs *constructs, uint32_t group,
			      OTF2_IdMap *map);

/* All of them, for process 0, and their final regions back.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_constructs_pack(const struct crit_otf2_constructs *constructs,
			      struct crit_exchange_buffer *buffer);
int crit_otf2_constructs_unpack(struct crit_otf2_constructs *constructs,
				const struct crit_exchange_buffer *buffer, size_t *at,
				struct crit_otf2_told *ret_told);
int crit_otf2_constructs_pack_numbers(const struct crit_otf2_constructs *constructs,
				      struct crit_otf2_told told,
				      struct crit_exchange_buffer *buffer);
int crit_otf2_constructs_unpack_numbers(struct crit_otf2_constructs *constructs,
					const struct crit_exchange_buffer *buffer, size_t *at);

#endif
