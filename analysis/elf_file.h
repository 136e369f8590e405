/* SPDX-License-Identifier: BSD-3-Clause */
/* A program or library as it lies on disk after the run: who it is, and what its addresses mean. */
#ifndef CRIT_ELF_FILE_H
#define CRIT_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/debug_file.h"
#include "analysis/debug_info.h"

enum crit_elf_status {
	CRIT_ELF_OPEN = 0,
	CRIT_ELF_GONE, /* cannot be opened */
	CRIT_ELF_REPLACED, /* another file lies there now */
	CRIT_ELF_FOREIGN, /* no program, or one that makes no sense */
	CRIT_ELF_STATUS_COUNT
};

struct crit_elf_file;

struct crit_elf_place {
	char *function; /* as struct crit_debug_place has it, or from the symbol table */
	char *outer;
	uint64_t function_offset; /* of a name from the symbol table */
	const char *file; /* borrowed from the file */
	uint32_t line;
};

/*
 * Opens path, if it still is the inode of the run.  debug_directories: see analysis/debug_file.h;
 * borrowed.  Ownership: crit_elf_file_close.  Errors: NULL, *ret_status says why.
 * Cost: heads only; names are read when they are first asked for.
 */
struct crit_elf_file *crit_elf_file_open(const char *path, uint64_t inode,
					 const char *debug_directories,
					 enum crit_elf_status *ret_status);
void crit_elf_file_close(struct crit_elf_file *file);

/* When its content changed last.  Units: ns, Unix time. */
uint64_t crit_elf_file_changed_ns(const struct crit_elf_file *file);

/* Hexadecimal; "" where the linker wrote none.  Borrowed. */
const char *crit_elf_file_build_id(const struct crit_elf_file *file);

/* From bytes in the file to the address of debuggers; false: not loaded. */
bool crit_elf_file_address(const struct crit_elf_file *file, uint64_t file_offset,
			   uint64_t *ret_address);

/* Whose code an address is.  Ownership: the caller frees function and outer. */
void crit_elf_file_find(struct crit_elf_file *file, uint64_t address,
			struct crit_elf_place *ret_place);

#endif
