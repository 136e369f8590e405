// SPDX-License-Identifier: BSD-3-Clause
// What a reader of files sends is looked at before it is used: sizes, ends of texts, counts.
#include "analysis/symbols/elf_file.h"

#include <stddef.h>
#include <stdint.h>

#include "tests/lib/check.h"

int main(void)
{
	static struct crit_elf_place place = { .frame_count = 1, .text_bytes = 3, .texts = "\0f" };
	const size_t bytes = offsetof(struct crit_elf_place, texts) + 3;

	place.frames[0].function_at = 1;
	CHECK(crit_elf_place_is_sound(&place, bytes));
	CHECK(!crit_elf_place_is_sound(&place, bytes - 1));
	CHECK(!crit_elf_place_is_sound(&place, 4));
	place.texts[2] = 'f'; /* no end */
	CHECK(!crit_elf_place_is_sound(&place, bytes));
	place.texts[2] = '\0';
	place.frames[0].file_at = 3;
	CHECK(!crit_elf_place_is_sound(&place, bytes));
	place.frames[0].file_at = 0;
	place.frame_count = CRIT_INLINED_MAX + 1;
	CHECK(!crit_elf_place_is_sound(&place, bytes));
	place.frame_count = 1;
	place.text_bytes = sizeof(place.texts) + 1;
	CHECK(!crit_elf_place_is_sound(&place, SIZE_MAX));
	return check_done();
}
