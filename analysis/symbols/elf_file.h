/* SPDX-License-Identifier: BSD-3-Clause */
/* A program or library on disk: its build id, and the function and line of an address. */
#ifndef CRIT_ELF_FILE_H
#define CRIT_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/symbols/debug_file.h"
#include "analysis/symbols/debug_info.h"
#include "analysis/symbols/frame_rule.h"

enum crit_elf_status {
	CRIT_ELF_OPEN = 0,
	CRIT_ELF_GONE, /* cannot be opened */
	CRIT_ELF_REPLACED, /* another file lies there now */
	CRIT_ELF_FOREIGN, /* no program, or one that makes no sense */
	CRIT_ELF_CHANGED, /* while it was read */
	CRIT_ELF_SLOW, /* its reader took too long */
	CRIT_ELF_FATAL, /* its reader died of it */
	CRIT_ELF_UNREAD, /* there is no reader */
	CRIT_ELF_LATE, /* the time for all names is used up */
	CRIT_ELF_STATUS_COUNT
};

#define CRIT_ELF_SEGMENTS_MAX 64 /* kept of one file; linkers write 2 to 6 */

struct crit_elf_file;

struct crit_elf_segment { /* bytes of the file that are loaded */
	uint64_t file_offset;
	uint64_t bytes;
	uint64_t address; /* of the first one, as debuggers have it */
};

struct crit_elf_head {
	uint64_t changed_ns; /* when its content changed last; Unix time */
	char build_id[2 * CRIT_BUILD_ID_BYTES + 1]; /* hexadecimal; "" the linker wrote none */
	uint32_t segment_count;
	struct crit_elf_segment segments[CRIT_ELF_SEGMENTS_MAX];
};

#define CRIT_NAME_BYTES_MAX (16u << 10) /* of a text of a place; what is longer is cut */
#define CRIT_PLACE_BYTES_MAX                                                                       \
	(4 * CRIT_NAME_BYTES_MAX + 1) /* of all: the first and last level's fit */

struct crit_elf_frame {
	uint32_t function_at; /* in texts; 0 unknown */
	uint32_t file_at;
	uint32_t line;
};

struct crit_elf_place { /* as struct crit_debug_chain, in one piece; sent as far as it is used */
	uint64_t function_offset; /* of a name from the symbol table */
	uint64_t function_begin; /* address of a function without a name; 0 unknown */
	uint32_t frame_count;
	uint32_t cut_count;
	uint32_t text_bytes;
	struct crit_elf_frame frames[CRIT_INLINED_MAX];
	char texts[CRIT_PLACE_BYTES_MAX]; /* each ends with a zero, the first is empty */
};

/*
 * Opens path, if it still is the inode of the run.  debug_directories: as in debug_file.h;
 * borrowed.  The vDSO has its name as path and the bytes of its mapping as inode.
 * Ownership: crit_elf_file_close.  Errors: NULL, *ret_status says why.
 * Cost: heads only; names are read when they are first asked for.
 */
struct crit_elf_file *crit_elf_file_open(const char *path, uint64_t inode,
					 const char *debug_directories,
					 enum crit_elf_status *ret_status);
void crit_elf_file_close(struct crit_elf_file *file);

/* Is it still as it was when it was opened? */
bool crit_elf_file_is_whole(const struct crit_elf_file *file);

/* Borrowed. */
const struct crit_elf_head *crit_elf_file_head(const struct crit_elf_file *file);

/* From bytes in the file to the address of debuggers; false: not loaded. */
bool crit_elf_head_address(const struct crit_elf_head *head, uint64_t file_offset,
			   uint64_t *ret_address);

/* Does it lie within so many bytes, each text with its end, as what a reader sent should? */
bool crit_elf_place_is_sound(const struct crit_elf_place *place, size_t bytes);

/* Whose code an address is: the debug data says, else the symbol table. */
void crit_elf_file_find(struct crit_elf_file *file, uint64_t address,
			struct crit_elf_place *ret_place);

/* Does the function that an address is in name the address target?  False, too: not known. */
bool crit_elf_file_refers(struct crit_elf_file *file, uint64_t address, uint64_t target);

/*
 * How to leave the frame of an address: .eh_frame says, else .debug_frame, which may be in a
 * separate debug file.  The dynamic linker's begin, which has neither, has no caller.  False: not
 * known.
 */
bool crit_elf_file_frame_row(struct crit_elf_file *file, uint64_t address,
			     struct crit_frame_row *ret_row);

#endif
