// SPDX-License-Identifier: BSD-3-Clause
// Hulls that grow at their end, mostly.
#include "analysis/clock/transits.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

void crit_transits_fini(struct crit_transits *transits)
{
	size_t i;

	for (i = 0; i < transits->link_count; i++)
		free(transits->links[i].points);
	free(transits->links);
	crit_map_fini(&transits->numbers);
}

int crit_transits_link(struct crit_transits *transits, uint32_t from, uint32_t to,
		       uint32_t *ret_link)
{
	uint64_t key = (uint64_t)from << 32 | to;
	int rc;

	*ret_link = crit_map_get(&transits->numbers, key);
	if (*ret_link != CRIT_NONE)
		return 0;
	rc = crit_array_grow(&transits->links, &transits->link_capacity, transits->link_count + 1,
			     sizeof(*transits->links));
	if (!rc)
		rc = crit_map_set(&transits->numbers, key, (uint32_t)transits->link_count);
	if (rc)
		return rc;
	*ret_link = (uint32_t)transits->link_count++;
	transits->links[*ret_link] = (struct crit_transit_link){ .from = from, .to = to };
	return 0;
}

/* Is the one in the middle, by time, on the line between the others, or above it? */
static bool is_above(const struct crit_transit *first, const struct crit_transit *middle,
		     const struct crit_transit *last)
{
	__int128 rise = (__int128)(middle->took_ns - first->took_ns) *
			(int64_t)(last->sent_ns - first->sent_ns);

	return rise >= (__int128)(last->took_ns - first->took_ns) *
			       (int64_t)(middle->sent_ns - first->sent_ns);
}

/* Where a time belongs: the first point that is not earlier. */
static size_t find_place(const struct crit_transit_link *link, uint64_t sent_ns)
{
	size_t low = 0, high = link->count;

	if (high && link->points[high - 1].sent_ns < sent_ns)
		return high;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (link->points[middle].sent_ns < sent_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void drop(struct crit_transits *transits, struct crit_transit_link *link, size_t at)
{
	memmove(&link->points[at], &link->points[at + 1],
		(--link->count - at) * sizeof(*link->points));
	transits->point_count--;
}

/* Drops what a new point has put above the hull. */
static void straighten(struct crit_transits *transits, struct crit_transit_link *link, size_t at)
{
	const struct crit_transit *points = link->points;

	while (at + 2 < link->count && is_above(&points[at], &points[at + 1], &points[at + 2]))
		drop(transits, link, at + 1);
	for (; at >= 2 && is_above(&points[at - 2], &points[at - 1], &points[at]); at--)
		drop(transits, link, at - 1);
}

static int insert(struct crit_transits *transits, struct crit_transit_link *link, size_t at,
		  const struct crit_transit *new)
{
	int rc = crit_array_grow(&link->points, &link->capacity, link->count + 1,
				 sizeof(*link->points));

	if (rc)
		return rc;
	memmove(&link->points[at + 1], &link->points[at],
		(link->count++ - at) * sizeof(*link->points));
	link->points[at] = *new;
	transits->point_count++;
	return 0;
}

int crit_transits_take(struct crit_transits *transits, uint32_t number, uint64_t sent_ns,
		       uint64_t received_ns)
{
	struct crit_transit_link *link = &transits->links[number];
	const struct crit_transit new = { sent_ns, (int64_t)(received_ns - sent_ns) };
	size_t at = find_place(link, sent_ns);
	bool is_same = at < link->count && link->points[at].sent_ns == sent_ns;
	int rc = 0;

	if (is_same && link->points[at].took_ns <= new.took_ns)
		return 0;
	if (is_same)
		link->points[at] = new;
	else if (transits->point_count >= CRIT_TRANSITS_MAX ||
		 (at && at < link->count &&
		  is_above(&link->points[at - 1], &new, &link->points[at])))
		return 0;
	else
		rc = insert(transits, link, at, &new);
	if (!rc)
		straighten(transits, link, at);
	return rc;
}
