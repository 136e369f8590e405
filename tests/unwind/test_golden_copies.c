// SPDX-License-Identifier: BSD-3-Clause
// Copies of registers and stacks by hand, in front of a small file that is built as the test runs
// (programs/golden.S): each has one right chain, whatever compilers and libraries are here.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/unwind/process_maps.h"
#include "analysis/unwind/unwind.h"
#include "tests/lib/check.h"
#include "tests/lib/check_scratch.h"
#include "tests/unwind/programs/golden.h"

#define CODE(offset) (0x7f0000000000ull + (offset)) /* where golden.so is */
#define PLUGIN(offset) (0x7f1000000000ull + (offset)) /* where one of two plugins is, in turn */
#define WORD(number) (0x7ffd00001000ull + 8ull * (number)) /* of the copy */
#define WORDS_MAX (CRIT_UNWIND_STACK_BYTES_MAX / 8)
#define ELSEWHERE 0x7ffe00000000ull /* another stack, above this one */
#define SAVED(offset) (1 + (offset) / 8) /* word, where a handler that is called at 0 returns */
#define END UINT64_MAX

struct golden_word {
	size_t number;
	uint64_t value;
};

struct golden {
	const char *title;
	uint64_t pc;
	uint64_t bp;
	struct golden_word stack[8]; /* what is not 0 of it */
	uint64_t frames[5]; /* offsets in golden.so, then END */
	enum crit_unwind_end end;
};

static const struct golden goldens[] = {
	{ "the frame of a function that was just called",
	  CODE(GOLDEN_LEAF),
	  WORD(2),
	  { { 0, CODE(GOLDEN_CALLS_CALLED) }, { 3, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_LEAF, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "epilogue, rbp is popped and the CFI has it in its slot",
	  CODE(GOLDEN_POPS_POPPED),
	  WORD(2),
	  { { 0, CODE(GOLDEN_CALLS_CALLED) }, { 3, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_POPS_POPPED, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "DRAP, the CFA is *(rbp - 8)",
	  CODE(GOLDEN_LEAF),
	  WORD(6),
	  { { 0, CODE(GOLDEN_ALIGNS_CALLED) },
	    { 5, WORD(16) }, /* the CFA */
	    { 6, WORD(20) }, /* the caller's rbp */
	    { 15, CODE(GOLDEN_CALLS_CALLED) },
	    { 21, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_LEAF, GOLDEN_ALIGNS_CALLED - 1, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1,
	    END },
	  CRIT_UNWIND_COMPLETE },
	{ "PLT, an entry's begin",
	  CODE(GOLDEN_PLT_ENTRY),
	  WORD(1),
	  { { 0, CODE(GOLDEN_CALLS_CALLED) }, { 2, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_PLT_ENTRY, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "PLT, an entry behind its push",
	  CODE(GOLDEN_PLT_ENTRY + 11),
	  WORD(2),
	  { { 1, CODE(GOLDEN_CALLS_CALLED) }, { 3, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_PLT_ENTRY + 11, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "PLT, what calls the linker",
	  CODE(GOLDEN_PLT),
	  WORD(2),
	  { { 1, CODE(GOLDEN_CALLS_CALLED) }, { 3, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_PLT, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "PLT, what calls the linker, behind its push",
	  CODE(GOLDEN_PLT + 6),
	  WORD(3),
	  { { 2, CODE(GOLDEN_CALLS_CALLED) }, { 4, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_PLT + 6, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "a signal before the first instruction of a function",
	  CODE(GOLDEN_LEAF),
	  7, /* the handler's own */
	  { { 0, CODE(GOLDEN_RESTORES) },
	    { SAVED(GOLDEN_SAVED_SP), WORD(40) },
	    { SAVED(GOLDEN_SAVED_PC), CODE(GOLDEN_CALLS) },
	    { 40, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_LEAF, GOLDEN_RESTORES - 1, GOLDEN_CALLS, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "a signal in a function whose CFA is by rbp",
	  CODE(GOLDEN_LEAF),
	  7,
	  { { 0, CODE(GOLDEN_RESTORES) },
	    { SAVED(GOLDEN_SAVED_BP), WORD(44) },
	    { SAVED(GOLDEN_SAVED_SP), WORD(40) },
	    { SAVED(GOLDEN_SAVED_PC), CODE(GOLDEN_CALLS + 4) },
	    { 45, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_LEAF, GOLDEN_RESTORES - 1, GOLDEN_CALLS + 4, GOLDEN_START_CALLED - 1, END },
	  CRIT_UNWIND_COMPLETE },
	{ "a signal on a stack below that of the thread",
	  CODE(GOLDEN_LEAF),
	  7,
	  { { 0, CODE(GOLDEN_RESTORES) },
	    { SAVED(GOLDEN_SAVED_SP), ELSEWHERE },
	    { SAVED(GOLDEN_SAVED_PC), CODE(GOLDEN_LEAF) } },
	  { GOLDEN_LEAF, GOLDEN_RESTORES - 1, GOLDEN_LEAF, END },
	  CRIT_UNWIND_CUT_MEMORY },
	{ "a signal on a stack above that of the thread",
	  CODE(GOLDEN_LEAF),
	  7,
	  { { 0, CODE(GOLDEN_RESTORES) },
	    { SAVED(GOLDEN_SAVED_SP), WORD(0) - 4096 },
	    { SAVED(GOLDEN_SAVED_PC), CODE(GOLDEN_LEAF) } },
	  { GOLDEN_LEAF, GOLDEN_RESTORES - 1, END },
	  CRIT_UNWIND_CUT_MEMORY },
	{ "a local array of 48 KB: the copy ends in it",
	  CODE(GOLDEN_LEAF),
	  WORD(2),
	  { { 0, CODE(GOLDEN_LARGE_CALLED) }, { 3, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_LEAF, GOLDEN_LARGE_CALLED - 1, END },
	  CRIT_UNWIND_CUT_MEMORY },
	{ "code without CFI",
	  CODE(GOLDEN_LEAF),
	  WORD(2),
	  { { 0, CODE(GOLDEN_LEAF + 0x80) }, { 3, CODE(GOLDEN_START_CALLED) } },
	  { GOLDEN_LEAF, GOLDEN_LEAF + 0x7f, END },
	  CRIT_UNWIND_CUT_NO_CFI },
	{ "no code", WORD(0), WORD(2), { { 0 } }, { END }, CRIT_UNWIND_CUT_MAPS },
};

static struct crit_elf_reader *reader;
static struct crit_unwinder *unwinder;
static struct crit_unwind_chain chain;
static uint64_t stack[WORDS_MAX];

/* A line of maps: the file's code, which is at so much in memory as in it. */
static void put_line(char *text, size_t text_bytes, const char *path, uint64_t base)
{
	struct stat status = { 0 };
	const size_t used = strlen(text);

	CHECK_INT_EQ(stat(path, &status), 0);
	(void)snprintf(text + used, text_bytes - used, "%llx-%llx r-xp 00000000 00:01 %llu %s/%s\n",
		       (unsigned long long)base, (unsigned long long)base + 0x4000,
		       (unsigned long long)status.st_ino, check_scratch, path);
}

static void unwind(const struct crit_unwind_maps *maps, uint64_t pc, uint64_t bp)
{
	const struct crit_unwind_copy copy = { .pc = pc,
					       .sp = WORD(0),
					       .bp = bp,
					       .stack = (const unsigned char *)stack,
					       .stack_bytes = sizeof(stack) };

	crit_unwind(unwinder, maps, &copy, &chain);
}

static void check_frames(const uint64_t *frames)
{
	uint32_t count = 0;

	while (count < chain.frame_count && frames[count] != END) {
		CHECK_UINT_EQ(chain.frames[count].offset, frames[count]);
		count++;
	}
	CHECK_UINT_EQ(chain.frame_count, count);
	CHECK(frames[count] == END);
}

static void check_goldens(void)
{
	struct crit_unwind_maps maps = { 0 };
	char text[512] = "";

	put_line(text, sizeof(text), "golden.so", CODE(0));
	CHECK_INT_EQ(crit_unwind_maps_add(&maps, crit_unwinder_files(unwinder), text, strlen(text)),
		     0);
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		const struct golden *golden = &goldens[i];

		CHECK_CASE("%s", golden->title);
		memset(stack, 0, sizeof(stack));
		for (size_t k = 0; k < sizeof(golden->stack) / sizeof(golden->stack[0]); k++)
			if (golden->stack[k].value)
				stack[golden->stack[k].number] = golden->stack[k].value;
		unwind(&maps, golden->pc, golden->bp);
		check_frames(golden->frames);
		CHECK_UINT_EQ(chain.end, golden->end);
	}
	crit_unwind_maps_fini(&maps);
}

/* dlopen of one plugin at 100, of another in its place before 200: who was there at 150? */
static void check_reused_address(void)
{
	static const struct {
		uint64_t time_ns;
		uint64_t frames[4];
		enum crit_unwind_end end;
	} answers[] = {
		{ 100,
		  { GOLDEN_LEAF, GOLDEN_CALLS_CALLED - 1, GOLDEN_START_CALLED - 1, END },
		  CRIT_UNWIND_COMPLETE },
		{ 150, { GOLDEN_LEAF, END }, CRIT_UNWIND_CUT_MAPS },
		{ 200,
		  { GOLDEN_LEAF, GOLDEN_CALLS_CALLED - 1, GOLDEN_LEAF - 1, END },
		  CRIT_UNWIND_CUT_NO_CFI },
	};
	struct crit_process_maps maps = { 0 };

	for (int i = 0; i < 2; i++) {
		char text[512] = "";

		put_line(text, sizeof(text), "golden.so", CODE(0));
		put_line(text, sizeof(text), i ? "other.so" : "plugin.so", PLUGIN(0));
		CHECK_INT_EQ(crit_process_maps_add(&maps, crit_unwinder_files(unwinder), 5,
						   i ? 200 : 100, text, strlen(text)),
			     0);
	}
	memset(stack, 0, sizeof(stack));
	stack[0] = PLUGIN(GOLDEN_CALLS_CALLED);
	stack[3] = CODE(GOLDEN_START_CALLED); /* of the first one's frame, by rbp */
	stack[6] = CODE(GOLDEN_LEAF); /* of the other one's, by rsp */
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		CHECK_CASE("a reused address, at %d", (int)answers[i].time_ns);
		unwind(crit_process_maps_find(&maps, 5, answers[i].time_ns), CODE(GOLDEN_LEAF),
		       WORD(2));
		check_frames(answers[i].frames);
		CHECK_UINT_EQ(chain.end, answers[i].end);
	}
	crit_process_maps_fini(&maps);
}

static int build(void)
{
	return system("build() {\n"
		      "	gcc -shared -nostdlib -I '" SOURCE_DIR "/programs' -Wl,-z,lazy "
		      "-Wl,-Ttext=0x1000,--section-start=.plt=0x1800 "
		      "'" SOURCE_DIR "/programs/golden.S' \"$@\"\n"
		      "}\n"
		      "build -o golden.so && cp golden.so plugin.so && "
		      "build -DIS_OTHER -o other.so");
}

int main(void)
{
	const struct crit_elf_reader_options options = { .wait_s = 60 };

	if (!check_enter_scratch())
		return check_done();
	if (CHECK_INT_EQ(build(), 0) &&
	    CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0) &&
	    CHECK_INT_EQ(crit_unwinder_create(reader, &unwinder), 0)) {
		check_goldens();
		check_reused_address();
	}
	crit_unwinder_destroy(unwinder);
	crit_elf_reader_destroy(reader);
	check_leave_scratch();
	return check_done();
}
