/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples counted by what their thread was in, their address, their call path and their time. */
#ifndef CRIT_TALLIES_H
#define CRIT_TALLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/attribution.h"
#include "core/base/index.h"

#define CRIT_TALLIES_MAX (1u << 19) /* then samples lose path and address, never their weight */

struct crit_tally {
	struct crit_bucket_key cell; /* its site is 0: the sum over all */
	uint64_t address; /* 0: there was no room */
	crit_fix weight; /* of CMetric, 2^-32 ns */
	uint64_t cpu_ns;
	uint32_t path; /* of the caller */
	uint32_t batch;
	uint32_t count;
	uint32_t row; /* of the results, set when all are counted */
};

struct crit_tallies { /* zeroed: empty */
	struct crit_tally *rows;
	size_t count, capacity;
	size_t max; /* 0: CRIT_TALLIES_MAX */
	struct crit_index numbers; /* of rows, by cell, address, path and batch */
};

/*
 * Adds what sample tells to the tally of its cell, address, path and batch.  Yields its row.
 * Errors: -ENOMEM.
 */
int64_t crit_tallies_add(struct crit_tallies *tallies, const struct crit_tally *sample);

void crit_tallies_fini(struct crit_tallies *tallies);

/* By thread, region, call and class: negative, 0 or positive. */
int crit_tallies_compare_cells(const struct crit_bucket_key *a, const struct crit_bucket_key *b);

#endif
