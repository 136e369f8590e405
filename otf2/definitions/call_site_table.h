/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source locations: of constructs, and as texts of the call sites of MPI calls.
 *
 * Events name texts by provisional strings; sorted and numbered among all strings at the end.
 */
#ifndef CRIT_OTF2_CALL_SITE_TABLE_H
#define CRIT_OTF2_CALL_SITE_TABLE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/symbols/symbols.h"
#include "otf2/archive/strings.h"
#include "otf2/archive/told.h"
#include "otf2/definitions/layout.h"

#define CRIT_OTF2_CALL_SITES_MAX 16384u /* texts of call sites; their table must fit a chunk */

struct crit_otf2_call_sites;

/* The source location of an address in a process, texts valid until the archive is written. */
typedef bool crit_otf2_site_place(void *user, uint32_t node, uint32_t pid, uint64_t site,
				  struct crit_source_location *ret_place);

/* place NULL: no address has one.  The layout is borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_call_sites *crit_otf2_call_sites_create(const struct crit_otf2_layout *layout,
							 crit_otf2_site_place *place, void *user);
void crit_otf2_call_sites_destroy(struct crit_otf2_call_sites *call_sites);

/* The source location of an address in a group's process; false: it is not known. */
bool crit_otf2_call_sites_place(const struct crit_otf2_call_sites *call_sites, uint32_t group,
				uint64_t site, struct crit_source_location *ret_place);

/* The provisional string of a call site, or CRIT_NONE; looked up once per group and address. */
uint32_t crit_otf2_call_sites_text(struct crit_otf2_call_sites *call_sites, uint32_t group,
				   uint64_t site);

/* Once all events are written: adds the texts, sorted, to the strings.  Errors: -ENOMEM. */
int crit_otf2_call_sites_name(struct crit_otf2_call_sites *call_sites,
			      struct crit_otf2_strings *strings);

/* Adds the final strings to a location's mapping table. */
void crit_otf2_call_sites_map(const struct crit_otf2_call_sites *call_sites, OTF2_IdMap *map);

/* The texts, for process 0, and their final strings back.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_call_sites_pack(const struct crit_otf2_call_sites *call_sites,
			      struct crit_exchange_buffer *buffer);
int crit_otf2_call_sites_unpack(struct crit_otf2_call_sites *call_sites,
				const struct crit_exchange_buffer *buffer, size_t *at,
				struct crit_otf2_told *ret_told);
int crit_otf2_call_sites_pack_numbers(const struct crit_otf2_call_sites *call_sites,
				      struct crit_otf2_told told,
				      struct crit_exchange_buffer *buffer);
int crit_otf2_call_sites_unpack_numbers(struct crit_otf2_call_sites *call_sites,
					const struct crit_exchange_buffer *buffer, size_t *at);

#endif
