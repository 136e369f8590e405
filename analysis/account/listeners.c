// SPDX-License-Identifier: BSD-3-Clause
// Calls the listeners registered for an event of the replay.
#include "analysis/account/listeners.h"

#include <errno.h>

int crit_listeners_add(struct crit_listeners *listeners, const struct crit_listener *listener)
{
	for (int kind = 0; kind < CRIT_EVENT_KIND_COUNT; kind++)
		if (listener->on[kind] && listeners->counts[kind] == CRIT_LISTENERS_MAX)
			return -ENOSPC;
	if (listener->soon && listeners->soon_count == CRIT_LISTENERS_MAX)
		return -ENOSPC;
	for (int kind = 0; kind < CRIT_EVENT_KIND_COUNT; kind++) {
		if (listener->on[kind])
			listeners->handlers[kind][listeners->counts[kind]++] =
				(struct crit_handler){ listener->on[kind], listener->user };
	}
	if (listener->soon)
		listeners->soon[listeners->soon_count++] =
			(struct crit_soon_handler){ listener->soon, listener->user };
	return 0;
}

void crit_listeners_tell(struct crit_listeners *listeners, enum crit_event_kind kind,
			 const struct crit_event *event)
{
	for (uint32_t i = 0; i < listeners->counts[kind]; i++) {
		const struct crit_handler *handler = &listeners->handlers[kind][i];
		int rc = handler->on(handler->user, event);

		if (rc < 0 && !listeners->error)
			listeners->error = rc;
	}
}

int crit_listeners_tell_sample(struct crit_listeners *listeners, uint32_t thread,
			       const struct crit_kernel_sample *sample)
{
	crit_listeners_emit(
		listeners,
		sample->head.kind == CRIT_K_CAPTURE ? CRIT_EVENT_CAPTURE : CRIT_EVENT_SAMPLE,
		&(struct crit_event){
			.time_ns = sample->head.time_ns, .sample = sample, .thread = thread });
	return 0;
}

void crit_listeners_tell_block(struct crit_listeners *listeners, uint32_t thread, uint64_t time_ns,
			       const struct crit_kernel_call *system_call)
{
	crit_listeners_emit(listeners, CRIT_EVENT_BLOCK,
			    &(struct crit_event){ .time_ns = time_ns,
						  .system_call = system_call,
						  .thread = thread });
}

void crit_listeners_tell_edge(struct crit_listeners *listeners, struct crit_edge *edge)
{
	edge->waiter = listeners->thread_rows[edge->waiter];
	edge->cause = listeners->thread_rows[edge->cause];
	crit_listeners_tell(listeners, (enum crit_event_kind)(CRIT_EVENT_EDGE + edge->kind),
			    &(struct crit_event){ .time_ns = edge->end_ns, .edge = edge });
}
