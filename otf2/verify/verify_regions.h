/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings and regions: their definitions, and how often regions are entered. */
#ifndef CRIT_OTF2_VERIFY_REGIONS_H
#define CRIT_OTF2_VERIFY_REGIONS_H

#include "otf2/verify/verifier.h"

/* The callbacks of their definitions. */
void crit_otf2_verify_set_regions(OTF2_GlobalDefReaderCallbacks *calls);

/* Counts an enter; false: the region is not defined. */
bool crit_otf2_verify_enter(struct crit_otf2_verifier *verifier, uint32_t region);

void crit_otf2_verify_fini_regions(struct crit_otf2_verifier *verifier);

#endif
