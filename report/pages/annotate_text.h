/* SPDX-License-Identifier: BSD-3-Clause */
/* The source lines of a function, with the CMetric that was earned in each. */
#ifndef CRIT_ANNOTATE_TEXT_H
#define CRIT_ANNOTATE_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "report/tables/summary.h"

struct crit_disassembler {
	void *user; /* first argument of both */
	/* Lines "  ADDRESS:\tINSTRUCTION" of a module; NULL and errno: none; close ends it. */
	FILE *(*open)(void *user, const char *module, uint64_t begin, uint64_t end);
	void (*close)(void *user, FILE *in);
};

/*
 * Every file in which lines of a function of that name, bare or whole, were sampled, with what was
 * inlined there; of one that cannot be read the sampled lines alone, and the instructions around
 * those that were sampled.
 * Errors: -ENODATA without samples, -ENOENT: none of the function, -ENOMEM.
 */
int crit_annotate_text_write(FILE *out, const struct crit_summary *summary, const char *function,
			     const struct crit_disassembler *disassembler);

#endif
