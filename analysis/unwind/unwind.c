// SPDX-License-Identifier: BSD-3-Clause
// Each step takes the registers of a frame to those of its caller.  The stack pointer only rises,
// so that the copy bounds the steps.
#include "analysis/unwind/unwind.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/unwind/frame_registers.h"
#include "analysis/unwind/frame_rules.h"

struct crit_unwinder {
	struct crit_mapped_files files;
	struct crit_frame_rules rules;
};

struct stack_walk {
	struct crit_unwinder *unwinder;
	struct crit_stack_copy stack;
	struct crit_frame_registers registers;
	bool is_exact; /* the pc is of the instruction to come, not behind a call */
};

/* What a step finds out; an end, or: there is a caller. */
#define GOES_ON CRIT_UNWIND_END_COUNT

int crit_unwinder_create(struct crit_elf_reader *reader, struct crit_unwinder **ret_unwinder)
{
	struct crit_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return -ENOMEM;
	crit_frame_rules_init(&unwinder->rules, reader);
	*ret_unwinder = unwinder;
	return 0;
}

void crit_unwinder_destroy(struct crit_unwinder *unwinder)
{
	if (!unwinder)
		return;
	crit_frame_rules_fini(&unwinder->rules);
	crit_mapped_files_fini(&unwinder->files);
	free(unwinder);
}

struct crit_mapped_files *crit_unwinder_files(struct crit_unwinder *unwinder)
{
	return &unwinder->files;
}

uint64_t crit_unwinder_questions(const struct crit_unwinder *unwinder)
{
	return unwinder->rules.question_count;
}

static enum crit_unwind_end evaluate(const struct stack_walk *walk,
				     const struct crit_frame_rule *rule,
				     const struct crit_frame_value *value, uint64_t cfa,
				     uint64_t *ret_value)
{
	const struct crit_frame_op *ops = walk->unwinder->rules.ops + rule->op_at + value->op_begin;

	switch (crit_frame_evaluate(ops, value->op_count, &walk->registers, cfa, &walk->stack,
				    ret_value)) {
	case CRIT_FRAME_FINE:
		return GOES_ON;
	case CRIT_FRAME_NO_MEMORY:
		return CRIT_UNWIND_CUT_MEMORY;
	default:
		return CRIT_UNWIND_CUT_NO_CFI;
	}
}

static enum crit_unwind_end find_cfa(const struct stack_walk *walk,
				     const struct crit_frame_rule *rule, uint64_t *ret_cfa)
{
	const struct crit_frame_registers *registers = &walk->registers;
	const uint64_t offset = (uint64_t)(int64_t)rule->cfa.offset;

	switch (rule->cfa.kind) {
	case CRIT_FRAME_SP:
		*ret_cfa = registers->sp + offset;
		return GOES_ON;
	case CRIT_FRAME_BP:
		*ret_cfa = registers->bp + offset;
		return registers->is_bp_known ? GOES_ON : CRIT_UNWIND_CUT_MEMORY;
	case CRIT_FRAME_EXPRESSION:
		return evaluate(walk, rule, &rule->cfa, 0, ret_cfa);
	default:
		return CRIT_UNWIND_CUT_NO_CFI;
	}
}

static enum crit_unwind_end find_pc(const struct stack_walk *walk,
				    const struct crit_frame_rule *rule, uint64_t cfa,
				    uint64_t *ret_pc)
{
	enum crit_unwind_end end;

	switch (rule->pc.kind) {
	case CRIT_FRAME_AT_CFA:
		end = crit_stack_read(&walk->stack, cfa + (uint64_t)(int64_t)rule->pc.offset,
				      ret_pc)
			      ? GOES_ON
			      : CRIT_UNWIND_CUT_MEMORY;
		break;
	case CRIT_FRAME_EXPRESSION:
		end = evaluate(walk, rule, &rule->pc, cfa, ret_pc);
		break;
	case CRIT_FRAME_UNDEFINED:
		return CRIT_UNWIND_COMPLETE;
	default:
		return CRIT_UNWIND_CUT_NO_CFI;
	}
	return end == GOES_ON && *ret_pc == 0 ? CRIT_UNWIND_COMPLETE : end;
}

/*
 * What the CFI calls the slot of rbp is none where it lies outside of the frame: an epilogue has
 * popped it, behind which few compilers say so, and rbp is the caller's.
 */
static void load_bp(const struct stack_walk *walk, uint64_t slot, uint64_t cfa,
		    struct crit_frame_registers *caller)
{
	if (slot >= walk->registers.sp && slot < cfa)
		caller->is_bp_known = crit_stack_read(&walk->stack, slot, &caller->bp);
}

/* Operations that end with a load say where a slot is. */
static void evaluate_bp(const struct stack_walk *walk, const struct crit_frame_rule *rule,
			uint64_t cfa, struct crit_frame_registers *caller)
{
	const struct crit_frame_op *ops = walk->unwinder->rules.ops + rule->op_at;
	struct crit_frame_value value = rule->bp;
	uint64_t yielded = 0;
	bool is_slot = value.op_count &&
		       ops[value.op_begin + value.op_count - 1].code == DW_OP_deref;

	value.op_count -= is_slot;
	caller->is_bp_known = evaluate(walk, rule, &value, cfa, &yielded) == GOES_ON;
	if (!caller->is_bp_known)
		return;
	if (is_slot)
		load_bp(walk, yielded, cfa, caller);
	else
		caller->bp = yielded;
}

/* A value that cannot be had is missed only by a frame whose CFA it is. */
static void restore_bp(const struct stack_walk *walk, const struct crit_frame_rule *rule,
		       uint64_t cfa, struct crit_frame_registers *caller)
{
	switch (rule->bp.kind) {
	case CRIT_FRAME_SAME:
		break;
	case CRIT_FRAME_AT_CFA:
		load_bp(walk, cfa + (uint64_t)(int64_t)rule->bp.offset, cfa, caller);
		break;
	case CRIT_FRAME_EXPRESSION:
		evaluate_bp(walk, rule, cfa, caller);
		break;
	default:
		caller->is_bp_known = false;
		break;
	}
}

static enum crit_unwind_end step(struct stack_walk *walk, const struct crit_frame_rule *rule)
{
	struct crit_frame_registers caller = walk->registers;
	enum crit_unwind_end end;

	if (rule->pc.kind == CRIT_FRAME_UNDEFINED && rule->cfa.kind != CRIT_FRAME_UNDEFINED)
		return CRIT_UNWIND_COMPLETE; /* the CFA may be nonsense there */
	end = find_cfa(walk, rule, &caller.sp);
	if (end != GOES_ON)
		return end;
	if (caller.sp <= walk->registers.sp)
		return CRIT_UNWIND_CUT_MEMORY; /* another stack */
	end = find_pc(walk, rule, caller.sp, &caller.pc);
	if (end != GOES_ON)
		return end;
	restore_bp(walk, rule, caller.sp, &caller);
	walk->registers = caller;
	walk->is_exact = rule->is_signal;
	return GOES_ON;
}

static bool is_inside(const struct crit_unwind_mapping *mapping, uint64_t address)
{
	return mapping && mapping->begin <= address && address < mapping->end;
}

static const struct crit_frame_rule *rule_at(struct crit_unwinder *unwinder,
					     const struct crit_unwind_frame *frame)
{
	if (frame->file == CRIT_UNWIND_NO_FILE)
		return NULL;
	return crit_frame_rules_find(&unwinder->rules, &unwinder->files, frame->file,
				     frame->offset);
}

/*
 * What returns from signals ends with the system call that does it: there the pc lies behind the
 * last instruction, and behind what its rule holds for.
 */
static const struct crit_frame_rule *signal_rule_before(struct crit_unwinder *unwinder,
							struct crit_unwind_frame *frame)
{
	const struct crit_unwind_frame before = { .offset = frame->offset - 1,
						  .file = frame->file };
	const struct crit_frame_rule *rule = rule_at(unwinder, &before);

	if (!rule || !rule->is_signal)
		return rule_at(unwinder, frame);
	*frame = before;
	return rule;
}

void crit_unwind(struct crit_unwinder *unwinder, const struct crit_unwind_maps *maps,
		 const struct crit_unwind_copy *copy, struct crit_unwind_chain *ret_chain)
{
	struct stack_walk walk = { .unwinder = unwinder,
				   .stack = { copy->stack, copy->sp, copy->stack_bytes },
				   .registers = { copy->pc, copy->sp, copy->bp, true },
				   .is_exact = true };
	const struct crit_unwind_mapping *mapping = NULL;
	enum crit_unwind_end end = GOES_ON;
	uint32_t count = 0;

	if (walk.stack.byte_count > CRIT_UNWIND_STACK_BYTES_MAX)
		walk.stack.byte_count = CRIT_UNWIND_STACK_BYTES_MAX;
	while (end == GOES_ON) {
		const uint64_t address = walk.registers.pc - !walk.is_exact;
		struct crit_unwind_frame *frame = &ret_chain->frames[count];
		const struct crit_frame_rule *rule;

		if (!is_inside(mapping, address))
			mapping = crit_unwind_maps_find(maps, address);
		if (!mapping || mapping->file == CRIT_UNWIND_DISPUTED) {
			end = CRIT_UNWIND_CUT_MAPS;
			break;
		}
		if (count == CRIT_UNWIND_FRAMES_MAX) { /* more than the copy has room for */
			end = CRIT_UNWIND_CUT_MEMORY;
			break;
		}
		*frame = (struct crit_unwind_frame){ address - mapping->base, mapping->file, 0 };
		rule = rule_at(unwinder, frame);
		if (rule && rule->cfa.kind == CRIT_FRAME_UNDEFINED && count == 0)
			rule = signal_rule_before(unwinder, frame);
		count++;
		end = rule ? step(&walk, rule) : CRIT_UNWIND_CUT_NO_CFI;
	}
	ret_chain->frame_count = count;
	ret_chain->end = end;
}
