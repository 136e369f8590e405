// SPDX-License-Identifier: BSD-3-Clause
// DWARF 5, section 2.5: a stack machine, here without branches and with the registers that are
// tracked.
#include "analysis/unwind/frame_registers.h"

#include <dwarf.h>

#define BREG_BP (DW_OP_breg0 + CRIT_FRAME_REGISTER_BP)
#define BREG_SP (DW_OP_breg0 + CRIT_FRAME_REGISTER_SP)
#define BREG_PC (DW_OP_breg0 + CRIT_FRAME_REGISTER_PC)
#define DEPTH_MAX 16

struct machine {
	const struct crit_frame_registers *registers;
	const struct crit_stack_copy *stack;
	uint64_t cfa;
	uint64_t values[DEPTH_MAX];
	size_t depth;
};

static uint64_t shifted(uint32_t code, uint64_t value, uint64_t by)
{
	const uint64_t sign = value >> 63 ? UINT64_MAX : 0;

	if (by > 63)
		return code == DW_OP_shra ? sign : 0;
	if (code == DW_OP_shl)
		return value << by;
	if (code == DW_OP_shr || by == 0)
		return value >> by;
	return value >> by | sign << (64 - by);
}

/* Of the two values on top, the last one is b. */
static enum crit_frame_fault do_two(uint32_t code, uint64_t *a, uint64_t b)
{
	const int64_t left = (int64_t)*a;
	const int64_t right = (int64_t)b;

	switch (code) {
	case DW_OP_and:
		*a &= b;
		break;
	case DW_OP_or:
		*a |= b;
		break;
	case DW_OP_xor:
		*a ^= b;
		break;
	case DW_OP_plus:
		*a += b;
		break;
	case DW_OP_minus:
		*a -= b;
		break;
	case DW_OP_mul:
		*a *= b;
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		*a = shifted(code, *a, b);
		break;
	case DW_OP_eq:
		*a = left == right;
		break;
	case DW_OP_ne:
		*a = left != right;
		break;
	case DW_OP_ge:
		*a = left >= right;
		break;
	case DW_OP_gt:
		*a = left > right;
		break;
	case DW_OP_le:
		*a = left <= right;
		break;
	case DW_OP_lt:
		*a = left < right;
		break;
	default:
		return CRIT_FRAME_NO_SENSE;
	}
	return CRIT_FRAME_FINE;
}

static enum crit_frame_fault push(struct machine *machine, uint64_t value)
{
	if (machine->depth == DEPTH_MAX)
		return CRIT_FRAME_NO_SENSE;
	machine->values[machine->depth++] = value;
	return CRIT_FRAME_FINE;
}

/* Works on the value on top, of which there is one. */
static enum crit_frame_fault do_one(struct machine *machine, const struct crit_frame_op *op)
{
	uint64_t *top = &machine->values[machine->depth - 1];

	switch (op->code) {
	case DW_OP_deref:
		return crit_stack_read(machine->stack, *top, top) ? CRIT_FRAME_FINE
								  : CRIT_FRAME_NO_MEMORY;
	case DW_OP_dup:
		return push(machine, *top);
	case DW_OP_drop:
		machine->depth--;
		return CRIT_FRAME_FINE;
	case DW_OP_plus_uconst:
		*top += (uint64_t)op->operand;
		return CRIT_FRAME_FINE;
	case DW_OP_neg:
		*top = 0 - *top;
		return CRIT_FRAME_FINE;
	case DW_OP_not:
		*top = ~*top;
		return CRIT_FRAME_FINE;
	default:
		break;
	}
	if (machine->depth < 2)
		return CRIT_FRAME_NO_SENSE;
	if (op->code == DW_OP_over)
		return push(machine, top[-1]);
	if (op->code == DW_OP_swap) {
		const uint64_t below = top[-1];

		top[-1] = *top;
		*top = below;
		return CRIT_FRAME_FINE;
	}
	machine->depth--;
	return do_two(op->code, top - 1, *top);
}

static enum crit_frame_fault do_op(struct machine *machine, const struct crit_frame_op *op)
{
	const struct crit_frame_registers *registers = machine->registers;
	const uint64_t operand = (uint64_t)op->operand;

	switch (op->code) {
	case DW_OP_consts:
		return push(machine, operand);
	case BREG_SP:
		return push(machine, registers->sp + operand);
	case BREG_PC:
		return push(machine, registers->pc + operand);
	case BREG_BP:
		return registers->is_bp_known ? push(machine, registers->bp + operand)
					      : CRIT_FRAME_NO_MEMORY;
	case DW_OP_call_frame_cfa:
		return push(machine, machine->cfa);
	case DW_OP_nop:
		return CRIT_FRAME_FINE;
	default:
		return machine->depth ? do_one(machine, op) : CRIT_FRAME_NO_SENSE;
	}
}

enum crit_frame_fault crit_frame_evaluate(const struct crit_frame_op *ops, size_t op_count,
					  const struct crit_frame_registers *registers,
					  uint64_t cfa, const struct crit_stack_copy *stack,
					  uint64_t *ret_value)
{
	struct machine machine = { .registers = registers, .stack = stack, .cfa = cfa };
	enum crit_frame_fault fault = CRIT_FRAME_FINE;

	for (size_t i = 0; i < op_count && !fault; i++)
		fault = do_op(&machine, &ops[i]);
	if (!fault && !machine.depth)
		fault = CRIT_FRAME_NO_SENSE;
	if (!fault)
		*ret_value = machine.values[machine.depth - 1];
	return fault;
}
