// SPDX-License-Identifier: BSD-3-Clause
// Open requests of non-blocking calls: one stack per process and handle.
#include "analysis/mpi/requests.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/hash.h"

void crit_requests_init(struct crit_requests *requests)
{
	*requests = (struct crit_requests){ .free = CRIT_NONE };
}

void crit_requests_fini(struct crit_requests *requests)
{
	free(requests->rows);
	crit_index_fini(&requests->tops);
	crit_requests_init(requests);
}

static uint64_t hash_of(uint32_t process, uint64_t handle)
{
	return crit_hash_mix(handle, (uint64_t)process << 40);
}

/* The topmost row of a handle, or CRIT_NONE. */
static uint32_t find(const struct crit_requests *requests, uint32_t process, uint64_t handle,
		     struct crit_probe *ret_probe)
{
	uint32_t top = crit_index_first(&requests->tops, hash_of(process, handle), ret_probe);

	while (top != CRIT_NONE &&
	       (requests->rows[top].handle != handle || requests->rows[top].process != process))
		top = crit_index_next(&requests->tops, ret_probe);
	return top;
}

struct crit_request *crit_requests_find(const struct crit_requests *requests, uint32_t process,
					uint64_t handle)
{
	struct crit_probe probe;
	uint32_t top = find(requests, process, handle, &probe);

	return top == CRIT_NONE ? NULL : &requests->rows[top];
}

/* A row nobody uses.  Errors: -ENOMEM, -ENOSPC. */
static int take_row(struct crit_requests *requests, uint32_t *ret_row)
{
	int rc;

	if (requests->free != CRIT_NONE) {
		*ret_row = requests->free;
		requests->free = requests->rows[*ret_row].below;
		return 0;
	}
	if (requests->count >= CRIT_REQUESTS_MAX)
		return -ENOSPC;
	rc = crit_array_grow(&requests->rows, &requests->capacity, requests->count + 1,
			     sizeof(*requests->rows));
	if (!rc)
		*ret_row = (uint32_t)requests->count++;
	return rc;
}

static void free_row(struct crit_requests *requests, uint32_t row)
{
	requests->rows[row] = (struct crit_request){ .below = requests->free };
	requests->free = row;
}

int crit_requests_push(struct crit_requests *requests, uint32_t process, uint64_t handle,
		       struct crit_request **ret_request)
{
	struct crit_probe probe;
	uint32_t below = find(requests, process, handle, &probe), row;
	int rc = take_row(requests, &row);

	if (rc)
		return rc;
	requests->rows[row] = (struct crit_request){
		.handle = handle, .process = process, .below = below, .peer_member = CRIT_NONE
	};
	if (below != CRIT_NONE)
		crit_index_replace(&requests->tops, &probe, row);
	else
		rc = crit_index_put(&requests->tops, hash_of(process, handle), row);
	if (rc) {
		free_row(requests, row);
		return rc;
	}
	requests->live++;
	*ret_request = &requests->rows[row];
	return 0;
}

void crit_requests_pop(struct crit_requests *requests, uint32_t process, uint64_t handle)
{
	struct crit_probe probe;
	uint32_t row = find(requests, process, handle, &probe);

	if (requests->rows[row].below == CRIT_NONE)
		crit_index_remove(&requests->tops, &probe);
	else
		crit_index_replace(&requests->tops, &probe, requests->rows[row].below);
	free_row(requests, row);
	requests->live--;
}

uint64_t crit_requests_active(const struct crit_requests *requests)
{
	uint64_t active = 0;

	for (size_t i = 0; i < requests->count; i++)
		active += requests->rows[i].is_active;
	return active;
}
