// SPDX-License-Identifier: BSD-3-Clause
// Tiny programs with CFI of all kinds, registers and a stack of return addresses; texts of maps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/recording/unwind_layout.h"
#include "tests/fuzz/seeds.h"

#define BYTES_MAX (64u << 10)
#define BUILDS (sizeof(builds) / sizeof(builds[0]))
#define TINY                                                                                       \
	" -shared -fPIC -nostdlib -fno-builtin -Wl,-z,noseparate-code -Wl,-z,norelro -x c - -o "

static const char *const builds[] = {
	"gcc -O2" TINY,
	"gcc -O2 -fno-omit-frame-pointer -Wl,--no-eh-frame-hdr" TINY,
	"gcc -O2 -mstackrealign" TINY,
	"gcc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables" TINY,
	"clang -O2 -Wl,-z,lazy" TINY,
};

static const char source[] =
	"int probe(char *);\n"
	"__asm__(\".text\\nrestore: .cfi_startproc\\n.cfi_signal_frame\\n\"\n"
	"\".cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\\n\"\n"
	"\".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\\n.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0\\n\"\n"
	"\"nop\\nmov $15, %eax\\nsyscall\\n.cfi_endproc\\n\"\n"
	"\"begin: .cfi_startproc\\n.cfi_undefined rip\\nnop\\ncall out\\n.cfi_endproc\\n\");\n"
	"int in(int n) { _Alignas(64) char a[64]; return probe(a) + n; }\n"
	"int out(int n) { char a[n]; while (n-- > 0) n += probe(a); return n + in(n); }\n";

static const char *const texts[] = {
	"550000000000-550000001000 r-xp 00000000 00:01 7 /a\n"
	"550000001000-550000001800 r-xp 00001000 00:01 7 /a\n"
	"550000001800-550000001900 r-xp 00000000 00:00 0 \n"
	"550000001a00-550000001b00 r-xp 00000000 00:00 0 [vdso]\n",
};

static struct input with_tail(const void *bytes, size_t length)
{
	struct input input = { calloc(1, length + sizeof(struct layout_tail)),
			       length + sizeof(struct layout_tail) };
	struct layout_tail tail = { .sp = 0x7ffc00000000, .bp = 0x7ffc00000080 };
	static const char restore[] = "\x90\xb8\x0f"; /* the first function */
	const unsigned char *code = memmem(bytes, length, restore, strlen(restore));
	const size_t code_at = code ? (size_t)(code - (const unsigned char *)bytes) : 0;
	uint64_t word;

	if (!input.bytes)
		abort();
	tail.pc = LAYOUT_BASE + code_at;
	for (size_t i = 0; i < sizeof(tail.stack) / sizeof(word); i++) {
		word = LAYOUT_BASE + code_at + 10 + i * 7 % 100;
		word = i % 16 == 0 ? tail.bp + i : word;
		memcpy(tail.stack + i * sizeof(word), &word, sizeof(word));
	}
	memcpy(input.bytes, bytes, length);
	memcpy(input.bytes + length, &tail, sizeof(tail));
	return input;
}

static struct input build(const char *command)
{
	static unsigned char bytes[BYTES_MAX];
	char path[] = "/tmp/crit-seed-XXXXXX";
	char line[512];
	int fd = mkstemp(path);
	FILE *compiler;
	ssize_t length;

	(void)snprintf(line, sizeof(line), "%s%s", command, path);
	compiler = fd >= 0 ? popen(line, "w") : NULL;
	if (!compiler || fputs(source, compiler) < 0 || pclose(compiler))
		abort();
	close(fd);
	compiler = fopen(path, "rb"); /* the linker may have made a new file */
	length = compiler ? (ssize_t)fread(bytes, 1, sizeof(bytes), compiler) : 0;
	if (!compiler || fclose(compiler) || length <= 0 || unlink(path))
		abort();
	return with_tail(bytes, (size_t)length);
}

struct input crit_fuzz_seed(size_t number)
{
	if (number < BUILDS)
		return build(builds[number]);
	number -= BUILDS;
	if (number < sizeof(texts) / sizeof(texts[0]))
		return with_tail(texts[number], strlen(texts[number]));
	return (struct input){ 0 };
}
