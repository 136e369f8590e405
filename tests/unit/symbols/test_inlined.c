// SPDX-License-Identifier: BSD-3-Clause
// Inline chains: of debug data as no compiler writes it, and of functions inlined a hundred deep.
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/symbols/debug_info.h"
#include "core/base/cleanup.h"
#include "tests/lib/check.h"
#include "tests/lib/check_scratch.h"

#define DEEP 100

static bool shell(const char *command)
{
	char line[1024];

	(void)snprintf(line, sizeof(line), "P='%s/places'; %s", SOURCE_DIR, command);
	return CHECK_INT_EQ(system(line), 0);
}

/* Names from the innermost on, "?" for none. */
static void write_chain(const struct crit_debug_chain *chain, char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < chain->frame_count && used < text_bytes; i++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", i ? "<" : "",
					 chain->frames[i].function ? chain->frames[i].function
								   : "?");
}

static void test_odd(void)
{
	static const struct {
		uint64_t address;
		const char *chain;
	} rows[] = {
		{ 0x0fff, "" },          { 0x1000, "plain" },    { 0x1010, "b<a<plain" },
		{ 0x101f, "b<a<plain" }, { 0x1020, "a<plain" },  { 0x1045, "b<a<plain" },
		{ 0x105f, "b<a<plain" }, { 0x1060, "plain" },    { 0x10ff, "plain" },
		{ 0x1100, "" },          { 0x2050, "" },         { 0x3000, "first" },
		{ 0x3f00, "wide" },      { 0x4000, "narrow" },   { 0x4100, "wide" },
		{ 0x5f00, "crossing" },  { 0x6000, "crossing" }, { 0x6100, "" },
		{ 0x6200, "around" },    { 0x6800, "nested" },   { 0x6810, "a<nested" },
		{ 0x6820, "nested" },    { 0x6a00, "a" },        { 0x7000, "?" },
		{ 0x7100, "?" },         { 0x8000, "" }, /* too deep */
		{ 0x8200, "again" },     { 0x9000, "" },
	};
	struct crit_debug_info info = { 0 };
	struct crit_debug_chain chain;
	crit_autoclose int fd = -1;
	Dwarf *dwarf;

	if (!shell("gcc -c $P/odd.s -o odd.o"))
		return;
	fd = open("odd.o", O_RDONLY | O_CLOEXEC);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!CHECK(dwarf) || !CHECK_INT_EQ(crit_debug_info_init(&info, dwarf), 0))
		return;
	for (int round = 0; round < 2; round++) /* names are kept */
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			char text[256];

			CHECK_CASE("%#llx", (unsigned long long)rows[i].address);
			crit_debug_info_find(&info, rows[i].address, &chain);
			write_chain(&chain, text, sizeof(text));
			CHECK_STR_EQ(text, rows[i].chain);
			CHECK_UINT_EQ(chain.cut_count, 0);
		}
	CHECK_CASE("%s", "");
	if (CHECK_UINT_EQ(info.unit_count, 1))
		CHECK(info.units[0].index.is_cut);
	crit_debug_info_fini(&info);
	(void)dwarf_end(dwarf);
}

/* Of the call in a function of deep.c. */
static uint32_t line_in(const char *function)
{
	uint32_t number = DEEP;

	(void)sscanf(function, "f%" SCNu32, &number);
	return number < DEEP ? 2 * number + 3 : 2 * DEEP + 2;
}

static void write_deep(void)
{
	crit_autofclose FILE *file = fopen("deep.c", "w");

	if (!CHECK(file))
		return;
	(void)fputs("volatile int turns;\n", file);
	for (int i = 0; i < DEEP; i++)
		fprintf(file,
			"static inline __attribute__((always_inline)) int f%d(int n)\n"
			"{ %s%d%s + turns; }\n",
			i, i ? "return f" : "return n * ", i ? i - 1 : 3, i ? "(n + turns)" : "");
	fprintf(file, "int outermost(int n) { return f%d(n); }\n", DEEP - 1);
}

static bool is_line_of(const struct crit_debug_frame *frame)
{
	return frame->line == line_in(frame->function);
}

/* What does not fit is left out before the last level. */
static void test_deep(const char *compiler)
{
	struct crit_debug_info info = { 0 };
	struct crit_debug_chain chain;
	crit_autoclose int fd = -1;
	char command[256];
	uint32_t depth_max = 0;
	Dwarf *dwarf;

	CHECK_CASE("%s", compiler);
	(void)snprintf(command, sizeof(command), "%s -O2 -g -shared -fPIC deep.c -o deep.so",
		       compiler);
	if (!shell(command))
		return;
	fd = open("deep.so", O_RDONLY | O_CLOEXEC);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!CHECK(dwarf) || !CHECK_INT_EQ(crit_debug_info_init(&info, dwarf), 0) ||
	    !CHECK_UINT_EQ(info.range_count, 1))
		return;
	for (uint64_t at = info.ranges[0].begin; at < info.ranges[0].end; at++) {
		uint32_t depth;

		crit_debug_info_find(&info, at, &chain);
		depth = chain.frame_count + chain.cut_count;
		depth_max = depth > depth_max ? depth : depth_max;
		CHECK_UINT_EQ(chain.cut_count > 0, depth > CRIT_INLINED_MAX);
		CHECK_STR_EQ(chain.frames[chain.frame_count - 1].function, "outermost");
		for (uint32_t i = 1; i < chain.frame_count; i++)
			CHECK(is_line_of(&chain.frames[i]));
		CHECK(depth <= DEEP || strcmp(chain.frames[0].function, "f0") == 0);
	}
	CHECK_UINT_EQ(depth_max, DEEP + 1);
	crit_debug_info_fini(&info);
	(void)dwarf_end(dwarf);
	CHECK_CASE("%s", "");
}

int main(void)
{
	if (!check_enter_scratch())
		return check_done();
	test_odd();
	write_deep();
	test_deep("gcc");
	test_deep("gcc -gdwarf-4");
	test_deep("clang");
	check_leave_scratch();
	return check_done();
}
