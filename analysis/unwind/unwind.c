// SPDX-License-Identifier: BSD-3-Clause
// Each step takes the registers of a frame to those of its caller.  The stack pointer only rises,
// so that the copy bounds the steps.
#include "analysis/unwind/unwind.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__)
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>
#endif

#include "analysis/symbols/vdso.h"
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
	uint64_t address_bits; /* those that addresses of code have */
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
	case CRIT_FRAME_SAME:
		*ret_pc = walk->registers.lr;
		end = walk->registers.is_lr_known ? GOES_ON : CRIT_UNWIND_CUT_NO_CFI;
		break;
	default:
		return CRIT_UNWIND_CUT_NO_CFI;
	}
	if (end == GOES_ON)
		*ret_pc &= walk->address_bits;
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

#if defined(__aarch64__)
/* Where on the stack the kernel saved a register, when it called the handler: a word of these. */
#define SAVED_AT(registers)                                                                        \
	((registers)->sp + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs))
#define SAVED_SP 31
#define SAVED_PC 32

static enum crit_unwind_end step_out_of_handler(struct stack_walk *walk)
{
	struct crit_frame_registers *saved = &walk->registers;
	const uint64_t at = SAVED_AT(saved);

	walk->is_exact = true;
	saved->is_bp_known = true;
	saved->is_lr_known = true;
	if (!crit_stack_read(&walk->stack, at + 8 * CRIT_FRAME_REGISTER_BP, &saved->bp) ||
	    !crit_stack_read(&walk->stack, at + 8 * CRIT_FRAME_REGISTER_PC, &saved->lr) ||
	    !crit_stack_read(&walk->stack, at + 8 * SAVED_PC, &saved->pc) ||
	    !crit_stack_read(&walk->stack, at + 8 * SAVED_SP, &saved->sp))
		return CRIT_UNWIND_CUT_MEMORY;
	return GOES_ON;
}
#endif

/* Does the caller's frame lie above, or is it that of a function that has none? */
static bool is_further(const struct stack_walk *walk, const struct crit_frame_rule *rule,
		       uint64_t caller_sp)
{
	return caller_sp > walk->registers.sp ||
	       (caller_sp == walk->registers.sp && rule->pc.kind == CRIT_FRAME_SAME);
}

static enum crit_unwind_end step(struct stack_walk *walk, const struct crit_frame_rule *rule)
{
	struct crit_frame_registers caller = walk->registers;
	enum crit_unwind_end end;

	if (rule->pc.kind == CRIT_FRAME_UNDEFINED && rule->cfa.kind != CRIT_FRAME_UNDEFINED)
		return CRIT_UNWIND_COMPLETE; /* the CFA may be nonsense there */
#if defined(__aarch64__)
	if (rule->is_signal)
		return step_out_of_handler(walk);
#endif
	end = find_cfa(walk, rule, &caller.sp);
	if (end != GOES_ON)
		return end;
	if (!is_further(walk, rule, caller.sp))
		return CRIT_UNWIND_CUT_MEMORY; /* another stack */
	end = find_pc(walk, rule, caller.sp, &caller.pc);
	if (end != GOES_ON)
		return end;
	restore_bp(walk, rule, caller.sp, &caller);
	caller.is_lr_known = false;
	walk->registers = caller;
	walk->is_exact = rule->is_signal;
	return GOES_ON;
}

/*
 * The vDSO of arm64 has no CFI.  Its functions neither call nor use the stack, so what returns to
 * it is the handler of a signal.
 */
static const struct crit_frame_rule *rule_in_vdso(const struct crit_unwinder *unwinder,
						  const struct crit_unwind_frame *frame,
						  bool is_exact, const struct crit_frame_rule *rule)
{
	static const struct crit_frame_rule leaf = { .cfa.kind = CRIT_FRAME_SP,
						     .pc.kind = CRIT_FRAME_SAME,
						     .bp.kind = CRIT_FRAME_SAME };
	static const struct crit_frame_rule trampoline = { .cfa.kind = CRIT_FRAME_SP,
							   .pc.kind = CRIT_FRAME_SAME,
							   .is_signal = true };

	if (!CRIT_FRAME_IS_LINKED || !rule || rule->cfa.kind != CRIT_FRAME_UNDEFINED ||
	    strcmp(unwinder->files.files[frame->file].path, CRIT_VDSO_NAME) != 0)
		return rule;
	return is_exact ? &leaf : &trampoline;
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

/*
 * Where return addresses may be signed (pointer authentication of arm64), in the bits above those
 * that any address has: all code lies below the end of the last mapping.
 */
static uint64_t address_bits(const struct crit_unwind_maps *maps)
{
	uint64_t last;

	if (!CRIT_FRAME_IS_LINKED || maps->mapping_count == 0)
		return UINT64_MAX;
	last = maps->mappings[maps->mapping_count - 1].end - 1;
	return UINT64_MAX >> __builtin_clzll(last | 1);
}

void crit_unwind(struct crit_unwinder *unwinder, const struct crit_unwind_maps *maps,
		 const struct crit_unwind_copy *copy, struct crit_unwind_chain *ret_chain)
{
	struct stack_walk walk = { .unwinder = unwinder,
				   .stack = { copy->stack, copy->sp, copy->stack_bytes },
				   .registers = { .pc = copy->pc,
						  .sp = copy->sp,
						  .bp = copy->bp,
						  .is_bp_known = true,
						  .is_lr_known = CRIT_FRAME_IS_LINKED,
						  .lr = copy->lr },
				   .address_bits = address_bits(maps),
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
		rule = rule_in_vdso(unwinder, frame, walk.is_exact, rule);
		count++;
		end = rule ? step(&walk, rule) : CRIT_UNWIND_CUT_NO_CFI;
	}
	ret_chain->frame_count = count;
	ret_chain->end = end;
}
