// SPDX-License-Identifier: BSD-3-Clause
// A ring of waits, and a stack of spans; both small as long as few are needed.
#include "analysis/waits/filmed_thread.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/schema/edge.h"
#include "analysis/waits/film/film.h"
#include "core/base/array.h"
#include "core/base/call.h"

#define PLACES (CRIT_FILM_PLACES - CRIT_FILM_TEAM - 1) /* that a film tells apart, and the team */
#define DEPTH_MAX 32u /* of spans in a wait; those further in are as the last one of these */

enum crit_span_kind crit_filmed_kind_of(const struct crit_trace_span *span)
{
	switch (span->span_class) {
	case CRIT_CLASS_MPI_MAY_WAIT:
	case CRIT_CLASS_MPI_POLL:
	case CRIT_CLASS_MPI_WAIT:
	case CRIT_CLASS_OMP_WAIT:
		return CRIT_SPAN_WAIT;
	default:
		return span->call == CRIT_CONSTRUCT_TASK ? CRIT_SPAN_TASK : CRIT_SPAN_OTHER;
	}
}

void crit_filmed_thread_fini(struct crit_filmed_thread *filmed)
{
	crit_filmed_stretch_fini(&filmed->samples);
	free(filmed->waits);
	free(filmed->spans);
	free(filmed->places);
}

int crit_filmed_add_wait(struct crit_filmed_thread *filmed, struct crit_actless_waits *actless)
{
	const uint32_t wanted = filmed->wait_capacity ? 2 * filmed->wait_capacity : 2;
	struct crit_known_wait *grown;

	if (filmed->wait_count == filmed->wait_capacity && wanted <= CRIT_FILMING_WAITS) {
		grown = reallocarray(filmed->waits, wanted, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		filmed->waits = grown;
		filmed->wait_capacity = wanted;
	}
	if (filmed->wait_count >= filmed->wait_capacity) {
		const struct crit_known_wait *oldest =
			crit_filmed_wait(filmed, filmed->wait_capacity - 1);

		crit_known_wait_forget(oldest, oldest->end_ns, actless);
	}
	filmed->wait_count++;
	return 0;
}

void crit_filmed_end_waits(const struct crit_filmed_thread *filmed, uint64_t end_ns,
			   struct crit_actless_waits *actless)
{
	for (uint64_t i = 0; i < filmed->wait_count && i < filmed->wait_capacity; i++) {
		const struct crit_known_wait *wait = crit_filmed_wait(filmed, i);

		crit_known_wait_forget(wait, wait->end_ns < end_ns ? wait->end_ns : end_ns,
				       actless);
	}
}

/* Where a place is among those of a thread, or where it can be. */
static size_t seek_place(const struct crit_filmed_thread *filmed, uint32_t place)
{
	size_t oldest = 0;

	for (size_t i = 0; i < filmed->place_count; i++) {
		if (filmed->places[i].place == place)
			return i;
		if (filmed->places[i].use < filmed->places[oldest].use)
			oldest = i;
	}
	return filmed->place_count < PLACES ? filmed->place_count : oldest;
}

int crit_filmed_place(struct crit_filmed_thread *filmed, uint32_t place, uint8_t *ret_number)
{
	size_t at;
	int rc;

	*ret_number = CRIT_FILM_TEAM;
	if (place == CRIT_EDGE_TEAM)
		return 0;
	at = seek_place(filmed, place);
	rc = crit_array_grow(&filmed->places, &filmed->place_capacity, at + 1,
			     sizeof(*filmed->places));
	if (rc)
		return rc;
	if (at == filmed->place_count)
		filmed->place_count++;
	filmed->places[at] = (struct crit_filmed_place){ place, ++filmed->place_uses };
	*ret_number = (uint8_t)(at + CRIT_FILM_TEAM + 1);
	return 0;
}

struct crit_open_span *crit_filmed_span(const struct crit_filmed_thread *filmed, uint32_t depth)
{
	return &filmed->spans[depth < DEPTH_MAX ? depth : DEPTH_MAX];
}

int crit_filmed_push_span(struct crit_filmed_thread *filmed, const struct crit_open_span *span)
{
	int rc = 0;

	if (filmed->depth < DEPTH_MAX) {
		rc = crit_array_grow(&filmed->spans, &filmed->span_capacity, filmed->depth + 2u,
				     sizeof(*filmed->spans));
		if (!rc)
			filmed->spans[filmed->depth + 1] = *span;
	}
	filmed->depth += !rc;
	return rc;
}
