// SPDX-License-Identifier: BSD-3-Clause
// Reads the properties of the anchor.
#include "otf2/verify/claims.h"

#include <stdlib.h>

#include "otf2/archive/properties.h"

/* False: it is not there, or false. */
static bool claims(const struct crit_otf2_verifier *verifier, const char *property)
{
	bool is_true;

	return OTF2_Reader_GetBoolProperty(verifier->reader, property, &is_true) == OTF2_SUCCESS &&
	       is_true;
}

void crit_otf2_verify_analysis(struct crit_otf2_verifier *verifier)
{
	struct crit_otf2_entered_list *list = &verifier->entered;
	char *text = NULL, *end;

	if (OTF2_Reader_GetProperty(verifier->reader, CRIT_OTF2_ANALYSIS, &text) != OTF2_SUCCESS)
		return;
	list->run_id = strtoull(text, &end, 16);
	list->window_ns = strtoull(end, &end, 10);
	list->is_whole = !*end && !claims(verifier, CRIT_OTF2_HAS_LOSSES) &&
			 !claims(verifier, CRIT_OTF2_IS_CUT) &&
			 !claims(verifier, CRIT_OTF2_HAS_ALL) &&
			 !claims(verifier, CRIT_OTF2_HAS_JOINED) && !verifier->has_unread;
	free(text);
}

void crit_otf2_verify_claims(struct crit_otf2_verifier *verifier)
{
	verifier->is_complete = claims(verifier, "OTF2::MPI_COMMUNICATION_COMPLETE");
	verifier->has_all_forks = claims(verifier, "OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE");
	verifier->has_all_locks = claims(verifier, "OTF2::THREAD_LOCK_EVENT_COMPLETE");
}
