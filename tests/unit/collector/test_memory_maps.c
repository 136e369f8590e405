// SPDX-License-Identifier: BSD-3-Clause
// Which changes of a process's memory maps are a new version: those of programs and libraries.
#include <string.h>

#include "collector/member/memory_maps.h"
#include "tests/lib/check.h"

/* Of this machine, trimmed. */
#define PROGRAM                                                                                    \
	"55d0c5a00000-55d0c5a01000 r--p 00000000 fe:00 11165756    /tmp/a b/solver\n"              \
	"55d0c5a01000-55d0c5a02000 r-xp 00001000 fe:00 11165756    /tmp/a b/solver\n"
#define HEAP(end) "55d0c6c00000-" end " rw-p 00000000 00:00 0    [heap]\n"
#define DATA "7f10a0000000-7f10a8000000 r--p 00000000 fe:00 77    /data/input.nc\n"
#define JIT(end) "7f10b0000000-" end " rwxp 00000000 00:00 0\n"
#define LIBRARY(begin)                                                                             \
	begin "-7f10c01d2000 r-xp 00026000 fe:00 232105    /usr/lib/libresolv.so.2 (deleted)\n"
#define VDSO "7ffd3b9f1000-7ffd3b9f3000 r-xp 00000000 00:00 0    [vdso]\n"

static const struct {
	const char *text;
	bool is_same; /* as PROGRAM HEAP VDSO */
} texts[] = {
	{ PROGRAM HEAP("55d0c6c21000") VDSO, true },
	{ PROGRAM HEAP("55d0c6d00000") VDSO, true },
	{ PROGRAM HEAP("55d0c6c21000") DATA VDSO, true },
	{ PROGRAM HEAP("55d0c6c21000") JIT("7f10b0010000") VDSO, true },
	{ PROGRAM, true },
	{ PROGRAM "7f10c0028000-7f10c01d2000 r-xp 00026000 fe:00 232105    /usr/lib/lib", true },
	{ PROGRAM "\n", true },
	{ PROGRAM LIBRARY("7f10c0028000") VDSO, false },
	{ PROGRAM LIBRARY("7f10c0029000") VDSO, false },
	{ LIBRARY("7f10c0028000") PROGRAM, false },
	{ "", false },
	{ "\n", false },
	{ "r-xp /", false },
	{ " r-xp /\n", false },
};

static void test_digest(void)
{
	const char *const first = texts[0].text;
	const uint64_t digest = crit_memory_maps_digest(first, strlen(first));

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *const text = texts[i].text;

		CHECK_CASE("text %zu", i);
		CHECK_INT_EQ(crit_memory_maps_digest(text, strlen(text)) == digest,
			     texts[i].is_same);
		for (size_t j = i + 1; j < sizeof(texts) / sizeof(texts[0]); j++)
			if (strstr(text, "libresolv.so") && strstr(texts[j].text, "libresolv.so"))
				CHECK(crit_memory_maps_digest(text, strlen(text)) !=
				      crit_memory_maps_digest(texts[j].text,
							      strlen(texts[j].text)));
	}
}

int main(void)
{
	test_digest();
	return check_done();
}
