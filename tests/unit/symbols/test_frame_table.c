// SPDX-License-Identifier: BSD-3-Clause
// Where functions begin by the linker's table: this program's own, a damaged copy, and none.
#include "analysis/symbols/frame_table.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

extern const char __executable_start[]; /* ld's */

static __attribute__((noinline)) int first(int number)
{
	return number * 3;
}

static __attribute__((noinline)) int second(int number)
{
	return first(number) + first(number + 1);
}

static uint64_t address_of(int (*function)(int))
{
	return (uint64_t)((uintptr_t)function - (uintptr_t)__executable_start);
}

static void check_begins(Elf *elf)
{
	int (*const functions[])(int) = { first, second };

	for (size_t i = 0; i < 2; i++) {
		const uint64_t wanted = address_of(functions[i]);
		struct crit_frame_range range = { 0 }, before;

		CHECK(crit_frame_table_find(elf, wanted, &range));
		CHECK_UINT_EQ(range.begin, wanted);
		CHECK(crit_frame_table_find(elf, wanted + 1, &range));
		CHECK_UINT_EQ(range.begin, wanted);
		CHECK(range.next > wanted + 1);
		CHECK(crit_frame_table_find(elf, wanted - 1, &before));
		CHECK(before.begin < wanted);
		CHECK_UINT_EQ(before.next, wanted);
		CHECK(crit_frame_table_find(elf, UINT64_MAX / 4, &range));
		CHECK_UINT_EQ(range.next, UINT64_MAX);
	}
}

/* The table's place in the file. */
static uint64_t table_of(Elf *elf)
{
	GElf_Phdr header = { 0 };

	for (int i = 0; header.p_type != PT_GNU_EH_FRAME && gelf_getphdr(elf, i, &header); i++)
		;
	return header.p_type == PT_GNU_EH_FRAME ? header.p_offset : 0;
}

/* Each byte of the head that says what the table is, and a count beyond its end. */
static void check_damaged(char *image, size_t bytes)
{
	for (int at = 0; at < 9; at++) {
		Elf *elf = elf_memory(image, bytes);
		const uint64_t table = table_of(elf);
		struct crit_frame_range range;
		char *byte = image + table + (at < 4 ? at : 11); /* then the count's highest */
		const char before = *byte;

		*byte = at < 4 ? (char)(before ^ 0x44) : 0x7f;
		CHECK_CASE("byte %d", at);
		CHECK(table && crit_frame_table_find(elf, address_of(first), &range) == (at >= 4));
		*byte = before;
		(void)elf_end(elf);
	}
}

int main(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct crit_frame_range range;
	size_t bytes = 0;
	char *image;
	Elf *elf;

	(void)elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!CHECK(elf != NULL && second(1) == 9))
		return check_done();
	check_begins(elf);
	CHECK(!crit_frame_table_find(elf, 0, &range));
	image = elf_rawfile(elf, &bytes);
	if (CHECK(image != NULL)) {
		char *copy = malloc(bytes);

		if (CHECK(copy != NULL))
			check_damaged(memcpy(copy, image, bytes), bytes);
		free(copy);
	}
	(void)elf_end(elf);
	close(fd);
	return check_done();
}
