// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary bytes to the search for names: as a program mapped in two processes, as what may
// be its debug information in a file of its own, and up to the first zero as further maps of one of
// them.
#include "tests/fuzz/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/symbols/symbols.h"
#include "core/base/err.h"
#include "tests/fuzz/recording/place.h"
#include "tests/maker/maker.h"

#define BASE 0x550000000000ull
#define SPAN_BYTES (16u << 10)
#define STEP_BYTES 16u

static int program; /* a file of its own, from the first input on */

static int open_memfd(int *fd)
{
	if (*fd <= 0)
		*fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (*fd < 0)
		abort();
	return *fd;
}

static void put_program(const uint8_t *data, size_t size, char *ret_line, size_t line_bytes)
{
	struct stat status;
	int fd = open_memfd(&program);

	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size || fstat(fd, &status))
		abort();
	(void)snprintf(ret_line, line_bytes,
		       "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:01 %" PRIu64 " /proc/self/fd/%d\n",
		       (uint64_t)BASE, (uint64_t)BASE + SPAN_BYTES, (uint64_t)status.st_ino, fd);
}

/* Where a program of the seeds' build ID, and one with their link, have their debug information. */
static const char *lay_out_debug_files(void)
{
	static const char *const directories[] = { ".build-id", ".build-id/01", "proc", "proc/self",
						   "proc/self/fd" };
	static const char *const files[] = { ".build-id/01/23456789abcdef.debug",
					     "proc/self/fd/tiny.debug" };
	static bool is_done;
	char path[128], target[64];

	for (size_t i = 0; i < 5 && !is_done; i++)
		place_make(directories[i]);
	for (size_t i = 0; i < 2 && !is_done; i++) {
		(void)snprintf(target, sizeof(target), "/proc/self/fd/%d", open_memfd(&program));
		(void)snprintf(path, sizeof(path), "%s/%s", place_directory(), files[i]);
		if (symlink(target, path))
			abort();
	}
	is_done = true;
	return place_directory();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct crit_maker *maker = crit_maker_create(NULL);
	const struct crit_elf_reader_options options = {
		.is_here = true, .debug_directories = lay_out_debug_files()
	};
	struct crit_elf_reader *reader = NULL;
	struct crit_symbols *symbols = NULL;
	size_t text_bytes = strnlen((const char *)data, size);
	char *text = strndup((const char *)data, text_bytes);
	char line[256];
	char path[64];
	const char *paths[] = { path };
	struct crit_err err;
	int fd;

	put_program(data, size, line, sizeof(line));
	crit_maker_file(maker, (struct crit_rec_file){ .start_real_ns = 1ull << 62 });
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1 }, line);
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 2 }, text);
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 2 }, line);
	fd = crit_maker_memfd(maker);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (crit_elf_reader_create(&options, &reader) == 0 &&
	    crit_symbols_create(paths, 1, NULL, reader, &symbols, &err) == 0)
		for (uint32_t i = 0; i < SPAN_BYTES / STEP_BYTES; i++) {
			struct crit_source_location place;
			char shown[64];

			crit_symbols_find(symbols, 0, 1 + i % 2, BASE + i * STEP_BYTES + 8, &place);
			(void)crit_source_location_text(&place, shown, sizeof(shown));
		}
	crit_symbols_destroy(symbols);
	crit_elf_reader_destroy(reader);
	crit_maker_destroy(maker);
	close(fd);
	free(text);
	return 0;
}
