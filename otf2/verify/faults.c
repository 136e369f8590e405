// SPDX-License-Identifier: BSD-3-Clause
// Words a fault, counts it, and hands it to the caller of the verifier.
#include "otf2/verify/faults.h"

#include <stdarg.h>
#include <stdio.h>

#define FAULT_BYTES 512

static void tell(struct crit_otf2_verifier *verifier, const char *begin, const char *format,
		 va_list arguments) __attribute__((format(printf, 3, 0)));

static void tell(struct crit_otf2_verifier *verifier, const char *begin, const char *format,
		 va_list arguments)
{
	char text[FAULT_BYTES];
	int length = snprintf(text, sizeof(text), "%s", begin);

	(void)vsnprintf(text + length, sizeof(text) - (size_t)length, format, arguments);
	verifier->fault_count++;
	verifier->fault(verifier->user, text);
}

void crit_otf2_fault(struct crit_otf2_verifier *verifier, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(verifier, "", format, arguments);
	va_end(arguments);
}

void crit_otf2_stream_fault(struct crit_otf2_verifier *verifier, enum crit_otf2_fault kind,
			    const char *format, ...)
{
	struct crit_otf2_stream *stream = &verifier->stream;
	uint64_t reference = verifier->locations[stream->location].reference;
	char begin[64];
	va_list arguments;

	if (stream->told & 1u << kind)
		return;
	stream->told |= 1u << kind;
	(void)snprintf(begin, sizeof(begin),
		       "location %llu (rank %u, thread %u): ", (unsigned long long)reference,
		       (unsigned int)reference, (unsigned int)(reference >> 32));
	va_start(arguments, format);
	tell(verifier, begin, format, arguments);
	va_end(arguments);
}

OTF2_CallbackCode crit_otf2_keep_error(struct crit_otf2_verifier *verifier, int rc)
{
	if (rc && !verifier->error)
		verifier->error = rc;
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}
