// SPDX-License-Identifier: BSD-3-Clause
// A hash from (process, handle) to stacks of requests: linear probes, deletion by moving back.
#include "analysis/mpi/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

void crit_requests_init(struct crit_requests *requests)
{
	*requests = (struct crit_requests){ .free = CRIT_NONE };
}

void crit_requests_fini(struct crit_requests *requests)
{
	free(requests->rows);
	free(requests->cells);
	crit_requests_init(requests);
}

static size_t home_of(const struct crit_requests *requests, uint32_t process, uint64_t handle)
{
	uint64_t mixed = (handle ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15ull;

	return (size_t)(mixed >> 24) & (requests->cell_count - 1);
}

/* The handle's cell, or the empty one where it would be.  Range: there is an empty one. */
static size_t cell_of(const struct crit_requests *requests, uint32_t process, uint64_t handle)
{
	size_t at = home_of(requests, process, handle);

	while (requests->cells[at] != CRIT_NONE) {
		const struct crit_request *top = &requests->rows[requests->cells[at]];

		if (top->handle == handle && top->process == process)
			break;
		at = (at + 1) & (requests->cell_count - 1);
	}
	return at;
}

static int enlarge(struct crit_requests *requests)
{
	size_t old_count = requests->cell_count, i;
	uint32_t *old = requests->cells;

	requests->cell_count = old_count ? old_count * 2 : 64;
	requests->cells = malloc(requests->cell_count * sizeof(*requests->cells));
	if (!requests->cells) {
		requests->cells = old;
		requests->cell_count = old_count;
		return -ENOMEM;
	}
	memset(requests->cells, 0xff, requests->cell_count * sizeof(*requests->cells));
	for (i = 0; i < old_count; i++) {
		if (old[i] != CRIT_NONE) {
			const struct crit_request *top = &requests->rows[old[i]];

			requests->cells[cell_of(requests, top->process, top->handle)] = old[i];
		}
	}
	free(old);
	return 0;
}

struct crit_request *crit_requests_find(const struct crit_requests *requests, uint32_t process,
					uint64_t handle)
{
	uint32_t top;

	if (!requests->handles)
		return NULL;
	top = requests->cells[cell_of(requests, process, handle)];
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

int crit_requests_push(struct crit_requests *requests, uint32_t process, uint64_t handle,
		       struct crit_request **ret_request)
{
	uint32_t row = CRIT_NONE;
	size_t cell;
	int rc = 0;

	if (requests->handles * 2 >= requests->cell_count)
		rc = enlarge(requests);
	if (!rc)
		rc = take_row(requests, &row);
	if (rc)
		return rc;
	cell = cell_of(requests, process, handle);
	requests->rows[row] = (struct crit_request){ .handle = handle,
						     .process = process,
						     .below = requests->cells[cell],
						     .peer_member = CRIT_NONE };
	requests->handles += requests->cells[cell] == CRIT_NONE;
	requests->cells[cell] = row;
	requests->live++;
	*ret_request = &requests->rows[row];
	return 0;
}

/* Closes the gap: who stands behind it and would not be found any more moves into it. */
static void empty_cell(struct crit_requests *requests, size_t gap)
{
	size_t mask = requests->cell_count - 1, at = gap;

	for (;;) {
		const struct crit_request *top;
		size_t home;

		at = (at + 1) & mask;
		if (requests->cells[at] == CRIT_NONE)
			break;
		top = &requests->rows[requests->cells[at]];
		home = home_of(requests, top->process, top->handle);
		if (((at - home) & mask) >= ((at - gap) & mask)) {
			requests->cells[gap] = requests->cells[at];
			gap = at;
		}
	}
	requests->cells[gap] = CRIT_NONE;
	requests->handles--;
}

void crit_requests_pop(struct crit_requests *requests, uint32_t process, uint64_t handle)
{
	size_t cell = cell_of(requests, process, handle);
	uint32_t row = requests->cells[cell];

	requests->cells[cell] = requests->rows[row].below;
	if (requests->cells[cell] == CRIT_NONE)
		empty_cell(requests, cell);
	requests->rows[row] = (struct crit_request){ .below = requests->free };
	requests->free = row;
	requests->live--;
}

uint64_t crit_requests_active(const struct crit_requests *requests)
{
	uint64_t active = 0;
	size_t i;

	for (i = 0; i < requests->count; i++)
		active += requests->rows[i].is_active;
	return active;
}
