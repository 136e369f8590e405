/* SPDX-License-Identifier: BSD-3-Clause */
/* Each location's own definitions: from provisional to final references, and clock offsets. */
#ifndef CRIT_OTF2_LOCAL_DEFINITIONS_H
#define CRIT_OTF2_LOCAL_DEFINITIONS_H

#include <stdint.h>

#include "otf2/archive_parts.h"

/* Writes those of this process's locations, for events in this range.  Errors: -EIO, -ENOSPC. */
int crit_otf2_define_locations(struct crit_otf2_parts *parts, uint64_t begin_ns, uint64_t end_ns);

#endif
