// SPDX-License-Identifier: BSD-3-Clause
// Growing lists of a scenario.
#include "tests/sim/scenario.h"

#include <stdlib.h>

#include "tests/maker/maker.h"

uint32_t crit_scenario_add_process(struct crit_scenario *s, struct crit_scenario_process process)
{
	if (s->process_count == CRIT_SCENARIO_PROCESSES)
		crit_maker_fail("add so many processes");
	s->processes[s->process_count] = process;
	return (uint32_t)s->process_count++;
}

uint32_t crit_scenario_add_thread(struct crit_scenario *s, struct crit_scenario_thread thread)
{
	if (s->thread_count == CRIT_SCENARIO_THREADS)
		crit_maker_fail("add so many threads");
	s->threads[s->thread_count] = thread;
	return (uint32_t)s->thread_count++;
}

void crit_scenario_add_piece(struct crit_scenario_thread *t, uint64_t begin_ns,
			     enum crit_kernel_state state)
{
	t->pieces =
		crit_maker_grow(t->pieces, &t->piece_room, t->piece_count + 1, sizeof(*t->pieces));
	t->pieces[t->piece_count++] =
		(struct crit_scenario_piece){ .begin_ns = begin_ns, .state = state };
}

void crit_scenario_add_span(struct crit_scenario_thread *t, struct crit_scenario_span span)
{
	t->spans = crit_maker_grow(t->spans, &t->span_room, t->span_count + 1, sizeof(*t->spans));
	t->spans[t->span_count++] = span;
}

struct crit_scenario_event *crit_scenario_add_event(struct crit_scenario *s,
						    struct crit_scenario_event event)
{
	s->events =
		crit_maker_grow(s->events, &s->event_room, s->event_count + 1, sizeof(*s->events));
	s->events[s->event_count] = event;
	return &s->events[s->event_count++];
}

void crit_scenario_destroy(struct crit_scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->thread_count; i++) {
		free(s->threads[i].pieces);
		free(s->threads[i].spans);
	}
	free(s->events);
	free(s);
}
