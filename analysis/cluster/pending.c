// SPDX-License-Identifier: BSD-3-Clause
// Queues the events of the emitter and the messages of process 0, and emits both in order.
#include "analysis/cluster/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"

struct crit_pending_event {
	uint64_t step; /* of the run's, after which it came */
	bool is_details; /* a span's messages: event is void */
	struct crit_emitter_event event;
};

struct sent_message { /* as process 0 sends it; their number is before those of a span */
	struct crit_trace_message message;
	uint64_t time_ns;
	uint32_t thread, reserved;
};

static int add(struct crit_pending *pending, const struct crit_pending_event *event)
{
	int rc = crit_array_grow(&pending->events, &pending->capacity, pending->count + 1,
				 sizeof(*pending->events));

	if (!rc)
		pending->events[pending->count++] = *event;
	return rc;
}

static int put(void *user, const struct crit_emitter_event *event)
{
	struct crit_pending *pending = user;

	return add(pending,
		   &(struct crit_pending_event){ .step = *pending->added_steps, .event = *event });
}

int crit_pending_add_details(struct crit_pending *pending, uint32_t thread)
{
	return add(pending, &(struct crit_pending_event){ .step = *pending->added_steps,
							  .is_details = true,
							  .event = { .thread = thread } });
}

/* Sends it to the process that replays its thread; the sink here is told of the others'. */
static int send_message(void *user, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_message *message)
{
	struct crit_pending *pending = user;
	const struct sent_message row = { .message = *message,
					  .time_ns = time_ns,
					  .thread = thread };
	uint32_t node = pending->model->threads[thread].node;
	int rc = crit_exchange_buffer_put(pending->answer, &row, sizeof(row));

	pending->answer_count++;
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
		       const struct crit_model *model, struct crit_emitter *emitter,
		       const uint64_t *added_steps)
{
	*pending = (struct crit_pending){
		.transport = transport,
		.model = model,
		.emitter = emitter,
		.added_steps = added_steps,
		.queue = { .user = pending, .put = put },
		.message_sink = { .user = pending,
				  .message = send_message,
				  .communicator = tell_communicator },
	};
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

/* Reads the messages of the next span with details, as process 0 sent them. */
static int read_details(struct crit_pending *pending, bool is_told)
{
	struct sent_message row;
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
		if (is_told)
			rc = crit_emitter_message(pending->emitter, row.thread, row.time_ns,
						  &row.message);
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
		bool is_early = event->is_details && pending->messages_at == pending->messages.size;

		if (event->step > steps || (is_early && !must))
			break;
		if (is_early)
			pending->skipped++; /* before the window: nobody is told of it */
		else if (event->is_details)
			rc = read_details(pending, true);
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
