/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of an archive, each once, numbered from 0 (the empty one) in order of first use. */
#ifndef CRIT_OTF2_STRINGS_H
#define CRIT_OTF2_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct crit_otf2_strings;

/* Errors: NULL when out of memory. */
struct crit_otf2_strings *crit_otf2_strings_create(void);

/* The number of a text, given one when new.  Errors: CRIT_NONE when out of memory. */
uint32_t crit_otf2_string(struct crit_otf2_strings *strings, const char *text);

/* How many there are, and one of them.  Range: number is below the count. */
size_t crit_otf2_strings_count(const struct crit_otf2_strings *strings);
const char *crit_otf2_strings_text(const struct crit_otf2_strings *strings, uint32_t number);

void crit_otf2_strings_destroy(struct crit_otf2_strings *strings);

#endif
