// SPDX-License-Identifier: BSD-3-Clause
// Queues the events of the emitter and the messages of process 0, and emits both in order.
#include "analysis/cluster/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/replay/emitter_state.h"

enum pending_kind {
	PENDING_EVENT = 0,
	PENDING_DETAILS, /* a span's messages and edges, which process 0 sends */
	PENDING_EDGE
};

struct crit_pending_event {
	uint64_t step; /* of the run's, after which it came */
	struct crit_replay_place place; /* of the replay */
	enum pending_kind kind;
	union {
		struct crit_emitter_event event;
		struct crit_edge edge;
	};
};

struct sent_row { /* as process 0 sends it; their number is before those of a span */
	uint64_t time_ns;
	uint32_t thread;
	bool is_edge; /* behind it comes an edge, else a message */
};

/* A new one.  NULL: out of memory. */
static struct crit_pending_event *add(struct crit_pending *pending, enum pending_kind kind)
{
	struct crit_pending_event *event;

	if (crit_array_grow(&pending->events, &pending->capacity, pending->count + 1,
			    sizeof(*pending->events)))
		return NULL;
	event = &pending->events[pending->count++];
	event->step = *pending->added_steps;
	event->place = *pending->place;
	event->kind = kind;
	return event;
}

static int put(void *user, const struct crit_emitter_event *event)
{
	struct crit_pending_event *added = add(user, PENDING_EVENT);

	if (!added)
		return -ENOMEM;
	added->event = *event;
	return 0;
}

int crit_pending_add_details(struct crit_pending *pending)
{
	return add(pending, PENDING_DETAILS) ? 0 : -ENOMEM;
}

static int send_row(struct crit_pending *pending, const struct sent_row *row, const void *what,
		    size_t what_bytes)
{
	int rc = crit_exchange_buffer_put(pending->answer, row, sizeof(*row));

	pending->answer_count++;
	return rc ? rc : crit_exchange_buffer_put(pending->answer, what, what_bytes);
}

/* What is found when all is replayed comes last. */
static int take_edge(void *user, const struct crit_event *event)
{
	struct crit_pending *pending = user;
	struct crit_pending_event *added;

	if (pending->answer)
		return send_row(pending, &(struct sent_row){ .is_edge = true }, event->edge,
				sizeof(*event->edge));
	if (pending->is_over)
		return crit_gathering_tell_edge(pending->gathering, event->edge);
	added = add(pending, PENDING_EDGE);
	if (!added)
		return -ENOMEM;
	added->edge = *event->edge;
	return 0;
}

/* Sends it to the process that replays its thread; the sink here is told of the others'. */
static int send_message(void *user, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_message *message)
{
	struct crit_pending *pending = user;
	uint32_t node = pending->model->threads[thread].node;
	int rc = send_row(pending, &(struct sent_row){ .time_ns = time_ns, .thread = thread },
			  message, sizeof(*message));

	if (!rc && crit_transport_owner(pending->transport, node) != pending->transport->rank)
		rc = crit_emitter_pass_message(pending->emitter, thread, time_ns, message);
	return rc;
}

static int tell_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	const struct crit_pending *pending = user;

	return crit_emitter_communicator(pending->emitter, communicator);
}

void crit_pending_init(struct crit_pending *pending, const struct crit_transport *transport,
		       struct crit_gathering *gathering)
{
	*pending = (struct crit_pending){
		.transport = transport,
		.gathering = gathering,
		.listener = { .user = pending },
		.queue = { .user = pending, .put = put },
		.message_sink = { .user = pending,
				  .message = send_message,
				  .communicator = tell_communicator },
	};
}

void crit_pending_begin(struct crit_pending *pending, const struct crit_model *model,
			struct crit_emitter *emitter, const uint64_t *added_steps,
			const struct crit_replay_place *place)
{
	pending->model = model;
	pending->emitter = emitter;
	pending->added_steps = added_steps;
	pending->place = place;
}

const struct crit_listener *crit_pending_gather(struct crit_pending *pending)
{
	for (int kind = 0; kind < CRIT_EDGE_KIND_COUNT; kind++)
		if (pending->gathering->edges >> kind & 1)
			pending->listener.on[CRIT_EVENT_EDGE + kind] = take_edge;
	return &pending->listener;
}

void crit_pending_fini(struct crit_pending *pending)
{
	free(pending->events);
	free(pending->messages.bytes);
}

int crit_pending_open_answer(struct crit_pending *pending, struct crit_exchange_buffer *answer)
{
	pending->answer = answer;
	pending->answer_at = answer->size;
	pending->answer_count = 0;
	return crit_exchange_buffer_put(answer, &pending->answer_count,
					sizeof(pending->answer_count));
}

void crit_pending_close_answer(struct crit_pending *pending)
{
	memcpy(pending->answer->bytes + pending->answer_at, &pending->answer_count,
	       sizeof(pending->answer_count));
	pending->answer = NULL;
}

/* is_told: whether its sink is told of a message.  Edges are told in any case. */
static int read_row(struct crit_pending *pending, const struct sent_row *row, bool is_told)
{
	const struct crit_exchange_buffer *from = &pending->messages;
	struct crit_trace_message message;
	struct crit_edge edge;

	if (row->is_edge)
		return crit_exchange_buffer_take(from, &pending->messages_at, &edge, sizeof(edge))
			       ? crit_gathering_put_edge(pending->gathering, &edge)
			       : -EPROTO;
	if (!crit_exchange_buffer_take(from, &pending->messages_at, &message, sizeof(message)))
		return -EPROTO;
	return is_told ? crit_emitter_message(pending->emitter, row->thread, row->time_ns, &message)
		       : 0;
}

/*
 * Reads the messages and edges of the next span with details, as process 0 sent them; is_told as
 * above.
 */
static int read_details(struct crit_pending *pending, bool is_told)
{
	struct sent_row row;
	uint32_t count;
	int rc = 0;

	if (!crit_exchange_buffer_take(&pending->messages, &pending->messages_at, &count,
				       sizeof(count)))
		return -EPROTO;
	for (; count && !rc; count--) {
		if (!crit_exchange_buffer_take(&pending->messages, &pending->messages_at, &row,
					       sizeof(row)) ||
		    row.thread >= pending->model->thread_count)
			return -EPROTO;
		rc = read_row(pending, &row, is_told);
	}
	return rc;
}

int crit_pending_take(struct crit_pending *pending, const unsigned char *bytes, size_t size)
{
	int rc = crit_exchange_buffer_put(&pending->messages, bytes, size);

	for (; !rc && pending->skipped && pending->messages_at < pending->messages.size;
	     pending->skipped--)
		rc = read_details(pending, false);
	return rc;
}

int crit_pending_catch_up(struct crit_pending *pending, uint64_t steps, bool must)
{
	int rc = crit_emitter_keep_error(pending->emitter, 0);

	while (pending->at < pending->count && !rc) {
		const struct crit_pending_event *event = &pending->events[pending->at];
		bool is_early = event->kind == PENDING_DETAILS &&
				pending->messages_at == pending->messages.size;

		if (event->step > steps || (is_early && !must))
			break;
		pending->gathering->place = event->place;
		if (is_early)
			pending->skipped++; /* before the window: nobody is told of it */
		else if (event->kind == PENDING_DETAILS)
			rc = read_details(pending, true);
		else if (event->kind == PENDING_EDGE)
			rc = crit_gathering_put_edge(pending->gathering, &event->edge);
		else
			rc = crit_emitter_emit(pending->emitter, &event->event);
		pending->at++;
	}
	return crit_emitter_keep_error(pending->emitter, rc);
}

int crit_pending_rest(struct crit_pending *pending, uint64_t steps)
{
	int rc = crit_pending_catch_up(pending, steps, false);

	pending->count -= pending->at;
	if (pending->count)
		memmove(pending->events, pending->events + pending->at,
			pending->count * sizeof(*pending->events));
	pending->at = 0;
	if (pending->messages_at == pending->messages.size)
		pending->messages_at = pending->messages.size = 0;
	return rc;
}

struct crit_replay_place crit_pending_bound(const struct crit_pending *pending)
{
	return pending->at < pending->count ? pending->events[pending->at].place : *pending->place;
}
