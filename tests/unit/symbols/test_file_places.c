// SPDX-License-Identifier: BSD-3-Clause
// Places by file and offset are those that addresses have, for code of this program and of libc.
#include "analysis/symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/elf_reader.h"
#include "tests/lib/check.h"
#include "tests/unit/symbols/own_names.h"

/* Where a byte of this process is from. */
static bool find_file(uint64_t address, char path[256], uint64_t *ret_offset)
{
	const char *line = own_maps();

	while (line && *line) {
		uint64_t begin, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %255s", &begin,
			   &end, &offset, path) == 4 &&
		    begin <= address && address < end) {
			*ret_offset = address - begin + offset;
			return true;
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return false;
}

static void check_place(struct crit_symbols *symbols, uint64_t address, bool has_line)
{
	struct crit_source_location wanted, found;
	char path[256];
	uint64_t offset = 0;

	if (!CHECK(find_file(address, path, &offset)))
		return;
	CHECK_CASE("%s", path);
	crit_symbols_find(symbols, 0, OWN_PID, address + 1, &wanted);
	crit_symbols_find_in_file(symbols, path, offset, &found);
	CHECK_INT_EQ(crit_source_location_compare(&found, &wanted), 0);
	CHECK(found.function && found.function == wanted.function);
	CHECK(found.frames == wanted.frames && found.frame_count == wanted.frame_count);
	CHECK_UINT_EQ(found.line, wanted.line);
	CHECK(!has_line || found.line > 0);
}

int main(void)
{
	const struct crit_elf_reader_options options = { 0 };
	struct crit_elf_reader *reader = NULL;
	struct crit_source_location place;
	struct crit_symbols *symbols;

	CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0);
	symbols = own_names(reader);
	if (symbols) {
		check_place(symbols, (uint64_t)(uintptr_t)&main + 4, true);
		check_place(symbols, (uint64_t)(uintptr_t)&check_place + 4, true);
		check_place(symbols, (uint64_t)(uintptr_t)&qsort + 4, false);
		CHECK_CASE("unknown");
		crit_symbols_find_in_file(symbols, "/no/such/file", 0x10, &place);
		CHECK_STR_EQ(place.module, "/no/such/file");
		CHECK_UINT_EQ(place.offset, 0x11);
		CHECK(!place.function && !place.file && !place.frame_count);
		crit_symbols_find_in_file(symbols, "[vdso]", 0x10, &place);
		CHECK(!place.function);
	}
	crit_symbols_destroy(symbols);
	crit_elf_reader_destroy(reader);
	return check_done();
}
