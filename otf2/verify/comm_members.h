/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators that events name, and who is in their groups. */
#ifndef CRIT_OTF2_COMM_MEMBERS_H
#define CRIT_OTF2_COMM_MEMBERS_H

#include "otf2/verify/verifier.h"

/* The communicator of a reference, NULL with a fault when it is not defined. */
struct crit_otf2_seen_communicator *crit_otf2_verify_find(struct crit_otf2_verifier *verifier,
							  uint32_t reference);

/* Is a location in a group?  Cost: O(1), once every member was looked at.  Errors: -ENOMEM. */
bool crit_otf2_verify_is_member(struct crit_otf2_verifier *verifier, uint32_t group,
				uint32_t member);

#endif
