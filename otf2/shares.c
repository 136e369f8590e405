// SPDX-License-Identifier: BSD-3-Clause
// The tables of all processes go to process 0, and the numbers it gives come back.
#include "otf2/shares.h"

#include <errno.h>
#include <stdlib.h>

struct told { /* by a peer */
	struct crit_otf2_told texts, constructs, teams;
};

struct crit_otf2_shares {
	const struct crit_transport *transport;
	struct crit_exchange_buffer *to, *from;
	struct told *told; /* by peer */
};

static int pack(const struct crit_otf2_parts *parts, struct crit_exchange_buffer *buffer)
{
	int rc = crit_otf2_streams_pack(parts->streams, buffer);

	if (!rc)
		rc = crit_otf2_regions_pack(parts->regions, buffer);
	if (!rc)
		rc = crit_otf2_call_sites_pack(parts->call_sites, buffer);
	if (!rc)
		rc = crit_otf2_constructs_pack(parts->constructs, buffer);
	if (!rc)
		rc = crit_otf2_teams_pack(parts->teams, buffer);
	if (!rc)
		rc = crit_otf2_locks_pack(parts->locks, buffer);
	return rc ? rc : crit_otf2_tasks_pack(parts->tasks, buffer);
}

static int unpack(struct crit_otf2_parts *parts, const struct crit_exchange_buffer *buffer,
		  struct told *ret_told)
{
	size_t at = 0;
	int rc = crit_otf2_streams_unpack(parts->streams, buffer, &at);

	if (!rc)
		rc = crit_otf2_regions_unpack(parts->regions, buffer, &at);
	if (!rc)
		rc = crit_otf2_call_sites_unpack(parts->call_sites, buffer, &at, &ret_told->texts);
	if (!rc)
		rc = crit_otf2_constructs_unpack(parts->constructs, buffer, &at,
						 &ret_told->constructs);
	if (!rc)
		rc = crit_otf2_teams_unpack(parts->teams, buffer, &at, &ret_told->teams);
	if (!rc)
		rc = crit_otf2_locks_unpack(parts->locks, buffer, &at);
	return rc ? rc : crit_otf2_tasks_unpack(parts->tasks, buffer, &at);
}

static int pack_numbers(const struct crit_otf2_parts *parts, const struct told *told,
			struct crit_exchange_buffer *buffer)
{
	int rc = crit_otf2_regions_pack_numbers(parts->regions, buffer);

	if (!rc)
		rc = crit_otf2_call_sites_pack_numbers(parts->call_sites, told->texts, buffer);
	if (!rc)
		rc = crit_otf2_constructs_pack_numbers(parts->constructs, told->constructs, buffer);
	return rc ? rc : crit_otf2_teams_pack_numbers(parts->teams, told->teams, buffer);
}

static int unpack_numbers(struct crit_otf2_parts *parts, const struct crit_exchange_buffer *buffer)
{
	size_t at = 0;
	int rc = crit_otf2_regions_unpack_numbers(parts->regions, buffer, &at);

	if (!rc)
		rc = crit_otf2_call_sites_unpack_numbers(parts->call_sites, buffer, &at);
	if (!rc)
		rc = crit_otf2_constructs_unpack_numbers(parts->constructs, buffer, &at);
	return rc ? rc : crit_otf2_teams_unpack_numbers(parts->teams, buffer, &at);
}

static struct crit_otf2_shares *create(const struct crit_transport *transport)
{
	struct crit_otf2_shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return NULL;
	*shares = (struct crit_otf2_shares){ .transport = transport,
					     .to = crit_exchange_buffers_create(transport->count),
					     .from = crit_exchange_buffers_create(transport->count),
					     .told = calloc(transport->count,
							    sizeof(*shares->told)) };
	if (shares->to && shares->from && shares->told)
		return shares;
	crit_otf2_shares_destroy(shares);
	return NULL;
}

int crit_otf2_shares_gather(const struct crit_transport *transport, struct crit_otf2_parts *parts,
			    struct crit_otf2_shares **ret_shares)
{
	struct crit_otf2_shares *shares = transport ? create(transport) : NULL;
	int rc = transport ? crit_transport_agree(transport, 0, shares ? 0 : -ENOMEM) : 0, failed;

	*ret_shares = shares;
	if (rc || !shares)
		return rc;
	if (transport->rank)
		rc = pack(parts, &shares->to[0]);
	failed = transport->exchange(transport->user, shares->to, shares->from);
	if (failed)
		return failed;
	for (uint32_t i = 1; i < transport->count && !transport->rank && !rc; i++)
		rc = unpack(parts, &shares->from[i], &shares->told[i]);
	return rc;
}

int crit_otf2_shares_spread(struct crit_otf2_shares *shares, struct crit_otf2_parts *parts)
{
	const struct crit_transport *transport;
	int rc = 0, failed;

	if (!shares)
		return 0;
	transport = shares->transport;
	for (uint32_t i = 1; i < transport->count && !transport->rank && !rc; i++)
		rc = pack_numbers(parts, &shares->told[i], &shares->to[i]);
	crit_exchange_buffers_empty(shares->to, transport->rank ? transport->count : 0);
	failed = transport->exchange(transport->user, shares->to, shares->from);
	if (!rc && !failed && transport->rank)
		rc = unpack_numbers(parts, &shares->from[0]);
	return failed ? failed : rc;
}

void crit_otf2_shares_destroy(struct crit_otf2_shares *shares)
{
	if (!shares)
		return;
	crit_exchange_buffers_destroy(shares->to, shares->transport->count);
	crit_exchange_buffers_destroy(shares->from, shares->transport->count);
	free(shares->told);
	free(shares);
}
