/* SPDX-License-Identifier: BSD-3-Clause */
/* Global definitions, and each location's own clock offsets. */
#ifndef CRIT_OTF2_VERIFY_DEFINITIONS_H
#define CRIT_OTF2_VERIFY_DEFINITIONS_H

#include "otf2/verify/verifier.h"

/* Reads and checks the global definitions: 1, or 0 if they cannot be read.  Errors: -ENOMEM. */
int crit_otf2_verify_definitions(struct crit_otf2_verifier *verifier);

/*
 * Reads and checks own definitions of locations, by index, with a reader that has seen none of
 * theirs.  Errors: -ENOMEM.
 */
int crit_otf2_verify_offsets(struct crit_otf2_verifier *verifier, size_t first, size_t end);

#endif
