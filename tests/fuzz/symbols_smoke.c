// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the target for names over tiny programs and some thousand random mutations of them.
//
//   fuzz-symbols-smoke [COUNT [SEED]]    that many mutations (default 3000)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/target.h"
#include "tests/lib/check.h"

#define BYTES_MAX (64u << 10)
#define SEEDS (sizeof(builds) / sizeof(builds[0]) + 1)

/* Without room between sections, so that most strokes hit something. */
#define TINY " -O2 -shared -fPIC -nostdlib -Wl,-z,noseparate-code -Wl,-z,norelro -x c - -o "

static const char *const builds[] = { "gcc -gdwarf-5" TINY, "gcc -gdwarf-4 -gz" TINY,
				      "clang -g" TINY };

static const char source[] = "int probe(const char *);\n"
			     "volatile int turns;\n"
			     "static inline int in(void) { return probe(\"\") + turns; }\n"
			     "int out(int n) { while (n > 0) n += in(); return n + in(); }\n";

static struct input read_input(const char *path)
{
	struct input input = { malloc(BYTES_MAX), 0 };
	FILE *file = fopen(path, "rb");

	if (CHECK(file) && CHECK(input.bytes))
		input.length = fread(input.bytes, 1, BYTES_MAX, file);
	if (file)
		(void)fclose(file);
	return input;
}

static struct input build(const char *command)
{
	char path[] = "/tmp/crit-tiny-XXXXXX";
	char line[256];
	struct input input;
	int fd = mkstemp(path);
	FILE *compiler;

	(void)snprintf(line, sizeof(line), "%s%s", command, path);
	compiler = popen(line, "w");
	if (CHECK(fd >= 0) && CHECK(compiler)) {
		(void)fputs(source, compiler);
		CHECK_INT_EQ(pclose(compiler), 0);
	}
	input = read_input(path);
	(void)unlink(path);
	close(fd);
	return input;
}

static struct input build_maps(void)
{
	static const char text[] = "550000000000-550000001000 r-xp 00000000 fe:01 1 /bin/no such\n"
				   "550000001000-550000003000 r-xp 00001000 fe:01 1 /bin/no such\n"
				   "550000002000-550000004000 r--p 00000000 00:00 0 [stack]\n"
				   "00400000-00500000 r-xp 00000000 08:01 13 /proc/self/exe\n";
	struct input input = { malloc(sizeof(text)), sizeof(text) };

	if (CHECK(input.bytes))
		memcpy(input.bytes, text, sizeof(text));
	return input;
}

static void run(const struct input *seeds, uint64_t count, uint64_t seed)
{
	static unsigned char bytes[BYTES_MAX];
	struct crit_random random = { .state = seed };

	for (uint64_t i = 0; i < count; i++) {
		const struct input *base = &seeds[crit_random_below(&random, SEEDS)];
		struct input input = { bytes, base->length };
		uint64_t strokes = crit_random_below(&random, 9);

		memcpy(bytes, base->bytes, base->length);
		while (strokes--)
			crit_mutate(&random, &input);
		CHECK_INT_EQ(LLVMFuzzerTestOneInput(bytes, input.length), 0);
	}
}

int main(int argc, char **argv)
{
	struct input seeds[SEEDS];

	for (size_t i = 0; i + 1 < SEEDS; i++)
		seeds[i] = build(builds[i]);
	seeds[SEEDS - 1] = build_maps();
	for (size_t i = 0; i < SEEDS; i++)
		if (!CHECK(seeds[i].length > 0))
			return check_done();
	run(seeds, argc > 1 ? strtoull(argv[1], NULL, 10) : 3000,
	    argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
	for (size_t i = 0; i < SEEDS; i++)
		free(seeds[i].bytes);
	return check_done();
}
