/* SPDX-License-Identifier: BSD-3-Clause */
/* What every event obeys: order in time, within the range of the clock. */
#ifndef CRIT_OTF2_EVENT_TIME_H
#define CRIT_OTF2_EVENT_TIME_H

#include "otf2/verify/verifier.h"

/* The parameters that callbacks of all events have. */
#define CRIT_OTF2_EVENT                                                                            \
	OTF2_LocationRef location __attribute__((unused)), OTF2_TimeStamp time_ns,                 \
		uint64_t position __attribute__((unused)), void *user,                             \
		OTF2_AttributeList *attributes __attribute__((unused))

/* Checks the time of an event; the answer of its callback. */
OTF2_CallbackCode crit_otf2_verify_time(struct crit_otf2_verifier *verifier, uint64_t time_ns);

#endif
