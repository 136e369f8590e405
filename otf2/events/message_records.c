// SPDX-License-Identifier: BSD-3-Clause
// One record of OTF2 by kind of message.
#include "otf2/events/message_records.h"

#include "otf2/definitions/calls.h"

_Static_assert(CRIT_TRACE_NONE == OTF2_COLLECTIVE_ROOT_NONE, "no root");
_Static_assert(CRIT_TRACE_ROOT_SELF == OTF2_COLLECTIVE_ROOT_SELF, "root itself");
_Static_assert(CRIT_TRACE_ROOT_GROUP == OTF2_COLLECTIVE_ROOT_THIS_GROUP, "the root's group");

/* Records that name a request, or nothing, besides their kind. */
static OTF2_ErrorCode write_request(OTF2_EvtWriter *events, uint64_t time_ns,
				    const struct crit_trace_message *m)
{
	switch (m->kind) {
	case CRIT_TRACE_ISEND_COMPLETE:
		return OTF2_EvtWriter_MpiIsendComplete(events, NULL, time_ns, m->request);
	case CRIT_TRACE_IRECV_REQUEST:
		return OTF2_EvtWriter_MpiIrecvRequest(events, NULL, time_ns, m->request);
	case CRIT_TRACE_REQUEST_TEST:
		return OTF2_EvtWriter_MpiRequestTest(events, NULL, time_ns, m->request);
	case CRIT_TRACE_REQUEST_CANCELLED:
		return OTF2_EvtWriter_MpiRequestCancelled(events, NULL, time_ns, m->request);
	case CRIT_TRACE_COLLECTIVE_BEGIN:
		return OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, time_ns);
	case CRIT_TRACE_COLLECTIVE_REQUEST:
		return OTF2_EvtWriter_NonBlockingCollectiveRequest(events, NULL, time_ns,
								   m->request);
	default:
		return OTF2_SUCCESS;
	}
}

static OTF2_ErrorCode write_message(OTF2_EvtWriter *events, uint64_t time_ns,
				    const struct crit_trace_message *m)
{
	const OTF2_CommRef communicator = m->communicator;

	switch (m->kind) {
	case CRIT_TRACE_SEND:
		return OTF2_EvtWriter_MpiSend(events, NULL, time_ns, m->peer, communicator, m->tag,
					      m->bytes);
	case CRIT_TRACE_ISEND:
		return OTF2_EvtWriter_MpiIsend(events, NULL, time_ns, m->peer, communicator, m->tag,
					       m->bytes, m->request);
	case CRIT_TRACE_RECV:
		return OTF2_EvtWriter_MpiRecv(events, NULL, time_ns, m->peer, communicator, m->tag,
					      m->bytes);
	case CRIT_TRACE_IRECV:
		return OTF2_EvtWriter_MpiIrecv(events, NULL, time_ns, m->peer, communicator, m->tag,
					       m->bytes, m->request);
	case CRIT_TRACE_COLLECTIVE_END:
		return OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, time_ns,
						       crit_otf2_collective(m->call), communicator,
						       m->peer, m->bytes, m->received_bytes);
	case CRIT_TRACE_COLLECTIVE_COMPLETE:
		return OTF2_EvtWriter_NonBlockingCollectiveComplete(events, NULL, time_ns,
								    crit_otf2_collective(m->call),
								    communicator, m->peer, m->bytes,
								    m->received_bytes, m->request);
	default:
		return write_request(events, time_ns, m);
	}
}

bool crit_otf2_message_has_peer(const struct crit_trace_message *message)
{
	enum crit_trace_message_kind kind = message->kind;

	return kind == CRIT_TRACE_SEND || kind == CRIT_TRACE_ISEND || kind == CRIT_TRACE_RECV ||
	       kind == CRIT_TRACE_IRECV;
}

bool crit_otf2_message_has_communicator(const struct crit_trace_message *message)
{
	return crit_otf2_message_has_peer(message) || message->kind == CRIT_TRACE_COLLECTIVE_END ||
	       message->kind == CRIT_TRACE_COLLECTIVE_COMPLETE;
}

int crit_otf2_message_write(struct crit_otf2_files *files, const struct crit_otf2_moment *at,
			    const struct crit_trace_message *message)
{
	return crit_otf2_check(files, write_message(at->events, at->time_ns, message), "an event");
}
