/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener that counts edges by kind: the smallest there is, to begin another one from. */
#ifndef CRIT_TESTS_EDGE_COUNTS_H
#define CRIT_TESTS_EDGE_COUNTS_H

#include "analysis/schema/event.h"

struct crit_edge_counts {
	uint64_t by_kind[CRIT_EDGE_KIND_COUNT];
};

/* For crit_analysis_options.listener.  Ownership: counts is borrowed until the analysis is over. */
struct crit_listener crit_edge_counts_listener(struct crit_edge_counts *counts);

/* "message", "collective" and so on. */
const char *crit_edge_kind_name(enum crit_edge_kind kind);

#endif
