// SPDX-License-Identifier: BSD-3-Clause
// Lines of /proc/PID/maps as a sorted list; the lists of two times as one.
#include "analysis/unwind/unwind_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/vdso.h"

#define MAPPINGS_MAX (1u << 16)
#define LINE_BYTES_MAX 8192 /* paths end at 4096, with \n as \012 */

void crit_unwind_maps_fini(struct crit_unwind_maps *maps)
{
	free(maps->mappings);
	memset(maps, 0, sizeof(*maps));
}

static struct crit_unwind_mapping *last_of(const struct crit_unwind_maps *maps)
{
	return maps->mapping_count ? &maps->mappings[maps->mapping_count - 1] : NULL;
}

/* Behind the last one; they are one where nothing but the end differs. */
static int append(struct crit_unwind_maps *maps, const struct crit_unwind_mapping *mapping)
{
	struct crit_unwind_mapping *last = last_of(maps);

	if (last && last->end == mapping->begin && last->file == mapping->file &&
	    last->base == mapping->base) {
		last->end = mapping->end;
		return 0;
	}
	if (maps->mapping_count == MAPPINGS_MAX)
		return -E2BIG;
	if (crit_array_grow(&maps->mappings, &maps->mapping_capacity, maps->mapping_count + 1,
			    sizeof(*maps->mappings)))
		return -ENOMEM;
	maps->mappings[maps->mapping_count++] = *mapping;
	return 0;
}

static int add_line(struct crit_unwind_maps *maps, struct crit_mapped_files *files,
		    const char *line)
{
	struct crit_unwind_mapping mapping = { .file = CRIT_UNWIND_NO_FILE };
	const struct crit_unwind_mapping *last = last_of(maps);
	char permissions[5] = "";
	uint64_t file_offset = 0;
	uint64_t inode = 0;
	int path_at = 0;
	int rc = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n",
		   &mapping.begin, &mapping.end, permissions, &file_offset, &inode, &path_at) < 5 ||
	    path_at == 0 || permissions[2] != 'x' || mapping.begin >= mapping.end ||
	    (last && mapping.begin < last->end))
		return 0;
	if (line[path_at] == '/') {
		mapping.base = mapping.begin - file_offset;
		rc = crit_mapped_files_number(files, line + path_at, inode, &mapping.file);
	} else if (strcmp(line + path_at, CRIT_VDSO_NAME) == 0) {
		mapping.base = mapping.begin;
		rc = crit_mapped_files_number(files, CRIT_VDSO_NAME, mapping.end - mapping.begin,
					      &mapping.file);
	}
	return rc ? rc : append(maps, &mapping);
}

static int read_text(struct crit_unwind_maps *maps, struct crit_mapped_files *files,
		     const char *text, size_t text_bytes)
{
	const char *const end = text + text_bytes;
	const char *next;
	char line[LINE_BYTES_MAX];
	int rc = 0;

	for (; !rc && text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			break;
		if (next - text >= LINE_BYTES_MAX)
			continue;
		memcpy(line, text, (size_t)(next - text));
		line[next - text] = '\0';
		rc = add_line(maps, files, line);
	}
	return rc;
}

/* What of a mapping lies at the address and above; empty at the end of the list. */
static struct crit_unwind_mapping rest_of(const struct crit_unwind_maps *maps, size_t *i,
					  uint64_t address)
{
	struct crit_unwind_mapping rest = { .begin = UINT64_MAX, .end = UINT64_MAX };

	while (*i < maps->mapping_count && maps->mappings[*i].end <= address)
		++*i;
	if (*i < maps->mapping_count)
		rest = maps->mappings[*i];
	if (rest.begin < address)
		rest.begin = address;
	return rest;
}

/* Addresses that one list knows are as it says; those that both know, as both say. */
static int join(const struct crit_unwind_maps *left, const struct crit_unwind_maps *right,
		struct crit_unwind_maps *both)
{
	uint64_t address = 0;
	size_t i = 0;
	size_t j = 0;

	while (true) {
		const struct crit_unwind_mapping a = rest_of(left, &i, address);
		const struct crit_unwind_mapping b = rest_of(right, &j, address);
		struct crit_unwind_mapping piece = a.begin <= b.begin ? a : b;
		const struct crit_unwind_mapping *other = a.begin <= b.begin ? &b : &a;
		int rc;

		if (piece.begin == UINT64_MAX)
			return 0;
		if (other->begin > piece.begin) {
			piece.end = piece.end < other->begin ? piece.end : other->begin;
		} else {
			piece.end = piece.end < other->end ? piece.end : other->end;
			if (a.file != b.file || a.base != b.base)
				piece.file = CRIT_UNWIND_DISPUTED;
		}
		if (piece.file == CRIT_UNWIND_DISPUTED)
			piece.base = 0;
		rc = append(both, &piece);
		if (rc)
			return rc;
		address = piece.end;
	}
}

int crit_unwind_maps_join(const struct crit_unwind_maps *left, const struct crit_unwind_maps *right,
			  struct crit_unwind_maps *ret_both)
{
	struct crit_unwind_maps both = { 0 };
	const int rc = join(left, right, &both);

	if (rc)
		crit_unwind_maps_fini(&both);
	else
		*ret_both = both;
	return rc;
}

int crit_unwind_maps_add(struct crit_unwind_maps *maps, struct crit_mapped_files *files,
			 const char *text, size_t text_bytes)
{
	struct crit_unwind_maps seen = { 0 };
	struct crit_unwind_maps both = { 0 };
	int rc = read_text(&seen, files, text, text_bytes);

	if (!rc)
		rc = crit_unwind_maps_join(maps, &seen, &both);
	crit_unwind_maps_fini(&seen);
	if (rc)
		return rc;
	crit_unwind_maps_fini(maps);
	*maps = both;
	return 0;
}
