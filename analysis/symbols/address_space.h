/* SPDX-License-Identifier: BSD-3-Clause */
/* Which file each address of a process belongs to, by the memory maps critd recorded. */
#ifndef CRIT_ADDRESS_SPACE_H
#define CRIT_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/mapped_files.h"

struct crit_err;
struct crit_recording;

struct crit_mapping { /* an executable part of a file */
	uint32_t node;
	uint32_t pid;
	uint32_t file; /* index into known files */
	uint32_t order; /* of the text it was seen in */
	bool without_shim; /* critd read it by itself */
	uint64_t begin;
	uint64_t end;
	uint64_t end_max; /* largest end of this process up to here */
	uint64_t file_offset; /* of begin */
	uint64_t base; /* where the file begins in memory; 0: it knows its addresses itself */
	uint64_t seen_real_ns; /* Unix time it was seen last; 0 unknown */
};

struct crit_address_spaces {
	struct crit_mapping *mappings; /* sorted by node, pid, without_shim, begin */
	size_t mapping_count, mapping_capacity;
	struct crit_mapped_files known;
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
 * that disagree.  What critd read by itself counts where a process has no shim: before the exec of
 * one that has, another program lay there.  Borrowed.
 */
const struct crit_mapping *crit_address_spaces_find(const struct crit_address_spaces *spaces,
						    uint32_t node, uint32_t pid, uint64_t address);

/* Does one of these overlap with no other of its process?  Then what lies in it is its alone. */
bool crit_address_spaces_is_alone(const struct crit_address_spaces *spaces,
				  const struct crit_mapping *mapping);

void crit_address_spaces_fini(struct crit_address_spaces *spaces);

#endif
