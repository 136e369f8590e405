// SPDX-License-Identifier: BSD-3-Clause
// Every word of a sink goes into one number per thread.
#include "tests/lib/told.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
	return (sum ^ sum >> 31) | 1;
}

static uint64_t mix_span(uint64_t sum, const struct crit_trace_span *span)
{
	sum = mix(sum, (uint64_t)span->call << 8 | span->span_class);
	return mix(mix(mix(sum, span->region), span->site), span->arg);
}

static uint64_t mix_sums(uint64_t sum, const struct crit_trace_sums *sums)
{
	if (!sums)
		return mix(sum, 1);
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		sum = mix(sum, sums->state_ns[state]);
	return mix(mix(mix(mix(sum, sums->cmetric_ns), sums->all_waiting_ns), sums->polled),
		   sums->total_cmetric_ns);
}

static int on_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct crit_test_told *told = user;

	(void)end_ns;
	told->begins++;
	told->thread_count = run->thread_count;
	told->sums = calloc(run->thread_count + 1, sizeof(*told->sums));
	return told->sums ? 0 : -ENOMEM;
}

static int on_thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	struct crit_test_told *told = user;

	told->sums[thread] = mix(told->sums[thread], time_ns);
	return 0;
}

static int on_setup(void *user, uint32_t thread, const struct crit_trace_setup *setup)
{
	struct crit_test_told *told = user;
	uint64_t sum = mix(mix(told->sums[thread], setup->begin_ns), setup->end_ns);

	told->sums[thread] = mix(mix(sum, setup->site), setup->call);
	return 0;
}

static int on_thread_end(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sums *sums)
{
	struct crit_test_told *told = user;

	told->sums[thread] = mix_sums(mix(told->sums[thread], time_ns), sums);
	return 0;
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct crit_test_told *told = user;

	told->sums[thread] =
		mix(mix_span(mix(told->sums[thread], time_ns), span), total_cmetric_ns);
	return 0;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct crit_test_told *told = user;

	told->sums[thread] = mix_sums(mix_span(mix(told->sums[thread], time_ns), span), sums);
	return 0;
}

static int on_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
		    uint64_t ran_ns)
{
	struct crit_test_told *told = user;

	told->sums[thread] = mix(mix(mix(told->sums[thread], time_ns), state), ran_ns);
	return 0;
}

static int on_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	return on_state(user, thread, time_ns, (enum crit_kernel_state)(system_call + 1), 0);
}

static int on_release(void *user, uint32_t thread, uint64_t time_ns, uint16_t call, uint64_t lock)
{
	struct crit_test_told *told = user;

	told->sums[thread] = mix(mix(mix(told->sums[thread], time_ns), call), lock);
	return 0;
}

static int on_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message)
{
	struct crit_test_told *told = user;
	uint64_t sum = mix(told->sums[thread], time_ns);

	if (!told->sums[thread]) {
		told->others++;
		return 0;
	}
	sum = mix(mix(sum, (uint64_t)message->kind << 16 | message->call), message->communicator);
	sum = mix(mix(mix(sum, message->peer), message->tag), message->bytes);
	told->sums[thread] = mix(mix(sum, message->received_bytes), message->request);
	return 0;
}

static int on_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	struct crit_test_told *told = user;
	uint64_t sum = mix(told->communicators, communicator->kind);

	for (uint32_t i = 0; i < communicator->member_count; i++)
		sum = mix(sum, communicator->members[i]);
	told->communicators = mix(sum, communicator->parent);
	return 0;
}

void crit_test_told_sink(struct crit_test_told *told, struct crit_trace_sink *ret_sink)
{
	*told = (struct crit_test_told){ 0 };
	*ret_sink = (struct crit_trace_sink){ .user = told,
					      .begin = on_begin,
					      .thread_begin = on_thread_begin,
					      .thread_end = on_thread_end,
					      .setup = on_setup,
					      .enter = on_enter,
					      .leave = on_leave,
					      .state = on_state,
					      .block = on_block,
					      .release = on_release,
					      .task = on_release,
					      .communicator = on_communicator,
					      .message = on_message };
}

void crit_test_told_fini(struct crit_test_told *told)
{
	free(told->sums);
	told->sums = NULL;
}
