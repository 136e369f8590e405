/* SPDX-License-Identifier: BSD-3-Clause */
/* The registers and the stack of a frame, and the values that CFI computes from them. */
#ifndef CRIT_FRAME_REGISTERS_H
#define CRIT_FRAME_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/symbols/frame_rule.h"

struct crit_stack_copy { /* borrowed */
	const unsigned char *bytes;
	uint64_t begin; /* address of the first one */
	size_t byte_count;
};

struct crit_frame_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	bool is_bp_known;
	bool is_lr_known; /* of arm64, and of the innermost frame */
	uint64_t lr; /* the link register */
};

/* False: the copy does not reach there. */
static inline bool crit_stack_read(const struct crit_stack_copy *stack, uint64_t address,
				   uint64_t *ret_value)
{
	const uint64_t at = address - stack->begin;

	if (stack->byte_count < sizeof(*ret_value) || at > stack->byte_count - sizeof(*ret_value))
		return false;
	memcpy(ret_value, stack->bytes + at, sizeof(*ret_value));
	return true;
}

enum crit_frame_fault {
	CRIT_FRAME_FINE = 0,
	CRIT_FRAME_NO_MEMORY, /* beyond the copy of the stack */
	CRIT_FRAME_NO_SENSE, /* an operation is unknown, or lacks what it works on */
	CRIT_FRAME_FAULT_COUNT
};

/* Executes an expression's operations.  Range: any; *ret_value is written for CRIT_FRAME_FINE. */
enum crit_frame_fault crit_frame_evaluate(const struct crit_frame_op *ops, size_t op_count,
					  const struct crit_frame_registers *registers,
					  uint64_t cfa, const struct crit_stack_copy *stack,
					  uint64_t *ret_value);

#endif
