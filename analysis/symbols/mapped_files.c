// SPDX-License-Identifier: BSD-3-Clause
// A file is known by its path and inode: one that took another's path is another one.
#include "analysis/symbols/mapped_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(struct crit_mapped_files *files, const char *path, uint64_t inode, uint64_t hash)
{
	char *copy;

	if (files->file_count == CRIT_MAPPED_FILES_MAX)
		return -E2BIG;
	copy = strdup(path);
	if (!copy ||
	    crit_array_grow(&files->files, &files->file_capacity, files->file_count + 1,
			    sizeof(*files->files)) ||
	    crit_index_put(&files->numbers, hash, (uint32_t)files->file_count)) {
		free(copy);
		return -ENOMEM;
	}
	files->files[files->file_count++] =
		(struct crit_mapped_file){ .path = copy, .inode = inode };
	return 0;
}

int crit_mapped_files_number(struct crit_mapped_files *files, const char *path, uint64_t inode,
			     uint32_t *ret_file)
{
	const uint64_t hash = crit_hash_mix(crit_hash_text(path), inode);
	struct crit_probe probe;
	uint32_t file = crit_index_first(&files->numbers, hash, &probe);
	int rc = 0;

	while (file != CRIT_NONE &&
	       (files->files[file].inode != inode || strcmp(files->files[file].path, path) != 0))
		file = crit_index_next(&files->numbers, &probe);
	if (file == CRIT_NONE) {
		file = (uint32_t)files->file_count;
		rc = add(files, path, inode, hash);
	}
	if (!rc)
		*ret_file = file;
	return rc;
}

void crit_mapped_files_fini(struct crit_mapped_files *files)
{
	for (size_t i = 0; i < files->file_count; i++)
		free(files->files[i].path);
	free(files->files);
	crit_index_fini(&files->numbers);
	memset(files, 0, sizeof(*files));
}
