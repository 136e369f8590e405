/* SPDX-License-Identifier: BSD-3-Clause */
/* Where CMetric was earned as stacks of numbered frames, as formats of profiles want them. */
#ifndef CRIT_STACKS_H
#define CRIT_STACKS_H

#include "report/tables/path_tree.h"
#include "report/tables/summary.h"

struct crit_stack_frame {
	/* Valid UTF-8 without control characters; "[libm.so.6]", "[cut: memory]" and the like. */
	char *name;
	char *file; /* as the compiler names it, "" not known; likewise */
	char *module; /* program or library, "" none; likewise */
	const struct crit_path_node *node; /* the first that has it; NULL: how chains end */
};

struct crit_stack {
	const uint32_t *frames; /* innermost first; valid until the next stack */
	size_t frame_count;
	uint64_t cmetric_ns; /* rounded so that sums are right to a nanosecond */
	uint64_t samples;
};

struct crit_stacks {
	struct crit_path_tree tree;
	struct crit_stack_frame *frames;
	size_t frame_count, frame_capacity;
	struct crit_index numbers;
	uint32_t *of_node;
	uint32_t of_end[CRIT_PATH_FIRST]; /* CRIT_NONE: no frame tells of it */
	uint32_t *stack;
	size_t at;
	crit_fix cmetric; /* of the stacks so far */
};

/*
 * has_lines: lines of one function are frames of their own.  Where recordings have call paths, a
 * chain that is not complete begins with a frame that says how it ends.
 * Ownership: fini frees.  Errors: -ENODATA without samples, -ENOMEM.
 */
int crit_stacks_init(struct crit_stacks *stacks, const struct crit_summary *summary,
		     bool has_lines);
void crit_stacks_fini(struct crit_stacks *stacks);

/* The next one that has CMetric; false: there is none.  Begins with the first after init. */
bool crit_stacks_next(struct crit_stacks *stacks, struct crit_stack *ret_stack);

#endif
