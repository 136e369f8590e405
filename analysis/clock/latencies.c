// SPDX-License-Identifier: BSD-3-Clause
// Least latencies between nodes over time, kept as convex hulls.
#include "analysis/clock/latencies.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clock/latency_links.h"
#include "core/base/array.h"

struct crit_latencies *crit_latencies_create(void)
{
	return calloc(1, sizeof(struct crit_latencies));
}

void crit_latencies_destroy(struct crit_latencies *latencies)
{
	if (!latencies)
		return;
	for (size_t i = 0; i < latencies->link_count; i++)
		free(latencies->links[i].points);
	free(latencies->links);
	crit_map_fini(&latencies->numbers);
	free(latencies);
}

int crit_latencies_link(struct crit_latencies *latencies, uint32_t from, uint32_t to,
			uint32_t *ret_link)
{
	uint64_t key = (uint64_t)from << 32 | to;
	int rc;

	*ret_link = crit_map_get(&latencies->numbers, key);
	if (*ret_link != CRIT_NONE)
		return 0;
	rc = crit_array_grow(&latencies->links, &latencies->link_capacity,
			     latencies->link_count + 1, sizeof(*latencies->links));
	if (!rc)
		rc = crit_map_set(&latencies->numbers, key, (uint32_t)latencies->link_count);
	if (rc)
		return rc;
	*ret_link = (uint32_t)latencies->link_count++;
	latencies->links[*ret_link] = (struct crit_latency_link){ .from = from, .to = to };
	return 0;
}

void crit_latencies_mix(struct crit_latencies *latencies, uint32_t link)
{
	latencies->links[link].is_mixed = true;
}

/* Is the one in the middle, by time, on the line between the others, or above it? */
static bool is_above(const struct crit_latency *first, const struct crit_latency *middle,
		     const struct crit_latency *last)
{
	__int128 rise = (__int128)(middle->took_ns - first->took_ns) *
			(int64_t)(last->sent_ns - first->sent_ns);

	return rise >= (__int128)(last->took_ns - first->took_ns) *
			       (int64_t)(middle->sent_ns - first->sent_ns);
}

/* Where a time belongs: the first point that is not earlier. */
static size_t find_place(const struct crit_latency_link *link, uint64_t sent_ns)
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

static void drop(struct crit_latencies *latencies, struct crit_latency_link *link, size_t at)
{
	memmove(&link->points[at], &link->points[at + 1],
		(--link->count - at) * sizeof(*link->points));
	latencies->point_count--;
}

/* Drops what a new point has put above the hull. */
static void straighten(struct crit_latencies *latencies, struct crit_latency_link *link, size_t at)
{
	const struct crit_latency *points = link->points;

	while (at + 2 < link->count && is_above(&points[at], &points[at + 1], &points[at + 2]))
		drop(latencies, link, at + 1);
	for (; at >= 2 && is_above(&points[at - 2], &points[at - 1], &points[at]); at--)
		drop(latencies, link, at - 1);
}

static int insert(struct crit_latencies *latencies, struct crit_latency_link *link, size_t at,
		  const struct crit_latency *new)
{
	int rc = crit_array_grow(&link->points, &link->capacity, link->count + 1,
				 sizeof(*link->points));

	if (rc)
		return rc;
	memmove(&link->points[at + 1], &link->points[at],
		(link->count++ - at) * sizeof(*link->points));
	link->points[at] = *new;
	latencies->point_count++;
	return 0;
}

int crit_latencies_take(struct crit_latencies *latencies, uint32_t number, uint64_t sent_ns,
			uint64_t received_ns)
{
	struct crit_latency_link *link = &latencies->links[number];
	const struct crit_latency new = { sent_ns, (int64_t)(received_ns - sent_ns) };
	size_t at = find_place(link, sent_ns);
	bool is_same = at < link->count && link->points[at].sent_ns == sent_ns;
	int rc = 0;

	if (is_same && link->points[at].took_ns <= new.took_ns)
		return 0;
	if (is_same)
		link->points[at] = new;
	else if (latencies->point_count >= CRIT_LATENCIES_MAX ||
		 (at && at < link->count &&
		  is_above(&link->points[at - 1], &new, &link->points[at])))
		return 0;
	else
		rc = insert(latencies, link, at, &new);
	if (!rc)
		straighten(latencies, link, at);
	return rc;
}
