/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit tasks. */
#ifndef CRIT_OTF2_VERIFY_TASKS_H
#define CRIT_OTF2_VERIFY_TASKS_H

#include "otf2/verify/verifier.h"

/* The callbacks of their events. */
void crit_otf2_verify_set_tasks(OTF2_EvtReaderCallbacks *calls);

/* After all events: was every task that was made completed? */
void crit_otf2_verify_tasks(struct crit_otf2_verifier *verifier);

#endif
