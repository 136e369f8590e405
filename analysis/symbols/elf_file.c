// SPDX-License-Identifier: BSD-3-Clause
// One libdw session per ELF file, with that file as its only module.
#include "analysis/symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/function_name.h"

struct crit_elf_file {
	const char *debug_directories;
	char *path;
	struct stat status;
	Dwfl *session;
	Dwfl_Module *module;
	Elf *elf;
	bool has_asked; /* for the debug file */
	bool has_read; /* the DWARF, if there is any */
	uint64_t bias; /* from its addresses to the session's */
	uint64_t dwarf_bias;
	struct crit_elf_head head;
	struct crit_debug_info debug_info;
};

// NOLINTBEGIN(readability-function-size): the signatures are the library's
/* libdw's own search would ask a server; this one also serves as "no other file either". */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    char **ret_path, Elf **ret_elf)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)ret_path;
	(void)ret_elf;
	return -1;
}

/* Asked a second time for what the debug file refers to: libdw finds that by itself. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			   const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	struct crit_elf_file *file = *user;
	struct crit_debug_wanted wanted = { .link = link, .link_crc = crc };
	const unsigned char *build_id;
	GElf_Addr where;
	int bytes = dwfl_module_build_id(module, &build_id, &where);
	int fd;

	(void)name;
	(void)base;
	(void)path;
	if (!file || file->has_asked)
		return -1;
	file->has_asked = true;
	wanted.module = file->path;
	wanted.directories = file->debug_directories;
	if (bytes > 0) {
		wanted.build_id = build_id;
		wanted.build_id_bytes = (size_t)bytes;
	}
	fd = crit_debug_file_open(&wanted, ret_path);
	return fd >= 0 ? fd : -1;
}
// NOLINTEND(readability-function-size)

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debug_file,
	.section_address = dwfl_offline_section_address,
};

static bool is_loadable(int fd)
{
	unsigned char head[EI_NIDENT + 2];
	uint16_t type;

	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return false;
	memcpy(&type, head + EI_NIDENT, sizeof(type));
	return type == ET_EXEC || type == ET_DYN;
}

static void read_build_id(struct crit_elf_file *file)
{
	const unsigned char *build_id;
	GElf_Addr where;
	int bytes = dwfl_module_build_id(file->module, &build_id, &where);

	for (int i = 0; i < bytes && bytes <= CRIT_BUILD_ID_BYTES; i++)
		(void)snprintf(file->head.build_id + 2 * i, 3, "%02x", build_id[i]);
}

static void read_segments(struct crit_elf_file *file)
{
	size_t count = 0;

	if (elf_getphdrnum(file->elf, &count))
		return;
	for (size_t i = 0; i < count && file->head.segment_count < CRIT_ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD)
			file->head.segments[file->head.segment_count++] =
				(struct crit_elf_segment){ header.p_offset, header.p_filesz,
							   header.p_vaddr };
	}
}

/* Takes fd.  Errors: -ENOEXEC, -ENOMEM. */
static int begin_session(struct crit_elf_file *file, int fd)
{
	void **user;
	GElf_Addr bias = 0;

	file->session = is_loadable(fd) ? dwfl_begin(&callbacks) : NULL;
	if (file->session)
		file->module = dwfl_report_elf(file->session, file->path, file->path, fd, 0, true);
	if (!file->module) {
		close(fd);
		return -ENOEXEC;
	}
	if (dwfl_report_end(file->session, NULL, NULL) ||
	    !dwfl_module_info(file->module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
		return -ENOEXEC;
	*user = file;
	file->elf = dwfl_module_getelf(file->module, &bias);
	file->bias = bias;
	if (!file->elf)
		return -ENOEXEC;
	read_build_id(file);
	read_segments(file);
	return 0;
}

struct crit_elf_file *crit_elf_file_open(const char *path, uint64_t inode,
					 const char *debug_directories,
					 enum crit_elf_status *ret_status)
{
	struct crit_elf_file *file = calloc(1, sizeof(*file));
	int fd = file ? crit_debug_file_open_elf(path) : -ENOMEM;
	struct stat *status = file ? &file->status : NULL;

	*ret_status = fd == -ENOEXEC ? CRIT_ELF_FOREIGN : CRIT_ELF_GONE;
	if (fd < 0)
		goto fail;
	if (fstat(fd, status) || status->st_ino != inode) {
		*ret_status = CRIT_ELF_REPLACED;
		close(fd);
		goto fail;
	}
	*ret_status = CRIT_ELF_FOREIGN;
	file->debug_directories = debug_directories;
	file->head.changed_ns =
		(uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
	file->path = strdup(path);
	if (!file->path) {
		close(fd);
		goto fail;
	}
	if (begin_session(file, fd))
		goto fail;
	*ret_status = CRIT_ELF_OPEN;
	return file;
fail:
	crit_elf_file_close(file);
	return NULL;
}

void crit_elf_file_close(struct crit_elf_file *file)
{
	if (!file)
		return;
	crit_debug_info_fini(&file->debug_info);
	if (file->session)
		dwfl_end(file->session);
	free(file->path);
	free(file);
}

bool crit_elf_file_is_whole(const struct crit_elf_file *file)
{
	const struct stat *before = &file->status;
	struct stat now;

	return stat(file->path, &now) || now.st_ino != before->st_ino ||
	       (now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == before->st_mtim.tv_nsec);
}

const struct crit_elf_head *crit_elf_file_head(const struct crit_elf_file *file)
{
	return &file->head;
}

bool crit_elf_head_address(const struct crit_elf_head *head, uint64_t file_offset,
			   uint64_t *ret_address)
{
	for (uint32_t i = 0; i < head->segment_count; i++) {
		const struct crit_elf_segment *segment = &head->segments[i];

		if (file_offset >= segment->file_offset &&
		    file_offset - segment->file_offset < segment->bytes) {
			*ret_address = file_offset - segment->file_offset + segment->address;
			return true;
		}
	}
	return false;
}

/* False: there is no room. */
static bool put_text(struct crit_elf_place *place, const char *text, uint32_t *ret_at)
{
	size_t length = text ? strnlen(text, CRIT_NAME_BYTES_MAX - 1) : 0;

	*ret_at = length ? place->text_bytes : 0;
	if (!length)
		return true;
	if (sizeof(place->texts) - place->text_bytes <= length)
		return false;
	memcpy(place->texts + place->text_bytes, text, length);
	place->texts[place->text_bytes + length] = '\0';
	place->text_bytes += (uint32_t)length + 1;
	return true;
}

static bool put_frame(struct crit_elf_place *place, const struct crit_debug_frame *frame)
{
	struct crit_elf_frame *put = &place->frames[place->frame_count];

	put->line = frame->line;
	if (!put_text(place, frame->function, &put->function_at) ||
	    !put_text(place, frame->file, &put->file_at))
		return false;
	place->frame_count++;
	return true;
}

/* The first and the last level, and as many from the first on as there is room for. */
static void put_chain(struct crit_elf_place *place, const struct crit_debug_chain *chain)
{
	struct crit_elf_frame last = { 0 };
	uint32_t put = 0;

	if (chain->frame_count > 1 && put_frame(place, &chain->frames[chain->frame_count - 1]))
		last = place->frames[--place->frame_count];
	while (put + 1 < chain->frame_count && put_frame(place, &chain->frames[put]))
		put++;
	if (chain->frame_count > 1)
		place->frames[place->frame_count++] = last;
	else if (chain->frame_count)
		(void)put_frame(place, &chain->frames[0]); /* it fits */
	place->cut_count = chain->cut_count + chain->frame_count - place->frame_count;
}

static void find_symbol(struct crit_elf_file *file, uint64_t address, struct crit_elf_place *place)
{
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(file->module, address + file->bias, &offset,
						&symbol, NULL, NULL, NULL);
	char *function;

	if (!name || !name[0] ||
	    (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
	     GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC))
		return;
	function = crit_demangle(name);
	(void)put_text(place, function, &place->frames[0].function_at);
	free(function);
	place->function_offset = offset;
	place->frame_count += place->frame_count == 0;
}

static void read_dwarf(struct crit_elf_file *file)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(file->module, &bias);

	file->has_read = true;
	file->dwarf_bias = bias;
	if (dwarf)
		(void)crit_debug_info_init(&file->debug_info, dwarf); /* what is there */
}

void crit_elf_file_find(struct crit_elf_file *file, uint64_t address,
			struct crit_elf_place *ret_place)
{
	struct crit_debug_chain chain;

	if (!file->has_read)
		read_dwarf(file);
	crit_debug_info_find(&file->debug_info, address + file->bias - file->dwarf_bias, &chain);
	ret_place->function_offset = 0;
	ret_place->frame_count = 0;
	ret_place->frames[0] = (struct crit_elf_frame){ 0 };
	ret_place->text_bytes = 1;
	ret_place->texts[0] = '\0';
	put_chain(ret_place, &chain);
	if (!ret_place->frames[0].function_at)
		find_symbol(file, address, ret_place);
}
