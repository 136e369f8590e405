// SPDX-License-Identifier: BSD-3-Clause
// Messages, requests and collectives as event records.
#include <errno.h>

#include "otf2/calls.h"
#include "otf2/writer.h"

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

static bool has_communicator(enum crit_trace_message_kind kind)
{
	return kind == CRIT_TRACE_SEND || kind == CRIT_TRACE_ISEND || kind == CRIT_TRACE_RECV ||
	       kind == CRIT_TRACE_IRECV || kind == CRIT_TRACE_COLLECTIVE_END ||
	       kind == CRIT_TRACE_COLLECTIVE_COMPLETE;
}

/*
 * Notes whom a message names: a group must have as many members, known or not.  False: there are
 * too many of them.  Errors: -ENOMEM in *ret_rc.
 */
static bool note_peer(struct crit_otf2_writer *writer, const struct crit_trace_message *m,
		      int *ret_rc)
{
	uint32_t known;

	*ret_rc = 0;
	if (m->kind == CRIT_TRACE_COLLECTIVE_END || m->kind == CRIT_TRACE_COLLECTIVE_COMPLETE)
		return true;
	*ret_rc = crit_array_grow(&writer->peer_limits, &writer->peer_limit_count,
				  m->communicator + 1u, sizeof(*writer->peer_limits));
	if (*ret_rc)
		return false;
	known = writer->peer_limits[m->communicator];
	if (m->peer < known)
		return true;
	if (writer->peer_limit_sum + m->peer - known >= CRIT_OTF2_PEERS_MAX)
		return false;
	writer->peer_limit_sum += m->peer + 1u - known;
	writer->peer_limits[m->communicator] = m->peer + 1;
	return true;
}

int crit_otf2_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	OTF2_EvtWriter *events;
	int rc = 0;

	if (has_communicator(message->kind) &&
	    (message->communicator == CRIT_TRACE_NONE || !note_peer(writer, message, &rc))) {
		writer->has_losses = true; /* a reference to nowhere breaks readers */
		return rc;
	}
	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	return crit_otf2_check(writer, write_message(events, time_ns, message), "an event");
}
