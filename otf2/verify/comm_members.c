// SPDX-License-Identifier: BSD-3-Clause
// Finds communicators, and files the members of a group when first asked for one.
#include "otf2/verify/comm_members.h"

#include "otf2/verify/faults.h"

bool crit_otf2_verify_is_member(struct crit_otf2_verifier *verifier, uint32_t index,
				uint32_t member)
{
	struct crit_otf2_seen_group *group = &verifier->groups[index];
	int rc = 0;

	for (uint32_t i = 0; i < group->member_count && !group->is_filed && !rc; i++)
		rc = crit_map_set(&verifier->memberships,
				  (uint64_t)index << 32 | (uint32_t)group->members[i], 0);
	group->is_filed = true;
	if (rc)
		verifier->error = rc;
	return crit_map_get(&verifier->memberships, (uint64_t)index << 32 | member) != CRIT_NONE;
}

struct crit_otf2_seen_communicator *crit_otf2_verify_find(struct crit_otf2_verifier *verifier,
							  uint32_t reference)
{
	uint32_t index = crit_map_get(&verifier->communicator_numbers, reference);

	if (index != CRIT_NONE)
		return &verifier->communicators[index];
	crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_REFERENCE,
			       "communicator %u is not defined", reference);
	return NULL;
}
