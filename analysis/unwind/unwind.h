/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths from copies: of the registers and the user stack of a thread at one instant, and the
 * memory maps of its process at that time, to the functions that it was in.
 *
 * The CFI of the files says how to leave each frame.  Only rsp, rbp and rip are followed, on arm64
 * sp, x29, x30 and pc, which is what it needs for all but some prologues of functions that align
 * their stack.  On arm64 the handler of a signal is left by what the kernel saved, as the CFI there
 * leads to the caller of what was interrupted; and signatures are taken off return addresses.
 */
#ifndef CRIT_UNWIND_H
#define CRIT_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/unwind/unwind_maps.h"

struct crit_elf_reader;
struct crit_unwinder;

#define CRIT_UNWIND_STACK_BYTES_MAX (31u << 10) /* of a copy that are looked at */
/* Each has at least its return address in the copy, the innermost one none. */
#define CRIT_UNWIND_FRAMES_MAX (CRIT_UNWIND_STACK_BYTES_MAX / 8 + 2)

struct crit_unwind_copy {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp; /* rbp, x29 */
	const unsigned char *stack; /* from sp upward; borrowed */
	size_t stack_bytes;
	uint64_t lr; /* x30; of arm64 only */
};

enum crit_unwind_end {
	CRIT_UNWIND_COMPLETE =
		0, /* where the thread began: the CFI says so, or the caller's pc is 0 */
	CRIT_UNWIND_CUT_MEMORY, /* the copy does not reach the caller */
	CRIT_UNWIND_CUT_NO_CFI, /* no rule for the last frame: no CFI, or none that is understood */
	CRIT_UNWIND_CUT_MAPS, /* it is not known which file the last frame is from */
	CRIT_UNWIND_END_COUNT
};

struct crit_unwind_frame {
	uint64_t offset; /* in file: in the instruction that runs, or that calls the frame below */
	uint32_t file; /* of the unwinder's files; else CRIT_UNWIND_NO_FILE, and an address */
	uint32_t reserved;
};

struct crit_unwind_chain {
	uint32_t frame_count;
	uint32_t end; /* enum crit_unwind_end; frames of unknown files are not in the chain */
	struct crit_unwind_frame frames[CRIT_UNWIND_FRAMES_MAX]; /* innermost first */
};

/*
 * reader: reads the files, and answers nobody else; borrowed.  NULL: all chains are cut.
 * Ownership: crit_unwinder_destroy.  Errors: -ENOMEM.
 */
int crit_unwinder_create(struct crit_elf_reader *reader, struct crit_unwinder **ret_unwinder);
void crit_unwinder_destroy(struct crit_unwinder *unwinder);

/* The files of all maps that are unwound by; crit_unwind_maps_add adds to them. */
struct crit_mapped_files *crit_unwinder_files(struct crit_unwinder *unwinder);

/* How often a reader was asked so far. */
uint64_t crit_unwinder_questions(const struct crit_unwinder *unwinder);

/*
 * Follows the frames of a copy.  Range: any bytes.  Errors: none, the end says why the chain ends.
 * Threads: one at a time.  Cost: some 20 ns per frame; two messages for an instruction that is met
 * for the first time.
 */
void crit_unwind(struct crit_unwinder *unwinder, const struct crit_unwind_maps *maps,
		 const struct crit_unwind_copy *copy, struct crit_unwind_chain *ret_chain);

#endif
