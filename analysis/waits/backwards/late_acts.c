// SPDX-License-Identifier: BSD-3-Clause
// Rows of what is waited for now, used again, and the costliest of the others.
#include "analysis/waits/backwards/late_acts.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"

#define KEPT_MAX ((size_t)2 * CRIT_LATE_ACTS_MAX)

int crit_late_acts_init(struct crit_late_acts *acts)
{
	*acts = (struct crit_late_acts){ .kept = calloc(KEPT_MAX, sizeof(*acts->kept)) };
	return acts->kept ? 0 : -ENOMEM;
}

void crit_late_acts_fini(struct crit_late_acts *acts)
{
	free(acts->rows);
	free(acts->unused);
	free(acts->kept);
	*acts = (struct crit_late_acts){ 0 };
}

/* Errors: -ENOMEM. */
static int make_row(struct crit_late_acts *acts, uint32_t *ret_row)
{
	int rc;

	if (acts->unused_count) {
		*ret_row = acts->unused[--acts->unused_count];
		return 0;
	}
	rc = crit_array_grow(&acts->rows, &acts->capacity, acts->count + 1, sizeof(*acts->rows));
	/* so that a row can always be given back */
	if (!rc)
		rc = crit_array_grow(&acts->unused, &acts->unused_capacity, acts->count + 1,
				     sizeof(*acts->unused));
	if (!rc)
		*ret_row = (uint32_t)acts->count++;
	return rc;
}

/* It is of this act, and somebody waits for that. */
static bool is_of(const struct crit_late_act *act, uint32_t thread, uint64_t time_ns)
{
	return act->thread == thread && act->time_ns == time_ns && act->waiting;
}

int crit_late_acts_link(struct crit_late_acts *acts, uint32_t *row, uint32_t thread,
			uint32_t bucket, uint64_t time_ns)
{
	if (*row == CRIT_NONE || !is_of(&acts->rows[*row], thread, time_ns)) {
		int rc = make_row(acts, row);

		if (rc)
			return rc;
		acts->rows[*row] = (struct crit_late_act){ .thread = thread,
							   .bucket = bucket,
							   .time_ns = time_ns };
	}
	acts->rows[*row].waiting++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct crit_late_act *left = a, *right = b;

	if (left->impact != right->impact)
		return left->impact < right->impact ? 1 : -1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? 1 : -1; /* the earlier act first */
	return crit_by_number(left->thread, right->thread);
}

/* Of twice as many as matter, the lesser half goes. */
static void keep(struct crit_late_acts *acts, const struct crit_late_act *act)
{
	if (!act->impact ||
	    (acts->is_full && compare(act, &acts->kept[CRIT_LATE_ACTS_MAX - 1]) >= 0))
		return;
	acts->kept[acts->kept_count++] = *act;
	if (acts->kept_count < KEPT_MAX)
		return;
	qsort(acts->kept, KEPT_MAX, sizeof(acts->kept[0]), compare);
	acts->kept_count = CRIT_LATE_ACTS_MAX;
	acts->is_full = true;
}

void crit_late_acts_unlink(struct crit_late_acts *acts, uint32_t row, uint32_t waiter,
			   uint32_t bucket, uint64_t waited_ns, crit_integral impact)
{
	struct crit_late_act *act = &acts->rows[row];

	act->impact += impact;
	act->waiters += waited_ns > 0;
	if (waited_ns > act->longest_ns ||
	    (waited_ns == act->longest_ns && waited_ns && waiter < act->longest)) {
		act->longest = waiter;
		act->longest_bucket = bucket;
		act->longest_ns = waited_ns;
	}
	if (--act->waiting)
		return;
	keep(acts, act);
	acts->unused[acts->unused_count++] = row;
}

void crit_late_acts_finish(struct crit_late_acts *acts, uint64_t window_ns)
{
	qsort(acts->kept, acts->kept_count, sizeof(acts->kept[0]), compare);
	if (acts->kept_count > CRIT_LATE_ACTS_MAX)
		acts->kept_count = CRIT_LATE_ACTS_MAX;
	for (size_t i = 0; i < acts->kept_count; i++)
		acts->kept[i].time_ns = window_ns - acts->kept[i].time_ns;
}
