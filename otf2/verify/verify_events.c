// SPDX-License-Identifier: BSD-3-Clause
// Reads every location by itself: order, balance, counts.
//
// A file cut at the edge of a chunk makes libotf2 read its last chunk for ever.  Time goes back
// then, which ends the location here; and no file holds more events than bytes.
#include "otf2/verify/verify_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "otf2/verify/event_time.h"
#include "otf2/verify/faults.h"
#include "otf2/verify/verify_messages.h"
#include "otf2/verify/verify_regions.h"
#include "otf2/verify/verify_tasks.h"
#include "otf2/verify/verify_threads.h"

#define STEP_EVENTS 65536u

static OTF2_CallbackCode on_enter(CRIT_OTF2_EVENT, OTF2_RegionRef region)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_stream *stream = &verifier->stream;

	if (!crit_otf2_verify_enter(verifier, region))
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_REGION, "region %u is not defined",
				       region);
	if (stream->depth < CRIT_OTF2_DEPTH_MAX)
		stream->regions[stream->depth] = region;
	stream->depth++;
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_leave(CRIT_OTF2_EVENT, OTF2_RegionRef region)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_stream *stream = &verifier->stream;

	if (!stream->depth) {
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_BALANCE,
				       "region %u is left at %llu and was not entered", region,
				       (unsigned long long)time_ns);
		return crit_otf2_verify_time(verifier, time_ns);
	}
	stream->depth--;
	if (stream->depth < CRIT_OTF2_DEPTH_MAX && stream->regions[stream->depth] != region)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_BALANCE,
				       "region %u is left at %llu inside region %u", region,
				       (unsigned long long)time_ns, stream->regions[stream->depth]);
	return crit_otf2_verify_time(verifier, time_ns);
}

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode on_send(CRIT_OTF2_EVENT, uint32_t receiver, OTF2_CommRef communicator,
				 uint32_t tag, uint64_t bytes)
{
	crit_otf2_verify_message(user, true, receiver, communicator, tag, bytes);
	return crit_otf2_verify_time(user, time_ns);
}

static OTF2_CallbackCode on_recv(CRIT_OTF2_EVENT, uint32_t sender, OTF2_CommRef communicator,
				 uint32_t tag, uint64_t bytes)
{
	crit_otf2_verify_message(user, false, sender, communicator, tag, bytes);
	return crit_otf2_verify_time(user, time_ns);
}

static OTF2_CallbackCode on_isend(CRIT_OTF2_EVENT, uint32_t receiver, OTF2_CommRef communicator,
				  uint32_t tag, uint64_t bytes, uint64_t request)
{
	struct crit_otf2_verifier *verifier = user;

	(void)request;
	verifier->stream.isends++;
	return on_send(location, time_ns, position, user, attributes, receiver, communicator, tag,
		       bytes);
}

static OTF2_CallbackCode on_irecv(CRIT_OTF2_EVENT, uint32_t sender, OTF2_CommRef communicator,
				  uint32_t tag, uint64_t bytes, uint64_t request)
{
	struct crit_otf2_verifier *verifier = user;

	(void)request;
	verifier->stream.receives_done++;
	return on_recv(location, time_ns, position, user, attributes, sender, communicator, tag,
		       bytes);
}

static OTF2_CallbackCode on_collective(CRIT_OTF2_EVENT, OTF2_CollectiveOp op,
				       OTF2_CommRef communicator, uint32_t root, uint64_t sent,
				       uint64_t received)
{
	struct crit_otf2_verifier *verifier = user;

	(void)op;
	(void)root;
	(void)sent;
	(void)received;
	verifier->stream.collective_ends++;
	crit_otf2_verify_collective(verifier, communicator);
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_collective_done(CRIT_OTF2_EVENT, OTF2_CollectiveOp op,
					    OTF2_CommRef communicator, uint32_t root, uint64_t sent,
					    uint64_t received, uint64_t request)
{
	struct crit_otf2_verifier *verifier = user;

	(void)op;
	(void)root;
	(void)sent;
	(void)received;
	(void)request;
	verifier->stream.collectives_done++;
	crit_otf2_verify_collective(verifier, communicator);
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_metric(CRIT_OTF2_EVENT, OTF2_MetricRef metric, uint8_t count,
				   const OTF2_Type *types, const OTF2_MetricValue *values)
{
	(void)metric;
	(void)count;
	(void)types;
	(void)values;
	return crit_otf2_verify_time(user, time_ns);
}

static OTF2_CallbackCode on_sample(CRIT_OTF2_EVENT, OTF2_CallingContextRef context,
				   uint32_t distance, OTF2_InterruptGeneratorRef generator)
{
	struct crit_otf2_verifier *verifier = user;

	(void)distance;
	(void)generator;
	if (context >= verifier->context_count)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_REGION,
				       "calling context %u is not defined", context);
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_program_begin(CRIT_OTF2_EVENT, OTF2_StringRef name, uint32_t count,
					  const OTF2_StringRef *arguments)
{
	(void)name;
	(void)count;
	(void)arguments;
	return crit_otf2_verify_time(user, time_ns);
}
// NOLINTEND(readability-function-size)

static OTF2_CallbackCode on_program_end(CRIT_OTF2_EVENT, int64_t status)
{
	(void)status;
	return crit_otf2_verify_time(user, time_ns);
}

static OTF2_CallbackCode on_collective_begin(CRIT_OTF2_EVENT)
{
	struct crit_otf2_verifier *verifier = user;

	verifier->stream.collective_begins++;
	return crit_otf2_verify_time(verifier, time_ns);
}

/* Records that name a request; each counts one of the stream's counters. */
#define ON_REQUEST(name, counter)                                                                  \
	static OTF2_CallbackCode name(CRIT_OTF2_EVENT, uint64_t request)                           \
	{                                                                                          \
		struct crit_otf2_verifier *verifier = user;                                        \
                                                                                                   \
		(void)request;                                                                     \
		verifier->stream.counter++;                                                        \
		return crit_otf2_verify_time(verifier, time_ns);                                   \
	}

ON_REQUEST(on_isend_complete, isend_completes)
ON_REQUEST(on_receive_request, receive_requests)
ON_REQUEST(on_cancelled, receives_cancelled)
ON_REQUEST(on_test, tests)
ON_REQUEST(on_collective_request, collective_requests)

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
	OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New();

	if (!calls)
		return NULL;
	(void)OTF2_EvtReaderCallbacks_SetEnterCallback(calls, on_enter);
	(void)OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, on_leave);
	(void)OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(calls, on_sample);
	(void)OTF2_EvtReaderCallbacks_SetMetricCallback(calls, on_metric);
	(void)OTF2_EvtReaderCallbacks_SetProgramBeginCallback(calls, on_program_begin);
	(void)OTF2_EvtReaderCallbacks_SetProgramEndCallback(calls, on_program_end);
	(void)OTF2_EvtReaderCallbacks_SetMpiSendCallback(calls, on_send);
	(void)OTF2_EvtReaderCallbacks_SetMpiRecvCallback(calls, on_recv);
	(void)OTF2_EvtReaderCallbacks_SetMpiIsendCallback(calls, on_isend);
	(void)OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(calls, on_isend_complete);
	(void)OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(calls, on_receive_request);
	(void)OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(calls, on_irecv);
	(void)OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(calls, on_test);
	(void)OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(calls, on_cancelled);
	(void)OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(calls, on_collective_begin);
	(void)OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(calls, on_collective);
	(void)OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
		calls, on_collective_request);
	(void)OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(calls,
									       on_collective_done);
	crit_otf2_verify_set_threads(calls);
	crit_otf2_verify_set_tasks(calls);
	return calls;
}

/* No file holds more events than bytes. */
static uint64_t file_bytes(const struct crit_otf2_verifier *verifier, uint64_t reference)
{
	char path[sizeof(verifier->base) + 40];
	struct stat status;

	(void)snprintf(path, sizeof(path), "%s/%llu.evt", verifier->base,
		       (unsigned long long)reference);
	return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}

/* Reads one location; yields how many events there were. */
static uint64_t read_stream(struct crit_otf2_verifier *verifier, OTF2_EvtReader *events,
			    uint64_t reference)
{
	uint64_t limit = file_bytes(verifier, reference), count = 0, got = STEP_EVENTS;
	OTF2_ErrorCode code = OTF2_SUCCESS;

	while (code == OTF2_SUCCESS && got == STEP_EVENTS && count <= limit) {
		code = OTF2_Reader_ReadLocalEvents(verifier->reader, events, STEP_EVENTS, &got);
		count += got;
	}
	if (count > limit) {
		crit_otf2_fault(verifier,
				"location %llu: %llu.evt never ends: it was cut, and readers hang",
				(unsigned long long)reference, (unsigned long long)reference);
		verifier->stream.is_stopped = true;
	} else if (code != OTF2_SUCCESS && !verifier->stream.is_stopped) {
		crit_otf2_fault(verifier,
				"location %llu: %llu.evt cannot be read beyond event %llu: %s",
				(unsigned long long)reference, (unsigned long long)reference,
				(unsigned long long)count, verifier->words.text);
		verifier->stream.is_stopped = true;
	}
	return count;
}

/* What must be even when all of a location was read. */
static void check_stream(struct crit_otf2_verifier *verifier, uint64_t count)
{
	const struct crit_otf2_stream *s = &verifier->stream;
	const struct crit_otf2_seen_location *location = &verifier->locations[s->location];

	if (count != location->event_count)
		crit_otf2_fault(verifier, "location %llu: %llu events are defined, there are %llu",
				(unsigned long long)location->reference,
				(unsigned long long)location->event_count,
				(unsigned long long)count);
	if (s->depth)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_BALANCE,
				       "%u regions are not left at its end", s->depth);
	if (s->collective_begins != s->collective_ends)
		crit_otf2_fault(verifier, "location %llu: %llu collective calls begin, %llu end",
				(unsigned long long)location->reference,
				(unsigned long long)s->collective_begins,
				(unsigned long long)s->collective_ends);
	crit_otf2_verify_thread(verifier);
	if (!verifier->is_complete)
		return;
	if (s->isends != s->isend_completes ||
	    s->receive_requests > s->receives_done + s->receives_cancelled ||
	    s->collective_requests != s->collectives_done)
		crit_otf2_fault(verifier,
				"location %llu: requests are not complete, though the archive says "
				"all communication is: sends %llu of %llu, receives %llu of %llu, "
				"collectives %llu of %llu",
				(unsigned long long)location->reference,
				(unsigned long long)s->isend_completes,
				(unsigned long long)s->isends, (unsigned long long)s->receives_done,
				(unsigned long long)s->receive_requests,
				(unsigned long long)s->collectives_done,
				(unsigned long long)s->collective_requests);
}

static void verify_location(struct crit_otf2_verifier *verifier, uint32_t index,
			    const OTF2_EvtReaderCallbacks *calls)
{
	const struct crit_otf2_seen_location *location = &verifier->locations[index];
	OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(verifier->reader, location->reference);
	uint64_t count;

	memset(&verifier->stream, 0, sizeof(verifier->stream));
	verifier->stream.location = index;
	verifier->stream.rank = crit_map_get(&verifier->ranks, location->group);
	if (!events || OTF2_Reader_RegisterEvtCallbacks(verifier->reader, events, calls,
							verifier) != OTF2_SUCCESS) {
		crit_otf2_fault(verifier, "location %llu: %llu.evt cannot be read: %s",
				(unsigned long long)location->reference,
				(unsigned long long)location->reference, verifier->words.text);
		return;
	}
	count = read_stream(verifier, events, location->reference);
	verifier->event_count += count;
	if (!verifier->stream.is_stopped)
		check_stream(verifier, count);
	else
		verifier->has_unread = true;
	(void)OTF2_Reader_CloseEvtReader(verifier->reader, events);
}

int crit_otf2_verify_events(struct crit_otf2_verifier *verifier, size_t first, size_t end)
{
	OTF2_EvtReaderCallbacks *calls = make_callbacks();

	if (!calls)
		return -ENOMEM;
	(void)OTF2_Reader_OpenEvtFiles(verifier->reader);
	for (size_t i = first; i < end && !verifier->error; i++) {
		if (verifier->locations[i].has_events)
			verify_location(verifier, (uint32_t)i, calls);
		else
			verifier->has_unread = true;
	}
	(void)OTF2_Reader_CloseEvtFiles(verifier->reader);
	OTF2_EvtReaderCallbacks_Delete(calls);
	return verifier->error;
}

void crit_otf2_verify_ends(struct crit_otf2_verifier *verifier)
{
	crit_otf2_verify_locks(verifier);
	crit_otf2_verify_tasks(verifier);
}
