// SPDX-License-Identifier: BSD-3-Clause
// Where a debug file may lie, and whether one is the module's own.
#include "analysis/symbols/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <isa-l/crc.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/regular.h"

#define SYSTEM_DIRECTORY "/usr/lib/debug"
#define PIECE_BYTES (1u << 16)

int crit_debug_file_open_elf(const char *path)
{
	char magic[SELFMAG];
	int fd = crit_regular_open(path, 0, NULL);

	if (fd < 0)
		return fd == -EPROTO ? -ENOEXEC : fd;
	if (pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    memcmp(magic, ELFMAG, SELFMAG) == 0)
		return fd;
	close(fd);
	return -ENOEXEC;
}

static bool has_build_id(int fd, const struct crit_debug_wanted *wanted)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *build_id;
	ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &build_id) : -1;
	bool is_same = bytes > 0 && (size_t)bytes == wanted->build_id_bytes &&
		       memcmp(build_id, wanted->build_id, (size_t)bytes) == 0;

	(void)elf_end(elf);
	return is_same;
}

static bool has_checksum(int fd, uint32_t wanted)
{
	crit_autofree unsigned char *piece = malloc(PIECE_BYTES);
	uint32_t crc = 0;
	ssize_t bytes;
	off_t at = 0;

	if (!piece)
		return false;
	while ((bytes = pread(fd, piece, PIECE_BYTES, at)) > 0) {
		crc = crc32_gzip_refl(crc, piece, (uint64_t)bytes);
		at += bytes;
	}
	return bytes == 0 && crc == wanted;
}

/* Takes path, which may be NULL. */
static int try(const struct crit_debug_wanted *wanted, char *path, char **ret_path)
{
	int fd = path && strcmp(path, wanted->module) != 0 ? crit_debug_file_open_elf(path)
							   : -ENOENT;
	bool is_own = false;

	if (fd >= 0)
		is_own = wanted->build_id ? has_build_id(fd, wanted)
					  : has_checksum(fd, wanted->link_crc);
	if (is_own) {
		*ret_path = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -ENOENT;
}

static char *join(const char *directory, int directory_bytes, const char *between, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%.*s%s%s", directory_bytes, directory, between, name) < 0)
		return NULL;
	return path;
}

static int try_build_id(const struct crit_debug_wanted *wanted, const char *directory,
			int directory_bytes, char **ret_path)
{
	char name[2 * CRIT_BUILD_ID_BYTES + sizeof("/.debug")];
	size_t at = 0;

	if (wanted->build_id_bytes < 2 || wanted->build_id_bytes > CRIT_BUILD_ID_BYTES)
		return -ENOENT;
	for (size_t i = 0; i < wanted->build_id_bytes; i++)
		at += (size_t)snprintf(name + at, sizeof(name) - at, i == 1 ? "/%02x" : "%02x",
				       wanted->build_id[i]);
	(void)snprintf(name + at, sizeof(name) - at, ".debug");
	return try(wanted, join(directory, directory_bytes, "/.build-id/", name), ret_path);
}

/* DIRECTORY/path/of/module/LINK, then DIRECTORY/LINK. */
static int try_link(const struct crit_debug_wanted *wanted, const char *directory,
		    int directory_bytes, char **ret_path)
{
	int folder_bytes = (int)(strrchr(wanted->module, '/') - wanted->module) + 1;
	char *path;
	int fd;

	if (asprintf(&path, "%.*s%.*s%s", directory_bytes, directory, folder_bytes, wanted->module,
		     wanted->link) < 0)
		return -ENOENT;
	fd = try(wanted, path, ret_path);
	return fd >= 0 ? fd
		       : try(wanted, join(directory, directory_bytes, "/", wanted->link), ret_path);
}

/* In every directory of a:b:c, and in the system's. */
static int try_directories(const struct crit_debug_wanted *wanted,
			   int (*attempt)(const struct crit_debug_wanted *wanted,
					  const char *directory, int directory_bytes,
					  char **ret_path),
			   char **ret_path)
{
	const char *at = wanted->directories ? wanted->directories : "";
	int fd = -ENOENT;

	while (*at && fd < 0) {
		size_t bytes = strcspn(at, ":");

		if (bytes && bytes < PATH_MAX)
			fd = attempt(wanted, at, (int)bytes, ret_path);
		at += bytes + (at[bytes] == ':');
	}
	return fd >= 0 ? fd : attempt(wanted, SYSTEM_DIRECTORY, INT_MAX, ret_path);
}

int crit_debug_file_open(const struct crit_debug_wanted *wanted, char **ret_path)
{
	const char *slash = strrchr(wanted->module, '/');
	int folder_bytes = slash ? (int)(slash - wanted->module) : 0;
	int fd = -ENOENT;

	if (wanted->build_id)
		fd = try_directories(wanted, try_build_id, ret_path);
	if (fd < 0 && wanted->link && slash && !strchr(wanted->link, '/')) {
		fd = try(wanted, join(wanted->module, folder_bytes, "/", wanted->link), ret_path);
		if (fd < 0)
			fd = try(wanted,
				 join(wanted->module, folder_bytes, "/.debug/", wanted->link),
				 ret_path);
		if (fd < 0)
			fd = try_directories(wanted, try_link, ret_path);
	}
	return fd;
}
