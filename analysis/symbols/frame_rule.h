/* SPDX-License-Identifier: BSD-3-Clause */
/* How a function's frame leads to its caller's: a row of the call frame information (CFI). */
#ifndef CRIT_FRAME_RULE_H
#define CRIT_FRAME_RULE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* The registers that are followed, by the numbers of the architecture's CFI. */
#if defined(__aarch64__)
#define CRIT_FRAME_REGISTER_BP 29
#define CRIT_FRAME_REGISTER_SP 31
#define CRIT_FRAME_REGISTER_PC 30 /* the link register, which no expression may read */
#define CRIT_FRAME_IS_LINKED true /* calls leave the return address in a register */
#else
#define CRIT_FRAME_REGISTER_BP 6
#define CRIT_FRAME_REGISTER_SP 7
#define CRIT_FRAME_REGISTER_PC 16
#define CRIT_FRAME_IS_LINKED false
#endif

#define CRIT_FRAME_OPS_MAX 64 /* of a rule; PLTs need 10, signal frames 6 */

enum crit_frame_kind {
	CRIT_FRAME_UNDEFINED = 0, /* of the CFA: there is no rule; of the pc: there is no caller */
	CRIT_FRAME_SAME, /* as it is in this frame; of the pc: in the link register */
	CRIT_FRAME_SP, /* stack pointer + offset */
	CRIT_FRAME_BP, /* rbp, x29 + offset */
	CRIT_FRAME_AT_CFA, /* what the stack holds at CFA + offset */
	CRIT_FRAME_EXPRESSION, /* what the operations yield */
	CRIT_FRAME_KIND_COUNT
};

struct crit_frame_value {
	uint8_t kind; /* enum crit_frame_kind */
	uint8_t op_begin; /* in the rule's operations */
	uint8_t op_count;
	uint8_t reserved;
	int32_t offset;
};

/*
 * An operation of a DWARF expression, its code as in dwarf.h: constants are DW_OP_consts, registers
 * DW_OP_breg0 + their number.
 */
struct crit_frame_op {
	int64_t operand;
	uint32_t code;
	uint32_t reserved;
};

struct crit_frame_rule {
	struct crit_frame_value cfa; /* the stack pointer in the caller, behind the call */
	struct crit_frame_value pc; /* in the caller */
	struct crit_frame_value bp;
	uint32_t op_at; /* of its first operation, for who keeps those of many rules */
	uint8_t op_count;
	bool is_signal; /* the caller was interrupted: its pc is of an instruction to come */
	uint8_t reserved[2];
};

struct crit_frame_row {
	uint64_t end; /* it holds from the address on up to there, an address in the file */
	struct crit_frame_rule rule;
	struct crit_frame_op ops[CRIT_FRAME_OPS_MAX];
};

/*
 * The row of an address.  False: there is none, or it needs other registers than those above,
 * branches, or too many operations.  Cost: a search, then the instructions of the function up to
 * the address.
 */
bool crit_frame_row_read(Dwarf_CFI *cfi, uint64_t address, struct crit_frame_row *ret_row);

#endif
