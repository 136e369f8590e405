// SPDX-License-Identifier: BSD-3-Clause
// Every word of a replay goes into one number.
#include "tests/lib/order.h"

#include <errno.h>

static void mix(struct crit_test_order *order, uint64_t value)
{
	order->sum = (order->sum ^ value) * 0x9e3779b97f4a7c15ull;
	order->sum ^= order->sum >> 31;
}

static int take(struct crit_test_order *order, unsigned int kind, uint32_t thread, uint64_t time_ns)
{
	mix(order, kind);
	mix(order, thread);
	mix(order, time_ns);
	return ++order->calls == order->failing ? -EIO : 0;
}

static int take_span(struct crit_test_order *order, unsigned int kind, uint32_t thread,
		     uint64_t time_ns, const struct crit_trace_span *span)
{
	mix(order, (uint64_t)span->call << 8 | span->span_class);
	mix(order, span->region);
	mix(order, span->site);
	mix(order, span->arg);
	return take(order, kind, thread, time_ns);
}

static void mix_sums(struct crit_test_order *order, const struct crit_trace_sums *sums)
{
	mix(order, sums ? 1 + sums->is_idle : 0);
}

static int on_thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	return take(user, 1, thread, time_ns);
}

static int on_thread_end(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sums *sums)
{
	mix(user, sums != NULL);
	return take(user, 2, thread, time_ns);
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	(void)total_cmetric_ns;
	return take_span(user, 3, thread, time_ns, span);
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	mix_sums(user, sums);
	return take_span(user, 4, thread, time_ns, span);
}

static int on_inside_enter(void *user, uint32_t thread, uint64_t time_ns,
			   const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	(void)total_cmetric_ns;
	return take_span(user, 5, thread, time_ns, span);
}

static int on_inside_leave(void *user, uint32_t thread, uint64_t time_ns,
			   const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	mix_sums(user, sums);
	return take_span(user, 6, thread, time_ns, span);
}

static int on_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
		    uint64_t ran_ns)
{
	mix(user, state);
	mix(user, ran_ns);
	return take(user, 7, thread, time_ns);
}

static int on_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	mix(user, (uint64_t)system_call);
	return take(user, 8, thread, time_ns);
}

static int on_sample(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_sample *sample)
{
	mix(user, sample->address);
	mix(user, sample->cpu_ns);
	return take(user, 9, thread, time_ns);
}

struct crit_trace_sink crit_test_order_sink(struct crit_test_order *order)
{
	return (struct crit_trace_sink){ .user = order,
					 .has_rank_states = true,
					 .thread_begin = on_thread_begin,
					 .thread_end = on_thread_end,
					 .enter = on_enter,
					 .leave = on_leave,
					 .inside_enter = on_inside_enter,
					 .inside_leave = on_inside_leave,
					 .state = on_state,
					 .block = on_block,
					 .sample = on_sample };
}

static int on_edge(void *user, const struct crit_event *event)
{
	struct crit_test_order *order = user;
	const struct crit_edge *edge = event->edge;

	order->edges++;
	mix(order, (uint64_t)edge->kind << 32 | edge->call);
	mix(order, (uint64_t)edge->waiter << 32 | edge->cause);
	mix(order, edge->begin_ns);
	mix(order, edge->end_ns);
	mix(order, edge->cause_ns);
	mix(order, edge->object);
	mix(order, edge->send_number);
	mix(order, edge->receive_number);
	mix(order, edge->bytes);
	mix(order, (uint64_t)edge->place << 1 | edge->is_from_any);
	return 0;
}

struct crit_listener crit_test_order_listener(struct crit_test_order *order)
{
	struct crit_listener listener = { .user = order };

	for (int kind = CRIT_EDGE_NONE + 1; kind < CRIT_EDGE_KIND_COUNT; kind++)
		listener.on[CRIT_EVENT_EDGE + kind] = on_edge;
	return listener;
}
