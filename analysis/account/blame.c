// SPDX-License-Identifier: BSD-3-Clause
// Charges the waiting time in MPI calls to the ranks that are active meanwhile.
#include "analysis/account/blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void crit_blame_init(struct crit_blame *blame, uint32_t rank_count)
{
	*blame = (struct crit_blame){ .rank_count = rank_count };
}

void crit_blame_fini(struct crit_blame *blame)
{
	for (uint32_t i = 0; i < blame->call_count; i++)
		free(blame->calls[i].cells);
	free(blame->settled);
	*blame = (struct crit_blame){ 0 };
}

static void advance(struct crit_blame_call *call, crit_fix integral)
{
	call->quantity += (integral - call->mark) * call->waiting;
	call->mark = integral;
}

static int follow(struct crit_blame *blame, uint32_t number, crit_fix integral)
{
	struct crit_blame_call *call = &blame->calls[blame->call_count];

	if (!blame->settled)
		blame->settled = calloc(blame->rank_count, sizeof(*blame->settled));
	if (!blame->settled)
		return -ENOMEM;
	call->cells = calloc(blame->rank_count, sizeof(*call->cells));
	if (!call->cells)
		return -ENOMEM;
	call->mark = integral;
	blame->order[blame->call_count] = (uint16_t)blame->call_count;
	blame->slots[number] = (uint16_t)++blame->call_count;
	return 0;
}

/* Puts a call to the head of those waited in, or of the others. */
static void move(struct crit_blame *blame, uint16_t index, uint32_t to)
{
	uint32_t from = 0;

	while (blame->order[from] != index)
		from++;
	if (from < to)
		memmove(&blame->order[from], &blame->order[from + 1],
			(to - from) * sizeof(*blame->order));
	else
		memmove(&blame->order[to + 1], &blame->order[to],
			(from - to) * sizeof(*blame->order));
	blame->order[to] = index;
}

static void begin(struct crit_blame *blame, uint16_t index)
{
	move(blame, index, 0);
	blame->waited_count++;
}

static void end(struct crit_blame *blame, uint16_t index)
{
	move(blame, index, --blame->waited_count);
	blame->calls[index].end = blame->settlements + 1;
}

int crit_blame_wait(struct crit_blame *blame, uint32_t number, int step, crit_fix integral)
{
	struct crit_blame_call *call;

	if (blame->rank_count < 2 || !number || number >= CRIT_BLAME_CALLS)
		return 0;
	if (!blame->slots[number]) {
		int rc = follow(blame, number, integral);

		if (rc)
			return rc;
	}
	call = &blame->calls[blame->slots[number] - 1];
	advance(call, integral);
	if (call->waiting == 0 && step)
		begin(blame, blame->slots[number] - 1);
	call->waiting += (uint32_t)step;
	if (call->waiting == 0 && step)
		end(blame, blame->slots[number] - 1);
	return 0;
}

void crit_blame_settle(struct crit_blame *blame, uint32_t rank, uint32_t active, crit_fix integral)
{
	const uint64_t last = blame->call_count ? blame->settled[rank] : 0;

	for (uint32_t i = 0; i < blame->call_count; i++) {
		struct crit_blame_call *call = &blame->calls[blame->order[i]];
		struct crit_blame_cell *cell = &call->cells[rank];

		if (call->waiting)
			advance(call, integral);
		else if (call->end <= last)
			break;
		if (active)
			cell->charge += (call->quantity - cell->mark) * active;
		cell->mark = call->quantity;
	}
	if (blame->call_count)
		blame->settled[rank] = ++blame->settlements;
}

void crit_blame_restart(struct crit_blame *blame)
{
	while (blame->waited_count > 0)
		end(blame, blame->order[0]);
	for (uint32_t i = 0; i < blame->call_count; i++) {
		blame->calls[i].waiting = 0;
		blame->calls[i].mark = 0;
	}
}

int crit_blame_add(struct crit_blame *blame, uint32_t call, uint32_t rank, crit_fix charge)
{
	int rc = crit_blame_wait(blame, call, 0, 0);

	if (!rc && call < CRIT_BLAME_CALLS && blame->slots[call])
		blame->calls[blame->slots[call] - 1].cells[rank].charge += charge;
	return rc;
}

int64_t crit_blame_top(const struct crit_blame *blame, uint32_t number)
{
	const struct crit_blame_call *call;
	int64_t top = -1;
	crit_fix most = 0;

	if (number >= CRIT_BLAME_CALLS || !blame->slots[number])
		return -1;
	call = &blame->calls[blame->slots[number] - 1];
	for (uint32_t rank = 0; rank < blame->rank_count; rank++) {
		if (call->cells[rank].charge > most) {
			most = call->cells[rank].charge;
			top = rank;
		}
	}
	return top;
}
