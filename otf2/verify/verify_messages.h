/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between ranks, and collectives. */
#ifndef CRIT_OTF2_VERIFY_MESSAGES_H
#define CRIT_OTF2_VERIFY_MESSAGES_H

#include "otf2/verify/verifier.h"

/* A message or a collective of the stream's rank. */
void crit_otf2_verify_message(struct crit_otf2_verifier *verifier, bool is_send, uint32_t peer,
			      uint32_t communicator, uint32_t tag, uint64_t bytes);
void crit_otf2_verify_collective(struct crit_otf2_verifier *verifier, uint32_t communicator);

/* After all events: does what was sent equal what was received? */
void crit_otf2_verify_matches(struct crit_otf2_verifier *verifier);

#endif
