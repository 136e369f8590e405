// SPDX-License-Identifier: BSD-3-Clause
// From spans and edges of a replay to the entries of a film.
#include "analysis/waits/filming.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/waits/backplay.h"
#include "analysis/waits/code_keys.h"
#include "analysis/waits/filmed_regions.h"
#include "analysis/waits/filmed_thread.h"
#include "core/base/call.h"

#define KIND_CALL 1 /* of a wait */
#define NOBODY CRIT_FILM_OBJECT /* the object that those wait for of whom no waker was told */

struct crit_filming {
	struct crit_filming_options options;
	struct crit_film *film;
	struct crit_filmed_thread *threads;
	struct crit_filmed_regions regions;
	struct crit_code_keys keys;
	size_t thread_count;
	uint64_t begin_ns, end_ns;
	struct crit_filming_counts counts;
	uint32_t number;
	bool has_ranks;
	int failed; /* the film did: the analysis goes on without */
	struct crit_err err; /* why */
};

static int put_entry(struct crit_filming *filming, const struct crit_film_entry *entry)
{
	if (!filming->failed)
		filming->failed = crit_film_put(filming->film, entry, &filming->err);
	return 0;
}

static int put(struct crit_filming *filming, enum crit_film_type type, uint64_t time_ns,
	       uint32_t node, uint32_t number)
{
	const struct crit_film_entry entry = { .time_ns = time_ns,
					       .node = node,
					       .number = number,
					       .type = (uint8_t)type,
					       .kind = KIND_CALL };

	return put_entry(filming, &entry);
}

/* The thread was there since the bucket before. */
static int put_key(struct crit_filming *filming, uint64_t time_ns, const struct crit_code_key *key)
{
	struct crit_filmed_thread *filmed = &filming->threads[key->thread];
	uint32_t number;
	int rc;

	if (time_ns == filmed->until_ns)
		return 0;
	filmed->until_ns = time_ns;
	rc = crit_code_keys_put(&filming->keys, key, &number);
	return rc ? rc : put(filming, CRIT_FILM_UNTIL, time_ns, key->thread, number);
}

/* What a wait needs, but came before it. */
static int put_need(struct crit_filming *filming, uint64_t time_ns, uint32_t node, uint32_t number)
{
	if (!filming->options.has_needs || time_ns < filming->begin_ns)
		return 0;
	return put(filming, CRIT_FILM_NEED, time_ns, node, number);
}

static int put_cause(struct crit_filming *filming, uint32_t thread, uint64_t time_ns, uint32_t node)
{
	struct crit_known_wait *wait = crit_filmed_last_wait(&filming->threads[thread]);

	if (node == thread)
		return 0;
	if (time_ns <= wait->begin_ns)
		return put_need(filming, time_ns, node, wait->number);
	wait->has_cause = true;
	return put(filming, CRIT_FILM_CAUSE, time_ns < wait->end_ns ? time_ns : wait->end_ns, node,
		   wait->number);
}

/* A thread that waits has acted before. */
static uint64_t act_of(struct crit_filming *filming, uint32_t cause, uint64_t time_ns)
{
	struct crit_filmed_thread *filmed = &filming->threads[cause];

	return filmed->open && crit_filmed_last_wait(filmed)->begin_ns < time_ns
		       ? crit_filmed_last_wait(filmed)->begin_ns
		       : time_ns;
}

/* It is known now that nobody of the run has woken it. */
static int settle_block(struct crit_filming *filming, uint32_t thread)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];

	if (!filmed->wait_count || filmed->call.call != CRIT_CODE_BLOCKED ||
	    crit_filmed_last_wait(filmed)->has_cause)
		return 0;
	return put_cause(filming, thread, crit_filmed_last_wait(filmed)->end_ns, NOBODY);
}

static int begin_wait(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		      enum crit_open_wait open, const struct crit_code_call *call)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	const struct crit_code_key key = { .before = filmed->call,
					   .after = *call,
					   .thread = thread };
	int rc = settle_block(filming, thread);

	if (!rc)
		rc = put_key(filming, time_ns, &key);
	if (rc)
		return rc;
	rc = crit_filmed_add_wait(filmed);
	if (rc)
		return rc;
	filmed->open = open;
	filmed->call = *call;
	*crit_filmed_last_wait(filmed) = (struct crit_known_wait){ .begin_ns = time_ns,
								   .end_ns = UINT64_MAX,
								   .number = filming->number++ };
	return put(filming, CRIT_FILM_WAIT, time_ns, thread, crit_filmed_last_wait(filmed)->number);
}

static int end_wait(struct crit_filming *filming, uint32_t thread, uint64_t time_ns)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	const struct crit_code_key key = { .before = filmed->call,
					   .thread = thread,
					   .is_call = true };
	int rc = put_key(filming, time_ns, &key);

	if (rc)
		return rc;
	filmed->open = CRIT_OPEN_NONE;
	crit_filmed_last_wait(filmed)->end_ns = time_ns;
	return put(filming, CRIT_FILM_END, time_ns, thread, crit_filmed_last_wait(filmed)->number);
}

static int begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	const struct crit_code_key outside = { .thread = CRIT_NONE };
	struct crit_filming *filming = user;
	uint32_t number;
	int rc;

	filming->threads = calloc(run->thread_count + 1, sizeof(*filming->threads));
	if (!filming->threads)
		return -ENOMEM;
	filming->thread_count = run->thread_count;
	filming->has_ranks = run->rank_count > 0;
	filming->begin_ns = run->window_begin_ns;
	filming->end_ns = end_ns;
	rc = crit_filmed_regions_init(&filming->regions, run);
	return rc ? rc : crit_code_keys_put(&filming->keys, &outside, &number);
}

static int begin_thread(void *user, uint32_t thread, uint64_t time_ns)
{
	struct crit_filming *filming = user;

	filming->threads[thread].has_begun = true;
	filming->threads[thread].begin_ns = time_ns;
	filming->threads[thread].until_ns = time_ns;
	return put(filming, CRIT_FILM_UNTIL, time_ns, thread, CRIT_CODE_OUTSIDE);
}

/* An OpenMP worker is idle from the end of a parallel region to its next one. */
static bool is_worker(const struct crit_trace_span *span)
{
	return span->call == CRIT_CONSTRUCT_PARALLEL && !(span->arg & CRIT_INSTANCE_PRIMARY);
}

static int end_idle(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		    uint64_t instance_number)
{
	const struct crit_filmed_region *region =
		crit_filmed_regions_find(&filming->regions, thread, instance_number);
	int rc = end_wait(filming, thread, time_ns);

	if (rc || !region)
		return rc;
	if (instance_number)
		time_ns = region->begin_ns;
	return put_cause(filming, thread, act_of(filming, region->primary, time_ns),
			 region->primary);
}

/* Ends what is open but for a call. */
static int end_other(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		     uint64_t instance_number)
{
	switch (filming->threads[thread].open) {
	case CRIT_OPEN_IDLE:
		return end_idle(filming, thread, time_ns, instance_number);
	case CRIT_OPEN_BLOCKED:
		return end_wait(filming, thread, time_ns);
	default:
		return 0;
	}
}

/* A task that is run inside a wait interrupts it. */
static int enter(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 uint64_t total_cmetric_ns)
{
	struct crit_filming *filming = user;
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	const uint64_t instance =
		span->call == CRIT_CONSTRUCT_PARALLEL ? CRIT_INSTANCE_NUMBER(span->arg) : 0;
	const struct crit_open_span open = { { span->site, span->call },
					     crit_filmed_kind_of(span) };
	int rc = end_other(filming, thread, time_ns, instance);

	(void)total_cmetric_ns;
	if (!rc && instance && !is_worker(span))
		rc = crit_filmed_regions_enter(&filming->regions,
					       &(struct crit_filmed_region){ instance, time_ns,
									     thread });
	if (rc || (!filmed->depth && open.kind != CRIT_SPAN_WAIT))
		return rc;
	rc = crit_filmed_push_span(filmed, &open);
	if (rc)
		return rc;
	if (open.kind == CRIT_SPAN_TASK && filmed->open)
		return end_wait(filming, thread, time_ns);
	if (open.kind != CRIT_SPAN_WAIT || filmed->open)
		return 0;
	filmed->wait_depth = filmed->depth;
	return begin_wait(filming, thread, time_ns, CRIT_OPEN_CALL, &open.call);
}

/* A task has ended: the wait around it goes on, if it was in one. */
static int go_on(struct crit_filming *filming, uint32_t thread, uint64_t time_ns)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	uint32_t depth = filmed->depth;

	filmed->wait_depth = 0;
	for (; depth && crit_filmed_span(filmed, depth)->kind != CRIT_SPAN_TASK; depth--)
		if (crit_filmed_span(filmed, depth)->kind == CRIT_SPAN_WAIT)
			filmed->wait_depth = depth;
	if (!filmed->wait_depth)
		return 0;
	return begin_wait(filming, thread, time_ns, CRIT_OPEN_CALL,
			  &crit_filmed_span(filmed, filmed->wait_depth)->call);
}

static int leave(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 const struct crit_trace_sums *sums)
{
	struct crit_filming *filming = user;
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	enum crit_span_kind kind = CRIT_SPAN_OTHER;

	if (filmed->depth) {
		kind = crit_filmed_span(filmed, filmed->depth)->kind;
		filmed->depth--;
	} else if (sums && !filmed->open && is_worker(span)) {
		return begin_wait(filming, thread, time_ns, CRIT_OPEN_IDLE,
				  &(struct crit_code_call){ 0, CRIT_CODE_IDLE });
	}
	if (filmed->open == CRIT_OPEN_CALL && filmed->depth < filmed->wait_depth)
		return end_wait(filming, thread, time_ns);
	return kind == CRIT_SPAN_TASK && !filmed->open ? go_on(filming, thread, time_ns) : 0;
}

static int change_cpu(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		      bool is_queued)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];

	if (is_queued == filmed->is_queued)
		return 0;
	filmed->is_queued = is_queued;
	return put(filming, is_queued ? CRIT_FILM_QUEUE : CRIT_FILM_RUN, time_ns, thread, 0);
}

static int change_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state)
{
	struct crit_filming *filming = user;
	const enum crit_open_wait open = filming->threads[thread].open;
	int rc = change_cpu(filming, thread, time_ns, state == CRIT_STATE_RUNNABLE);

	if (rc || filming->has_ranks)
		return rc;
	if (state == CRIT_STATE_BLOCKED && open == CRIT_OPEN_NONE)
		return begin_wait(filming, thread, time_ns, CRIT_OPEN_BLOCKED,
				  &(struct crit_code_call){ filming->threads[thread].blocks_in,
							    CRIT_CODE_BLOCKED });
	if (state != CRIT_STATE_BLOCKED && open == CRIT_OPEN_BLOCKED)
		return end_wait(filming, thread, time_ns);
	return 0;
}

static int note_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	struct crit_filming *filming = user;

	(void)time_ns;
	filming->threads[thread].blocks_in = (uint32_t)(system_call + 1);
	return 0;
}

static int end_thread(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_sums *sums)
{
	struct crit_filming *filming = user;
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	int rc;

	(void)sums;
	rc = filmed->open == CRIT_OPEN_CALL ? end_wait(filming, thread, time_ns)
					    : end_other(filming, thread, time_ns, 0);
	if (!rc)
		rc = settle_block(filming, thread);
	if (!rc)
		rc = change_cpu(filming, thread, time_ns, false);
	filmed->end_ns = time_ns;
	return rc ? rc
		  : put_key(filming, time_ns,
			    &(struct crit_code_key){ .before = filmed->call, .thread = thread });
}

/* Who meets there; not NOBODY. */
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
		return put_need(filming, cause_ns, object_of(edge), wait->number);
	if (cause_ns <= wait->begin_ns)
		return put_need(filming, cause_ns, edge->cause, wait->number);
	wait->has_cause = true;
	return put(filming, CRIT_FILM_CAUSE, cause_ns, edge->cause, wait->number);
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
	return put_entry(filming, &entry);
}

/* The first wakeup of a thread is its creator's, if it was asleep since it began. */
static int take_birth(struct crit_filming *filming, const struct crit_edge *edge)
{
	struct crit_filmed_thread *filmed = &filming->threads[edge->waiter];
	const bool is_birth = filming->options.has_needs && filmed->has_begun &&
			      !filmed->was_woken && edge->begin_ns == filmed->begin_ns;

	filmed->was_woken = true;
	return is_birth ? put(filming, CRIT_FILM_BIRTH, filmed->begin_ns, edge->cause, edge->waiter)
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
	edge.cause_ns = act_of(filming, edge.cause, edge.cause_ns);
	return take_edge(filming, &taken);
}

int crit_filming_create(const struct crit_filming_options *options,
			struct crit_filming **ret_filming, struct crit_err *err)
{
	struct crit_filming *filming = calloc(1, sizeof(*filming));
	int rc = filming ? crit_film_create(&options->file, &filming->film, err)
			 : crit_err_set(err, -ENOMEM, "out of memory");

	if (rc) {
		free(filming);
		return rc;
	}
	filming->options = *options;
	*ret_filming = filming;
	return 0;
}

/* What is only needed while edges may be told. */
static void forget_threads(struct crit_filming *filming)
{
	for (size_t i = 0; filming->threads && i < filming->thread_count; i++) {
		crit_filmed_thread_fini(&filming->threads[i]);
	}
	crit_filmed_regions_fini(&filming->regions);
	free(filming->threads);
	filming->threads = NULL;
}

void crit_filming_destroy(struct crit_filming *filming)
{
	if (!filming)
		return;
	forget_threads(filming);
	crit_film_destroy(filming->film);
	crit_code_keys_fini(&filming->keys);
	free(filming);
}

struct crit_trace_sink crit_filming_sink(struct crit_filming *filming)
{
	return (struct crit_trace_sink){ .user = filming,
					 .threads_max = CRIT_FILMING_THREADS,
					 .has_rank_states = true,
					 .begin = begin,
					 .thread_begin = begin_thread,
					 .thread_end = end_thread,
					 .enter = enter,
					 .leave = leave,
					 .state = change_state,
					 .block = note_block };
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

/* The thread that ends last, the lowest of these; no thread: thread_count. */
static uint32_t last_thread(const struct crit_filming *filming)
{
	size_t last = filming->thread_count;

	for (size_t i = 0; i < filming->thread_count; i++) {
		if (filming->threads[i].has_begun &&
		    (last == filming->thread_count ||
		     filming->threads[i].end_ns > filming->threads[last].end_ns))
			last = i;
	}
	return (uint32_t)last;
}

/* From its end to the window's end a thread is outside, as those nobody knows always are. */
static int put_ends(struct crit_filming *filming)
{
	int rc = filming->failed;

	for (uint32_t i = 0; i < filming->thread_count && !rc; i++)
		rc = put(filming, CRIT_FILM_UNTIL, filming->end_ns, i, CRIT_CODE_OUTSIDE);
	if (!rc)
		rc = put(filming, CRIT_FILM_UNTIL, filming->end_ns, NOBODY, CRIT_CODE_OUTSIDE);
	return rc ? rc : crit_film_finish(filming->film, &filming->err);
}

const struct crit_code_key *crit_filming_keys(const struct crit_filming *filming)
{
	return filming->keys.rows;
}

int crit_filming_play(struct crit_filming *filming, size_t edges_max, struct crit_costs *ret_costs,
		      struct crit_err *err)
{
	const uint32_t last = filming->threads ? last_thread(filming) : 0;
	struct crit_backplay_options options = { .begin_ns = filming->begin_ns,
						 .end_ns = filming->end_ns,
						 .thread_count = filming->thread_count,
						 .bucket_count = filming->keys.count,
						 .edges_max = edges_max,
						 .last_thread = last };
	uint8_t *parts = NULL;
	int rc;

	if (!filming->threads)
		return crit_err_set(err, -EFBIG,
				    "waits are not followed in a run of more than %u threads",
				    CRIT_FILMING_THREADS);
	if (filming->end_ns <= filming->begin_ns)
		return crit_err_set(err, -ENODATA,
				    "no waits one by one: the recording is of level profile or "
				    "lost its begin; CRIT_LEVEL=trace has them");
	if (last == filming->thread_count)
		return crit_err_set(err, -ENODATA, "nothing was recorded of any thread");
	rc = put_ends(filming);
	forget_threads(filming);
	if (rc)
		return crit_err_set(err, rc, "%s", filming->err.text);
	parts = calloc(options.bucket_count, 1);
	if (!parts)
		return crit_err_set(err, -ENOMEM, "out of memory");
	parts[CRIT_CODE_OUTSIDE] = CRIT_PART_OUTSIDE;
	options.bucket_parts = parts;
	rc = crit_backplay(filming->film, &options, ret_costs, err);
	free(parts);
	return rc;
}

int crit_filming_resolve(struct crit_filming *filming, struct crit_filmed_run *ret_run,
			 struct crit_err *err)
{
	const struct crit_resolved_film_options options = { .file = filming->options.file,
							    .begin_ns = filming->begin_ns,
							    .thread_count = filming->thread_count,
							    .bucket_count = filming->keys.count };

	crit_film_rewind(filming->film);
	*ret_run = (struct crit_filmed_run){ .options = { .outside = CRIT_CODE_OUTSIDE } };
	return crit_filmed_run_make(filming->film, &options, ret_run, err);
}
