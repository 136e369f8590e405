// SPDX-License-Identifier: BSD-3-Clause
// The text of /proc/PID/maps, of any origin, as sorted tables.
#include "analysis/symbols/address_space.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/recording/recording.h"
#include "core/base/cleanup.h"

#define MAPPINGS_MAX (1u << 22)
#define LOW_BYTES (1ull << 32) /* what is loaded below is not position-independent */
#define OVERLAPS_MAX 256 /* looked at; who has more overlapping ones lies */

struct maps_text { /* one process at one time */
	uint32_t node;
	uint32_t pid;
	uint32_t order;
	bool without_shim;
	uint64_t seen_real_ns;
	uint32_t file; /* of the line before */
	uint64_t base; /* of that file */
};

/* Of a file, or of the kernel's code in the process, which has a name but no file. */
static bool is_code(const char *path)
{
	return path[0] == '/' || strcmp(path, "[vdso]") == 0;
}

/* The parts of one file follow each other; the one with the file's begin gives the base. */
static int add_line(struct crit_address_spaces *spaces, struct maps_text *text, const char *line)
{
	struct crit_mapping mapping = { .node = text->node,
					.pid = text->pid,
					.order = text->order,
					.without_shim = text->without_shim,
					.seen_real_ns = text->seen_real_ns };
	char permissions[5] = "";
	uint64_t inode;
	int path_at = 0;
	int rc;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n",
		   &mapping.begin, &mapping.end, permissions, &mapping.file_offset, &inode,
		   &path_at) < 5 ||
	    path_at == 0 || !is_code(line + path_at) || mapping.begin >= mapping.end)
		return 0;
	rc = crit_mapped_files_number(&spaces->known, line + path_at, inode, &mapping.file);
	if (rc)
		return rc == -E2BIG ? 0 : rc;
	spaces->known.files[mapping.file].has_shim |= !text->without_shim;
	if (mapping.file != text->file || mapping.file_offset == 0)
		text->base = mapping.begin - mapping.file_offset;
	text->file = mapping.file;
	if (permissions[2] != 'x' || spaces->mapping_count >= MAPPINGS_MAX)
		return 0;
	mapping.base = text->base < LOW_BYTES ? 0 : text->base;
	if (crit_array_grow(&spaces->mappings, &spaces->mapping_capacity, spaces->mapping_count + 1,
			    sizeof(*spaces->mappings)))
		return -ENOMEM;
	spaces->mappings[spaces->mapping_count++] = mapping;
	return 0;
}

/* critd cuts what is too long: a last line without its end is none. */
static int add_text(struct crit_address_spaces *spaces, struct maps_text text, char *lines)
{
	char *last = strrchr(lines, '\n');
	char *rest = NULL;
	int rc = 0;

	if (!last)
		return 0;
	*last = '\0';
	for (char *line = strtok_r(lines, "\n", &rest); line && !rc;
	     line = strtok_r(NULL, "\n", &rest))
		rc = add_line(spaces, &text, line);
	return rc;
}

static uint64_t real_time(const struct crit_rec_file *file, uint64_t time_ns)
{
	if (!file->start_real_ns || time_ns < file->start_mono_ns)
		return 0;
	return file->start_real_ns + (time_ns - file->start_mono_ns);
}

static int read_texts(struct crit_address_spaces *spaces, const struct crit_recording *recording,
		      uint32_t node)
{
	crit_autofree char *payload = malloc(CRIT_CHUNK_PAYLOAD_MAX + 1);
	int rc = payload ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < recording->ref_count; i++) {
		const struct crit_chunk_ref *ref = &recording->refs[i];
		struct maps_text text = { .node = node, .order = (uint32_t)i, .file = CRIT_NONE };
		struct crit_rec_maps head;
		ssize_t length;

		if (ref->kind != CRIT_C_MAPS || ref->length > CRIT_CHUNK_PAYLOAD_MAX)
			continue;
		length = crit_recording_read(recording, ref, 0, payload, ref->length);
		if (length < (ssize_t)sizeof(head))
			continue;
		memcpy(&head, payload, sizeof(head));
		payload[length] = '\0';
		text.pid = head.pid;
		text.without_shim = head.without_shim;
		text.seen_real_ns = real_time(&recording->file, head.time_ns);
		rc = add_text(spaces, text, payload + sizeof(head));
	}
	return rc;
}

static int read_file(struct crit_address_spaces *spaces, const char *path, uint32_t node,
		     struct crit_err *err)
{
	struct crit_recording *recording = NULL;
	int rc = crit_recording_open(path, &recording, err);

	if (crit_recording_is_unreadable(rc))
		return 0; /* it has no addresses then */
	if (!rc)
		rc = read_texts(spaces, recording, node);
	crit_recording_close(recording);
	return rc;
}

static int compare_process(const struct crit_mapping *left, const struct crit_mapping *right)
{
	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return (int)left->without_shim - (int)right->without_shim;
}

static int compare_mapping(const void *a, const void *b)
{
	const struct crit_mapping *left = a;
	const struct crit_mapping *right = b;
	int order = compare_process(left, right);

	if (!order)
		order = (left->begin > right->begin) - (left->begin < right->begin);
	return order ? order : (left->order > right->order) - (left->order < right->order);
}

static bool is_same(const struct crit_mapping *left, const struct crit_mapping *right)
{
	return compare_process(left, right) == 0 && left->begin == right->begin &&
	       left->end == right->end && left->file == right->file &&
	       left->file_offset == right->file_offset;
}

static void sort(struct crit_address_spaces *spaces)
{
	struct crit_mapping *mappings = spaces->mappings;
	size_t used = 0;

	if (!spaces->mapping_count)
		return;
	qsort(mappings, spaces->mapping_count, sizeof(*mappings), compare_mapping);
	for (size_t i = 0; i < spaces->mapping_count; i++) {
		struct crit_mapping *mapping = &mappings[used];

		if (used && is_same(&mappings[used - 1], &mappings[i])) {
			mappings[used - 1].seen_real_ns = mappings[i].seen_real_ns;
			continue; /* seen again */
		}
		*mapping = mappings[i];
		mapping->end_max = mapping->end;
		if (used && compare_process(mapping - 1, mapping) == 0 &&
		    mapping[-1].end_max > mapping->end)
			mapping->end_max = mapping[-1].end_max;
		used++;
	}
	spaces->mapping_count = used;
}

int crit_address_spaces_read(struct crit_address_spaces *spaces, const char *const *paths,
			     size_t path_count, const struct crit_recording *const *opened,
			     struct crit_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < path_count && !rc; i++)
		rc = opened ? read_texts(spaces, opened[i], (uint32_t)i)
			    : read_file(spaces, paths[i], (uint32_t)i, err);
	sort(spaces);
	return rc;
}

/* Index of the first one that begins above the key's. */
static size_t find_above(const struct crit_address_spaces *spaces, const struct crit_mapping *key)
{
	size_t low = 0;
	size_t high = spaces->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_mapping(&spaces->mappings[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Does the process of a key have any, where that would be at this index? */
static bool has_any(const struct crit_address_spaces *spaces, const struct crit_mapping *key,
		    size_t at)
{
	return (at && compare_process(&spaces->mappings[at - 1], key) == 0) ||
	       (at < spaces->mapping_count && compare_process(&spaces->mappings[at], key) == 0);
}

const struct crit_mapping *crit_address_spaces_find(const struct crit_address_spaces *spaces,
						    uint32_t node, uint32_t pid, uint64_t address)
{
	struct crit_mapping key = {
		.node = node, .pid = pid, .begin = address, .order = UINT32_MAX
	};
	const struct crit_mapping *found = NULL;
	size_t low = find_above(spaces, &key);
	size_t seen = 0;

	key.without_shim = !has_any(spaces, &key, low);
	if (key.without_shim)
		low = find_above(spaces, &key);
	while (low--) {
		const struct crit_mapping *mapping = &spaces->mappings[low];

		if (compare_process(mapping, &key) != 0 || mapping->end_max <= address)
			break;
		if (seen++ == OVERLAPS_MAX)
			return NULL;
		if (mapping->end <= address)
			continue;
		if (found &&
		    (mapping->file != found->file ||
		     mapping->begin - mapping->file_offset != found->begin - found->file_offset))
			return NULL;
		found = mapping;
	}
	return found;
}

bool crit_address_spaces_is_alone(const struct crit_address_spaces *spaces,
				  const struct crit_mapping *mapping)
{
	const struct crit_mapping *const first = spaces->mappings;
	const struct crit_mapping *const end = first + spaces->mapping_count;

	if (mapping > first && compare_process(mapping - 1, mapping) == 0 &&
	    mapping[-1].end_max > mapping->begin)
		return false;
	return mapping + 1 == end || compare_process(mapping + 1, mapping) != 0 ||
	       mapping[1].begin >= mapping->end;
}

void crit_address_spaces_fini(struct crit_address_spaces *spaces)
{
	crit_mapped_files_fini(&spaces->known);
	free(spaces->mappings);
	memset(spaces, 0, sizeof(*spaces));
}
