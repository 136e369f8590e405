/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a program in words. */
#ifndef CRIT_FIX_WORDS_H
#define CRIT_FIX_WORDS_H

#include "report/causes/cause_words.h"
#include "report/causes/fix_table.h"

#define CRIT_FIX_BYTES (CRIT_CAUSE_WHAT_BYTES + 64)

/* "balance in smooth (solver.c) over its 8 ranks".  Answers text, or a static word. */
const char *crit_fix_text(const struct crit_fix_row *row, const struct crit_results *results,
			  char text[CRIT_FIX_BYTES]);

/* "faster", "balanced", "all_balanced", "no_transfer", "wishes". */
const char *crit_fix_kind_name(enum crit_fix_kind kind);

static inline bool crit_fix_has_place(const struct crit_fix_row *row)
{
	return row->kind == CRIT_FIX_FASTER || row->kind == CRIT_FIX_BALANCED;
}

#endif
