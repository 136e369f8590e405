/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a bucket's time threads were at which code address, by samples.
 *
 * Which bucket a thread is in is known only when it leaves it: till then its samples are a stretch,
 * joined by address where there is no room, then of two neighbours that stand for little one stands
 * for both, more often the one that stands for more.  Source: Deville and Tille, Unequal
 * probability sampling without replacement through a splitting method, 1998 (the pivotal method).
 */
#ifndef CRIT_FILMED_SAMPLES_H
#define CRIT_FILMED_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

#define CRIT_FILMED_STRETCH 512u /* samples in it at most */

struct crit_filmed_sample {
	uint64_t address; /* as crit_sample_row has it; 0: of others, for which there was no room */
	uint64_t cpu_ns; /* that the samples stand for */
	double squares; /* sum of the squares of what each of them stands for, ns² */
	uint32_t bucket;
	uint32_t count;
};

struct crit_filmed_samples { /* zeroed: empty */
	struct crit_filmed_sample *rows; /* one for each bucket and address */
	size_t count, capacity;
	struct crit_index numbers;
};

struct crit_filmed_stretch { /* zeroed: empty */
	struct crit_filmed_sample *rows;
	size_t count, capacity;
	uint32_t random; /* xorshift; 0: not begun */
};

/* One more of the bucket that the thread is in.  Errors: -ENOMEM. */
int crit_filmed_stretch_add(struct crit_filmed_stretch *stretch, uint64_t address, uint64_t cpu_ns);

/*
 * Ends a stretch: its samples are of that bucket, or of none that is known, CRIT_NONE.
 * Errors: -ENOMEM.
 */
int crit_filmed_samples_add(struct crit_filmed_samples *samples,
			    struct crit_filmed_stretch *stretch, uint32_t bucket);

void crit_filmed_stretch_fini(struct crit_filmed_stretch *stretch);
void crit_filmed_samples_fini(struct crit_filmed_samples *samples);

#endif
