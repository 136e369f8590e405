/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a part of a program one instruction at a time and knows its call path before each: calls,
 * returns, signals and jumps out of functions are seen as they happen.
 */
#ifndef CRIT_TESTS_STEPPER_H
#define CRIT_TESTS_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/unwind/unwind.h"

#define STEPPER_DEPTH_MAX 4096

struct stepper_call { /* what a frame returns to */
	uint64_t slot; /* of the return address: a stack pointer above it has left the frame */
	uint64_t pc;
	bool is_exact; /* it was interrupted there, and did not call */
};

struct stepper_state { /* before an instruction */
	struct crit_unwind_copy copy;
	const struct crit_unwind_maps *maps;
	size_t depth;
	const struct stepper_call *calls; /* outermost first */
};

/* Ownership: all is borrowed until it returns. */
typedef void stepper_told(const struct stepper_state *state, void *user);

/*
 * Runs a program to its first mark, then by instructions up to its second, and tells of each, with
 * the maps read anew after each system call that may change them.  main's callers are taken from
 * the unwinder.  Errors: -errno; -ECHILD: it comes to no mark.
 */
int stepper_run(char *const *command, struct crit_unwinder *unwinder, stepper_told *told,
		void *user);

#endif
