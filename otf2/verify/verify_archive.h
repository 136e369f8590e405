/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks an OTF2 archive for faults that readers overlook or crash on. */
#ifndef CRIT_OTF2_VERIFY_ARCHIVE_H
#define CRIT_OTF2_VERIFY_ARCHIVE_H

#include <stdint.h>

#include "core/base/err.h"
#include "otf2/verify/entered.h"

struct crit_otf2_verified {
	uint64_t fault_count;
	uint64_t location_count;
	uint64_t event_count;
	uint64_t message_count; /* sends */
};

/*
 * Verifies the archive with this anchor (traces.otf2).  fault is told one line per fault, the first
 * of its kind in a location.
 * ret_entered: all regions, freed by the caller with fini; may be NULL.
 * Errors: -ENOENT, -EPROTO no archive libotf2 understands, -ENOMEM; a fault is no error.
 * Cost: reads every event once, however the files may be cut; memory O(locations + pairs of ranks
 * that talk).
 */
int crit_otf2_verify(const char *anchor, void (*fault)(void *user, const char *text), void *user,
		     struct crit_otf2_verified *ret_verified,
		     struct crit_otf2_entered_list *ret_entered, struct crit_err *err);

#endif
