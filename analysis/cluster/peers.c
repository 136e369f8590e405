// SPDX-License-Identifier: BSD-3-Clause
// Parcels: bytes on their way from one peer to another.
#include "analysis/cluster/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

int crit_parcel_put(struct crit_parcel *parcel, const void *bytes, size_t size)
{
	int rc;

	if (!size)
		return 0;
	rc = crit_array_grow(&parcel->bytes, &parcel->capacity, parcel->size + size, 1);
	if (rc)
		return rc;
	memcpy(parcel->bytes + parcel->size, bytes, size);
	parcel->size += size;
	return 0;
}

bool crit_parcel_take(const struct crit_parcel *parcel, size_t *at, void *ret_bytes, size_t size)
{
	if (parcel->size - *at < size)
		return false;
	if (size)
		memcpy(ret_bytes, parcel->bytes + *at, size);
	*at += size;
	return true;
}

struct crit_parcel *crit_parcels_create(uint32_t count)
{
	return calloc(count, sizeof(struct crit_parcel));
}

void crit_parcels_empty(struct crit_parcel *parcels, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		parcels[i].size = 0;
}

void crit_parcels_destroy(struct crit_parcel *parcels, uint32_t count)
{
	uint32_t i;

	for (i = 0; parcels && i < count; i++)
		free(parcels[i].bytes);
	free(parcels);
}

struct opinion {
	uint64_t sum;
	int64_t rc;
};

static int judge(const struct crit_peers *peers, const struct opinion *own,
		 const struct crit_parcel *from)
{
	struct opinion opinion;
	bool is_alike = true;
	uint32_t i;

	for (i = 0; i < peers->count; i++) {
		size_t at = 0;

		if (!crit_parcel_take(&from[i], &at, &opinion, sizeof(opinion)))
			return -EPROTO;
		if (opinion.rc)
			return own->rc ? (int)own->rc : (int)opinion.rc;
		is_alike = is_alike && opinion.sum == own->sum;
	}
	return is_alike ? 0 : -ESTALE;
}

int crit_peers_agree(const struct crit_peers *peers, uint64_t sum, int rc)
{
	struct crit_parcel *to = crit_parcels_create(peers->count);
	struct crit_parcel *from = crit_parcels_create(peers->count);
	struct opinion own = { .sum = sum, .rc = rc };
	uint32_t i;

	rc = to && from ? 0 : -ENOMEM;
	for (i = 0; i < peers->count && !rc; i++)
		rc = crit_parcel_put(&to[i], &own, sizeof(own));
	if (!rc)
		rc = peers->exchange(peers->user, to, from);
	if (!rc)
		rc = judge(peers, &own, from);
	crit_parcels_destroy(to, peers->count);
	crit_parcels_destroy(from, peers->count);
	return rc;
}

int crit_peers_tell(const struct crit_peers *peers, uint64_t *values, size_t count)
{
	struct crit_parcel *to = crit_parcels_create(peers->count);
	struct crit_parcel *from = crit_parcels_create(peers->count);
	size_t at = 0;
	uint32_t i;
	int rc = to && from ? 0 : -ENOMEM;

	for (i = 0; i < peers->count && !rc && !peers->rank; i++)
		rc = crit_parcel_put(&to[i], values, count * sizeof(*values));
	if (!rc)
		rc = peers->exchange(peers->user, to, from);
	if (!rc && !crit_parcel_take(&from[0], &at, values, count * sizeof(*values)))
		rc = -EPROTO;
	crit_parcels_destroy(to, peers->count);
	crit_parcels_destroy(from, peers->count);
	return rc;
}
