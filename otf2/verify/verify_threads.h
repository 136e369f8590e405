/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks and joins, teams and locks. */
#ifndef CRIT_OTF2_VERIFY_THREADS_H
#define CRIT_OTF2_VERIFY_THREADS_H

#include "otf2/verify/verifier.h"

/* The callbacks of their events. */
void crit_otf2_verify_set_threads(OTF2_EvtReaderCallbacks *calls);

/* At the end of a location: are its teams ended, its threads joined, its locks released? */
void crit_otf2_verify_thread(struct crit_otf2_verifier *verifier);

/* After all events: was every lock acquired in as many orders as times? */
void crit_otf2_verify_locks(struct crit_otf2_verifier *verifier);

#endif
