// SPDX-License-Identifier: BSD-3-Clause
// From spans and edges of a replay to the entries of a film.
#include "analysis/waits/filming.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/waits/backplay.h"
#include "core/abi/abi_tag.h"

#define KIND_CALL 1 /* of a wait */

struct known_wait {
	uint64_t begin_ns, end_ns; /* UINT64_MAX: it goes on */
	uint32_t number;
};

struct filmed_thread {
	struct known_wait waits[CRIT_FILMING_WAITS]; /* a ring */
	uint64_t wait_count;
	uint64_t end_ns;
	uint32_t depth; /* of spans in the open wait, itself included; 0: none is open */
	bool has_begun;
};

struct crit_filming {
	struct crit_film *film;
	struct filmed_thread *threads;
	size_t thread_count;
	uint64_t begin_ns, end_ns;
	struct crit_filming_counts counts;
	uint32_t number;
	struct crit_err err; /* what the film said when it failed */
};

static int put(struct crit_filming *filming, enum crit_film_type type, uint64_t time_ns,
	       uint32_t node, uint32_t number)
{
	return crit_film_put(filming->film,
			     &(struct crit_film_entry){ .time_ns = time_ns,
							.node = node,
							.number = number,
							.type = (uint8_t)type,
							.kind = KIND_CALL },
			     &filming->err);
}

static uint32_t outside(const struct crit_filming *filming)
{
	return (uint32_t)filming->thread_count;
}

static int begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct crit_filming *filming = user;

	filming->threads = calloc(run->thread_count + 1, sizeof(*filming->threads));
	if (!filming->threads)
		return -ENOMEM;
	filming->thread_count = run->thread_count;
	filming->begin_ns = run->window_begin_ns;
	filming->end_ns = end_ns;
	return 0;
}

static int begin_thread(void *user, uint32_t thread, uint64_t time_ns)
{
	struct crit_filming *filming = user;

	filming->threads[thread].has_begun = true;
	return put(filming, CRIT_FILM_UNTIL, time_ns, thread, outside(filming));
}

static bool is_wait(const struct crit_trace_span *span)
{
	return span->span_class == CRIT_CLASS_MPI_MAY_WAIT ||
	       span->span_class == CRIT_CLASS_MPI_POLL || span->span_class == CRIT_CLASS_MPI_WAIT;
}

static int enter(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 uint64_t total_cmetric_ns)
{
	struct crit_filming *filming = user;
	struct filmed_thread *filmed = &filming->threads[thread];
	struct known_wait *wait = &filmed->waits[filmed->wait_count % CRIT_FILMING_WAITS];

	(void)total_cmetric_ns;
	if (!filmed->depth && !is_wait(span))
		return 0;
	if (filmed->depth++)
		return 0;
	*wait = (struct known_wait){ time_ns, UINT64_MAX, filming->number++ };
	filmed->wait_count++;
	return put(filming, CRIT_FILM_WAIT, time_ns, thread, wait->number);
}

static int leave(void *user, uint32_t thread, uint64_t time_ns, const struct crit_trace_span *span,
		 const struct crit_trace_sums *sums)
{
	struct crit_filming *filming = user;
	struct filmed_thread *filmed = &filming->threads[thread];
	struct known_wait *wait = &filmed->waits[(filmed->wait_count - 1) % CRIT_FILMING_WAITS];

	(void)span;
	(void)sums;
	if (!filmed->depth || --filmed->depth)
		return 0;
	wait->end_ns = time_ns;
	return put(filming, CRIT_FILM_END, time_ns, thread, wait->number);
}

static int end_thread(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_sums *sums)
{
	struct crit_filming *filming = user;

	(void)sums;
	filming->threads[thread].end_ns = time_ns;
	return put(filming, CRIT_FILM_UNTIL, time_ns, thread, thread);
}

static struct known_wait *find_wait(struct filmed_thread *filmed, uint64_t begin_ns)
{
	for (uint64_t i = 0; i < filmed->wait_count && i < CRIT_FILMING_WAITS; i++) {
		struct known_wait *wait =
			&filmed->waits[(filmed->wait_count - 1 - i) % CRIT_FILMING_WAITS];

		if (wait->begin_ns == begin_ns)
			return wait;
	}
	return NULL;
}

/* An act before the wait, or of its own, leaves it transfer, as no cause does. */
static int take_edge(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	const struct known_wait *wait;
	uint64_t cause_ns = edge->cause_ns, end_ns;

	if (!filming->threads || edge->cause_ns <= edge->begin_ns || edge->waiter == edge->cause)
		return 0;
	wait = find_wait(&filming->threads[edge->waiter], edge->begin_ns);
	if (!wait) {
		filming->counts.missed++;
		return 0;
	}
	filming->counts.clamped += cause_ns > edge->end_ns;
	/* a call that is cut at the end of what is told of ends there */
	end_ns = wait->end_ns < filming->end_ns ? wait->end_ns : filming->end_ns;
	if (end_ns > edge->end_ns)
		end_ns = edge->end_ns;
	if (cause_ns > end_ns)
		cause_ns = end_ns;
	return put(filming, CRIT_FILM_CAUSE, cause_ns, edge->cause, wait->number);
}

int crit_filming_create(const struct crit_film_options *options, struct crit_filming **ret_filming,
			struct crit_err *err)
{
	struct crit_filming *filming = calloc(1, sizeof(*filming));
	int rc = filming ? crit_film_create(options, &filming->film, err)
			 : crit_err_set(err, -ENOMEM, "out of memory");

	if (rc)
		free(filming);
	else
		*ret_filming = filming;
	return rc;
}

void crit_filming_destroy(struct crit_filming *filming)
{
	if (!filming)
		return;
	crit_film_destroy(filming->film);
	free(filming->threads);
	free(filming);
}

struct crit_trace_sink crit_filming_sink(struct crit_filming *filming)
{
	return (struct crit_trace_sink){ .user = filming,
					 .begin = begin,
					 .thread_begin = begin_thread,
					 .thread_end = end_thread,
					 .enter = enter,
					 .leave = leave };
}

struct crit_listener crit_filming_listener(struct crit_filming *filming)
{
	return (struct crit_listener){
		.user = filming,
		.on = { [CRIT_EVENT_EDGE + CRIT_EDGE_MESSAGE] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_COLLECTIVE] = take_edge },
	};
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

/* From its end to the window's end a thread is outside. */
static int put_ends(struct crit_filming *filming)
{
	int rc = 0;

	for (uint32_t i = 0; i < filming->thread_count && !rc; i++)
		rc = put(filming, CRIT_FILM_UNTIL, filming->end_ns, i, outside(filming));
	return rc ? rc : crit_film_finish(filming->film, &filming->err);
}

int crit_filming_play(struct crit_filming *filming, size_t edges_max, struct crit_costs *ret_costs,
		      struct crit_err *err)
{
	const uint32_t last = last_thread(filming);
	struct crit_backplay_options options = { .begin_ns = filming->begin_ns,
						 .end_ns = filming->end_ns,
						 .thread_count = filming->thread_count,
						 .bucket_count = filming->thread_count + 1,
						 .edges_max = edges_max,
						 .last_thread = last };
	uint8_t *parts = NULL;
	int rc;

	if (last == filming->thread_count)
		return crit_err_set(err, -ENODATA, "no thread was in the window");
	rc = put_ends(filming);
	if (rc)
		return crit_err_set(err, rc, "%s", filming->err.text);
	parts = calloc(options.bucket_count, 1);
	if (!parts)
		return crit_err_set(err, -ENOMEM, "out of memory");
	parts[outside(filming)] = CRIT_PART_OUTSIDE;
	options.bucket_parts = parts;
	rc = crit_backplay(filming->film, &options, ret_costs, err);
	free(parts);
	return rc;
}
