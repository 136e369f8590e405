// SPDX-License-Identifier: BSD-3-Clause
// Reads ELF headers and rights of a file, to tell whether the dynamic loader will preload into it.
#include "core/base/linkage.h"

#include <elf.h>
#include <link.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/regular.h"

#define HEADERS_MAX 128 /* program headers; the rest is not looked at */
#define DYNAMIC_MAX 512
#define LOADER_BYTES 256

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"))); /* our own */

static const struct {
	const char *text, *fix;
} linkages[CRIT_LINKAGE_COUNT] = {
	[CRIT_LINKAGE_OPEN] = { "loads preloaded libraries", "" },
	[CRIT_LINKAGE_STATIC] = { "is statically linked", "link it dynamically" },
	[CRIT_LINKAGE_SETID] = { "is set-user-ID or set-group-ID",
				 "run a copy without these bits (cp)" },
	[CRIT_LINKAGE_CAPABLE] = { "has file capabilities", "run a copy without them (cp)" },
	[CRIT_LINKAGE_MUSL] = { "is linked with musl", "link it with glibc" },
	[CRIT_LINKAGE_FOREIGN] = { "is built for another machine or word size",
				   "build it as crit is built" },
};

const char *crit_linkage_text(enum crit_linkage linkage)
{
	return linkages[linkage < CRIT_LINKAGE_COUNT ? linkage : CRIT_LINKAGE_OPEN].text;
}

const char *crit_linkage_fix(enum crit_linkage linkage)
{
	return linkages[linkage < CRIT_LINKAGE_COUNT ? linkage : CRIT_LINKAGE_OPEN].fix;
}

/* A program without a loader that says so itself; the loader, which has none either, does not. */
static bool is_static_pie(int fd, const ElfW(Phdr) * dynamic)
{
	ElfW(Dyn) entries[DYNAMIC_MAX];
	ssize_t bytes = dynamic->p_filesz < sizeof(entries) ? (ssize_t)dynamic->p_filesz
							    : (ssize_t)sizeof(entries);

	bytes = pread(fd, entries, (size_t)bytes, (off_t)dynamic->p_offset);
	for (ssize_t i = 0; i < bytes / (ssize_t)sizeof(entries[0]); i++)
		if (entries[i].d_tag == DT_FLAGS_1)
			return (entries[i].d_un.d_val & DF_1_PIE) != 0;
	return false;
}

static enum crit_linkage judge_loader(int fd, const ElfW(Phdr) * loader)
{
	char name[LOADER_BYTES] = "";
	const size_t wanted = loader->p_filesz < sizeof(name) - 1 ? loader->p_filesz
								  : sizeof(name) - 1;

	if (pread(fd, name, wanted, (off_t)loader->p_offset) < 0)
		return CRIT_LINKAGE_OPEN;
	return strstr(name, "/ld-musl-") ? CRIT_LINKAGE_MUSL : CRIT_LINKAGE_OPEN;
}

static enum crit_linkage judge_headers(int fd, const ElfW(Ehdr) * file)
{
	ElfW(Phdr) headers[HEADERS_MAX];
	const ElfW(Phdr) *dynamic = NULL;
	const int count = file->e_phnum < HEADERS_MAX ? file->e_phnum : HEADERS_MAX;
	const ssize_t bytes = count * (ssize_t)sizeof(headers[0]);

	if (file->e_phentsize != sizeof(headers[0]) ||
	    pread(fd, headers, (size_t)bytes, (off_t)file->e_phoff) != bytes)
		return CRIT_LINKAGE_OPEN;
	for (int i = 0; i < count; i++) {
		if (headers[i].p_type == PT_INTERP)
			return judge_loader(fd, &headers[i]);
		if (headers[i].p_type == PT_DYNAMIC)
			dynamic = &headers[i];
	}
	return !dynamic || is_static_pie(fd, dynamic) ? CRIT_LINKAGE_STATIC : CRIT_LINKAGE_OPEN;
}

static enum crit_linkage judge_file(int fd)
{
	ElfW(Ehdr) file;

	if (pread(fd, &file, sizeof(file), 0) != (ssize_t)sizeof(file) ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG) != 0)
		return CRIT_LINKAGE_OPEN;
	if (file.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    file.e_machine != __ehdr_start.e_machine)
		return CRIT_LINKAGE_FOREIGN;
	if (file.e_type != ET_EXEC && file.e_type != ET_DYN)
		return CRIT_LINKAGE_OPEN;
	return judge_headers(fd, &file);
}

/* Where an exec gives rights, the loader is told so (AT_SECURE), and drops LD_PRELOAD. */
static enum crit_linkage judge_rights(const char *path, const struct stat *status)
{
	const bool has_group_bit = (status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP);
	struct vfs_ns_cap_data data;
	struct statvfs mount;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID)))
		return CRIT_LINKAGE_OPEN;
	if (((status->st_mode & S_ISUID) && status->st_uid != getuid()) ||
	    (has_group_bit && status->st_gid != getgid()))
		return CRIT_LINKAGE_SETID;
	if (getuid() != 0 && getxattr(path, "security.capability", &data, sizeof(data)) > 0)
		return CRIT_LINKAGE_CAPABLE;
	return CRIT_LINKAGE_OPEN;
}

enum crit_linkage crit_linkage_of(const char *path)
{
	crit_autoclose int fd = -1;
	struct stat status;
	enum crit_linkage rights;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return CRIT_LINKAGE_OPEN;
	rights = judge_rights(path, &status);
	if (rights != CRIT_LINKAGE_OPEN)
		return rights;
	fd = crit_regular_open(path, 0, NULL);
	return fd < 0 ? CRIT_LINKAGE_OPEN : judge_file(fd);
}

enum crit_linkage crit_linkage_of_words(char *const *words, const char **ret_name)
{
	for (; *words; words++) {
		enum crit_linkage linkage = CRIT_LINKAGE_OPEN;

		if (strchr(*words, '/') && access(*words, X_OK) == 0)
			linkage = crit_linkage_of(*words);
		if (linkage != CRIT_LINKAGE_OPEN) {
			*ret_name = *words;
			return linkage;
		}
	}
	return CRIT_LINKAGE_OPEN;
}
