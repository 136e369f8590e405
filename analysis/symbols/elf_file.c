// SPDX-License-Identifier: BSD-3-Clause
// One libdw session per ELF file, with that file as its only module.
#include "analysis/symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/code_refs.h"
#include "analysis/symbols/demangle/function_name.h"
#include "analysis/symbols/frame_table.h"
#include "analysis/symbols/function_symbols.h"
#include "analysis/symbols/vdso.h"
#include "core/base/cleanup.h"

#define ENTRY_BYTES 128u /* of code at the entry point that may be without CFI */

struct crit_elf_file {
	const char *debug_directories;
	char *path;
	struct stat status;
	Dwfl *session;
	Dwfl_Module *module;
	Elf *elf;
	bool has_asked; /* for the debug file */
	bool has_read; /* the DWARF, if there is any */
	bool has_looked; /* for .debug_frame */
	bool has_debug_frame;
	uint64_t bias; /* from its addresses to the session's */
	uint64_t dwarf_bias;
	struct crit_elf_head head;
	struct crit_debug_info debug_info;
	struct crit_function_symbols symbols;
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
	crit_function_symbols_init(&file->symbols, file->module);
	file->elf = dwfl_module_getelf(file->module, &bias);
	file->bias = bias;
	if (!file->elf)
		return -ENOEXEC;
	read_build_id(file);
	read_segments(file);
	return 0;
}

/* vdso_bytes: 0: it is a file. */
static int open_elf(const char *path, uint64_t vdso_bytes)
{
	return vdso_bytes ? crit_vdso_open(vdso_bytes) : crit_debug_file_open_elf(path);
}

struct crit_elf_file *crit_elf_file_open(const char *path, uint64_t inode,
					 const char *debug_directories,
					 enum crit_elf_status *ret_status)
{
	struct crit_elf_file *file = calloc(1, sizeof(*file));
	bool is_vdso = strcmp(path, CRIT_VDSO_NAME) == 0;
	int fd = file ? open_elf(path, is_vdso ? inode : 0) : -ENOMEM;
	struct stat *status = file ? &file->status : NULL;

	*ret_status = fd == -ENOEXEC ? CRIT_ELF_FOREIGN : CRIT_ELF_GONE;
	if (fd < 0)
		goto fail;
	if (fstat(fd, status) || (!is_vdso && status->st_ino != inode)) {
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
	crit_function_symbols_fini(&file->symbols);
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

bool crit_elf_place_is_sound(const struct crit_elf_place *place, size_t bytes)
{
	const size_t head_bytes = offsetof(struct crit_elf_place, texts);

	if (bytes < head_bytes || place->text_bytes == 0 ||
	    place->text_bytes > sizeof(place->texts) || bytes - head_bytes < place->text_bytes ||
	    place->frame_count > CRIT_INLINED_MAX || place->texts[place->text_bytes - 1])
		return false;
	for (uint32_t i = 0; i < place->frame_count; i++)
		if (place->frames[i].function_at >= place->text_bytes ||
		    place->frames[i].file_at >= place->text_bytes)
			return false;
	return true;
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

/* Names may be relative to the directory the compiler ran in; "<artificial>" is no file. */
static bool put_file(struct crit_elf_place *place, const char *directory, const char *name,
		     uint32_t *ret_at)
{
	char path[CRIT_NAME_BYTES_MAX];

	if (!name || !directory || name[0] == '/' || name[0] == '<')
		return put_text(place, name, ret_at);
	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	return put_text(place, path, ret_at);
}

static bool put_frame(struct crit_elf_place *place, const struct crit_debug_chain *chain,
		      uint32_t number)
{
	const struct crit_debug_frame *frame = &chain->frames[number];
	struct crit_elf_frame *put = &place->frames[place->frame_count];

	put->line = frame->line;
	if (!put_text(place, frame->function, &put->function_at) ||
	    !put_file(place, chain->directory, frame->file, &put->file_at))
		return false;
	place->frame_count++;
	return true;
}

/* The first and the last level, and as many from the first on as there is room for. */
static void put_chain(struct crit_elf_place *place, const struct crit_debug_chain *chain)
{
	struct crit_elf_frame last = { 0 };
	uint32_t put = 0;

	if (chain->frame_count > 1 && put_frame(place, chain, chain->frame_count - 1))
		last = place->frames[--place->frame_count];
	while (put + 1 < chain->frame_count && put_frame(place, chain, put))
		put++;
	if (chain->frame_count > 1)
		place->frames[place->frame_count++] = last;
	else if (chain->frame_count)
		(void)put_frame(place, chain, 0); /* it fits */
	place->cut_count = chain->cut_count + chain->frame_count - place->frame_count;
}

/* What the DWARF lacks: the function's name, or the line; then the place in the function stands. */
static void find_symbol(struct crit_elf_file *file, uint64_t address, struct crit_elf_place *place)
{
	const char *name = crit_function_symbols_find(&file->symbols, address + file->bias,
						      &place->function_offset);
	char *function;

	if (!name || place->frames[0].function_at)
		return;
	function = place->frames[0].line ? crit_demangle_source(name) : crit_demangle(name);
	(void)put_text(place, function, &place->frames[0].function_at);
	free(function);
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

/* bias: from the addresses of the CFI to the session's. */
static bool read_row(struct crit_elf_file *file, Dwarf_CFI *cfi, uint64_t bias, uint64_t address,
		     struct crit_frame_row *ret_row)
{
	const uint64_t shift = file->bias - bias;

	if (!crit_frame_row_read(cfi, address + shift, ret_row))
		return false;
	ret_row->end -= shift;
	return true;
}

/* Where a function begins that has no name; 0: that is not known. */
static uint64_t begin_of(struct crit_elf_file *file, uint64_t address)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(file->module, &bias);
	struct crit_frame_range range;
	struct crit_frame_row row;

	return read_row(file, cfi, bias, address, &row) &&
			       crit_frame_table_find(file->elf, address, &range)
		       ? range.begin
		       : 0;
}

void crit_elf_file_find(struct crit_elf_file *file, uint64_t address,
			struct crit_elf_place *ret_place)
{
	struct crit_debug_chain chain;

	if (!file->has_read)
		read_dwarf(file);
	crit_debug_info_find(&file->debug_info, address + file->bias - file->dwarf_bias, &chain);
	ret_place->function_offset = 0;
	ret_place->function_begin = 0;
	ret_place->frame_count = 0;
	ret_place->frames[0] = (struct crit_elf_frame){ 0 };
	ret_place->text_bytes = 1;
	ret_place->texts[0] = '\0';
	put_chain(ret_place, &chain);
	if (!ret_place->frames[0].function_at ||
	    (ret_place->frame_count == 1 && !ret_place->frames[0].line))
		find_symbol(file, address, ret_place);
	if (!ret_place->frames[0].function_at)
		ret_place->function_begin = begin_of(file, address);
}

bool crit_elf_file_refers(struct crit_elf_file *file, uint64_t address, uint64_t target)
{
	struct crit_frame_range range;

	return crit_frame_table_find(file->elf, address, &range) &&
	       crit_code_refers(file->elf, range.begin, range.next, target);
}

static bool has_section(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr header;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && header.sh_type != SHT_NOBITS && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/* Few files have it, and libdw would read all the DWARF, uncompressed, to say so. */
static bool look_for_debug_frame(const struct crit_elf_file *file)
{
	struct crit_debug_wanted wanted = { .module = file->path,
					    .directories = file->debug_directories };
	crit_autofree char *path = NULL;
	crit_autoclose int fd = -1;
	GElf_Word crc = 0;
	GElf_Addr where;
	bool is_there;
	Elf *elf;
	int bytes;

	if (has_section(file->elf, ".debug_frame"))
		return true;
	bytes = dwfl_module_build_id(file->module, &wanted.build_id, &where);
	wanted.build_id = bytes > 0 ? wanted.build_id : NULL;
	wanted.build_id_bytes = bytes > 0 ? (size_t)bytes : 0;
	wanted.link = dwelf_elf_gnu_debuglink(file->elf, &crc);
	wanted.link_crc = crc;
	fd = crit_debug_file_open(&wanted, &path);
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	is_there = has_section(elf, ".debug_frame");
	(void)elf_end(elf);
	return is_there;
}

/*
 * The code at the dynamic linker's entry point has no caller, though nothing says so: it is written
 * in assembly, without CFI.  Of a library that point is its first function, which is called.
 */
static bool is_entry(const struct crit_elf_file *file, uint64_t address,
		     struct crit_frame_row *ret_row)
{
	const char *slash = strrchr(file->path, '/');
	GElf_Ehdr header;

	if (!slash || strncmp(slash, "/ld-", 4) != 0 || !gelf_getehdr(file->elf, &header) ||
	    !header.e_entry || address < header.e_entry || address - header.e_entry >= ENTRY_BYTES)
		return false;
	*ret_row = (struct crit_frame_row){ .end = address + 1,
					    .rule = { .cfa.kind = CRIT_FRAME_SP,
						      .pc.kind = CRIT_FRAME_UNDEFINED } };
	return true;
}

static bool has_rule(struct crit_elf_file *file, uint64_t address, struct crit_frame_row *ret_row)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(file->module, &bias);

	if (read_row(file, cfi, bias, address, ret_row))
		return true;
	if (!file->has_looked)
		file->has_debug_frame = look_for_debug_frame(file);
	file->has_looked = true;
	if (!file->has_debug_frame)
		return false;
	cfi = dwfl_module_dwarf_cfi(file->module, &bias);
	return read_row(file, cfi, bias, address, ret_row);
}

bool crit_elf_file_frame_row(struct crit_elf_file *file, uint64_t address,
			     struct crit_frame_row *ret_row)
{
	return has_rule(file, address, ret_row) || is_entry(file, address, ret_row);
}
