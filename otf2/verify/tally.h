/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts by (communicator, sender, receiver, tag): what is sent less what is received. */
#ifndef CRIT_OTF2_TALLY_H
#define CRIT_OTF2_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

struct crit_otf2_tally_row {
	uint32_t communicator;
	uint32_t sender; /* both as indexes of COMM_LOCATIONS */
	uint32_t receiver;
	uint32_t tag;
	uint64_t sends;
	uint64_t receives;
	uint64_t sent_bytes;
	uint64_t received_bytes;
};

struct crit_otf2_tally {
	struct crit_otf2_tally_row *rows;
	size_t count, capacity;
	struct crit_index numbers; /* of rows, by key */
};

/* The row of a key, made when new; the key is that of *key.  Errors: NULL when out of memory. */
struct crit_otf2_tally_row *crit_otf2_tally_get(struct crit_otf2_tally *tally,
						const struct crit_otf2_tally_row *key);

void crit_otf2_tally_fini(struct crit_otf2_tally *tally);

#endif
