/* SPDX-License-Identifier: BSD-3-Clause */
/* Which file each address of a process belongs to, by the memory maps critd recorded. */
#ifndef CRIT_ADDRESS_SPACE_H
#define CRIT_ADDRESS_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

struct crit_err;
struct crit_recording;

struct crit_mapped_file {
	char *path; /* as the process saw it */
	uint64_t inode;
};

struct crit_mapping { /* an executable part of a file */
	uint32_t node;
	uint32_t pid;
	uint32_t file; /* index into files */
	uint32_t order; /* of the text it was seen in */
	uint64_t begin;
	uint64_t end;
	uint64_t end_max; /* largest end of this process up to here */
	uint64_t file_offset; /* of begin */
	uint64_t base; /* where the file begins in memory; 0: it knows its addresses itself */
	uint64_t seen_real_ns; /* Unix time it was seen last; 0 unknown */
};

struct crit_address_spaces {
	struct crit_mapping *mappings; /* sorted by node, pid, begin */
	size_t mapping_count, mapping_capacity;
	struct crit_mapped_file *files;
	size_t file_count, file_capacity;
	struct crit_index numbers; /* of files, by path and inode */
};

/*
 * Reads the maps of all recordings, one path per node; opened: they, open already, or NULL.
 * Range: zeroed memory.  Ownership: fini frees, also after an error.  Errors: those of
 * crit_recording_open; -ENOMEM.
 */
int crit_address_spaces_read(struct crit_address_spaces *spaces, const char *const *paths,
			     size_t path_count, const struct crit_recording *const *opened,
			     struct crit_err *err);

/*
 * The mapping an address of a process lies in; NULL when there is none, or two at different times
 * that disagree.  Borrowed.
 */
const struct crit_mapping *crit_address_spaces_find(const struct crit_address_spaces *spaces,
						    uint32_t node, uint32_t pid, uint64_t address);

void crit_address_spaces_fini(struct crit_address_spaces *spaces);

#endif
