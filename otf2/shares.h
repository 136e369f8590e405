/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several analysis processes write one archive: each the events of its nodes, process 0 the
 * definitions.
 *
 * References in events are provisional where they depend on what all processes have found: process
 * 0 gives the final ones, by group, so that they are those a single process gives.
 */
#ifndef CRIT_OTF2_SHARES_H
#define CRIT_OTF2_SHARES_H

#include <stdbool.h>

#include "analysis/cluster/transport.h"
#include "otf2/archive_parts.h"

struct crit_otf2_shares; /* what the processes have told each other */

/* Does this process write what belongs to no location?  peers NULL: there is only one. */
static inline bool crit_otf2_leads(const struct crit_transport *transport)
{
	return !transport || !transport->rank;
}

/* The error that one of them failed with, rc for this one. */
static inline int crit_otf2_agree(const struct crit_transport *transport, int rc)
{
	return transport ? crit_transport_agree(transport, 0, rc) : rc;
}

/*
 * Tells process 0 what was found, once all events are written.  Without peers there is nothing to
 * tell.  Errors: -ENOMEM, -EPROTO, the transport's; ret_shares is to be destroyed all the same.
 */
int crit_otf2_shares_gather(const struct crit_transport *transport, struct crit_otf2_parts *parts,
			    struct crit_otf2_shares **ret_shares);

/* Process 0 tells the others the final numbers.  Errors: as above. */
int crit_otf2_shares_spread(struct crit_otf2_shares *shares, struct crit_otf2_parts *parts);

void crit_otf2_shares_destroy(struct crit_otf2_shares *shares);

#endif
