// SPDX-License-Identifier: BSD-3-Clause
// Holds a replay to what analysis/schema/trace.h promises: order, balance, ranges.
#include "tests/fuzz/recording/strict_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/call.h"

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "told what cannot be: not %s\n", #condition);              \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static struct strict_thread *hear(struct strict_sink *strict, uint32_t thread, uint64_t time_ns)
{
	struct strict_thread *t;

	MUST(thread < strict->thread_count);
	t = &strict->threads[thread];
	MUST(time_ns >= strict->begin_ns && time_ns <= strict->end_ns);
	MUST(time_ns >= t->last_ns);
	t->last_ns = time_ns;
	return t;
}

static int on_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct strict_sink *strict = user;

	strict->thread_count = run->thread_count;
	strict->threads = calloc(run->thread_count + 1, sizeof(*strict->threads));
	strict->begin_ns = run->window_begin_ns;
	strict->end_ns = end_ns;
	MUST(end_ns >= strict->begin_ns && end_ns - strict->begin_ns <= run->window_ns);
	return strict->threads ? 0 : -ENOMEM;
}

static int on_thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	struct strict_thread *t = hear(user, thread, time_ns);

	MUST(!t->is_open);
	t->is_open = true;
	t->total_cmetric_ns = 0;
	return 0;
}

/* Before the thread begins, or after it has ended; these may lie outside the window. */
static int on_setup(void *user, uint32_t thread, const struct crit_trace_setup *setup)
{
	struct strict_sink *strict = user;
	struct strict_thread *t;

	MUST(thread < strict->thread_count);
	t = &strict->threads[thread];
	MUST(!t->is_open && setup->begin_ns <= setup->end_ns);
	MUST(t->setups++ < 2 && (t->setups == 2) == (setup->call == CRIT_MPI_Finalize));
	MUST(setup->call == CRIT_MPI_Finalize || setup->call == CRIT_MPI_Init ||
	     setup->call == CRIT_MPI_Init_thread);
	return 0;
}

static int on_thread_end(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sums *sums)
{
	struct strict_thread *t = hear(user, thread, time_ns);

	MUST(t->is_open && t->depth == 0);
	MUST(!sums || sums->total_cmetric_ns >= t->total_cmetric_ns);
	t->is_open = false;
	return 0;
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct strict_thread *t = hear(user, thread, time_ns);

	MUST(t->is_open && span->call < 1024 && span->span_class < CRIT_CLASS_COUNT);
	MUST(total_cmetric_ns >= t->total_cmetric_ns);
	t->total_cmetric_ns = total_cmetric_ns;
	t->depth++;
	return 0;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct strict_sink *strict = user;
	struct strict_thread *t = hear(strict, thread, time_ns);

	(void)span;
	MUST(t->is_open && t->depth > 0);
	t->depth--;
	if (sums) {
		MUST(sums->cmetric_ns <= sums->total_cmetric_ns);
		MUST(sums->all_waiting_ns <= strict->end_ns - strict->begin_ns);
		t->total_cmetric_ns = sums->total_cmetric_ns;
	}
	return 0;
}

static int on_release(void *user, uint32_t thread, uint64_t time_ns, uint16_t call, uint64_t lock)
{
	const struct strict_thread *t = hear(user, thread, time_ns);

	(void)lock;
	MUST(t->is_open && call >= CRIT_CALL_OMP_FIRST && call < 1024);
	return 0;
}

/* Notes of kinds that nobody knows are handed on. */
static int on_task(void *user, uint32_t thread, uint64_t time_ns, uint16_t note, uint64_t task)
{
	const struct strict_thread *t = hear(user, thread, time_ns);

	(void)note;
	(void)task;
	MUST(t->is_open);
	return 0;
}

static int on_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message)
{
	struct strict_sink *strict = user;

	MUST(thread < strict->thread_count && strict->threads[thread].is_open);
	MUST(time_ns >= strict->begin_ns && time_ns <= strict->end_ns);
	MUST(message->kind > CRIT_TRACE_MESSAGE_NONE &&
	     message->kind < CRIT_TRACE_MESSAGE_KIND_COUNT);
	if (message->communicator != CRIT_TRACE_NONE && message->communicator >= strict->named)
		strict->named = message->communicator + 1;
	return 0;
}

static int on_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	struct strict_sink *strict = user;

	MUST(communicator->kind <= CRIT_TRACE_COMM_INTER);
	strict->communicators++;
	return 0;
}

static int on_end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	const struct strict_sink *strict = user;

	(void)are_messages_whole;
	MUST(results->thread_count == strict->thread_count);
	MUST(strict->named <= strict->communicators);
	for (size_t i = 0; i < strict->thread_count; i++)
		MUST(!strict->threads[i].is_open);
	return 0;
}

static int on_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
		    uint64_t ran_ns)
{
	MUST(hear(user, thread, time_ns)->is_open);
	MUST(state > CRIT_STATE_NONE && state < CRIT_STATE_COUNT);
	MUST(ran_ns < INT64_MAX);
	return 0;
}

static int on_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	MUST(hear(user, thread, time_ns)->is_open);
	MUST(system_call >= -1);
	return 0;
}

static int on_sample(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_sample *sample)
{
	MUST(hear(user, thread, time_ns)->is_open);
	MUST(sample->address);
	for (uint32_t path = sample->path; path >= CRIT_PATH_FIRST;
	     path = sample->tree.rows[path].parent)
		MUST(sample->tree.rows[path].parent < path);
	return 0;
}

void strict_sink_init(struct strict_sink *strict, bool has_all)
{
	*strict = (struct strict_sink){ .sink = { .user = strict,
						  .has_all = has_all,
						  .begin = on_begin,
						  .thread_begin = on_thread_begin,
						  .thread_end = on_thread_end,
						  .setup = on_setup,
						  .enter = on_enter,
						  .leave = on_leave,
						  .state = on_state,
						  .block = on_block,
						  .sample = on_sample,
						  .release = on_release,
						  .task = on_task,
						  .communicator = on_communicator,
						  .message = on_message,
						  .end = on_end } };
}

void strict_sink_fini(struct strict_sink *strict)
{
	free(strict->threads);
	strict->threads = NULL;
}
