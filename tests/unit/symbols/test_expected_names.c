// SPDX-License-Identifier: BSD-3-Clause
// Names that were expected, and so asked for together, are those that are asked for one by one.
#include "analysis/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/elf_reader.h"
#include "tests/lib/check.h"
#include "tests/unit/symbols/own_names.h"
#include "tests/unit/symbols/places/long_names.h"

#define ADDRESSES                                                                                  \
	(5 * CRIT_ELF_ADDRESSES_MAX + 7) /* of each file; the last are not a whole question */
#define STEP_BYTES 24

/* One answer has room for a few of these names. */
static void test_long(struct crit_symbols *symbols)
{
	struct crit_source_location place;

	for (size_t i = 0; i < LONG_ONES; i++)
		crit_symbols_expect(symbols, 0, OWN_PID, (uint64_t)(uintptr_t)long_ones[i] + 1);
	for (size_t i = 0; i < LONG_ONES; i++) {
		CHECK_CASE("long name %zu", i);
		crit_symbols_find(symbols, 0, OWN_PID, (uint64_t)(uintptr_t)long_ones[i] + 1,
				  &place);
		if (CHECK(place.function) && CHECK_UINT_EQ(strlen(place.function), LONG_BYTES))
			CHECK_INT_EQ(place.function[LONG_BYTES - 1], '1' + (int)i);
	}
}

static uint64_t address_of(size_t i)
{
	const uint64_t begins[] = { (uint64_t)(uintptr_t)&crit_symbols_create,
				    (uint64_t)(uintptr_t)&qsort };

	return begins[i % 2] + 4 + i / 2 * STEP_BYTES;
}

static bool is_same_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "") == 0;
}

static void check_same(const struct crit_source_location *left,
		       const struct crit_source_location *right)
{
	CHECK_INT_EQ(crit_source_location_compare(left, right), 0);
	CHECK(is_same_text(left->function, right->function));
	CHECK(is_same_text(left->outer, right->outer));
	CHECK(is_same_text(left->file, right->file));
	CHECK_UINT_EQ(left->line, right->line);
	CHECK_UINT_EQ(left->function_offset, right->function_offset);
	CHECK_UINT_EQ(left->frame_count, right->frame_count);
	for (uint32_t i = 0; i < left->frame_count && i < right->frame_count; i++)
		CHECK(is_same_text(left->frames[i].function, right->frames[i].function) &&
		      left->frames[i].line == right->frames[i].line);
}

int main(void)
{
	const struct crit_elf_reader_options options = { 0 };
	struct crit_elf_reader *reader = NULL;
	struct crit_symbols *expecting, *asking;
	size_t named = 0, inlined = 0;

	CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0);
	expecting = own_names(reader);
	asking = own_names(reader);
	for (size_t i = 0; expecting && asking && i < 2 * ADDRESSES; i += 1 + i % 3)
		crit_symbols_expect(expecting, 0, OWN_PID, address_of(i));
	for (size_t i = 0; expecting && asking && i < 2 * ADDRESSES; i++) {
		struct crit_source_location with, without;

		CHECK_CASE("address %zu", i);
		crit_symbols_find(expecting, 0, OWN_PID, address_of(i), &with);
		crit_symbols_find(asking, 0, OWN_PID, address_of(i), &without);
		check_same(&with, &without);
		named += with.function != NULL;
		inlined += with.frame_count > 1;
	}
	CHECK(named > ADDRESSES && inlined > 0);
	if (expecting)
		test_long(expecting);
	crit_symbols_destroy(expecting);
	crit_symbols_destroy(asking);
	crit_elf_reader_destroy(reader);
	return check_done();
}
