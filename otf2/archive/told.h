/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a table that another process told of, to which its final numbers are sent back. */
#ifndef CRIT_OTF2_TOLD_H
#define CRIT_OTF2_TOLD_H

#include <stddef.h>

struct crit_otf2_told {
	size_t first, count;
};

#endif
