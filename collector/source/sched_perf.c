// SPDX-License-Identifier: BSD-3-Clause
// Opens perf events on the threads of runs, and puts what they tell into the runs' streams.
#include "collector/source/sched_perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/record/run.h"
#include "collector/record/stack_ring.h"
#include "collector/source/kernel_stream.h"
#include "collector/source/perf_clocks.h"
#include "collector/source/perf_feed.h"
#include "collector/source/perf_half.h"
#include "collector/system/now.h"

#define PASSES 3 /* over /proc/PID/task: threads may be born meanwhile, by threads not yet in */

struct sched_perf {
	struct crit_source_context context;
	size_t ring_bytes;
	bool is_sampling_refused;
	struct crit_perf_means means;
	struct crit_perf *runs[CRIT_RUN_SLOTS]; /* NULL: not recorded */
	uint32_t run_end; /* no entry from here on was ever in use */
};

struct perf_enrolment { /* of the threads of a process */
	struct sched_perf *source;
	struct crit_run *run;
	uint32_t pid;
	int added; /* in this pass */
};

static struct crit_perf **perf_of(struct sched_perf *source, const struct crit_run *run)
{
	return &source->runs[run->slot];
}

static int open_source(const struct crit_source_context *context,
		       const struct crit_source_options *options,
		       struct crit_source_status *ret_status, void **ret_source,
		       struct crit_err *err)
{
	struct sched_perf *source = calloc(1, sizeof(*source));
	int rc;

	(void)err; /* the recording says why: by its status */
	if (!source)
		return -ENOMEM;
	source->context = *context;
	source->ring_bytes = options->ring_bytes;
	source->is_sampling_refused = options->is_sampling_refused;
	crit_perf_probe(&source->means, context->proc_fd);
	rc = source->means.status;
	ret_status->perf = rc;
	ret_status->perf_paranoid = source->means.paranoid;
	if (rc != 1) {
		free(source);
		return rc;
	}
	*ret_source = source;
	return 0;
}

static void end(void *state, const struct crit_run *run)
{
	struct crit_perf **perf = perf_of(state, run);

	crit_perf_destroy(*perf);
	*perf = NULL;
}

static void close_source(void *state)
{
	struct sched_perf *source = state;

	for (uint32_t i = 0; i < source->run_end; i++)
		crit_perf_destroy(source->runs[i]);
	free(source);
}

static void begin(void *state, const struct crit_run *run, struct crit_source_status *status)
{
	struct sched_perf *source = state;
	const struct crit_perf_options options = {
		.ring_bytes = source->ring_bytes,
		.sample_hz = source->is_sampling_refused ? 0 : run->sample_hz,
		.stack_budget = run->stack_budget,
	};
	const int rc = crit_perf_create(&source->means, source->context.proc_fd, &options,
					perf_of(source, run));

	if (rc)
		status->perf = rc;
	else if (run->slot >= source->run_end)
		source->run_end = run->slot + 1;
}

struct feed { /* of the records of a run */
	const struct crit_source_context *context;
	struct crit_run *run;
};

static void put(void *context, const struct crit_kernel_head *record)
{
	const struct feed *feed = context;

	if (record->kind == CRIT_K_STACK) {
		if (feed->run->stacks && !feed->run->are_paths_over)
			crit_stack_ring_put_copy(feed->run->stacks, (const void *)record,
						 record->time_ns);
		return;
	}
	crit_kernel_stream_put(feed->run, record, record->size, record->time_ns, record->time_ns);
	if (record->kind >= CRIT_K_FORK && record->kind <= CRIT_K_ENROL)
		feed->context->on_life(feed->context->user, feed->run, record, record->time_ns);
}

/* Its rings are small. */
static bool drain(void *state)
{
	struct sched_perf *source = state;
	const uint64_t until_ns = crit_now_ns();

	for (uint32_t i = 0; i < source->run_end; i++) {
		struct feed feed = { &source->context, &source->context.runs[i] };

		if (source->runs[i])
			crit_perf_feed(source->runs[i], until_ns, put, &feed);
	}
	return true;
}

/*
 * A thread's switches are told of from its birth on; the stamp is from before.  A thread that
 * neither sleeps nor ends runs, or would: that is as much as /proc tells.
 */
static int enrol_thread(void *context, uint32_t tid)
{
	struct perf_enrolment *enrolment = context;
	struct sched_perf *source = enrolment->source;
	struct crit_run *run = enrolment->run;
	struct crit_perf *perf = *perf_of(source, run);
	struct crit_procfs_task task;
	char text[96];
	uint64_t time_ns;
	int rc;

	(void)drain(source); /* who was born is known then, and stamps stay in order */
	if (crit_perf_has(perf, tid) ||
	    crit_procfs_task(source->context.proc_fd, enrolment->pid, tid, &task))
		return 0;
	time_ns = crit_now_ns();
	rc = crit_perf_add(perf, tid);
	if (rc == 0) {
		for (uint32_t i = 0; i < perf->ring_count && !crit_procfs_is_asleep(&task); i++)
			crit_perf_sample(perf, tid, i, time_ns);
		perf->is_nested |= task.ns_tid != tid;
		crit_kernel_stream_put_enrol(run, &task, time_ns);
		enrolment->added++;
	} else if (rc != -ESRCH) {
		(void)snprintf(text, sizeof(text), "thread %u: no perf events: %s", tid,
			       strerror(-rc));
		crit_run_note(run, CRIT_NOTE_REFUSED, rc, text);
	}
	return 0;
}

static int attach(void *state, struct crit_run *run, uint32_t pid, int64_t tls_offset)
{
	struct sched_perf *source = state;
	struct perf_enrolment enrolment = { .source = source, .run = run, .pid = pid };
	int rc = 0;

	(void)tls_offset; /* perf events do not read it */
	if (!*perf_of(source, run))
		return 0;
	for (int pass = 0; pass < PASSES; pass++) {
		enrolment.added = 0;
		rc = crit_procfs_each_tid(source->context.proc_fd, pid, enrol_thread, &enrolment);
		if (rc < 0 || enrolment.added == 0)
			break;
	}
	return rc < 0 ? rc : 0;
}

static void look(void *state)
{
	const struct sched_perf *source = state;

	(void)drain(state); /* what clocks told with their old periods */
	for (uint32_t i = 0; i < source->run_end; i++) {
		struct crit_perf *perf = source->runs[i];

		if (!perf)
			continue;
		if (perf->clocks)
			crit_perf_clocks_look(perf->clocks, crit_now_ns());
		if (perf->clock_status && !perf->is_clock_status_noted) {
			crit_run_note(&source->context.runs[i], CRIT_NOTE_SAMPLES,
				      perf->clock_status, strerror(-perf->clock_status));
			perf->is_clock_status_noted = true;
		}
	}
}

static uint64_t lost(const void *state, const struct crit_run *run)
{
	const struct sched_perf *source = state;

	return source->runs[run->slot] ? source->runs[run->slot]->lost : 0;
}

static uint64_t refused_stacks(const void *state, const struct crit_run *run)
{
	const struct sched_perf *source = state;

	return source->runs[run->slot] ? source->runs[run->slot]->lost_samples : 0;
}

static int64_t live(void *state, const struct crit_run *run)
{
	struct crit_perf *perf = *perf_of(state, run);

	return perf ? crit_perf_reap(perf) : 0;
}

const struct crit_source_ops crit_sched_perf = {
	.needs_perf_events = true,
	.open = open_source,
	.close = close_source,
	.begin = begin,
	.end = end,
	.attach = attach,
	.drain = drain,
	.look = look,
	.refused_stacks = refused_stacks,
	.lost = lost,
	.live = live,
};
