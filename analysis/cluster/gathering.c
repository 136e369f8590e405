// SPDX-License-Identifier: BSD-3-Clause
// Packs calls of a sink and a listener, and merges those of all processes.
#include "analysis/cluster/gathering.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum call_kind {
	CALL_THREAD_BEGIN = 0,
	CALL_THREAD_END,
	CALL_ENTER,
	CALL_LEAVE,
	CALL_INSIDE_ENTER,
	CALL_INSIDE_LEAVE,
	CALL_STATE, /* value: it */
	CALL_BLOCK, /* value: the system call, 1 more */
	CALL_SAMPLE,
	CALL_EDGE,
	CALL_KIND_COUNT
};

#define HAS_SUMS 1u
#define IS_IDLE 2u

struct call { /* and behind it what its kind has */
	struct crit_replay_place place;
	uint64_t time_ns;
	uint32_t thread; /* row */
	uint16_t value;
	uint8_t kind; /* enum call_kind */
	uint8_t flags; /* of leaves and a thread's end */
};

struct packed_sample {
	uint64_t address;
	uint64_t cpu_ns;
};

union details {
	struct crit_trace_span span;
	struct packed_sample sample;
	uint64_t ran_ns; /* of a state */
	struct crit_edge edge;
};

struct crit_gathering_source {
	struct crit_exchange_buffer calls; /* not yet told */
	size_t at;
	struct crit_replay_place bound; /* nothing that is still to come is before it */
	struct call next;
	bool has_next;
};

static size_t details_bytes(uint8_t kind)
{
	switch (kind) {
	case CALL_ENTER:
	case CALL_LEAVE:
	case CALL_INSIDE_ENTER:
	case CALL_INSIDE_LEAVE:
		return sizeof(struct crit_trace_span);
	case CALL_SAMPLE:
		return sizeof(struct packed_sample);
	case CALL_STATE:
		return sizeof(uint64_t);
	case CALL_EDGE:
		return sizeof(struct crit_edge);
	default:
		return 0;
	}
}

static int put(struct crit_gathering *gathering, const struct call *call, const void *details)
{
	struct call placed = *call;
	int rc;

	placed.place = gathering->place;
	rc = crit_exchange_buffer_put(&gathering->told, &placed, sizeof(placed));
	return rc ? rc
		  : crit_exchange_buffer_put(&gathering->told, details, details_bytes(call->kind));
}

static int put_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	return put(
		user,
		&(struct call){ .time_ns = time_ns, .thread = thread, .kind = CALL_THREAD_BEGIN },
		NULL);
}

static uint8_t flags_of(const struct crit_trace_sums *sums)
{
	return (uint8_t)(sums ? HAS_SUMS | (sums->is_idle ? IS_IDLE : 0) : 0);
}

static int put_end(void *user, uint32_t thread, uint64_t time_ns,
		   const struct crit_trace_sums *sums)
{
	return put(user,
		   &(struct call){ .time_ns = time_ns,
				   .thread = thread,
				   .kind = CALL_THREAD_END,
				   .flags = flags_of(sums) },
		   NULL);
}

static int put_span(struct crit_gathering *gathering, enum call_kind kind, uint32_t thread,
		    uint64_t time_ns, const struct crit_trace_span *span, uint8_t flags)
{
	return put(gathering,
		   &(struct call){ .time_ns = time_ns,
				   .thread = thread,
				   .kind = (uint8_t)kind,
				   .flags = flags },
		   span);
}

static int put_enter(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	(void)total_cmetric_ns;
	return put_span(user, CALL_ENTER, thread, time_ns, span, 0);
}

static int put_leave(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	return put_span(user, CALL_LEAVE, thread, time_ns, span, flags_of(sums));
}

static int put_inside_enter(void *user, uint32_t thread, uint64_t time_ns,
			    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	(void)total_cmetric_ns;
	return put_span(user, CALL_INSIDE_ENTER, thread, time_ns, span, 0);
}

static int put_inside_leave(void *user, uint32_t thread, uint64_t time_ns,
			    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	return put_span(user, CALL_INSIDE_LEAVE, thread, time_ns, span, flags_of(sums));
}

static int put_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
		     uint64_t ran_ns)
{
	return put(user,
		   &(struct call){ .time_ns = time_ns,
				   .thread = thread,
				   .value = (uint16_t)state,
				   .kind = CALL_STATE },
		   &ran_ns);
}

static int put_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	const bool is_told = system_call >= 0 && system_call < UINT16_MAX;

	return put(user,
		   &(struct call){ .time_ns = time_ns,
				   .thread = thread,
				   .value = (uint16_t)(is_told ? system_call + 1 : 0),
				   .kind = CALL_BLOCK },
		   NULL);
}

static int put_sample(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_sample *sample)
{
	const struct packed_sample packed = { sample->address, sample->cpu_ns };

	return put(user,
		   &(struct call){ .time_ns = time_ns, .thread = thread, .kind = CALL_SAMPLE },
		   &packed);
}

int crit_gathering_put_edge(struct crit_gathering *gathering, const struct crit_edge *edge)
{
	return put(gathering, &(struct call){ .thread = edge->waiter, .kind = CALL_EDGE }, edge);
}

static int pass_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	const struct crit_gathering *gathering = user;
	const struct crit_trace_sink *sink = gathering->sink;

	return sink->begin ? sink->begin(sink->user, run, end_ns) : 0;
}

static int pass_end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	const struct crit_gathering *gathering = user;
	const struct crit_trace_sink *sink = gathering->sink;

	return sink->end ? sink->end(sink->user, results, are_messages_whole) : 0;
}

enum {
	WANTS_ANY = 1,
	WANTS_ALL = 2,
	WANTS_RANK_STATES = 4,
	WANTS_STATES = 8,
	WANTS_BLOCKS = 16,
	WANTS_SAMPLES = 32,
	WANTS_NO_SUMS = 64
};

struct wish { /* what process 0 tells the others of it */
	uint64_t flags;
	uint64_t threads_max;
	uint64_t edges;
};

static struct wish wish_of(const struct crit_trace_sink *sink, const struct crit_listener *listener)
{
	struct wish wish = { 0 };

	if (!sink)
		return wish;
	wish.flags = WANTS_ANY | (sink->has_all ? WANTS_ALL : 0) |
		     (sink->has_rank_states ? WANTS_RANK_STATES : 0) |
		     (sink->state ? WANTS_STATES : 0) | (sink->block ? WANTS_BLOCKS : 0) |
		     (sink->sample ? WANTS_SAMPLES : 0) | (sink->has_no_sums ? WANTS_NO_SUMS : 0);
	wish.threads_max = sink->threads_max;
	for (int kind = 0; kind < CRIT_EDGE_KIND_COUNT && listener; kind++)
		wish.edges |= (uint64_t)(listener->on[CRIT_EVENT_EDGE + kind] != NULL) << kind;
	return wish;
}

static void take_wish(struct crit_gathering *gathering, const struct wish *wish, bool is_leading)
{
	gathering->edges = wish->edges;
	gathering->own = (struct crit_trace_sink){
		.user = gathering,
		.has_all = wish->flags & WANTS_ALL,
		.has_rank_states = wish->flags & WANTS_RANK_STATES,
		.has_no_sums = wish->flags & WANTS_NO_SUMS,
		.threads_max = (size_t)wish->threads_max,
		.begin = is_leading ? pass_begin : NULL,
		.thread_begin = put_begin,
		.thread_end = put_end,
		.enter = put_enter,
		.leave = put_leave,
		.inside_enter = put_inside_enter,
		.inside_leave = put_inside_leave,
		.state = wish->flags & WANTS_STATES ? put_state : NULL,
		.block = wish->flags & WANTS_BLOCKS ? put_block : NULL,
		.sample = wish->flags & WANTS_SAMPLES ? put_sample : NULL,
		.end = is_leading ? pass_end : NULL,
	};
}

int crit_gathering_begin(struct crit_gathering *gathering, const struct crit_transport *transport,
			 const struct crit_trace_sink *sink, const struct crit_listener *listener)
{
	const bool is_leading = !transport->rank;
	struct wish wish = wish_of(is_leading ? sink : NULL, listener);
	uint64_t values[] = { wish.flags, wish.threads_max, wish.edges };
	int rc = crit_transport_broadcast(transport, values, sizeof(values) / sizeof(values[0]));

	*gathering = (struct crit_gathering){ .transport = NULL };
	if (rc || !values[0])
		return rc;
	wish = (struct wish){ values[0], values[1], values[2] };
	take_wish(gathering, &wish, is_leading);
	gathering->transport = transport;
	gathering->sink = is_leading ? sink : NULL;
	gathering->listener = is_leading ? listener : NULL;
	if (is_leading)
		gathering->sources = calloc(transport->count, sizeof(*gathering->sources));
	return crit_transport_agree(transport, 0, is_leading && !gathering->sources ? -ENOMEM : 0);
}

void crit_gathering_fini(struct crit_gathering *gathering)
{
	for (uint32_t i = 0; gathering->sources && i < gathering->transport->count; i++)
		free(gathering->sources[i].calls.bytes);
	free(gathering->sources);
	free(gathering->told.bytes);
	*gathering = (struct crit_gathering){ .transport = NULL };
}

int crit_gathering_tell_edge(const struct crit_gathering *gathering, const struct crit_edge *edge)
{
	const struct crit_listener *listener = gathering->listener;

	return listener->on[CRIT_EVENT_EDGE + edge->kind](
		listener->user, &(struct crit_event){ .time_ns = edge->end_ns, .edge = edge });
}

int crit_gathering_pack(struct crit_gathering *gathering, const struct crit_replay_place *bound,
			struct crit_exchange_buffer *to)
{
	int rc = crit_exchange_buffer_put(to, bound, sizeof(*bound));

	if (!rc)
		rc = crit_exchange_buffer_put(to, gathering->told.bytes, gathering->told.size);
	gathering->told.size = 0;
	return rc;
}

/* Appends calls to a source, which loses those that were told. */
static int append(struct crit_gathering_source *source, const unsigned char *bytes, size_t size)
{
	source->calls.size -= source->at;
	if (source->at && source->calls.size)
		memmove(source->calls.bytes, source->calls.bytes + source->at, source->calls.size);
	source->at = 0;
	return crit_exchange_buffer_put(&source->calls, bytes, size);
}

int crit_gathering_take(struct crit_gathering *gathering, uint32_t process,
			const struct crit_exchange_buffer *from, size_t at)
{
	struct crit_gathering_source *source = &gathering->sources[process];

	if (!crit_exchange_buffer_take(from, &at, &source->bound, sizeof(source->bound)))
		return -EPROTO;
	return append(source, from->bytes + at, from->size - at);
}

static int tell_leave(const struct crit_trace_sink *sink, const struct call *call,
		      const struct crit_trace_span *span)
{
	const struct crit_trace_sums sums = { .is_idle = call->flags & IS_IDLE };
	const struct crit_trace_sums *known = call->flags & HAS_SUMS ? &sums : NULL;

	if (call->kind == CALL_THREAD_END)
		return sink->thread_end
			       ? sink->thread_end(sink->user, call->thread, call->time_ns, known)
			       : 0;
	if (call->kind == CALL_LEAVE)
		return sink->leave
			       ? sink->leave(sink->user, call->thread, call->time_ns, span, known)
			       : 0;
	return sink->inside_leave
		       ? sink->inside_leave(sink->user, call->thread, call->time_ns, span, known)
		       : 0;
}

static int tell_enter(const struct crit_trace_sink *sink, const struct call *call,
		      const struct crit_trace_span *span)
{
	int (*enter)(void *, uint32_t, uint64_t, const struct crit_trace_span *, uint64_t) =
		call->kind == CALL_ENTER ? sink->enter : sink->inside_enter;

	return enter ? enter(sink->user, call->thread, call->time_ns, span, 0) : 0;
}

static int tell_sample(const struct crit_trace_sink *sink, const struct call *call,
		       const struct packed_sample *sample)
{
	const struct crit_trace_sample told = { .address = sample->address,
						.cpu_ns = sample->cpu_ns };

	return sink->sample(sink->user, call->thread, call->time_ns, &told);
}

static int tell(const struct crit_gathering *gathering, const struct call *call,
		const union details *details)
{
	const struct crit_trace_sink *sink = gathering->sink;

	switch ((enum call_kind)call->kind) {
	case CALL_THREAD_BEGIN:
		return sink->thread_begin
			       ? sink->thread_begin(sink->user, call->thread, call->time_ns)
			       : 0;
	case CALL_ENTER:
	case CALL_INSIDE_ENTER:
		return tell_enter(sink, call, &details->span);
	case CALL_THREAD_END:
	case CALL_LEAVE:
	case CALL_INSIDE_LEAVE:
		return tell_leave(sink, call, &details->span);
	case CALL_STATE:
		return sink->state(sink->user, call->thread, call->time_ns,
				   (enum crit_kernel_state)call->value, details->ran_ns);
	case CALL_BLOCK:
		return sink->block(sink->user, call->thread, call->time_ns, call->value - 1);
	case CALL_SAMPLE:
		return tell_sample(sink, call, &details->sample);
	default:
		return crit_gathering_tell_edge(gathering, &details->edge);
	}
}

/* A source's next call is read where it has one.  Errors: -EPROTO. */
static int look(struct crit_gathering_source *source)
{
	if (source->has_next || source->at == source->calls.size)
		return 0;
	source->has_next = crit_exchange_buffer_take(&source->calls, &source->at, &source->next,
						     sizeof(source->next));
	return source->has_next && source->next.kind < CALL_KIND_COUNT ? 0 : -EPROTO;
}

/* Tells a source's next call, and what it has from before a place.  Range: it has one. */
static int drain(const struct crit_gathering *gathering, struct crit_gathering_source *source,
		 const struct crit_replay_place *end)
{
	union details details;
	int rc = 0;

	do {
		const struct call call = source->next;

		if (!crit_exchange_buffer_take(&source->calls, &source->at, &details,
					       details_bytes(call.kind)))
			return -EPROTO;
		source->has_next = false;
		rc = tell(gathering, &call, &details);
		if (!rc)
			rc = look(source);
	} while (!rc && source->has_next && crit_replay_is_before(&source->next.place, end));
	return rc;
}

/* Where a source goes on. */
static const struct crit_replay_place *front(const struct crit_gathering_source *source)
{
	return source->has_next ? &source->next.place : &source->bound;
}

/* The source that comes first goes on until another one does. */
static int tell_first(const struct crit_gathering *gathering, bool *ret_is_over)
{
	struct crit_gathering_source *sources = gathering->sources, *first = &sources[0];
	struct crit_replay_place end = CRIT_REPLAY_OVER;

	for (uint32_t i = 1; i < gathering->transport->count; i++) {
		struct crit_gathering_source *later = &sources[i];

		if (crit_replay_is_before(front(later), front(first))) {
			later = first;
			first = &sources[i];
		}
		if (crit_replay_is_before(front(later), &end))
			end = *front(later);
	}
	*ret_is_over = !first->has_next;
	return *ret_is_over ? 0 : drain(gathering, first, &end);
}

int crit_gathering_tell(struct crit_gathering *gathering, const struct crit_replay_place *bound)
{
	struct crit_gathering_source *own = &gathering->sources[0];
	bool is_over = false;
	int rc = append(own, gathering->told.bytes, gathering->told.size);

	own->bound = *bound;
	gathering->told.size = 0;
	for (uint32_t i = 0; i < gathering->transport->count && !rc; i++)
		rc = look(&gathering->sources[i]);
	while (!rc && !is_over)
		rc = tell_first(gathering, &is_over);
	return rc;
}
