// SPDX-License-Identifier: BSD-3-Clause
// From the edges of a replay to what ends the waits of a film, and to what they need.
#include "analysis/waits/filming.h"
#include "analysis/waits/filming_state.h"
#include "core/base/call.h"

/* Who meets there; not CRIT_FILM_NOBODY. */
static uint32_t object_of(const struct crit_edge *edge)
{
	return CRIT_FILM_OBJECT |
	       (uint32_t)(edge->object << 1 | (edge->call >= CRIT_CALL_OMP_FIRST));
}

/* The last act before its end that a wait could not end before. */
static int put_act(struct crit_filming *filming, struct crit_known_wait *wait,
		   const struct crit_edge *edge)
{
	uint64_t cause_ns = edge->cause_ns;
	/* a call that is cut at the end of what is told of ends there */
	uint64_t end_ns = wait->end_ns < filming->end_ns ? wait->end_ns : filming->end_ns;

	if (end_ns > edge->end_ns)
		end_ns = edge->end_ns;
	if (cause_ns > end_ns)
		cause_ns = end_ns;
	if (edge->kind == CRIT_EDGE_MEETING)
		return crit_filming_put_need(filming, cause_ns, object_of(edge), wait->number);
	if (cause_ns <= wait->begin_ns)
		return crit_filming_put_need(filming, cause_ns, edge->cause, wait->number);
	wait->has_cause = true;
	return crit_filming_put(filming, CRIT_FILM_CAUSE, cause_ns, edge->cause, wait->number);
}

/*
 * An act before the wait, or of its own, leaves it transfer, as no cause does.  A wait that tasks
 * interrupted is several; for each of them the edge is the cause.
 */
static int take_edge(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	struct crit_filmed_thread *filmed;
	const bool is_early = edge->cause_ns <= edge->begin_ns;
	bool is_known = false;
	int rc = 0;

	if (!filming->threads || (is_early && !filming->options.has_needs) ||
	    (edge->waiter == edge->cause && edge->kind != CRIT_EDGE_MEETING))
		return 0;
	filmed = &filming->threads[edge->waiter];
	for (uint64_t i = 0; i < filmed->wait_count && i < filmed->wait_capacity && !rc; i++) {
		struct crit_known_wait *wait = crit_filmed_wait(filmed, i);

		if (wait->begin_ns < edge->begin_ns)
			break;
		if (wait->begin_ns < edge->end_ns || wait->begin_ns == edge->begin_ns) {
			is_known = true;
			rc = put_act(filming, wait, edge);
		}
	}
	filming->counts.missed += !is_known && !is_early;
	filming->counts.clamped += is_known && edge->cause_ns > edge->end_ns;
	return rc;
}

static int take_arrival(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	const struct crit_film_entry entry = { .time_ns = edge->cause_ns < filming->end_ns
								  ? edge->cause_ns
								  : filming->end_ns,
					       .node = edge->cause,
					       .number = object_of(edge),
					       .type = CRIT_FILM_ARRIVAL,
					       .kind = edge->cause_ns == edge->end_ns };

	if (!filming->threads || edge->cause_ns < filming->begin_ns)
		return 0;
	return crit_filming_put_entry(filming, &entry);
}

/* The first wakeup of a thread is its creator's, if it was asleep since it began. */
static int take_birth(struct crit_filming *filming, const struct crit_edge *edge)
{
	struct crit_filmed_thread *filmed = &filming->threads[edge->waiter];
	const bool is_birth = filming->options.has_needs && filmed->has_begun &&
			      !filmed->was_woken && edge->begin_ns == filmed->begin_ns;

	filmed->was_woken = true;
	return is_birth ? crit_filming_put(filming, CRIT_FILM_BIRTH, filmed->begin_ns, edge->cause,
					   edge->waiter)
			: 0;
}

/*
 * A block within a call is no wait of its own.  Another CPU may be told to do the wakeup: the waker
 * may be blocked by then.
 */
static int take_wakeup(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	struct crit_edge edge = *event->edge;
	const struct crit_event taken = { .edge = &edge };
	int rc;

	if (!filming->threads)
		return 0;
	rc = take_birth(filming, &edge);
	if (rc || filming->has_ranks ||
	    filming->threads[edge.waiter].call.call != CRIT_CODE_BLOCKED)
		return rc;
	edge.cause_ns = crit_filming_act_of(filming, edge.cause, edge.cause_ns);
	return take_edge(filming, &taken);
}

struct crit_listener crit_filming_listener(struct crit_filming *filming)
{
	struct crit_listener listener = {
		.user = filming,
		.on = { [CRIT_EVENT_EDGE + CRIT_EDGE_MESSAGE] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_RECEIVER] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_COLLECTIVE] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_BARRIER] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_LOCK] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_WAKEUP] = take_wakeup },
	};

	if (filming->options.has_needs) {
		listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_ARRIVAL] = take_arrival;
		listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_MEETING] = take_edge;
	}
	return listener;
}

struct crit_filming_counts crit_filming_counts(const struct crit_filming *filming)
{
	return filming->counts;
}
