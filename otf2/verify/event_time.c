// SPDX-License-Identifier: BSD-3-Clause
// Time never goes back in a location, nor beyond the clock.
#include "otf2/verify/event_time.h"

#include "otf2/verify/faults.h"

OTF2_CallbackCode crit_otf2_verify_time(struct crit_otf2_verifier *verifier, uint64_t time_ns)
{
	struct crit_otf2_stream *stream = &verifier->stream;

	if (time_ns < stream->last_ns) {
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TIME,
				       "time goes back from %llu to %llu; the rest was not read",
				       (unsigned long long)stream->last_ns,
				       (unsigned long long)time_ns);
		stream->is_stopped = true;
		return OTF2_CALLBACK_INTERRUPT;
	}
	stream->last_ns = time_ns;
	if (verifier->has_clock &&
	    (time_ns < verifier->begin_ns || time_ns - verifier->begin_ns > verifier->length_ns))
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_CLOCK,
				       "an event at %llu lies outside the clock's range",
				       (unsigned long long)time_ns);
	return verifier->error ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}
