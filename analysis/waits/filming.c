// SPDX-License-Identifier: BSD-3-Clause
// From the spans of a replay to the entries of a film, and what is done with it.
#include "analysis/waits/filming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/filming_state.h"
#include "core/base/call.h"

/* The thread was there since the bucket before, in its region: what an entry tells of that. */
static int end_bucket(struct crit_filming *filming, uint64_t time_ns, struct crit_code_key *key,
		      uint32_t *ret_told)
{
	struct crit_filmed_thread *filmed = &filming->threads[key->thread];
	int rc;

	*ret_told = 0;
	if (time_ns == filmed->until_ns)
		return crit_filmed_samples_add(&filming->samples, &filmed->samples, CRIT_NONE);
	filmed->until_ns = time_ns;
	key->region = filmed->region;
	key->is_around = filmed->is_around;
	rc = crit_code_keys_follow(&filming->keys, filmed->key, key, &filmed->key);
	*ret_told = crit_film_tell(filmed->key);
	return rc || !filmed->samples.count
		       ? rc
		       : crit_filmed_samples_add(&filming->samples, &filmed->samples, filmed->key);
}

/* A bucket ends where no wait begins or ends. */
static int put_key(struct crit_filming *filming, uint64_t time_ns, struct crit_code_key *key)
{
	uint32_t told;
	int rc = end_bucket(filming, time_ns, key, &told);

	return rc || !told ? rc
			   : crit_filming_put(filming, CRIT_FILM_UNTIL, time_ns, key->thread,
					      filming->threads[key->thread].key);
}

/* The begin or end of a thread's last wait, and what it did until then. */
static inline int put_wait(struct crit_filming *filming, enum crit_film_type type, uint64_t time_ns,
			   uint32_t thread, uint32_t told)
{
	const struct crit_film_entry entry = {
		.time_ns = time_ns,
		.node = thread,
		.number = crit_filmed_last_wait(&filming->threads[thread])->number,
		.more = told,
		.type = (uint8_t)type,
		.kind = CRIT_FILM_KIND_CALL
	};

	return crit_filming_put_entry(filming, &entry);
}

int crit_filming_put_need(struct crit_filming *filming, uint64_t time_ns, uint32_t node,
			  uint32_t number)
{
	if (!filming->options.has_needs || time_ns < filming->begin_ns)
		return 0;
	return crit_filming_put(filming, CRIT_FILM_NEED, time_ns, node, number);
}

static int put_cause(struct crit_filming *filming, uint32_t thread, uint64_t time_ns, uint32_t node)
{
	struct crit_known_wait *wait = crit_filmed_last_wait(&filming->threads[thread]);

	if (node == thread)
		return 0;
	wait->has_act = true;
	if (time_ns <= wait->begin_ns)
		return crit_filming_put_need(filming, time_ns, node, wait->number);
	wait->has_cause = true;
	return crit_filming_put_cause(filming, time_ns < wait->end_ns ? time_ns : wait->end_ns,
				      node, thread, wait->number);
}

uint64_t crit_filming_act_of(struct crit_filming *filming, uint32_t cause, uint64_t time_ns)
{
	struct crit_filmed_thread *filmed = &filming->threads[cause];

	return filmed->open && crit_filmed_last_wait(filmed)->begin_ns < time_ns
		       ? crit_filmed_last_wait(filmed)->begin_ns
		       : time_ns;
}

/* What ends a block in a system call where nobody of the run does.  Errors: -ENOMEM. */
static int find_nobody(struct crit_filming *filming, uint64_t system_call, uint32_t *ret_node)
{
	const uint32_t number = system_call < CRIT_FILM_SYSTEM_CALLS ? (uint32_t)system_call : 0;
	const struct crit_code_key key = { .before = { number, CRIT_CODE_BLOCKED },
					   .thread = CRIT_NONE,
					   .is_call = true };

	*ret_node = CRIT_FILM_NOBODY + number;
	return filming->nobody_buckets[number]
		       ? 0
		       : crit_code_keys_put(&filming->keys, &key, &filming->nobody_buckets[number]);
}

/* It is known now that nobody of the run has woken it. */
static inline int settle_block(struct crit_filming *filming, uint32_t thread)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	uint32_t nobody;
	int rc;

	if (!filmed->wait_count || filmed->call.call != CRIT_CODE_BLOCKED ||
	    crit_filmed_last_wait(filmed)->has_cause)
		return 0;
	rc = find_nobody(filming, filmed->call.site, &nobody);
	return rc ? rc : put_cause(filming, thread, crit_filmed_last_wait(filmed)->end_ns, nobody);
}

/* The thread asks, as it did in its last wait, whether something is complete. */
static bool asks_again(const struct crit_filmed_thread *filmed, const struct crit_code_call *call)
{
	return filmed->wait_count && !filmed->has_called && filmed->call.call == call->call &&
	       filmed->call.site == call->site && crit_filmed_is_test(call->call);
}

/* It asked for so short a time that this is no wait, or it did something else. */
static inline void note_call(struct crit_filmed_thread *filmed, uint64_t time_ns,
			     const struct crit_code_call *call)
{
	if (asks_again(filmed, call))
		crit_filmed_last_wait(filmed)->next_ns = time_ns;
	else
		filmed->has_called = true;
}

static int begin_wait(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		      enum crit_open_wait open, const struct crit_code_call *call)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	struct crit_code_key key = { .before = filmed->call, .after = *call, .thread = thread };
	uint32_t told;
	int rc = settle_block(filming, thread);

	if (!rc)
		rc = end_bucket(filming, time_ns, &key, &told);
	if (rc)
		return rc;
	note_call(filmed, time_ns, call);
	rc = crit_filmed_add_wait(filmed, &filming->actless);
	if (rc)
		return rc;
	filmed->open = open;
	filmed->call = *call;
	filmed->has_called = false;
	*crit_filmed_last_wait(filmed) = (struct crit_known_wait){ .begin_ns = time_ns,
								   .end_ns = UINT64_MAX,
								   .number = filming->number++,
								   .call = call->call };
	return put_wait(filming, CRIT_FILM_WAIT, time_ns, thread, told);
}

static int end_wait(struct crit_filming *filming, uint32_t thread, uint64_t time_ns)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	struct crit_code_key key = { .before = filmed->call, .thread = thread, .is_call = true };
	uint32_t told;
	int rc = end_bucket(filming, time_ns, &key, &told);

	if (rc)
		return rc;
	filmed->open = CRIT_OPEN_NONE;
	crit_filmed_last_wait(filmed)->end_ns = time_ns;
	if (filming->waits)
		rc = filming->waits->wait(filming->waits->user, thread,
					  crit_filmed_last_wait(filmed)->begin_ns, time_ns);
	return rc ? rc : put_wait(filming, CRIT_FILM_END, time_ns, thread, told);
}

static int begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	const struct crit_code_key outside = { .thread = CRIT_NONE };
	struct crit_filming *filming = user;
	uint32_t number;
	int rc;

	filming->threads = crit_lines_alloc(run->thread_count + 1, sizeof(*filming->threads));
	if (!filming->threads)
		return -ENOMEM;
	filming->thread_count = run->thread_count;
	filming->has_ranks = run->rank_count > 0;
	filming->begin_ns = run->window_begin_ns;
	filming->end_ns = end_ns;
	for (size_t i = 0; i < run->thread_count; i++)
		filming->threads[i].node = run->threads[i].node;
	rc = crit_filmed_regions_init(&filming->regions, run);
	return rc ? rc : crit_code_keys_put(&filming->keys, &outside, &number);
}

static int begin_thread(void *user, uint32_t thread, uint64_t time_ns)
{
	struct crit_filming *filming = user;

	filming->threads[thread].has_begun = true;
	filming->threads[thread].begin_ns = filming->threads[thread].until_ns = time_ns;
	return crit_filming_put(filming, CRIT_FILM_UNTIL, time_ns, thread, CRIT_CODE_OUTSIDE);
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
	return put_cause(filming, thread, crit_filming_act_of(filming, region->primary, time_ns),
			 region->primary);
}

/* Ends what is open but for a call. */
static inline int end_other(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
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

/* What a thread does before a bound of its code and what it does after it are told apart. */
static int take_bound(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		      const struct crit_code_call *bound)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	struct crit_code_key key = { .before = filmed->call, .after = *bound, .thread = thread };
	int rc = settle_block(filming, thread);

	if (!rc)
		rc = put_key(filming, time_ns, &key);
	filmed->call = *bound;
	return rc;
}

/* Workers are not told where their regions are. */
static int enter_region(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_span *span)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	const struct crit_filmed_region entered = { .number = CRIT_INSTANCE_NUMBER(span->arg),
						    .begin_ns = time_ns,
						    .site = span->site,
						    .primary = thread };
	const struct crit_filmed_region *region = &entered;
	int rc = 0;

	if (crit_filmed_is_worker(span))
		region = crit_filmed_regions_find(&filming->regions, thread, entered.number);
	else
		rc = crit_filmed_regions_enter(&filming->regions, &entered);
	if (rc)
		return rc;
	filmed->region_site = region ? region->site : 0;
	return crit_filmed_is_in_wait(filmed)
		       ? 0
		       : take_bound(filming, thread, time_ns,
				    &(struct crit_code_call){ filmed->region_site, span->call });
}

static int enter_phase(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_span *span)
{
	const struct crit_code_call phase = { span->region, CRIT_CONSTRUCT_PHASE };

	return crit_filmed_is_in_wait(&filming->threads[thread])
		       ? 0
		       : take_bound(filming, thread, time_ns, &phase);
}

/* A region in which the thread was in no call ends by itself, others by their last barrier. */
static int leave_region(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_span *span)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	const bool is_phase = span->call == CRIT_CONSTRUCT_PHASE;
	const struct crit_code_call end = { is_phase ? span->region : filmed->call.site,
					    is_phase ? CRIT_CODE_PHASE_END : CRIT_CODE_REGION_END };

	if (crit_filmed_is_in_wait(filmed) ||
	    (!is_phase && filmed->call.call != CRIT_CONSTRUCT_PARALLEL))
		return 0;
	return take_bound(filming, thread, time_ns, &end);
}

/* A worker's barrier at the end of a region has the region's place, as the primary thread's has. */
static uint64_t site_of(const struct crit_filmed_thread *filmed, const struct crit_trace_span *span)
{
	const bool is_of_team = span->call >= CRIT_CALL_OMP_FIRST && !span->site;

	return is_of_team ? filmed->region_site : span->site;
}

/* A task that is run inside a wait interrupts it. */
static int enter(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 uint64_t total_cmetric_ns)
{
	struct crit_filming *filming = user;
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	const uint64_t instance =
		span->call == CRIT_CONSTRUCT_PARALLEL ? CRIT_INSTANCE_NUMBER(span->arg) : 0;
	struct crit_open_span open;
	int rc;

	(void)total_cmetric_ns;
	filmed->region = span->region;
	filmed->is_around = crit_filmed_is_region(span);
	rc = end_other(filming, thread, time_ns, instance);
	if (!rc && instance)
		rc = enter_region(filming, thread, time_ns, span);
	else if (!rc && span->call == CRIT_CONSTRUCT_PHASE)
		rc = enter_phase(filming, thread, time_ns, span);
	filmed->is_around = false;
	open = (struct crit_open_span){ { site_of(filmed, span), span->call },
					crit_filmed_kind_of(span) };
	if (!rc && !filmed->depth && open.kind != CRIT_SPAN_WAIT) {
		note_call(filmed, time_ns, &open.call);
		return 0;
	}
	if (rc)
		return rc;
	rc = crit_filmed_push_span(filmed, &open);
	if (rc)
		return rc;
	if (open.kind == CRIT_SPAN_TASK && filmed->open) {
		crit_filming_count_free(filming, crit_filmed_last_wait(filmed), CRIT_FREE_TASK);
		return end_wait(filming, thread, time_ns);
	}
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

static int leave_span(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	enum crit_span_kind kind = CRIT_SPAN_OTHER;

	if (span->call == CRIT_CONSTRUCT_PARALLEL)
		filmed->region_site = 0;
	if (filmed->depth) {
		kind = crit_filmed_span(filmed, filmed->depth)->kind;
		filmed->depth--;
	} else if (sums && sums->is_idle && !filmed->open && crit_filmed_is_worker(span)) {
		return begin_wait(filming, thread, time_ns, CRIT_OPEN_IDLE,
				  &(struct crit_code_call){ 0, CRIT_CODE_IDLE });
	} else if (crit_filmed_is_region(span) && span->call != CRIT_CONSTRUCT_TASK) {
		return leave_region(filming, thread, time_ns, span);
	}
	if (filmed->open == CRIT_OPEN_CALL && filmed->depth < filmed->wait_depth)
		return end_wait(filming, thread, time_ns);
	return kind == CRIT_SPAN_TASK && !filmed->open ? go_on(filming, thread, time_ns) : 0;
}

static int leave(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 const struct crit_trace_sums *sums)
{
	struct crit_filming *filming = user;
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	int rc;

	filmed->region = span->region;
	filmed->is_around = false;
	rc = leave_span(filming, thread, time_ns, span, sums);
	filmed->is_around = crit_filmed_is_region(span);
	return rc;
}

static inline int enter_queue(struct crit_filming *filming, uint32_t thread, uint64_t time_ns)
{
	filming->threads[thread].is_queued = true;
	filming->threads[thread].queued_ns = time_ns;
	return crit_filming_put(filming, CRIT_FILM_QUEUE, time_ns, thread, 0);
}

/* ran_ns: in the queue so much of its time was on CPUs. */
static inline int leave_queue(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
			      uint64_t ran_ns)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];
	struct crit_film_entry entry = { .time_ns = time_ns,
					 .node = thread,
					 .type = CRIT_FILM_RUN,
					 .kind = CRIT_FILM_KIND_CALL };

	filmed->is_queued = false;
	if (ran_ns)
		crit_film_tell_without(&entry, filmed->queued_ns + ran_ns < time_ns
						       ? time_ns - filmed->queued_ns - ran_ns
						       : 0);
	return crit_filming_put_entry(filming, &entry);
}

/* Blocks in a wait are of it; in runs without ranks others are waits. */
static int change_sleep(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
			bool is_asleep)
{
	struct crit_filmed_thread *filmed = &filming->threads[thread];

	if (is_asleep && !filming->options.has_states && (!filming->has_ranks || filmed->open))
		return 0;
	filmed->is_asleep = is_asleep;
	if (is_asleep) {
		filmed->slept_ns = time_ns;
		filmed->was_outside = !filmed->open;
	}
	filmed->woke_ns = is_asleep ? 0 : time_ns;
	return crit_filming_put(filming, is_asleep ? CRIT_FILM_SLEEP : CRIT_FILM_WAKE, time_ns,
				thread, 0);
}

static int change_block(struct crit_filming *filming, uint32_t thread, uint64_t time_ns,
			bool is_blocked)
{
	const struct crit_filmed_thread *filmed = &filming->threads[thread];

	if (is_blocked && filmed->open == CRIT_OPEN_NONE)
		return begin_wait(filming, thread, time_ns, CRIT_OPEN_BLOCKED,
				  &(struct crit_code_call){ filmed->blocks_in, CRIT_CODE_BLOCKED });
	if (!is_blocked && filmed->open == CRIT_OPEN_BLOCKED)
		return end_wait(filming, thread, time_ns);
	return 0;
}

static int change_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
			uint64_t ran_ns)
{
	struct crit_filming *filming = user;
	const struct crit_filmed_thread *filmed = &filming->threads[thread];
	const bool is_blocked = state == CRIT_STATE_BLOCKED;
	int rc = 0;

	if (state == CRIT_STATE_RUNNABLE && !filmed->is_queued)
		rc = enter_queue(filming, thread, time_ns);
	else if (state != CRIT_STATE_RUNNABLE && filmed->is_queued)
		rc = leave_queue(filming, thread, time_ns, ran_ns);
	if (!rc && is_blocked != filmed->is_asleep)
		rc = change_sleep(filming, thread, time_ns, is_blocked);
	return rc || filming->has_ranks ? rc : change_block(filming, thread, time_ns, is_blocked);
}

static int note_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	struct crit_filming *filming = user;

	(void)time_ns;
	filming->threads[thread].blocks_in = (uint32_t)(system_call + 1);
	return 0;
}

/* What a thread does that waits is no code of its own. */
static int take_sample(void *user, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_sample *sample)
{
	struct crit_filming *filming = user;
	struct crit_filmed_thread *filmed = &filming->threads[thread];

	(void)time_ns;
	return filmed->open == CRIT_OPEN_NONE
		       ? crit_filmed_stretch_add(&filmed->samples, sample->address, sample->cpu_ns)
		       : 0;
}

static void fetch_soon(void *user, uint32_t thread, bool is_near)
{
	const struct crit_filming *filming = user;
	const struct crit_filmed_thread *filmed = &filming->threads[thread];

	if (!is_near) {
		crit_lines_fetch(filmed, CRIT_FILMED_OFTEN);
		return;
	}
	__builtin_prefetch(filmed->spans, 1);
	crit_code_keys_fetch(&filming->keys, filmed->key);
	if (filmed->wait_capacity)
		__builtin_prefetch(&filmed->waits[filmed->wait_count & (filmed->wait_capacity - 1)],
				   1);
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
	if (!rc && filmed->is_queued)
		rc = leave_queue(filming, thread, time_ns, 0);
	if (!rc && filmed->is_asleep)
		rc = change_sleep(filming, thread, time_ns, false);
	filmed->end_ns = time_ns;
	return rc ? rc
		  : put_key(filming, time_ns,
			    &(struct crit_code_key){ .before = filmed->call, .thread = thread });
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

void crit_filming_tell(struct crit_filming *filming, const struct crit_wait_listener *waits)
{
	filming->waits = waits;
}

struct crit_trace_sink crit_filming_sink(struct crit_filming *filming)
{
	return (struct crit_trace_sink){ .user = filming,
					 .threads_max = CRIT_FILMING_THREADS,
					 .has_rank_states = true,
					 .has_no_sums = true,
					 .begin = begin,
					 .thread_begin = begin_thread,
					 .thread_end = end_thread,
					 .enter = enter,
					 .leave = leave,
					 .inside_enter = enter,
					 .inside_leave = leave,
					 .state = change_state,
					 .block = note_block,
					 .soon = fetch_soon,
					 .sample = filming->options.has_needs ? take_sample
									      : NULL };
}
