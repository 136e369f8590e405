/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for the files that memory maps name. */
#ifndef CRIT_MAPPED_FILES_H
#define CRIT_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

#define CRIT_MAPPED_FILES_MAX (1u << 19) /* of unwind/, the numbers are part of keys */

struct crit_mapped_file {
	char *path; /* as the process saw it; "[vdso]" */
	uint64_t inode; /* of the vDSO what its finder has instead */
	bool has_shim; /* a process with a shim has it in memory */
};

struct crit_mapped_files { /* of any number of processes; zeroed: none */
	struct crit_mapped_file *files;
	size_t file_count, file_capacity;
	struct crit_index numbers; /* by path and inode */
};

/* Finds a file, or adds it.  Errors: -ENOMEM; -E2BIG: there is no room for another. */
int crit_mapped_files_number(struct crit_mapped_files *files, const char *path, uint64_t inode,
			     uint32_t *ret_file);
void crit_mapped_files_fini(struct crit_mapped_files *files);

#endif
