/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a program in words. */
#ifndef CRIT_FIX_WORDS_H
#define CRIT_FIX_WORDS_H

#include <stdio.h>

#include "report/causes/cause_words.h"
#include "report/causes/code_places.h"
#include "report/fixes/fix_table.h"

#define CRIT_FIX_BYTES (CRIT_CAUSE_WHAT_BYTES + 96)

/* "balance in smooth (solver.c) over its 8 ranks", marked where locks could change; text. */
const char *crit_fix_text(const struct crit_fix_row *row, const struct crit_results *results,
			  char text[CRIT_FIX_BYTES]);

/* "locks", "tasks": what waits of a free order are for. */
const char *crit_fix_free_words(enum crit_free_order why);

/*
 * "Nothing stands out to balance", where none of a table's changes of one place gains much; or of
 * how much waiting the forecast does not know who ended it.
 */
void crit_fix_even_write(FILE *out, const struct crit_fix_table *table);

/* What comes of waiting of which no cause is known, where that is much.  costs: may be NULL. */
void crit_fix_causeless_write(FILE *out, const struct crit_costs *costs);

/* "faster", "balanced", "all_balanced", "no_transfer", ... */
const char *crit_fix_kind_name(enum crit_fix_kind kind);

static inline bool crit_fix_is_of_function(const struct crit_fix_row *row)
{
	return row->place && row->place->before->is_function;
}

#endif
