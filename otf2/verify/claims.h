/* SPDX-License-Identifier: BSD-3-Clause */
/* What an archive says of itself: that nothing is missing, and which analysis it is of. */
#ifndef CRIT_OTF2_CLAIMS_H
#define CRIT_OTF2_CLAIMS_H

#include "otf2/verify/verifier.h"

/* Which events are all there. */
void crit_otf2_verify_claims(struct crit_otf2_verifier *verifier);

/* Of an archive of crit, once all events are read: run, window, and whether it is whole. */
void crit_otf2_verify_analysis(struct crit_otf2_verifier *verifier);

#endif
