/* SPDX-License-Identifier: BSD-3-Clause */
/* All events, location by location. */
#ifndef CRIT_OTF2_VERIFY_EVENTS_H
#define CRIT_OTF2_VERIFY_EVENTS_H

#include "otf2/verify/verifier.h"

/* Reads and checks all events of locations whose definitions were read.  Errors: -ENOMEM. */
int crit_otf2_verify_events(struct crit_otf2_verifier *verifier, size_t first, size_t end);

/* After all of them: what is to have an end has one. */
void crit_otf2_verify_ends(struct crit_otf2_verifier *verifier);

#endif
