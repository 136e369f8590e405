// SPDX-License-Identifier: BSD-3-Clause
// Decodes the details of each span: messages, collectives, requests.
#include "analysis/mpi/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/mpi/receive_status.h"
#include "core/base/call.h"

struct context { /* of the details of one span */
	struct crit_messages *messages;
	const struct crit_message_span *span;
	uint32_t process;
	uint32_t node;
	uint32_t rank; /* of the model, CRIT_NONE */
	uint64_t now_ns; /* the enter's time, and once something was complete the leave's */
	bool is_sole; /* one thing alone is complete when the span ends */
};

int crit_messages_init(struct crit_messages *messages, struct crit_model *model,
		       const struct crit_message_sink *sink, struct crit_listeners *listeners)
{
	*messages = (struct crit_messages){ .model = model, .listeners = listeners };
	crit_requests_init(&messages->requests);
	crit_match_init(&messages->match, listeners, &messages->returns);
	crit_collectives_init(&messages->collectives, &messages->communicators, listeners);
	messages->trace.sink = sink;
	messages->trace.communicators = &messages->communicators;
	return crit_communicators_init(&messages->communicators, model);
}

void crit_messages_fini(struct crit_messages *messages)
{
	crit_communicators_fini(&messages->communicators);
	crit_collectives_fini(&messages->collectives);
	crit_requests_fini(&messages->requests);
	crit_traffic_fini(&messages->traffic);
	crit_match_fini(&messages->match);
	crit_mpi_returns_fini(&messages->returns);
}

/* Tells of a detail; request: NULL, or the one it is of. */
static void tell(const struct context *context, enum crit_trace_message_kind kind,
		 const struct crit_slot_detail *what, uint64_t received_bytes,
		 const struct crit_request *request)
{
	struct crit_message_event event = { .thread = context->span->thread,
					    .process = context->process,
					    .time_ns = context->now_ns,
					    .call = request ? request->call : context->span->call,
					    .what = *what,
					    .received_bytes = received_bytes,
					    .request = request ? request->number : 0 };

	if (context->messages->trace.sink)
		crit_message_trace_emit(&context->messages->trace, kind, &event);
}

/* A blocking receive is posted after the request that became active last. */
static uint64_t number_of(const struct context *context, const struct crit_request *request)
{
	return request ? request->number * 2 : context->messages->last_number * 2 + 1;
}

/* Where the span's thread waits for a message.  request: NULL of a blocking one. */
static struct crit_message_end stay_of(const struct context *context, uint64_t bytes,
				       const struct crit_request *request)
{
	const struct crit_message_span *span = context->span;

	return (struct crit_message_end){
		.begin_ns = span->enter_ns,
		.end_ns = span->leave_ns,
		.posted_ns = request ? request->posted_ns : span->enter_ns,
		.left_ns = crit_mpi_returns_left(&context->messages->returns, span->thread),
		.bytes = bytes,
		.thread = span->thread,
		.call = span->call,
		.mode = request ? request->mode : (uint8_t)crit_send_mode_of(span->call),
		.is_sole = context->is_sole,
	};
}

/* Matches a message; who receives a send by a request is kept until that is complete. */
static int match(const struct context *context, const struct crit_match_message *message,
		 struct crit_request *request)
{
	struct crit_messages *messages = context->messages;
	struct crit_match_open open;
	uint32_t place;
	int rc = crit_match_take(&messages->match, message, &open, &place);

	if (message->is_send && request)
		request->match_place = place;
	if (open.request && messages->requests.rows[open.request_row].number == open.request)
		messages->requests.rows[open.request_row].receive = open.receive;
	return rc;
}

/* Was it received before it was sent?  request: NULL of a blocking one.  Errors: -ENOMEM. */
static int put_in_order(const struct context *context, struct crit_communicator_view own,
			uint32_t peer, enum crit_direction direction,
			const struct crit_slot_detail *what, struct crit_request *request)
{
	const bool is_send = direction == CRIT_SENT;
	struct crit_match_message message = {
		.from = is_send ? own.member : peer,
		.to = is_send ? peer : own.member,
		.tag = what->tag,
		.is_send = is_send,
		.node = context->node,
		.time_ns = context->now_ns,
		.communicator = own.index,
	};

	if (own.member == CRIT_NONE || what->tag == CRIT_PEER_ANY)
		return 0;
	if (context->messages->match.listeners)
		message.end = (struct crit_match_end){
			.stay = stay_of(context, what->bytes, request),
			.posted = number_of(context, request),
			.thread = context->span->thread,
			.is_from_any = !is_send && request && request->peer == CRIT_PEER_ANY,
		};
	if (is_send && request) {
		message.end.stay.end_ns = 0;
		message.end.request = request->number;
		message.end.request_row = (uint32_t)(request - context->messages->requests.rows);
	}
	return match(context, &message, request);
}

/*
 * Books one message of this rank's.  request: NULL of a blocking one, else of a send its peer is
 * kept.  Errors: -ENOMEM.
 */
static int book(const struct context *context, enum crit_direction direction,
		const struct crit_slot_detail *what, struct crit_request *request)
{
	const unsigned int call = request ? request->call : context->span->call;
	struct crit_messages *messages = context->messages;
	struct crit_communicator_view view =
		crit_communicators_view(&messages->communicators, context->process, what->comm);
	uint32_t member;
	int rc = crit_traffic_count(&messages->traffic, call, direction, what->bytes);

	if (!rc)
		rc = crit_communicators_peer(&messages->communicators, context->process, view,
					     what->peer, &member);
	if (rc)
		return rc;
	if (request)
		request->peer_member = member;
	if (member == CRIT_NONE || context->rank == CRIT_NONE) {
		messages->losses.unresolved++;
		return 0;
	}
	messages->lost_sends += view.member == CRIT_NONE && direction == CRIT_SENT &&
				what->comm != CRIT_COMM_SELF;
	rc = put_in_order(context, view, member, direction, what, request);
	return rc ? rc
		  : crit_traffic_pair(&messages->traffic, context->rank, member, direction,
				      what->bytes);
}

static int take_blocking(struct context *context, const struct crit_slot_detail *what)
{
	bool is_send = what->detail == CRIT_D_SEND;

	if (what->peer == CRIT_PEER_NULL)
		return 0;
	if (!is_send)
		context->now_ns = context->span->leave_ns;
	tell(context, is_send ? CRIT_TRACE_SEND : CRIT_TRACE_RECV, what, 0, NULL);
	return book(context, is_send ? CRIT_SENT : CRIT_RECEIVED, what, NULL);
}

static int take_collective(const struct context *context, const struct crit_slot_detail *what,
			   uint16_t call, uint64_t received_bytes, bool is_over)
{
	struct crit_messages *messages = context->messages;
	struct crit_communicator_view view =
		crit_communicators_view(&messages->communicators, context->process, what->comm);
	struct crit_arrival arrival = {
		.communicator = view.index,
		.member = view.member,
		.sequence = what->tag,
		.root = what->peer,
		.thread = context->span->thread,
		.call = call,
		.enter_ns = context->span->enter_ns,
		.leave_ns = is_over ? context->span->leave_ns : UINT64_MAX,
		.sent_bytes = what->bytes,
		.received_bytes = received_bytes,
	};
	int rc = crit_traffic_count(&messages->traffic, call, CRIT_SENT, what->bytes);

	if (!rc)
		rc = crit_traffic_count(&messages->traffic, call, CRIT_RECEIVED, received_bytes);
	if (rc)
		return rc;
	if (view.index == CRIT_NONE) {
		messages->losses.unresolved++;
		return 0;
	}
	return crit_collectives_arrive(&messages->collectives, &arrival);
}

static struct crit_slot_detail detail_of(const struct crit_request *request)
{
	return (struct crit_slot_detail){ .bytes = request->bytes,
					  .comm = request->communicator,
					  .peer = request->peer,
					  .tag = request->tag,
					  .request = request->handle };
}

static const enum crit_trace_message_kind started[] = {
	[CRIT_REQUEST_SEND] = CRIT_TRACE_ISEND,
	[CRIT_REQUEST_RECEIVE] = CRIT_TRACE_IRECV_REQUEST,
	[CRIT_REQUEST_COLLECTIVE] = CRIT_TRACE_COLLECTIVE_REQUEST,
};

/* A request becomes active.  Errors: -ENOMEM. */
static int activate(const struct context *context, struct crit_request *request)
{
	struct crit_slot_detail what = detail_of(request);

	request->is_active = true;
	request->number = ++context->messages->last_number;
	request->call = context->span->call;
	request->posted_ns = context->span->enter_ns;
	request->receive.end_ns = 0;
	request->match_place = CRIT_NONE;
	if (request->kind == CRIT_REQUEST_COLLECTIVE || request->peer != CRIT_PEER_NULL)
		tell(context, started[request->kind], &what, 0, request);
	if (request->kind == CRIT_REQUEST_SEND && request->peer != CRIT_PEER_NULL)
		return book(context, CRIT_SENT, &what, request);
	if (request->kind == CRIT_REQUEST_COLLECTIVE)
		return take_collective(context, &what, request->call, request->received_bytes,
				       false);
	return 0;
}

static enum crit_request_kind kind_of(unsigned int detail)
{
	switch (detail) {
	case CRIT_D_ISEND:
	case CRIT_D_SEND_INIT:
		return CRIT_REQUEST_SEND;
	case CRIT_D_IRECV:
	case CRIT_D_RECV_INIT:
		return CRIT_REQUEST_RECEIVE;
	default:
		return CRIT_REQUEST_COLLECTIVE;
	}
}

static void drop_all(struct crit_messages *messages, uint32_t process, uint64_t handle)
{
	const struct crit_request *old;

	while ((old = crit_requests_find(&messages->requests, process, handle)) != NULL) {
		messages->losses.unfinished += old->is_active;
		crit_requests_pop(&messages->requests, process, handle);
	}
}

/* Do two requests live at the same time, though they have the same handle? */
static bool can_share(const struct crit_request *old, const struct crit_request *new)
{
	return old->kind == CRIT_REQUEST_SEND && new->kind == CRIT_REQUEST_SEND &&
	       !old->is_persistent && !new->is_persistent;
}

/*
 * A request of which kind and is_persistent are given.  What its handle named before is over,
 * unless they share it.  Errors: -ENOMEM, -ENOSPC.
 */
static int make_request(const struct context *context, uint64_t handle,
			const struct crit_request *like, struct crit_request **ret_request)
{
	struct crit_messages *messages = context->messages;
	const struct crit_request *old =
		crit_requests_find(&messages->requests, context->process, handle);
	int rc;

	if (old && !can_share(old, like))
		drop_all(messages, context->process, handle);
	rc = crit_requests_push(&messages->requests, context->process, handle, ret_request);
	if (rc == -ENOSPC) { /* perhaps the ends of those were lost */
		drop_all(messages, context->process, handle);
		rc = crit_requests_push(&messages->requests, context->process, handle, ret_request);
	}
	if (!rc) {
		(*ret_request)->kind = like->kind;
		(*ret_request)->is_persistent = like->is_persistent;
	}
	return rc;
}

static int take_request(const struct context *context, const struct crit_slot_detail *what,
			uint64_t received_bytes)
{
	struct crit_messages *messages = context->messages;
	struct crit_request like = {
		.kind = (uint8_t)kind_of(what->detail),
		.is_persistent = what->detail == CRIT_D_SEND_INIT ||
				 what->detail == CRIT_D_RECV_INIT ||
				 what->detail == CRIT_D_COLL_INIT,
	};
	struct crit_request *request;
	int rc = make_request(context, what->request, &like, &request);

	if (rc == -ENOSPC) {
		messages->losses.unfinished++;
		messages->lost_sends += like.kind == CRIT_REQUEST_SEND;
		return 0;
	}
	if (rc)
		return rc;
	request->bytes = what->bytes;
	request->received_bytes = received_bytes;
	request->communicator = what->comm;
	request->peer = what->peer;
	request->tag = what->tag;
	request->mode = (uint8_t)crit_send_mode_of(context->span->call);
	return like.is_persistent ? 0 : activate(context, request);
}

/* A receive is complete.  Errors: -ENOMEM. */
static int receive(const struct context *context, struct crit_request *request,
		   const struct crit_slot_detail *status)
{
	struct crit_slot_detail what;

	if (request->peer == CRIT_PEER_NULL || status->peer == CRIT_PEER_NULL)
		return 0;
	what = crit_receive_status(context->messages->model->flavour, request, status,
				   &context->messages->losses);
	tell(context, CRIT_TRACE_IRECV, &what, 0, request);
	return book(context, CRIT_RECEIVED, &what, request);
}

/* The present activity of a request is over; one that is not persistent is gone with it. */
static void retire(struct crit_messages *messages, struct crit_request *request, bool is_freed)
{
	request->is_active = false;
	if (!request->is_persistent || is_freed)
		crit_requests_pop(&messages->requests, request->process, request->handle);
}

/* A collective operation's request is complete: its member has waited in this span. */
static void complete_meeting(const struct context *context, const struct crit_request *request)
{
	struct crit_messages *messages = context->messages;
	struct crit_communicator_view view = crit_communicators_view(
		&messages->communicators, context->process, request->communicator);

	crit_meetings_complete(
		&messages->collectives.meetings,
		&(struct crit_attendance){
			.communicator = view.index,
			.sequence = (uint32_t)request->tag,
			.member = view.member,
			.waiter = context->span->thread,
			.begin_ns = context->span->enter_ns,
			.end_ns = context->span->leave_ns,
			.left_ns = crit_mpi_returns_left(&messages->returns, context->span->thread),
			.call = context->span->call });
}

/* A send's request is complete: its sender has waited in this span. */
static void complete_send(const struct context *context, const struct crit_request *request)
{
	struct crit_messages *messages = context->messages;
	const struct crit_message_end stay = stay_of(context, request->bytes, request);

	if (request->receive.end_ns)
		crit_rendezvous_tell(messages->match.listeners, &messages->returns,
				     crit_communicators_view(&messages->communicators,
							     context->process,
							     request->communicator)
					     .index,
				     &stay, &request->receive);
	else
		crit_match_complete(&messages->match, request->match_place, request->number, &stay);
}

/* Tells that a request which is no receive is complete. */
static void tell_end(const struct context *context, const struct crit_request *request)
{
	struct crit_slot_detail what = detail_of(request);

	if (request->kind == CRIT_REQUEST_OTHER)
		return;
	if (request->kind == CRIT_REQUEST_COLLECTIVE) {
		tell(context, CRIT_TRACE_COLLECTIVE_COMPLETE, &what, request->received_bytes,
		     request);
		if (context->messages->collectives.meetings.listeners)
			complete_meeting(context, request);
	} else if (request->peer != CRIT_PEER_NULL) {
		tell(context, CRIT_TRACE_ISEND_COMPLETE, &what, 0, request);
		complete_send(context, request);
	}
}

static void cancel(const struct context *context, const struct crit_request *request)
{
	struct crit_slot_detail what = detail_of(request);

	if (request->kind == CRIT_REQUEST_OTHER || request->peer == CRIT_PEER_NULL)
		return;
	tell(context, CRIT_TRACE_REQUEST_CANCELLED, &what, 0, request);
	if (request->kind == CRIT_REQUEST_SEND)
		crit_traffic_take_back(&context->messages->traffic, request->call, context->rank,
				       request->peer_member, request->bytes);
}

static int take_end(struct context *context, const struct crit_slot_detail *what)
{
	struct crit_messages *messages = context->messages;
	struct crit_request *request =
		crit_requests_find(&messages->requests, context->process, what->request);
	int rc = 0;

	if (!request) {
		messages->losses.stray++;
		return 0;
	}
	if (!request->is_active && what->detail != CRIT_D_FREED)
		return 0; /* waited for in vain: it was not started again */
	context->now_ns = context->span->leave_ns;
	if (what->detail == CRIT_D_FREED)
		messages->losses.freed += request->is_active;
	else if (what->detail == CRIT_D_CANCELLED)
		cancel(context, request);
	else if (request->kind == CRIT_REQUEST_RECEIVE)
		rc = receive(context, request, what);
	else
		tell_end(context, request);
	retire(messages, request, what->detail == CRIT_D_FREED);
	return rc;
}

/* A blocking collective: what it does between its begin and its end. */
static int take_whole(struct context *context, const struct crit_slot_detail *what)
{
	tell(context, CRIT_TRACE_COLLECTIVE_BEGIN, what, 0, NULL);
	context->now_ns = context->span->leave_ns;
	tell(context, CRIT_TRACE_COLLECTIVE_END, what, what->request, NULL);
	return take_collective(context, what, context->span->call, what->request, true);
}

static int take_start(const struct context *context, const struct crit_slot_detail *what)
{
	struct crit_messages *messages = context->messages;
	struct crit_request *request =
		crit_requests_find(&messages->requests, context->process, what->request);

	if (!request || !request->is_persistent) {
		messages->losses.stray++;
		messages->lost_sends++; /* perhaps */
		return 0;
	}
	messages->losses.unfinished += request->is_active;
	return activate(context, request);
}

/* One-sided or of a file; some are by requests. */
static int take_other(const struct context *context, const struct crit_slot_detail *what,
		      enum crit_direction direction)
{
	const struct crit_request like = { .kind = CRIT_REQUEST_OTHER };
	struct crit_request *request;
	int rc = 0;

	if (what->request) {
		rc = make_request(context, what->request, &like, &request);
		if (!rc)
			request->is_active = true;
		else if (rc == -ENOSPC)
			rc = 0; /* its end will be stray */
	}
	return rc ? rc
		  : crit_traffic_count(&context->messages->traffic, context->span->call, direction,
				       what->bytes);
}

static int take_detail(struct context *context, const struct crit_slot_detail *what,
		       uint64_t received_bytes)
{
	switch (what->detail) {
	case CRIT_D_SEND:
	case CRIT_D_RECV:
		return take_blocking(context, what);
	case CRIT_D_ISEND:
	case CRIT_D_IRECV:
	case CRIT_D_SEND_INIT:
	case CRIT_D_RECV_INIT:
	case CRIT_D_ICOLL:
	case CRIT_D_COLL_INIT:
		return take_request(context, what, received_bytes);
	case CRIT_D_START:
		return take_start(context, what);
	case CRIT_D_DONE:
	case CRIT_D_CANCELLED:
	case CRIT_D_FREED:
		return take_end(context, what);
	case CRIT_D_COLL:
		return take_whole(context, what);
	case CRIT_D_PUT:
	case CRIT_D_ATOMIC:
	case CRIT_D_WRITE:
		return take_other(context, what, CRIT_SENT);
	case CRIT_D_GET:
	case CRIT_D_READ:
		return take_other(context, what, CRIT_RECEIVED);
	case CRIT_D_COMM_NAME:
	case CRIT_D_COMM_NAME_MORE:
		crit_communicators_rename(&context->messages->communicators, context->process,
					  what);
		return 0;
	default:
		return 0;
	}
}

static int take_communicator(const struct context *context, const struct crit_slot *slot)
{
	struct crit_slot_comm comm;

	memcpy(&comm, slot, sizeof(comm));
	return crit_communicators_take(&context->messages->communicators, context->process, &comm);
}

/* What the detail after this one says of bytes received. */
static uint64_t received_after(const struct crit_slot *slots, size_t count, size_t at)
{
	struct crit_slot_detail next;

	if (at + 1 >= count || slots[at + 1].kind != CRIT_S_DETAIL)
		return CRIT_BYTES_UNKNOWN;
	memcpy(&next, &slots[at + 1], sizeof(next));
	return next.detail == CRIT_D_RECEIVED ? next.bytes : CRIT_BYTES_UNKNOWN;
}

/* Is one thing alone complete when the span of these details ends? */
static bool is_sole(const struct crit_slot *slots, size_t count)
{
	size_t complete = 0;

	for (size_t i = 0; i < count; i++) {
		struct crit_slot_detail what;

		if (slots[i].kind != CRIT_S_DETAIL)
			continue;
		memcpy(&what, &slots[i], sizeof(what));
		complete += what.detail == CRIT_D_SEND || what.detail == CRIT_D_RECV ||
			    what.detail == CRIT_D_DONE || what.detail == CRIT_D_CANCELLED;
	}
	return complete == 1;
}

int crit_messages_take(struct crit_messages *messages, const struct crit_message_span *span,
		       const struct crit_slot *slots, size_t count)
{
	struct context context = { .messages = messages,
				   .span = span,
				   .now_ns = span->enter_ns,
				   .process = messages->model->threads[span->thread].process };
	bool has_failed = false; /* counts once */
	int rc = 0;

	if (context.process == CRIT_NONE)
		return 0;
	context.node = messages->model->processes[context.process].node;
	context.rank = messages->model->processes[context.process].rank;
	context.is_sole = messages->match.listeners && is_sole(slots, count);
	for (size_t i = 0; i < count && !rc; i++) {
		struct crit_slot_detail what;

		if (slots[i].kind == CRIT_S_COMM) {
			rc = take_communicator(&context, &slots[i]);
			continue;
		}
		memcpy(&what, &slots[i], sizeof(what));
		has_failed = has_failed || what.detail == CRIT_D_FAILED;
		rc = take_detail(&context, &what, received_after(slots, count, i));
	}
	messages->traffic.failed[span->call % CRIT_TRAFFIC_CALLS] += has_failed;
	if (!rc && messages->match.listeners)
		rc = crit_mpi_returns_note(&messages->returns, span->thread, span->enter_ns,
					   span->leave_ns);
	return rc ? rc : messages->trace.error ? messages->trace.error : messages->listeners->error;
}
