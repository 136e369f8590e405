// SPDX-License-Identifier: BSD-3-Clause
// Small programs are run instruction by instruction; before each one the unwinder has to find the
// call path that the stepper has seen come about.
//
//   test-every-instruction           builds and runs all programs of the table
//   test-every-instruction PROGRAM   runs this one, and shows the first paths that are not right
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "tests/lib/check.h"
#include "tests/lib/check_scratch.h"
#include "tests/unwind/stepper.h"

#define STRIPPED                                                                                   \
	" && objcopy --only-keep-debug program program.debug && strip program && "                 \
	"objcopy --add-gnu-debuglink=program.debug program"

struct program {
	const char *title;
	const char *build; /* of $P/corners.*, as ./program */
	bool has_large_frame;
	bool is_bound_late; /* symbols when they are called first, by ld.so, whose CFA is in rbx */
};

static const struct program programs[] = {
	{ "gcc -O2", "gcc -O2 $P/corners.c -o program", true, false },
	{ "gcc -O2 -no-pie", "gcc -O2 -no-pie $P/corners.c -o program", true, false },
	{ "gcc -O0", "gcc -O0 $P/corners.c -o program", true, false },
	{ "gcc -O2, frame pointers", "gcc -O2 -fno-omit-frame-pointer $P/corners.c -o program",
	  true, false },
	{ "gcc -O3 -mstackrealign", "gcc -O3 -mstackrealign -mavx $P/corners.c -o program", true,
	  false },
	{ "gcc -O2, bound at start",
	  "gcc -O2 -fcf-protection -Wl,-z,now,-z,ibtplt $P/corners.c -o program", true, false },
	{ "gcc -O2, .debug_frame only, in a file of its own",
	  "gcc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables $P/corners.c -o "
	  "program" STRIPPED,
	  true, false },
	{ "clang -O2", "clang -O2 -fPIE -pie $P/corners.c -o program", true, false },
	{ "clang -O1, no PIE", "clang -O1 -fno-pie -no-pie $P/corners.c -o program", true, false },
	{ "gcc -O2, bound late", "gcc -O2 -Wl,-z,lazy $P/corners.c -o program", true, true },
	{ "assembler", "gcc $P/corners.S -o program", false, false },
	{ "g++ -O2", "g++ -O2 $P/corners.cc -o program", false, false },
	{ "clang++ -O2", "clang++ -O2 $P/corners.cc -o program", false, false },
};

struct run {
	struct crit_unwinder *unwinder;
	uint64_t instruction_count;
	uint64_t ends[CRIT_UNWIND_END_COUNT];
	uint64_t wrong_count;
	uint64_t binding_count; /* cut in ld.so */
	uint64_t installing_count; /* wrong in libgcc_s: see compare */
	uint64_t question_count;
	uint64_t shown; /* so many more of those that are wrong or cut */
};

static bool is_at(const struct crit_unwind_maps *maps, uint64_t address,
		  const struct crit_unwind_frame *frame)
{
	const struct crit_unwind_mapping *mapping = crit_unwind_maps_find(maps, address);

	return mapping && mapping->file == frame->file && address - mapping->base == frame->offset;
}

/* As far as the chain goes, and to the begin where it says so. */
static bool is_right(const struct stepper_state *seen, const struct crit_unwind_chain *chain)
{
	size_t depth = seen->depth;

	if (!chain->frame_count || !is_at(seen->maps, seen->copy.pc, &chain->frames[0]))
		return false;
	for (uint32_t i = 1; i < chain->frame_count; i++) {
		const struct stepper_call *call;

		if (!depth)
			return false;
		call = &seen->calls[--depth];
		if (!is_at(seen->maps, call->pc - !call->is_exact, &chain->frames[i]))
			return false;
	}
	return chain->end != CRIT_UNWIND_COMPLETE || depth == 0;
}

static void show(const struct run *run, const struct stepper_state *seen,
		 const struct crit_unwind_chain *chain)
{
	const struct crit_mapped_files *files = crit_unwinder_files(run->unwinder);

	printf("pc %#" PRIx64 ", end %" PRIu32 "\n", seen->copy.pc, chain->end);
	for (uint32_t i = 0; i < chain->frame_count || i <= seen->depth; i++) {
		const struct crit_unwind_frame *frame = &chain->frames[i];

		if (i < chain->frame_count && frame->file < files->file_count)
			printf("  %s+%#" PRIx64, files->files[frame->file].path, frame->offset);
		if (i && i <= seen->depth)
			printf("  seen: %#" PRIx64, seen->calls[seen->depth - i].pc);
		printf("\n");
	}
}

static bool is_in(const struct run *run, const struct crit_unwind_chain *chain, uint32_t frame,
		  const char *library)
{
	const struct crit_mapped_files *files = crit_unwinder_files(run->unwinder);
	const uint32_t file = frame < chain->frame_count ? chain->frames[frame].file
							 : CRIT_UNWIND_NO_FILE;

	return file < files->file_count && strstr(files->files[file].path, library);
}

static void compare(const struct stepper_state *seen, void *user)
{
	static struct crit_unwind_chain chain;
	struct run *run = user;
	bool right;

	crit_unwind(run->unwinder, seen->maps, &seen->copy, &chain);
	right = is_right(seen, &chain);
	/* while an exception is on its way the stack already has the registers of its catcher */
	if (!right && is_in(run, &chain, 0, "/libgcc_s.so")) {
		run->installing_count++;
		return;
	}
	run->instruction_count++;
	run->ends[chain.end]++;
	run->wrong_count += !right;
	run->binding_count += chain.end == CRIT_UNWIND_CUT_NO_CFI &&
			      is_in(run, &chain, chain.frame_count - 1, "/ld-linux");
	if (run->shown && (!right || chain.end != CRIT_UNWIND_COMPLETE)) {
		run->shown--;
		show(run, seen, &chain);
	}
}

static void run_program(const char *path, struct run *run)
{
	const struct crit_elf_reader_options options = { .total_s = 600 };
	char *command[] = { (char *)path, NULL };
	struct crit_elf_reader *reader = NULL;

	if (CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0) &&
	    CHECK_INT_EQ(crit_unwinder_create(reader, &run->unwinder), 0)) {
		CHECK_INT_EQ(stepper_run(command, run->unwinder, compare, run), 0);
		run->question_count = crit_unwinder_questions(run->unwinder);
		printf("  %" PRIu64 " instructions: complete %" PRIu64 ", cut: memory %" PRIu64
		       ", no CFI %" PRIu64 ", maps %" PRIu64 "; wrong %" PRIu64 ", %" PRIu64
		       " in libgcc; %" PRIu64 " questions\n",
		       run->instruction_count, run->ends[CRIT_UNWIND_COMPLETE],
		       run->ends[CRIT_UNWIND_CUT_MEMORY], run->ends[CRIT_UNWIND_CUT_NO_CFI],
		       run->ends[CRIT_UNWIND_CUT_MAPS], run->wrong_count, run->installing_count,
		       run->question_count);
	}
	crit_unwinder_destroy(run->unwinder);
	crit_elf_reader_destroy(reader);
}

static void check_program(const struct program *program)
{
	struct run run = { 0 };
	char line[2048];

	CHECK_CASE("%s", program->title);
	printf("%s\n", program->title);
	(void)snprintf(line, sizeof(line), "P='%s/programs'; export CPATH=\"$P/../../..\"; %s",
		       SOURCE_DIR, program->build);
	if (!CHECK_INT_EQ(system(line), 0))
		return;
	CHECK_INT_EQ(setenv("LD_BIND_NOW", program->is_bound_late ? "" : "1", 1), 0);
	run_program("./program", &run);
	CHECK_UINT_EQ(run.wrong_count, 0);
	CHECK_INT_LE(run.installing_count * 100, run.instruction_count);
	CHECK_INT_GT(run.instruction_count, 300);
	CHECK_INT_LE(run.question_count, 900); /* of 2,500 instructions and more, each once */
	CHECK_UINT_EQ(run.ends[CRIT_UNWIND_CUT_MAPS], 0);
	CHECK_UINT_EQ(run.ends[CRIT_UNWIND_CUT_MEMORY] > 0, program->has_large_frame);
	CHECK_INT_LE(run.ends[CRIT_UNWIND_CUT_MEMORY], 40); /* the instructions of large() */
	/* in prologues that align the stack the CFA is in a register that is not tracked */
	CHECK_INT_LE(run.ends[CRIT_UNWIND_CUT_NO_CFI] - run.binding_count, 30);
	CHECK_UINT_EQ(run.binding_count > 0, program->is_bound_late);
}

static bool may_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	if (!may_trace())
		check_skip("ptrace is not permitted");
	if (argc == 2) {
		run_program(argv[1], &(struct run){ .shown = 10 });
		return check_done();
	}
	if (!check_enter_scratch())
		return check_done();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		check_program(&programs[i]);
	check_leave_scratch();
	return check_done();
}
