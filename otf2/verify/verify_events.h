/* SPDX-License-Identifier: BSD-3-Clause */
/* All events, location by location. */
#ifndef CRIT_OTF2_VERIFY_EVENTS_H
#define CRIT_OTF2_VERIFY_EVENTS_H

#include "otf2/verify/verifier.h"

/* Reads and checks all events.  Errors: -ENOMEM. */
int crit_otf2_verify_events(struct crit_otf2_verifier *verifier);

#endif
