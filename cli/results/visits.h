/* SPDX-License-Identifier: BSD-3-Clause */
/* Enters of an archive's regions against the visits of the report of the same analysis. */
#ifndef CRIT_VISITS_H
#define CRIT_VISITS_H

#include <stdint.h>

#include "otf2/verify/verify_archive.h"

/*
 * Compares with the report.json beside the anchor, and tells of every region entered more or less
 * often.  Nothing is compared where there is no such report, it is of another run or window, or the
 * archive does not have all spans.  Errors: -ENOMEM, or how many faults there are.
 */
int64_t crit_visits_compare(const char *anchor, const struct crit_otf2_entered_list *entered,
			    void (*fault)(void *user, const char *text), void *user);

#endif
