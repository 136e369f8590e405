// SPDX-License-Identifier: BSD-3-Clause
// Numbers of paths and files are those of a node's unwinder: each is looked up, none is an index.
#include "analysis/samples/call_paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/chunk.h"
#include "core/base/cleanup.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/map.h"

#define NO_FILE_NAME "[anon]" /* of code that is in no file */

struct node_paths {
	struct crit_map files; /* number in the recording -> index */
	struct crit_map numbers;
	struct crit_rec_sample_path *requests; /* sorted; path: index in the tree */
	size_t request_count, request_capacity;
	bool has_requests; /* they are read */
};

struct crit_call_paths {
	const struct crit_model *model;
	struct node_paths *nodes;
	struct crit_path_row *rows;
	size_t row_count, row_capacity;
	uint16_t *depths; /* of rows */
	size_t depth_capacity;
	struct crit_index row_numbers;
	char **files;
	size_t file_count, file_capacity;
	struct crit_index file_numbers;
	uint64_t refused_count;
};

static int find_file(struct crit_call_paths *paths, const char *name, uint32_t *ret_file)
{
	const uint64_t hash = crit_hash_text(name);
	struct crit_probe probe;
	uint32_t file = crit_index_first(&paths->file_numbers, hash, &probe);
	char *copy;

	while (file != CRIT_NONE && strcmp(paths->files[file], name) != 0)
		file = crit_index_next(&paths->file_numbers, &probe);
	*ret_file = file;
	if (file != CRIT_NONE || paths->file_count >= CRIT_PATH_FILES_MAX)
		return 0;
	copy = strdup(name);
	if (!copy ||
	    crit_array_grow(&paths->files, &paths->file_capacity, paths->file_count + 1,
			    sizeof(*paths->files)) ||
	    crit_index_put(&paths->file_numbers, hash, (uint32_t)paths->file_count)) {
		free(copy);
		return -ENOMEM;
	}
	*ret_file = (uint32_t)paths->file_count;
	paths->files[paths->file_count++] = copy;
	return 0;
}

static int take_file(struct crit_call_paths *paths, struct node_paths *node, uint32_t number,
		     const unsigned char *bytes, size_t length)
{
	char name[PATH_MAX];
	uint32_t file;
	int rc;

	if (!length || length >= sizeof(name) || memchr(bytes, '\0', length) ||
	    crit_map_get(&node->files, number) != CRIT_NONE) {
		paths->refused_count++;
		return 0;
	}
	memcpy(name, bytes, length);
	name[length] = '\0';
	if (strcmp(name, NO_FILE_NAME) == 0)
		return 0;
	rc = find_file(paths, name, &file);
	if (!rc && file != CRIT_NONE)
		return crit_map_set(&node->files, number, file);
	paths->refused_count += !rc;
	return rc;
}

static int take_files(struct crit_call_paths *paths, struct node_paths *node,
		      const unsigned char *bytes, size_t length)
{
	struct crit_rec_path_file head;
	size_t at = 0;
	int rc = 0;

	while (!rc && length - at >= sizeof(head)) {
		memcpy(&head, bytes + at, sizeof(head));
		at += sizeof(head);
		if (head.name_bytes > length - at) {
			paths->refused_count++;
			return 0;
		}
		rc = take_file(paths, node, head.file, bytes + at, head.name_bytes);
		at += crit_chunk_padded(head.name_bytes);
		at = at < length ? at : length; /* the last one may do without */
	}
	paths->refused_count += !rc && at < length;
	return rc;
}

/* The tree's index of a node's path; CRIT_NONE unknown. */
static uint32_t number_of(const struct node_paths *node, uint32_t path)
{
	return path < CRIT_PATH_FIRST ? path : crit_map_get(&node->numbers, path);
}

/* Finds the row or adds it; CRIT_NONE: no room. */
static int find_row(struct crit_call_paths *paths, const struct crit_path_row *wanted,
		    uint32_t *ret_row)
{
	const uint64_t hash =
		crit_hash_mix(crit_hash_mix(wanted->offset, wanted->file), wanted->parent);
	struct crit_probe probe;
	uint32_t row = crit_index_first(&paths->row_numbers, hash, &probe);

	while (row != CRIT_NONE && memcmp(&paths->rows[row], wanted, sizeof(*wanted)) != 0)
		row = crit_index_next(&paths->row_numbers, &probe);
	*ret_row = row;
	if (row != CRIT_NONE || paths->row_count >= CRIT_CALL_PATHS_MAX)
		return 0;
	row = (uint32_t)paths->row_count;
	if (crit_array_grow(&paths->rows, &paths->row_capacity, paths->row_count + 1,
			    sizeof(*paths->rows)) ||
	    crit_array_grow(&paths->depths, &paths->depth_capacity, paths->row_count + 1,
			    sizeof(*paths->depths)) ||
	    crit_index_put(&paths->row_numbers, hash, row))
		return -ENOMEM;
	paths->rows[paths->row_count++] = *wanted;
	paths->depths[row] = (uint16_t)(paths->depths[wanted->parent] + 1);
	*ret_row = row;
	return 0;
}

static int take_path(struct crit_call_paths *paths, struct node_paths *node,
		     const struct crit_rec_path *record)
{
	const struct crit_path_row wanted = { .offset = record->offset,
					      .file = crit_map_get(&node->files, record->file),
					      .parent = number_of(node, record->parent) };
	uint32_t row = CRIT_NONE;
	int rc = 0;

	if (record->path >= CRIT_PATH_FIRST && wanted.parent != CRIT_PATH_NONE &&
	    wanted.parent != CRIT_NONE &&
	    paths->depths[wanted.parent] < CRIT_CALL_PATH_FRAMES_MAX &&
	    crit_map_get(&node->numbers, record->path) == CRIT_NONE)
		rc = find_row(paths, &wanted, &row);
	if (!rc && row != CRIT_NONE)
		return crit_map_set(&node->numbers, record->path, row);
	paths->refused_count += !rc;
	return rc;
}

static int take_paths(struct crit_call_paths *paths, struct node_paths *node,
		      const unsigned char *bytes, size_t length)
{
	struct crit_rec_path record;
	size_t at = 0;
	int rc = 0;

	for (; !rc && length - at >= sizeof(record); at += sizeof(record)) {
		memcpy(&record, bytes + at, sizeof(record));
		rc = take_path(paths, node, &record);
	}
	paths->refused_count += !rc && at < length;
	return rc;
}

static int take_requests(struct crit_call_paths *paths, struct node_paths *node,
			 const unsigned char *bytes, size_t length)
{
	struct crit_rec_sample_path record;
	const size_t count = length / sizeof(record);

	if (crit_array_grow(&node->requests, &node->request_capacity, node->request_count + count,
			    sizeof(record)))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		memcpy(&record, bytes + i * sizeof(record), sizeof(record));
		record.path = number_of(node, record.path);
		if (record.request && record.path != CRIT_NONE)
			node->requests[node->request_count++] = record;
		else
			paths->refused_count++;
	}
	paths->refused_count += length % sizeof(record) != 0;
	return 0;
}

typedef int take_chunk(struct crit_call_paths *paths, struct node_paths *node,
		       const unsigned char *bytes, size_t length);

static int read_chunks(struct crit_call_paths *paths, uint32_t index, enum crit_chunk_kind kind,
		       take_chunk *take)
{
	const struct crit_recording *recording = paths->model->nodes[index].recording;
	crit_autofree unsigned char *bytes = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < recording->ref_count; i++) {
		const struct crit_chunk_ref *ref = &recording->refs[i];
		ssize_t length;

		if (ref->kind != kind || ref->length > CRIT_CHUNK_PAYLOAD_MAX)
			continue;
		if (!bytes)
			bytes = malloc(CRIT_CHUNK_PAYLOAD_MAX);
		if (!bytes)
			return -ENOMEM;
		length = crit_recording_read(recording, ref, 0, bytes, ref->length);
		if (length > 0)
			rc = take(paths, &paths->nodes[index], bytes, (size_t)length);
	}
	return rc;
}

static int make_roots(struct crit_call_paths *paths)
{
	if (crit_array_grow(&paths->rows, &paths->row_capacity, CRIT_PATH_FIRST,
			    sizeof(*paths->rows)) ||
	    crit_array_grow(&paths->depths, &paths->depth_capacity, CRIT_PATH_FIRST,
			    sizeof(*paths->depths)))
		return -ENOMEM;
	for (uint32_t i = 0; i < CRIT_PATH_FIRST; i++)
		paths->rows[i] = (struct crit_path_row){ .file = CRIT_NONE, .parent = CRIT_NONE };
	paths->row_count = CRIT_PATH_FIRST;
	return 0;
}

int crit_call_paths_create(const struct crit_model *model, struct crit_call_paths **ret_paths)
{
	struct crit_call_paths *paths = calloc(1, sizeof(*paths));
	int rc;

	if (!paths)
		return -ENOMEM;
	paths->model = model;
	paths->nodes = calloc(model->node_count + 1, sizeof(*paths->nodes));
	rc = paths->nodes ? make_roots(paths) : -ENOMEM;
	for (uint32_t i = 0; !rc && i < model->node_count; i++) {
		rc = read_chunks(paths, i, CRIT_C_PATH_FILES, take_files);
		if (!rc)
			rc = read_chunks(paths, i, CRIT_C_PATHS, take_paths);
	}
	if (rc)
		crit_call_paths_destroy(paths);
	else
		*ret_paths = paths;
	return rc;
}

void crit_call_paths_destroy(struct crit_call_paths *paths)
{
	if (!paths)
		return;
	for (size_t i = 0; paths->nodes && i < paths->model->node_count; i++) {
		crit_map_fini(&paths->nodes[i].files);
		crit_map_fini(&paths->nodes[i].numbers);
		free(paths->nodes[i].requests);
	}
	for (size_t i = 0; i < paths->file_count; i++)
		free(paths->files[i]);
	free(paths->nodes);
	free(paths->rows);
	free(paths->depths);
	free(paths->files);
	crit_index_fini(&paths->row_numbers);
	crit_index_fini(&paths->file_numbers);
	free(paths);
}

static int compare_requests(const void *a, const void *b)
{
	const struct crit_rec_sample_path *left = a, *right = b;
	int order = crit_by_number(left->request, right->request);

	return order ? order : crit_by_number(left->path, right->path);
}

/* A request answered twice, and not alike, has no path. */
static void join_requests(struct crit_call_paths *paths, struct node_paths *node)
{
	size_t used = 0;

	if (node->request_count)
		qsort(node->requests, node->request_count, sizeof(*node->requests),
		      compare_requests);
	for (size_t i = 0; i < node->request_count; i++) {
		const struct crit_rec_sample_path *record = &node->requests[i];

		if (!used || node->requests[used - 1].request != record->request) {
			node->requests[used++] = *record;
		} else if (node->requests[used - 1].path != record->path) {
			node->requests[used - 1].path = CRIT_PATH_NONE;
			paths->refused_count++;
		}
	}
	node->request_count = used;
}

int crit_call_paths_find(struct crit_call_paths *paths, uint32_t node, uint32_t request,
			 uint32_t *ret_path)
{
	const struct crit_rec_sample_path wanted = { .request = request };
	struct node_paths *of_node = &paths->nodes[node];
	const struct crit_rec_sample_path *at;
	size_t count;

	if (request && !of_node->has_requests) {
		if (read_chunks(paths, node, CRIT_C_SAMPLES, take_requests))
			return -ENOMEM;
		join_requests(paths, of_node);
		of_node->has_requests = true;
	}
	at = of_node->requests;
	for (count = request ? of_node->request_count : 0; count > 1; count -= count / 2)
		at += at[count / 2].request <= wanted.request ? count / 2 : 0;
	*ret_path = count && at->request == request ? at->path : CRIT_PATH_NONE;
	return 0;
}

struct crit_call_tree crit_call_paths_tree(const struct crit_call_paths *paths)
{
	return (struct crit_call_tree){ .rows = paths->rows, .files = paths->files };
}

void crit_call_paths_yield(struct crit_call_paths *paths, struct crit_sample_results *results)
{
	results->paths = paths->rows;
	results->path_count = paths->row_count;
	results->path_files = paths->files;
	results->path_file_count = paths->file_count;
	results->refused_paths = paths->refused_count;
	paths->rows = NULL;
	paths->files = NULL;
	paths->row_count = paths->file_count = 0;
}
