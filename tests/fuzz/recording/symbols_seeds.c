// SPDX-License-Identifier: BSD-3-Clause
// Tiny programs with names and lines, and the text of a map.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/seeds.h"

#define BYTES_MAX (64u << 10)
#define BUILDS (sizeof(builds) / sizeof(builds[0]))

/* Without room between sections, so that most strokes hit something. */
#define TINY_IN(language)                                                                          \
	" -O2 -shared -fPIC -nostdlib -Wl,-z,noseparate-code -Wl,-z,norelro -x " language " - -o "
#define TINY TINY_IN("c")

static const char *const builds[] = { "gcc -gdwarf-5" TINY,
				      "gcc -gdwarf-4 -gz" TINY,
				      "clang -g" TINY,
				      "gcc -Wl,--build-id=0x0123456789abcdef" TINY,
				      "gcc -DHAS_LINK -Wl,--build-id=none" TINY,
				      "g++ -g" TINY_IN("c++"),
				      "clang -g -fopenmp" TINY };

static const char source[] =
	"#ifdef HAS_LINK\n"
	"__attribute__((section(\".gnu_debuglinX\"), used))\n"
	"static const char link[16] = \"tiny.debug\\0\\0\\x12\\x34\\x56\";\n"
	"#endif\n"
	"int probe(const char *);\n"
	"volatile int turns;\n"
	"static inline int in(void) { return probe(\"\") + turns; }\n"
	"#ifdef __cplusplus\n"
	"namespace here {\n"
	"static __attribute__((noinline)) int far(int n) { return n * in(); }\n"
	"}\n"
	"int call(int n) { return here::far(n); }\n"
	"#endif\n"
	"#ifdef _OPENMP\n"
	"void team(void) {\n"
	"#pragma omp parallel\n"
	"turns++;\n"
	"}\n"
	"#endif\n"
	"int out(int n) { while (n > 0) n += in(); return n + in(); }\n";

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct input read_input(const char *path)
{
	struct input input = { malloc(BYTES_MAX), 0 };
	FILE *file = fopen(path, "rb");

	if (!file || !input.bytes)
		die(path);
	input.length = fread(input.bytes, 1, BYTES_MAX, file);
	(void)fclose(file);
	return input;
}

/* The linker drops a debug link: it gets its name afterwards. */
static void name_link(struct input *input)
{
	static const char name[] = ".gnu_debuglinX";
	char *at = memmem(input->bytes, input->length, name, sizeof(name));

	if (at)
		at[sizeof(name) - 2] = 'k';
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
	if (fd < 0 || !compiler || fputs(source, compiler) < 0 || pclose(compiler))
		die(line);
	input = read_input(path);
	name_link(&input);
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

	if (input.bytes)
		memcpy(input.bytes, text, sizeof(text));
	return input;
}

struct input crit_fuzz_seed(size_t number)
{
	if (number < BUILDS)
		return build(builds[number]);
	return number == BUILDS ? build_maps() : (struct input){ NULL, 0 };
}
