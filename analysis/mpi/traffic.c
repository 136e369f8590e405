// SPDX-License-Identifier: BSD-3-Clause
// Adds up messages per call and per pair of ranks.
#include "analysis/mpi/traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "core/abi/abi_shim.h"

void crit_traffic_fini(struct crit_traffic *traffic)
{
	for (size_t i = 0; i < CRIT_TRAFFIC_CALLS; i++)
		free(traffic->calls[i]);
	free(traffic->pairs);
	crit_index_fini(&traffic->places);
	*traffic = (struct crit_traffic){ 0 };
}

static unsigned int bin_of(uint64_t bytes)
{
	return bytes ? 64u - (unsigned int)__builtin_clzll(bytes) : 0;
}

int crit_traffic_count(struct crit_traffic *traffic, unsigned int call,
		       enum crit_direction direction, uint64_t bytes)
{
	struct crit_traffic_row **row = &traffic->calls[call % CRIT_TRAFFIC_CALLS];
	struct crit_volume *volume;

	if (!*row) {
		*row = calloc(1, sizeof(**row));
		if (!*row)
			return -ENOMEM;
		(*row)->call = call % CRIT_TRAFFIC_CALLS;
	}
	volume = direction == CRIT_SENT ? &(*row)->sent : &(*row)->received;
	volume->count++;
	if (bytes == CRIT_BYTES_UNKNOWN) {
		volume->unknown_count++;
		return 0;
	}
	volume->bytes += bytes;
	volume->sizes[bin_of(bytes)]++;
	return 0;
}

static uint64_t hash_of(uint32_t rank, uint32_t member)
{
	return crit_hash_mix(member, (uint64_t)rank << 32);
}

/* A pair's row, or CRIT_NONE. */
static uint32_t find(const struct crit_traffic *traffic, uint32_t rank, uint32_t member)
{
	struct crit_probe probe;
	uint32_t at = crit_index_first(&traffic->places, hash_of(rank, member), &probe);

	while (at != CRIT_NONE &&
	       (traffic->pairs[at].rank != rank || traffic->pairs[at].member != member))
		at = crit_index_next(&traffic->places, &probe);
	return at;
}

int crit_traffic_pair(struct crit_traffic *traffic, uint32_t rank, uint32_t member,
		      enum crit_direction direction, uint64_t bytes)
{
	uint32_t at = find(traffic, rank, member);
	struct crit_traffic_pair *pair;

	if (at == CRIT_NONE) {
		int rc = crit_array_grow(&traffic->pairs, &traffic->pair_capacity,
					 traffic->pair_count + 1, sizeof(*traffic->pairs));

		at = (uint32_t)traffic->pair_count;
		if (!rc)
			rc = crit_index_put(&traffic->places, hash_of(rank, member), at);
		if (rc)
			return rc;
		traffic->pairs[at] = (struct crit_traffic_pair){ .rank = rank, .member = member };
		traffic->pair_count++;
	}
	pair = &traffic->pairs[at];
	if (bytes == CRIT_BYTES_UNKNOWN)
		bytes = 0;
	pair->sent_count += direction == CRIT_SENT;
	pair->sent_bytes += direction == CRIT_SENT ? bytes : 0;
	pair->received_count += direction == CRIT_RECEIVED;
	pair->received_bytes += direction == CRIT_RECEIVED ? bytes : 0;
	return 0;
}

void crit_traffic_take_back(struct crit_traffic *traffic, unsigned int call, uint32_t rank,
			    uint32_t member, uint64_t bytes)
{
	uint32_t at = find(traffic, rank, member);
	struct crit_volume *sent = &traffic->calls[call % CRIT_TRAFFIC_CALLS]->sent;

	sent->count--;
	if (bytes == CRIT_BYTES_UNKNOWN) {
		sent->unknown_count--;
		bytes = 0;
	} else {
		sent->bytes -= bytes;
		sent->sizes[bin_of(bytes)]--;
	}
	if (at == CRIT_NONE)
		return;
	traffic->pairs[at].sent_count--;
	traffic->pairs[at].sent_bytes -= bytes;
}
