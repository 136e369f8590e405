// SPDX-License-Identifier: BSD-3-Clause
// One list per thread of the tasks that preempted it.
#include "analysis/account/preemptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/map.h"

int crit_preemptors_init(struct crit_preemptors *preemptors, size_t thread_count)
{
	*preemptors = (struct crit_preemptors){ 0 };
	preemptors->firsts = calloc(thread_count + 1, sizeof(*preemptors->firsts));
	return preemptors->firsts ? 0 : -ENOMEM;
}

void crit_preemptors_fini(struct crit_preemptors *preemptors)
{
	free(preemptors->rows);
	free(preemptors->firsts);
}

static bool is_same(const struct crit_preemptor_row *a, const struct crit_preemptor_row *b)
{
	return a->kind == b->kind && a->by_thread == b->by_thread && !strcmp(a->name, b->name);
}

static struct crit_preemptor_row identify(uint32_t thread, const struct crit_occupant *by)
{
	struct crit_preemptor_row row = { .thread = thread, .by_thread = -1, .kind = by->kind };

	if (by->kind == CRIT_PREEMPTOR_MEMBER)
		row.by_thread = (int32_t)by->thread;
	if (by->kind == CRIT_PREEMPTOR_STRANGER) {
		row.tid = by->tid;
		memcpy(row.name, by->name, sizeof(row.name) - 1);
	}
	return row;
}

/* The number of this thread's row for who is in key, or 0. */
static uint32_t find(const struct crit_preemptors *preemptors, const struct crit_preemptor_row *key,
		     unsigned int *ret_length)
{
	uint32_t number = preemptors->firsts[key->thread];

	*ret_length = 0;
	while (number && !is_same(&preemptors->rows[number - 1].row, key)) {
		number = preemptors->rows[number - 1].next;
		++*ret_length;
	}
	return number;
}

static int add(struct crit_preemptors *preemptors, const struct crit_preemptor_row *row,
	       uint32_t *ret_number)
{
	int rc = crit_array_grow(&preemptors->rows, &preemptors->capacity, preemptors->count + 1,
				 sizeof(*preemptors->rows));

	if (rc)
		return rc;
	preemptors->rows[preemptors->count] =
		(struct crit_preemptor){ *row, preemptors->firsts[row->thread] };
	*ret_number = (uint32_t)++preemptors->count;
	preemptors->firsts[row->thread] = *ret_number;
	return 0;
}

int crit_preemptors_add(struct crit_preemptors *preemptors, const struct crit_preemptor_row *row)
{
	uint32_t number;

	return add(preemptors, row, &number);
}

int crit_preemptors_number(struct crit_preemptors *preemptors, uint32_t thread,
			   const struct crit_occupant *by, uint32_t *ret_number)
{
	struct crit_preemptor_row row = identify(thread, by);
	unsigned int length;
	uint32_t number = find(preemptors, &row, &length);
	int rc = 0;

	if (!number && length >= CRIT_PREEMPTORS_EACH - 1) {
		row = (struct crit_preemptor_row){ .thread = thread,
						   .by_thread = -1,
						   .kind = CRIT_PREEMPTOR_OTHERS };
		number = find(preemptors, &row, &length);
	}
	if (!number)
		rc = add(preemptors, &row, &number);
	if (rc)
		return rc;
	if (preemptors->rows[number - 1].row.tid != row.tid)
		preemptors->rows[number - 1].row.tid = 0; /* several of one name */
	*ret_number = number;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct crit_preemptor_row *left = a, *right = b;

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

int crit_preemptors_fill(const struct crit_preemptors *preemptors, const uint32_t *thread_rows,
			 struct crit_results *results)
{
	results->preemptors = calloc(preemptors->count + 1, sizeof(*results->preemptors));
	if (!results->preemptors)
		return -ENOMEM;
	results->preemptor_count = preemptors->count;
	for (size_t i = 0; i < preemptors->count; i++) {
		struct crit_preemptor_row *row = &results->preemptors[i];

		*row = preemptors->rows[i].row;
		row->thread = thread_rows[row->thread];
		if (row->by_thread >= 0)
			row->by_thread = (int32_t)thread_rows[row->by_thread];
	}
	qsort(results->preemptors, results->preemptor_count, sizeof(*results->preemptors), compare);
	return 0;
}
