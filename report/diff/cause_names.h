/* SPDX-License-Identifier: BSD-3-Clause */
/* What a row of causes[] is called in two reports, so that it can be paired. */
#ifndef CRIT_CAUSE_NAMES_H
#define CRIT_CAUSE_NAMES_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/index.h"

struct crit_cause_names {
	const json_t *report; /* borrowed: rows are of it */
	struct crit_index threads; /* its threads[], by number and process */
};

/* Ownership: fini frees, also after an error; the report must outlive it.  Errors: -ENOMEM. */
int crit_cause_names_init(struct crit_cause_names *names, const json_t *report);
void crit_cause_names_fini(struct crit_cause_names *names);

/*
 * "0.3: between MPI_Recv receive and MPI_Send send", "0.3: wants a CPU and has none": by world and
 * rank, or by the name of a thread, and by calls with their functions.  Lines, which a change of
 * the program moves, and numbers of threads, which each run gives anew, are left out: rows that
 * differ by these have one name.
 */
void crit_cause_names_say(const struct crit_cause_names *names, const json_t *row, char *text,
			  size_t text_bytes);

#endif
