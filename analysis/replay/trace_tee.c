// SPDX-License-Identifier: BSD-3-Clause
// Each callback tells the first sink, then the second, as far as they want it.
#include "analysis/replay/trace_tee.h"

/* The body of a callback. */
#define TELL_BOTH(user, callback, ...)                                                             \
	do {                                                                                       \
		const struct crit_trace_tee *tee = (user);                                         \
		int rc = 0;                                                                        \
                                                                                                   \
		if (tee->first->callback)                                                          \
			rc = tee->first->callback(tee->first->user, __VA_ARGS__);                  \
		if (!rc && tee->second->callback)                                                  \
			rc = tee->second->callback(tee->second->user, __VA_ARGS__);                \
		return rc;                                                                         \
	} while (0)

static int begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	TELL_BOTH(user, begin, run, end_ns);
}

static int thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	TELL_BOTH(user, thread_begin, thread, time_ns);
}

static int thread_end(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_sums *sums)
{
	TELL_BOTH(user, thread_end, thread, time_ns, sums);
}

static int enter(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 uint64_t total_cmetric_ns)
{
	TELL_BOTH(user, enter, thread, time_ns, span, total_cmetric_ns);
}

static int leave(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 const struct crit_trace_sums *sums)
{
	TELL_BOTH(user, leave, thread, time_ns, span, sums);
}

static int inside_enter(void *user, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	TELL_BOTH(user, inside_enter, thread, time_ns, span, total_cmetric_ns);
}

static int inside_leave(void *user, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	TELL_BOTH(user, inside_leave, thread, time_ns, span, sums);
}

static int setup(void *user, uint32_t thread, const struct crit_trace_setup *told)
{
	TELL_BOTH(user, setup, thread, told);
}

static int state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state now,
		 uint64_t ran_ns)
{
	TELL_BOTH(user, state, thread, time_ns, now, ran_ns);
}

static void soon(void *user, uint32_t thread, bool is_near)
{
	const struct crit_trace_tee *tee = user;

	if (tee->first->soon)
		tee->first->soon(tee->first->user, thread, is_near);
	if (tee->second->soon)
		tee->second->soon(tee->second->user, thread, is_near);
}

static int block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	TELL_BOTH(user, block, thread, time_ns, system_call);
}

static int sample(void *user, uint32_t thread, uint64_t time_ns,
		  const struct crit_trace_sample *told)
{
	TELL_BOTH(user, sample, thread, time_ns, told);
}

static int release(void *user, uint32_t thread, uint64_t time_ns, uint16_t call, uint64_t lock)
{
	TELL_BOTH(user, release, thread, time_ns, call, lock);
}

static int task(void *user, uint32_t thread, uint64_t time_ns, uint16_t note, uint64_t number)
{
	TELL_BOTH(user, task, thread, time_ns, note, number);
}

static int communicator(void *user, const struct crit_trace_communicator *told)
{
	TELL_BOTH(user, communicator, told);
}

static int message(void *user, uint32_t thread, uint64_t time_ns,
		   const struct crit_trace_message *told)
{
	TELL_BOTH(user, message, thread, time_ns, told);
}

static int end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	TELL_BOTH(user, end, results, are_messages_whole);
}

struct crit_trace_sink crit_trace_tee_sink(const struct crit_trace_tee *tee)
{
	const struct crit_trace_sink *first = tee->first, *second = tee->second;

#define EITHER(callback) .callback = first->callback || second->callback ? (callback) : NULL
	return (struct crit_trace_sink){
		.user = (void *)(uintptr_t)tee,
		.has_all = first->has_all,
		.has_rank_states = first->has_rank_states || second->has_rank_states,
		.has_no_sums = first->has_no_sums && second->has_no_sums,
		EITHER(begin),
		EITHER(thread_begin),
		EITHER(thread_end),
		EITHER(enter),
		EITHER(leave),
		EITHER(inside_enter),
		EITHER(inside_leave),
		EITHER(setup),
		EITHER(state),
		EITHER(soon),
		EITHER(block),
		EITHER(sample),
		EITHER(release),
		EITHER(task),
		EITHER(communicator),
		EITHER(message),
		EITHER(end),
	};
#undef EITHER
}
