// SPDX-License-Identifier: BSD-3-Clause
// A region's code without a name is where the region is begun.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/schema/region_results.h"
#include "analysis/symbols/elf_reader.h"
#include "tests/lib/check.h"
#include "tests/unit/symbols/own_names.h"
#include "tests/unit/symbols/places/stripped.h"

#define OFFSET 4 /* of a call in its function, and of what it returns to */

static struct crit_elf_reader *reader;
static uint64_t codes[STRIPPED_CODES];
static uint64_t exported; /* by the library: code that has a name */

static uint64_t address_of(const void *code)
{
	return (uint64_t)(uintptr_t)code;
}

/*
 * What the first code is where its region is begun at an address, then late at another, and those
 * of the other codes at the other addresses.
 */
static void check_named(const char *title, const uint64_t callers[STRIPPED_CODES + 1],
			const char *function)
{
	struct crit_region_row rows[STRIPPED_CODES + 1];
	const struct crit_region_results regions = { .rows = rows,
						     .row_count = STRIPPED_CODES + 1 };
	struct crit_symbols *symbols = own_names(reader);
	struct crit_source_location before, place;
	char text[64], wanted[64];

	CHECK_CASE("%s", title);
	for (size_t i = 0; i <= STRIPPED_CODES; i++)
		rows[i] = (struct crit_region_row){ .pid = OWN_PID,
						    .site = codes[i % STRIPPED_CODES] + 1,
						    .caller = callers[i] };
	crit_symbols_find(symbols, 0, OWN_PID, codes[0] + 1, &before);
	CHECK(before.module && !before.function);
	CHECK_UINT_EQ(before.function_begin, before.offset - 1);
	CHECK_INT_EQ(crit_symbols_know_regions(symbols, &regions), 0);
	crit_symbols_find(symbols, 0, OWN_PID, codes[0] + 1, &place);
	CHECK_STR_EQ(place.function, function);
	CHECK_INT_EQ(crit_source_location_compare(&place, &before), 0);
	CHECK_UINT_EQ(place.function_begin, function ? 0 : before.function_begin);
	if (function) {
		(void)snprintf(wanted, sizeof(wanted), "%s+%#x", function, OFFSET);
		CHECK_STR_EQ(crit_source_location_text(&place, text, sizeof(text)), wanted);
	}
	crit_symbols_destroy(symbols);
}

static void check_all(void)
{
	static const char *const function = "stripped_codes";
	const uint64_t other_file = address_of((const void *)&qsort) + OFFSET;
	const uint64_t in[STRIPPED_CODES] = { codes[0] + OFFSET, codes[1] + OFFSET,
					      codes[2] + OFFSET };

	check_named("exported", (const uint64_t[]){ exported, 0, 0, in[1] }, function);
	check_named("nested", (const uint64_t[]){ in[2], exported, in[1], 0 }, function);
	check_named("its begin", (const uint64_t[]){ codes[1] + 1, exported, 0, 0 }, function);
#ifdef __x86_64__ /* the code of other machines is not read */
	const uint64_t returned_to = address_of((const void *)&stripped_returns) + OFFSET;

	check_named("a jump", (const uint64_t[]){ returned_to, 0, 0, 0 }, NULL);
	check_named("nested, a jump", (const uint64_t[]){ in[1], returned_to, 0, 0 }, NULL);
#endif
	check_named("late", (const uint64_t[]){ other_file, 0, 0, exported }, function);
	check_named("never", (const uint64_t[]){ 0, 0, 0, 0 }, NULL);
	check_named("nowhere", (const uint64_t[]){ 1, exported, exported, 0 }, NULL);
	check_named("another file", (const uint64_t[]){ other_file, 0, 0, 0 }, NULL);
	check_named("nobody's", (const uint64_t[]){ in[1], 0, exported, 0 }, NULL);
	check_named("a circle", (const uint64_t[]){ in[1], in[2], in[1], 0 }, NULL);
}

int main(void)
{
	const struct crit_elf_reader_options options = { 0 };
	const void *unnamed[STRIPPED_CODES];

	stripped_codes(unnamed);
	for (size_t i = 0; i < STRIPPED_CODES; i++)
		codes[i] = address_of(unnamed[i]);
	exported = address_of((const void *)&stripped_codes) + OFFSET;
	CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0);
	check_all();
	crit_elf_reader_destroy(reader);
	return check_done();
}
