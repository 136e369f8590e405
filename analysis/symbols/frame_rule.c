// SPDX-License-Identifier: BSD-3-Clause
// libdw executes the CFI's instructions; what it yields are DWARF expressions, of which nearly all
// are a register and an offset.
#include "analysis/symbols/frame_rule.h"

#include <dwarf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BP CRIT_FRAME_REGISTER_BP
#define SP CRIT_FRAME_REGISTER_SP
#define PC CRIT_FRAME_REGISTER_PC

static bool is_register_tracked(uint64_t number)
{
	return number == BP || number == SP || (number == PC && !CRIT_FRAME_IS_LINKED);
}

/* False: it reads what is not known here. */
static bool take_op(const Dwarf_Op *op, struct crit_frame_op *ret_op)
{
	*ret_op = (struct crit_frame_op){ .code = op->atom, .operand = (int64_t)op->number };
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*ret_op = (struct crit_frame_op){ op->atom - DW_OP_lit0, DW_OP_consts, 0 };
		return true;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return is_register_tracked(op->atom - DW_OP_breg0);
	switch (op->atom) {
	case DW_OP_bregx:
		ret_op->code = DW_OP_breg0 + (uint32_t)(op->number & 31);
		ret_op->operand = (int64_t)op->number2;
		return is_register_tracked(op->number);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		ret_op->code = DW_OP_consts;
		return true;
	case DW_OP_call_frame_cfa:
	case DW_OP_deref:
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_over:
	case DW_OP_swap:
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_plus:
	case DW_OP_plus_uconst:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_eq:
	case DW_OP_ne:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* The operations as they are, with a load at the end where they yield a location. */
static bool take_expression(struct crit_frame_row *row, const Dwarf_Op *ops, size_t count,
			    bool is_location, struct crit_frame_value *ret_value)
{
	const uint8_t begin = row->rule.op_count;

	if (is_location && count && ops[count - 1].atom == DW_OP_stack_value) {
		is_location = false;
		count--;
	}
	if (count == 0 || count + is_location > (size_t)CRIT_FRAME_OPS_MAX - begin)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_op(&ops[i], &row->ops[begin + i]))
			return false;
	if (is_location)
		row->ops[begin + count++] = (struct crit_frame_op){ .code = DW_OP_deref };
	row->rule.op_count = (uint8_t)(begin + count);
	*ret_value = (struct crit_frame_value){ .kind = CRIT_FRAME_EXPRESSION,
						.op_begin = begin,
						.op_count = (uint8_t)count };
	return true;
}

static bool has_room(int64_t offset)
{
	return offset == (int32_t)offset;
}

static bool take_cfa(Dwarf_Frame *frame, struct crit_frame_row *row)
{
	struct crit_frame_value *value = &row->rule.cfa;
	struct crit_frame_op op;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) || count == 0)
		return false;
	if (count > 1 || !take_op(&ops[0], &op) || !has_room(op.operand) ||
	    (op.code != DW_OP_breg0 + SP && op.code != DW_OP_breg0 + BP))
		return take_expression(row, ops, count, false, value);
	value->kind = op.code == DW_OP_breg0 + SP ? CRIT_FRAME_SP : CRIT_FRAME_BP;
	value->offset = (int32_t)op.operand;
	return true;
}

/* False: the CFI says something that is not understood here. */
static bool take_register(Dwarf_Frame *frame, int number, struct crit_frame_row *row,
			  struct crit_frame_value *ret_value)
{
	Dwarf_Op memory[3];
	Dwarf_Op *ops;
	size_t count;
	int64_t offset;

	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		return false;
	if (count == 0) {
		ret_value->kind = ops ? CRIT_FRAME_UNDEFINED : CRIT_FRAME_SAME;
		return true;
	}
	offset = count == 2 ? (int64_t)ops[1].number : 0;
	if (count > 2 || ops[0].atom != DW_OP_call_frame_cfa || !has_room(offset) ||
	    (count == 2 && ops[1].atom != DW_OP_plus_uconst))
		return take_expression(row, ops, count, true, ret_value);
	ret_value->kind = CRIT_FRAME_AT_CFA;
	ret_value->offset = (int32_t)offset;
	return true;
}

static bool take_frame(Dwarf_Frame *frame, struct crit_frame_row *row)
{
	/* not its begin: libdw may say one that lies in rows before */
	int return_address = dwarf_frame_info(frame, NULL, &row->end, &row->rule.is_signal);

	if (return_address < 0 || !take_cfa(frame, row) ||
	    !take_register(frame, return_address, row, &row->rule.pc) ||
	    (row->rule.pc.kind == CRIT_FRAME_SAME && !CRIT_FRAME_IS_LINKED))
		return false;
	if (!take_register(frame, BP, row, &row->rule.bp))
		row->rule.bp.kind = CRIT_FRAME_UNDEFINED; /* few callers need it */
	return true;
}

bool crit_frame_row_read(Dwarf_CFI *cfi, uint64_t address, struct crit_frame_row *ret_row)
{
	Dwarf_Frame *frame = NULL;
	bool is_taken;

	memset(ret_row, 0, sizeof(*ret_row));
	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame))
		return false;
	is_taken = take_frame(frame, ret_row);
	free(frame);
	return is_taken;
}
