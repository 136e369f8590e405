// SPDX-License-Identifier: BSD-3-Clause
// The tables of all processes go to peer 0, and the numbers it gives come back.
#include "otf2/shares.h"

#include <errno.h>
#include <stdlib.h>

struct told { /* by a peer */
	struct crit_otf2_told texts, constructs, teams;
};

struct crit_otf2_shares {
	const struct crit_peers *peers;
	struct crit_parcel *to, *from;
	struct told *told; /* by peer */
};

static int pack(const struct crit_otf2_parts *parts, struct crit_parcel *parcel)
{
	int rc = crit_otf2_streams_pack(parts->streams, parcel);

	if (!rc)
		rc = crit_otf2_regions_pack(parts->regions, parcel);
	if (!rc)
		rc = crit_otf2_sites_pack(parts->sites, parcel);
	if (!rc)
		rc = crit_otf2_constructs_pack(parts->constructs, parcel);
	if (!rc)
		rc = crit_otf2_teams_pack(parts->teams, parcel);
	if (!rc)
		rc = crit_otf2_locks_pack(parts->locks, parcel);
	return rc ? rc : crit_otf2_tasks_pack(parts->tasks, parcel);
}

static int unpack(struct crit_otf2_parts *parts, const struct crit_parcel *parcel,
		  struct told *ret_told)
{
	size_t at = 0;
	int rc = crit_otf2_streams_unpack(parts->streams, parcel, &at);

	if (!rc)
		rc = crit_otf2_regions_unpack(parts->regions, parcel, &at);
	if (!rc)
		rc = crit_otf2_sites_unpack(parts->sites, parcel, &at, &ret_told->texts);
	if (!rc)
		rc = crit_otf2_constructs_unpack(parts->constructs, parcel, &at,
						 &ret_told->constructs);
	if (!rc)
		rc = crit_otf2_teams_unpack(parts->teams, parcel, &at, &ret_told->teams);
	if (!rc)
		rc = crit_otf2_locks_unpack(parts->locks, parcel, &at);
	return rc ? rc : crit_otf2_tasks_unpack(parts->tasks, parcel, &at);
}

static int pack_numbers(const struct crit_otf2_parts *parts, const struct told *told,
			struct crit_parcel *parcel)
{
	int rc = crit_otf2_regions_pack_numbers(parts->regions, parcel);

	if (!rc)
		rc = crit_otf2_sites_pack_numbers(parts->sites, told->texts, parcel);
	if (!rc)
		rc = crit_otf2_constructs_pack_numbers(parts->constructs, told->constructs, parcel);
	return rc ? rc : crit_otf2_teams_pack_numbers(parts->teams, told->teams, parcel);
}

static int unpack_numbers(struct crit_otf2_parts *parts, const struct crit_parcel *parcel)
{
	size_t at = 0;
	int rc = crit_otf2_regions_unpack_numbers(parts->regions, parcel, &at);

	if (!rc)
		rc = crit_otf2_sites_unpack_numbers(parts->sites, parcel, &at);
	if (!rc)
		rc = crit_otf2_constructs_unpack_numbers(parts->constructs, parcel, &at);
	return rc ? rc : crit_otf2_teams_unpack_numbers(parts->teams, parcel, &at);
}

static struct crit_otf2_shares *create(const struct crit_peers *peers)
{
	struct crit_otf2_shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return NULL;
	*shares = (struct crit_otf2_shares){ .peers = peers,
					     .to = crit_parcels_create(peers->count),
					     .from = crit_parcels_create(peers->count),
					     .told = calloc(peers->count, sizeof(*shares->told)) };
	if (shares->to && shares->from && shares->told)
		return shares;
	crit_otf2_shares_destroy(shares);
	return NULL;
}

int crit_otf2_shares_gather(const struct crit_peers *peers, struct crit_otf2_parts *parts,
			    struct crit_otf2_shares **ret_shares)
{
	struct crit_otf2_shares *shares = peers ? create(peers) : NULL;
	uint32_t i;
	int rc = peers ? crit_peers_agree(peers, 0, shares ? 0 : -ENOMEM) : 0, transport;

	*ret_shares = shares;
	if (rc || !shares)
		return rc;
	if (peers->rank)
		rc = pack(parts, &shares->to[0]);
	transport = peers->exchange(peers->user, shares->to, shares->from);
	if (transport)
		return transport;
	for (i = 1; i < peers->count && !peers->rank && !rc; i++)
		rc = unpack(parts, &shares->from[i], &shares->told[i]);
	return rc;
}

int crit_otf2_shares_spread(struct crit_otf2_shares *shares, struct crit_otf2_parts *parts)
{
	const struct crit_peers *peers;
	uint32_t i;
	int rc = 0, transport;

	if (!shares)
		return 0;
	peers = shares->peers;
	for (i = 1; i < peers->count && !peers->rank && !rc; i++)
		rc = pack_numbers(parts, &shares->told[i], &shares->to[i]);
	crit_parcels_empty(shares->to, peers->rank ? peers->count : 0);
	transport = peers->exchange(peers->user, shares->to, shares->from);
	if (!rc && !transport && peers->rank)
		rc = unpack_numbers(parts, &shares->from[0]);
	return transport ? transport : rc;
}

void crit_otf2_shares_destroy(struct crit_otf2_shares *shares)
{
	if (!shares)
		return;
	crit_parcels_destroy(shares->to, shares->peers->count);
	crit_parcels_destroy(shares->from, shares->peers->count);
	free(shares->told);
	free(shares);
}
