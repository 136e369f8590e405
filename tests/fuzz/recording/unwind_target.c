// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary bytes to the unwinder: as a program whose CFI is asked for, as registers and a
// stack behind it, as maps and as expressions.
#include "tests/fuzz/target.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/unwind/frame_registers.h"
#include "analysis/unwind/unwind.h"
#include "tests/fuzz/recording/unwind_layout.h"

#define STEP_BYTES 4u

static struct crit_unwind_chain chain;
static struct crit_unwind_chain again;

static void put_program(const uint8_t *data, size_t size, char *ret_line, size_t line_bytes)
{
	static int fd;
	struct stat status;

	if (fd <= 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size ||
	    fstat(fd, &status))
		abort();
	(void)snprintf(ret_line, line_bytes,
		       "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:01 %" PRIu64 " /proc/self/fd/%d\n",
		       (uint64_t)LAYOUT_BASE, (uint64_t)LAYOUT_BASE + LAYOUT_SPAN_BYTES,
		       (uint64_t)status.st_ino, fd);
}

/* Twice: the second time all rules are known. */
static void unwind(struct crit_unwinder *unwinder, const struct crit_unwind_maps *maps,
		   const struct crit_unwind_copy *copy)
{
	const size_t file_count = crit_unwinder_files(unwinder)->file_count;

	crit_unwind(unwinder, maps, copy, &chain);
	crit_unwind(unwinder, maps, copy, &again);
	if (chain.frame_count > CRIT_UNWIND_FRAMES_MAX || chain.end >= CRIT_UNWIND_END_COUNT ||
	    again.frame_count != chain.frame_count || again.end != chain.end ||
	    memcmp(again.frames, chain.frames, chain.frame_count * sizeof(chain.frames[0])) != 0)
		abort();
	for (uint32_t i = 0; i < chain.frame_count; i++)
		if (chain.frames[i].file != CRIT_UNWIND_NO_FILE &&
		    chain.frames[i].file >= file_count)
			abort();
}

static void evaluate(const uint8_t *data, size_t size, const struct layout_tail *tail)
{
	const struct crit_stack_copy stack = { tail->stack, tail->sp, sizeof(tail->stack) };
	const struct crit_frame_registers registers = {
		.pc = tail->pc, .sp = tail->sp, .bp = tail->bp, .is_bp_known = true
	};
	struct crit_frame_op ops[CRIT_FRAME_OPS_MAX] = { 0 };
	uint64_t value;

	for (size_t i = 0; i < CRIT_FRAME_OPS_MAX && i < size; i++)
		ops[i] = (struct crit_frame_op){ (int8_t)data[size - 1 - i], data[i], 0 };
	(void)crit_frame_evaluate(ops, size < CRIT_FRAME_OPS_MAX ? size : CRIT_FRAME_OPS_MAX,
				  &registers, tail->bp, &stack, &value);
}

static void unwind_everywhere(struct crit_unwinder *unwinder, const struct crit_unwind_maps *maps,
			      const struct layout_tail *tail)
{
	struct crit_unwind_copy copy = { .pc = tail->pc,
					 .sp = tail->sp,
					 .bp = tail->bp,
					 .stack = tail->stack,
					 .stack_bytes = sizeof(tail->stack) };

	unwind(unwinder, maps, &copy);
	for (uint32_t i = 0; i < LAYOUT_SPAN_BYTES / STEP_BYTES; i++) {
		copy.pc = LAYOUT_BASE + i * STEP_BYTES;
		unwind(unwinder, maps, &copy);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct crit_elf_reader_options options = { .is_here = true };
	struct crit_elf_reader *reader = NULL;
	struct crit_unwinder *unwinder = NULL;
	struct crit_unwind_maps maps = { 0 };
	struct layout_tail tail = { 0 };
	const bool has_text = size && data[size - 1] % 4 == 0; /* the program's bytes, as maps */
	char line[256];

	if (size <= sizeof(tail))
		return 0;
	size -= sizeof(tail);
	memcpy(&tail, data + size, sizeof(tail));
	put_program(data, size, line, sizeof(line));
	evaluate(data, size, &tail);
	if (crit_elf_reader_create(&options, &reader) || crit_unwinder_create(reader, &unwinder))
		abort();
	if (crit_unwind_maps_add(&maps, crit_unwinder_files(unwinder), line, strlen(line)) == 0) {
		if (has_text)
			(void)crit_unwind_maps_add(&maps, crit_unwinder_files(unwinder),
						   (const char *)data, size);
		unwind_everywhere(unwinder, &maps, &tail);
	}
	crit_unwind_maps_fini(&maps);
	crit_unwinder_destroy(unwinder);
	crit_elf_reader_destroy(reader);
	return 0;
}
