/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of an archive, each once, numbered from 0 (the empty one) in order of first use. */
#ifndef CRIT_OTF2_STRINGS_H
#define CRIT_OTF2_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

struct crit_otf2_strings {
	char **texts;
	size_t count, capacity;
	struct crit_index numbers; /* by text */
};

/* The number of a text, given one when new.  Errors: CRIT_NONE when out of memory. */
uint32_t crit_otf2_string(struct crit_otf2_strings *strings, const char *text);

void crit_otf2_strings_fini(struct crit_otf2_strings *strings);

#endif
