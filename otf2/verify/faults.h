/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of an archive, told one line each, and errors of the verifier itself. */
#ifndef CRIT_OTF2_FAULTS_H
#define CRIT_OTF2_FAULTS_H

#include "otf2/verify/verifier.h"

/* Tells of a fault. */
void crit_otf2_fault(struct crit_otf2_verifier *verifier, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for the location being read; the first of its kind only. */
void crit_otf2_stream_fault(struct crit_otf2_verifier *verifier, enum crit_otf2_fault kind,
			    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Keeps the first error; the answer of the callback that met it. */
OTF2_CallbackCode crit_otf2_keep_error(struct crit_otf2_verifier *verifier, int rc);

#endif
