/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes write one archive: each the events of its nodes' locations, peer 0 the rest.
 *
 * Numbers that events name are provisional where they depend on what all have found; peer 0 gives
 * the final ones, by group, so that they are those a single process gives.
 */
#ifndef CRIT_OTF2_TOGETHER_H
#define CRIT_OTF2_TOGETHER_H

#include "analysis/cluster/peers.h"
#include "otf2/writer.h"

struct crit_otf2_shares { /* what peer 0 was told, until it answers */
	struct crit_parcel *to, *from;
};

/* Does this process write what belongs to no location? */
static inline bool crit_otf2_leads(const struct crit_otf2_writer *writer)
{
	return !writer->options->peers || !writer->options->peers->rank;
}

/* What one of them failed with, rc for this one.  Without peers just rc. */
int crit_otf2_agree(const struct crit_otf2_writer *writer, int rc);

/* What libotf2 asks of processes that write together. */
OTF2_ErrorCode crit_otf2_set_collectives(struct crit_otf2_writer *writer);

/* Tells peer 0 what was found, once all events are written.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_gather_shares(struct crit_otf2_writer *writer, struct crit_otf2_shares *shares);

/* Peer 0 tells the others the final numbers.  Errors: as above. */
int crit_otf2_spread_numbers(struct crit_otf2_writer *writer, struct crit_otf2_shares *shares);

/* What another process tells of its groups, in the order it found it.  Errors: -ENOMEM. */
int crit_otf2_add_construct(struct crit_otf2_writer *writer,
			    const struct crit_otf2_construct *construct);
int crit_otf2_add_team(struct crit_otf2_writer *writer, uint32_t group, uint32_t size,
		       const uint32_t *members, size_t count);

void crit_otf2_shares_fini(const struct crit_otf2_writer *writer, struct crit_otf2_shares *shares);

#endif
