// SPDX-License-Identifier: BSD-3-Clause
// Programs are sampled with copies of their stacks.  Nearly all chains are complete, the others say
// why not, and all have the program's functions in an order that the source allows.
//
//   test-sampled              builds and runs all programs of the table
//   test-sampled COMMAND...   samples this one, and says how its chains ended
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "core/base/map.h"
#include "tests/lib/check.h"
#include "tests/lib/check_scratch.h"
#include "tests/unwind/sampled.h"

#define HZ 1499
#define FLAGS "-O2 -g -fno-optimize-sibling-calls" /* else a call may leave no frame */
#define STRIPPED                                                                                   \
	" && objcopy --only-keep-debug program program.debug && strip program && "                 \
	"objcopy --add-gnu-debuglink=program.debug program"

struct program {
	const char *title;
	const char *build; /* of $P/..., as ./program */
	const char *needs; /* a command */
	const char *run; /* words between spaces */
	double complete_percent; /* at least */
	bool is_ordered; /* its functions are those of nest.h */
	bool is_marked; /* only what comes after the mark counts */
};

// clang-format off
static const struct program programs[] = {
	{ "gcc -O2", "gcc $F $P/nest.c -o program -lm", "gcc",
	  "./program", 99, true, false },
	{ "gcc -O2 -no-pie, frame pointers",
	  "gcc $F -no-pie -fno-omit-frame-pointer $P/nest.c -o program -lm", "gcc",
	  "./program", 99, true, false },
	{ "gcc -O2, stripped, .debug_frame in a separate file",
	  "gcc $F -fno-asynchronous-unwind-tables -fno-unwind-tables $P/nest.c -o program -lm"
	  STRIPPED, "gcc", "./program", 99, true, false },
	{ "clang -O2", "clang $F $P/nest.c -o program -lm", "clang",
	  "./program", 99, true, false },
	{ "libgomp", "gcc $F -fopenmp $P/threads.c -o program -lm", "gcc",
	  "./program", 99, true, false },
	{ "libomp", "clang $F -fopenmp $P/threads.c -o program -lm", "clang",
	  "./program", 99, true, false },
	{ "g++ -O2", "g++ $F $P/throws.cc -o program", "g++",
	  "./program", 99, false, false },
	{ "clang++ -O2", "clang++ $F $P/throws.cc -o program", "clang++",
	  "./program", 99, false, false },
	{ "gfortran -O2", "gfortran $F $P/formats.f90 -o program", "gfortran",
	  "./program", 99, false, false },
	{ "MPICH", "mpicc.mpich $F $P/ranks.c -o program -lm", "mpicc.mpich",
	  "mpirun.mpich -np 2 ./program", 98, true, true },
	{ "Open MPI", "mpicc.openmpi $F $P/ranks.c -o program -lm", "mpicc.openmpi",
	  "mpirun.openmpi --allow-run-as-root --oversubscribe -np 2 ./program", 98, true, true },
};
// clang-format on

/* Who calls whom in nest.h, libraries left out. */
static const char *const calls[] = {
	"main>level1",
	"level1>level2",
	"level2>level3",
	"level3>level4",
	"level4>level5",
	"level5>level6",
	"level6>level7",
	"level7>level8",
	"level1>spin",
	"level2>spin",
	"level3>spin",
	"level4>spin",
	"level5>spin",
	"level6>spin",
	"level7>spin",
	"level8>sort",
	"sort>by_value",
	"by_value>spin",
	"level8>convert",
	"level8>copy",
	"level8>interrupt",
	"interrupt>on_signal",
	"on_signal>spin",
	"interrupt>spin",
	"level8>aligned",
	"aligned>with_frame_pointer",
	"with_frame_pointer>spin",
	"aligned>spin",
	"_start>main",
	"main>main", /* the body of an OpenMP region, which has a function of its own */
};

#define NAME_BYTES 48

struct run {
	const struct program *program; /* NULL: a command */
	struct crit_unwinder *unwinder;
	struct crit_elf_reader *names_reader;
	struct crit_map numbers; /* offset in the program -> name */
	char names[4096][NAME_BYTES];
	uint32_t name_count;
	uint32_t own; /* the program's file */
	struct crit_elf_head head;
	uint64_t ends[CRIT_UNWIND_END_COUNT];
	uint64_t sample_count;
	uint64_t frame_count;
	uint64_t disorder_count;
	bool is_retold; /* the sample is told again, after its maps were read anew */
};

static bool find_own(struct run *run)
{
	const struct crit_mapped_files *files = crit_unwinder_files(run->unwinder);

	for (size_t i = 0; run->own == CRIT_NONE && i < files->file_count; i++) {
		const char *slash = strrchr(files->files[i].path, '/');
		const struct crit_elf_wanted wanted = { .path = files->files[i].path,
							.inode = files->files[i].inode };

		if (slash && strcmp(slash, "/program") == 0 &&
		    CHECK_INT_EQ(crit_elf_reader_open(run->names_reader, &wanted, &run->head), 0))
			run->own = (uint32_t)i;
	}
	return run->own != CRIT_NONE;
}

/* The function of an offset in the program, of those with code of their own. */
static const char *name_of(struct run *run, uint64_t offset)
{
	const struct crit_mapped_file *file = &crit_unwinder_files(run->unwinder)->files[run->own];
	const struct crit_elf_wanted wanted = { .path = file->path,
						.inode = file->inode,
						.changed_ns = run->head.changed_ns };
	const struct crit_elf_place *places[CRIT_ELF_ADDRESSES_MAX];
	uint32_t known = crit_map_get(&run->numbers, offset);
	uint64_t address;
	size_t count;

	if (known != CRIT_NONE)
		return run->names[known];
	if (!CHECK(run->name_count < 4096) ||
	    !CHECK(!crit_map_set(&run->numbers, offset, run->name_count)))
		return "";
	if (crit_elf_head_address(&run->head, offset, &address) &&
	    crit_elf_reader_find(run->names_reader, &wanted, &address, 1, places, &count) ==
		    CRIT_ELF_OPEN &&
	    places[0]->frame_count)
		(void)snprintf(run->names[run->name_count], NAME_BYTES, "%s",
			       places[0]->texts +
				       places[0]->frames[places[0]->frame_count - 1].function_at);
	return run->names[run->name_count++];
}

static bool is_call(const char *caller, const char *callee)
{
	char text[2 * NAME_BYTES];

	(void)snprintf(text, sizeof(text), "%s>%s", caller, callee);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i], text) == 0)
			return true;
	return false;
}

/* Every function of the program, from the outermost on; those of the compiler have no names. */
static bool is_in_order(struct run *run, const struct crit_unwind_chain *chain)
{
	const char *caller = "";

	for (uint32_t i = chain->frame_count; find_own(run) && i-- > 0;) {
		const char *name;

		if (chain->frames[i].file != run->own)
			continue;
		name = name_of(run, chain->frames[i].offset);
		if (name[0] && caller[0] && !is_call(caller, name))
			return false;
		caller = name[0] ? name : caller;
	}
	return true;
}

static bool count(const struct sampled_copy *sample, void *user)
{
	static struct crit_unwind_chain chain;
	struct run *run = user;

	if (run->program && run->program->is_marked && !sample->is_marked)
		return true;
	crit_unwind(run->unwinder, sample->maps, &sample->copy, &chain);
	if (chain.end == CRIT_UNWIND_CUT_MAPS && !run->is_retold) {
		run->is_retold = true;
		return false;
	}
	run->is_retold = false;
	run->sample_count++;
	run->frame_count += chain.frame_count;
	run->ends[chain.end]++;
	if (run->program && run->program->is_ordered && !is_in_order(run, &chain))
		run->disorder_count++;
	return true;
}

static int sample(char *const *command, struct run *run)
{
	const struct crit_elf_reader_options options = { .total_s = 600 };
	struct crit_elf_reader *reader = NULL;
	struct sampled_counts counts = { 0 };
	int status;

	run->own = CRIT_NONE;
	CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0);
	CHECK_INT_EQ(crit_elf_reader_create(&options, &run->names_reader), 0);
	CHECK_INT_EQ(crit_unwinder_create(reader, &run->unwinder), 0);
	status = sampled_run(command, HZ, crit_unwinder_files(run->unwinder), count, run, &counts);
	printf("  %" PRIu64 " samples: complete %" PRIu64 ", cut: memory %" PRIu64
	       ", no CFI %" PRIu64 ", maps %" PRIu64 "; %" PRIu64 " out of order; %.1f frames; "
	       "%" PRIu64 " questions; left out %" PRIu64 ", lost %" PRIu64 "\n",
	       run->sample_count, run->ends[CRIT_UNWIND_COMPLETE],
	       run->ends[CRIT_UNWIND_CUT_MEMORY], run->ends[CRIT_UNWIND_CUT_NO_CFI],
	       run->ends[CRIT_UNWIND_CUT_MAPS], run->disorder_count,
	       (double)run->frame_count / (double)(run->sample_count + !run->sample_count),
	       crit_unwinder_questions(run->unwinder), counts.unmapped, counts.lost);
	crit_map_fini(&run->numbers);
	crit_unwinder_destroy(run->unwinder);
	crit_elf_reader_destroy(run->names_reader);
	crit_elf_reader_destroy(reader);
	return status;
}

static int sample_program(const char *run_line, struct run *run)
{
	char line[256];
	char *command[16] = { 0 };
	char *rest = line;

	(void)snprintf(line, sizeof(line), "%s", run_line);
	for (size_t i = 0; i < 15; i++) /* a shell's samples would be taken for the program's */
		command[i] = strtok_r(rest, " ", &rest);
	return sample(command, run);
}

static void check_program(const struct program *program)
{
	static struct run run;
	char line[2048];

	CHECK_CASE("%s", program->title);
	(void)snprintf(line, sizeof(line), "command -v %s >/dev/null", program->needs);
	if (system(line)) {
		printf("%s: not here\n", program->title);
		return;
	}
	printf("%s\n", program->title);
	(void)snprintf(line, sizeof(line),
		       "P='%s/programs'; export CPATH=\"$P/../../..\"; F='" FLAGS "'; %s",
		       SOURCE_DIR, program->build);
	memset(&run, 0, sizeof(run));
	run.program = program;
	if (!CHECK_INT_EQ(system(line), 0) || !CHECK_INT_EQ(sample_program(program->run, &run), 0))
		return;
	CHECK_INT_GE(run.sample_count, 500);
	CHECK_UINT_EQ(run.disorder_count, 0);
	CHECK(!program->is_ordered || run.name_count > 20);
	CHECK_MSG((double)run.ends[CRIT_UNWIND_COMPLETE] * 100 >=
			  program->complete_percent * (double)run.sample_count,
		  "%" PRIu64 " of %" PRIu64 " complete", run.ends[CRIT_UNWIND_COMPLETE],
		  run.sample_count);
}

int main(int argc, char **argv)
{
	static struct run run;

	if (!sampled_is_permitted())
		check_skip("perf events with user stacks are not permitted");
	if (argc > 1) {
		CHECK_INT_GE(sample(argv + 1, &run), 0);
		return check_done();
	}
	if (!check_enter_scratch())
		return check_done();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		check_program(&programs[i]);
	check_leave_scratch();
	return check_done();
}
