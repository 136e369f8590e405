/* SPDX-License-Identifier: BSD-3-Clause */
/* When two threads last had a message for which one waited for the other. */
#ifndef CRIT_DELAY_PAIRS_H
#define CRIT_DELAY_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

#define CRIT_DELAY_PAIRS_MAX 65536u /* of more nothing is known */

struct crit_delay_pair {
	uint32_t threads[2]; /* the lower one first */
	uint64_t met_ns[2]; /* each */
};

struct crit_delay_pairs { /* zeroed: none */
	struct crit_delay_pair *rows;
	size_t count, capacity;
	struct crit_index places;
};

void crit_delay_pairs_fini(struct crit_delay_pairs *pairs);

/*
 * The pair of two threads, in its order; a new one was there at begin_ns.  NULL: there is no room,
 * or no memory, as *ret_rc says.  Valid until the next call.
 */
struct crit_delay_pair *crit_delay_pairs_obtain(struct crit_delay_pairs *pairs, uint32_t a,
						uint32_t b, uint64_t begin_ns, int *ret_rc);

#endif
