// SPDX-License-Identifier: BSD-3-Clause
// Programs that load preloaded libraries and programs that do not, by hand-made files.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/linkage.h"
#include "tests/lib/check.h"

#define GLIBC "/lib64/ld-linux-x86-64.so.2"
#define MUSL "/lib/ld-musl-x86_64.so.1"

struct image {
	ElfW(Ehdr) file;
	ElfW(Phdr) headers[3];
	ElfW(Dyn) dynamic[2];
	char loader[64];
};

static struct image image_of(unsigned short type, const char *loader, bool has_dynamic, bool is_pie)
{
	struct image image = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int count = 0;

	CHECK(read(fd, &image.file, sizeof(image.file)) == (ssize_t)sizeof(image.file));
	close(fd);
	image.file.e_type = type;
	image.file.e_phoff = offsetof(struct image, headers);
	image.headers[count++].p_type = PT_LOAD;
	if (loader) {
		(void)snprintf(image.loader, sizeof(image.loader), "%s", loader);
		image.headers[count++] = (ElfW(Phdr)){ .p_type = PT_INTERP,
						       .p_offset = offsetof(struct image, loader),
						       .p_filesz = strlen(loader) + 1 };
	}
	if (has_dynamic)
		image.headers[count++] = (ElfW(Phdr)){ .p_type = PT_DYNAMIC,
						       .p_offset = offsetof(struct image, dynamic),
						       .p_filesz = sizeof(image.dynamic) };
	image.dynamic[0].d_tag = DT_FLAGS_1;
	image.dynamic[0].d_un.d_val = is_pie ? DF_1_PIE : DF_1_NOW;
	image.file.e_phnum = (ElfW(Half))count;
	return image;
}

/* What a file of these bytes is. */
static enum crit_linkage judge(const void *bytes, size_t size, mode_t mode)
{
	char path[] = "/tmp/crit-linkage-XXXXXX";
	enum crit_linkage linkage;
	int fd = mkstemp(path);

	CHECK(write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	CHECK(chmod(path, mode) == 0);
	linkage = crit_linkage_of(path);
	(void)unlink(path);
	return linkage;
}

static void test_images(void)
{
	const struct {
		const char *what;
		unsigned short type;
		const char *loader;
		bool has_dynamic, is_pie;
		enum crit_linkage expected;
	} rows[] = {
		{ "dynamic", ET_DYN, GLIBC, true, true, CRIT_LINKAGE_OPEN },
		{ "dynamic, no PIE", ET_EXEC, GLIBC, true, false, CRIT_LINKAGE_OPEN },
		{ "static", ET_EXEC, NULL, false, false, CRIT_LINKAGE_STATIC },
		{ "static PIE", ET_DYN, NULL, true, true, CRIT_LINKAGE_STATIC },
		{ "the loader itself", ET_DYN, NULL, true, false, CRIT_LINKAGE_OPEN },
		{ "musl", ET_DYN, MUSL, true, true, CRIT_LINKAGE_MUSL },
		{ "an object file", ET_REL, NULL, false, false, CRIT_LINKAGE_OPEN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct image image =
			image_of(rows[i].type, rows[i].loader, rows[i].has_dynamic, rows[i].is_pie);
		enum crit_linkage found = judge(&image, sizeof(image), 0755);

		if (found != rows[i].expected)
			printf("%s:\n", rows[i].what);
		CHECK_INT_EQ(found, rows[i].expected);
	}
}

static void test_foreign(void)
{
	struct image image = image_of(ET_DYN, GLIBC, true, true);

	image.file.e_machine = EM_S390;
	CHECK_INT_EQ(judge(&image, sizeof(image), 0755), CRIT_LINKAGE_FOREIGN);
	image = image_of(ET_DYN, GLIBC, true, true);
	image.file.e_ident[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
	CHECK_INT_EQ(judge(&image, sizeof(image), 0755), CRIT_LINKAGE_FOREIGN);
}

/* Of what cannot be read, nothing is claimed. */
static void test_doubtful(void)
{
	static const char script[] =
		"#!/bin/sh\nexec true\n: and so on, longer than an ELF header\n";
	struct image image = image_of(ET_EXEC, NULL, false, false);

	CHECK_INT_EQ(judge(script, sizeof(script) - 1, 0755), CRIT_LINKAGE_OPEN);
	CHECK_INT_EQ(judge(&image, 10, 0755), CRIT_LINKAGE_OPEN);
	CHECK_INT_EQ(judge(&image, sizeof(image.file) + 1, 0755), CRIT_LINKAGE_OPEN);
	image.file.e_phoff = ~0ull;
	CHECK_INT_EQ(judge(&image, sizeof(image), 0755), CRIT_LINKAGE_OPEN);
	image = image_of(ET_EXEC, NULL, false, false);
	image.file.e_phnum = 0xffff;
	CHECK_INT_EQ(judge(&image, sizeof(image), 0755), CRIT_LINKAGE_OPEN);
	CHECK_INT_EQ(crit_linkage_of("/nonexistent"), CRIT_LINKAGE_OPEN);
	CHECK_INT_EQ(crit_linkage_of("/dev/null"), CRIT_LINKAGE_OPEN);
	CHECK_INT_EQ(crit_linkage_of("/"), CRIT_LINKAGE_OPEN);
	CHECK_INT_EQ(crit_linkage_of("/proc/self/exe"), CRIT_LINKAGE_OPEN);
}

/* One's own set-user-ID program gives one nothing. */
static void test_own_rights(void)
{
	struct image image = image_of(ET_DYN, GLIBC, true, true);

	CHECK_INT_EQ(judge(&image, sizeof(image), 06755), CRIT_LINKAGE_OPEN);
}

int main(void)
{
	test_images();
	test_foreign();
	test_doubtful();
	test_own_rights();
	return check_done();
}
