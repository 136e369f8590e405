// SPDX-License-Identifier: BSD-3-Clause
// One list of takers per thread, found by who they are.
#include "analysis/account/rivals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/map.h"

int crit_rivals_init(struct crit_rivals *rivals, size_t life_count)
{
	*rivals = (struct crit_rivals){ 0 };
	rivals->firsts = calloc(life_count + 1, sizeof(*rivals->firsts));
	return rivals->firsts ? 0 : -ENOMEM;
}

void crit_rivals_fini(struct crit_rivals *rivals)
{
	free(rivals->rows);
	free(rivals->firsts);
}

static bool is_same(const struct crit_rival_row *a, const struct crit_rival_row *b)
{
	return a->kind == b->kind && a->by_thread == b->by_thread && !strcmp(a->name, b->name);
}

static struct crit_rival_row identify(uint32_t life, const struct crit_occupant *by)
{
	struct crit_rival_row row = { .thread = life, .by_thread = -1, .kind = by->kind };

	if (by->kind == CRIT_RIVAL_MEMBER)
		row.by_thread = (int32_t)by->life;
	if (by->kind == CRIT_RIVAL_STRANGER) {
		row.tid = by->tid;
		memcpy(row.name, by->name, sizeof(row.name) - 1);
	}
	return row;
}

/* The number of this thread's row for who is in key, or 0. */
static uint32_t find(const struct crit_rivals *rivals, const struct crit_rival_row *key,
		     unsigned int *ret_length)
{
	uint32_t number = rivals->firsts[key->thread];

	*ret_length = 0;
	while (number && !is_same(&rivals->rows[number - 1].row, key)) {
		number = rivals->rows[number - 1].next;
		++*ret_length;
	}
	return number;
}

static int add(struct crit_rivals *rivals, const struct crit_rival_row *row, uint32_t *ret_number)
{
	int rc = crit_array_grow(&rivals->rows, &rivals->capacity, rivals->count + 1,
				 sizeof(*rivals->rows));

	if (rc)
		return rc;
	rivals->rows[rivals->count] = (struct crit_rival){ *row, rivals->firsts[row->thread] };
	*ret_number = (uint32_t)++rivals->count;
	rivals->firsts[row->thread] = *ret_number;
	return 0;
}

int crit_rivals_add(struct crit_rivals *rivals, const struct crit_rival_row *row)
{
	uint32_t number;

	return add(rivals, row, &number);
}

int crit_rivals_number(struct crit_rivals *rivals, uint32_t life, const struct crit_occupant *by,
		       uint32_t *ret_number)
{
	struct crit_rival_row row = identify(life, by);
	unsigned int length;
	uint32_t number = find(rivals, &row, &length);
	int rc = 0;

	if (!number && length >= CRIT_RIVALS_EACH - 1) {
		row = (struct crit_rival_row){ .thread = life,
					       .by_thread = -1,
					       .kind = CRIT_RIVAL_OTHERS };
		number = find(rivals, &row, &length);
	}
	if (!number)
		rc = add(rivals, &row, &number);
	if (rc)
		return rc;
	if (rivals->rows[number - 1].row.tid != row.tid)
		rivals->rows[number - 1].row.tid = 0; /* several of one name */
	*ret_number = number;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct crit_rival_row *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->lost_ns != right->lost_ns)
		return left->lost_ns > right->lost_ns ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->by_thread != right->by_thread)
		return left->by_thread < right->by_thread ? -1 : 1;
	return strcmp(left->name, right->name);
}

int crit_rivals_fill(const struct crit_rivals *rivals, const uint32_t *thread_rows,
		     struct crit_results *results)
{
	size_t i;

	results->rivals = calloc(rivals->count + 1, sizeof(*results->rivals));
	if (!results->rivals)
		return -ENOMEM;
	results->rival_count = rivals->count;
	for (i = 0; i < rivals->count; i++) {
		struct crit_rival_row *row = &results->rivals[i];

		*row = rivals->rows[i].row;
		row->thread = thread_rows[row->thread];
		if (row->by_thread >= 0)
			row->by_thread = (int32_t)thread_rows[row->by_thread];
	}
	qsort(results->rivals, results->rival_count, sizeof(*results->rivals), compare);
	return 0;
}
