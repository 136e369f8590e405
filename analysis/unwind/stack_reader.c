// SPDX-License-Identifier: BSD-3-Clause
// Two positions go through the ring: maps are taken in as soon as they are seen, stacks are unwound
// behind.  Where the writer came round, they go on at what is left of the ring.
#include "analysis/unwind/stack_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/unwind/paths.h"
#include "analysis/unwind/process_maps.h"
#include "analysis/unwind/stack_entries.h"
#include "core/base/chunk.h"
#include "core/base/clock.h"

#define ENTRY_BYTES_MAX (512u << 10) /* twice what critd reads of maps */
#define READY_BYTES_MAX (512u << 10) /* critd takes 1 MiB a second */

struct crit_stack_reader {
	struct crit_stack_entries ring;
	crit_stack_put *put;
	void *user;
	uint64_t maps_at;
	uint64_t copies_at;
	struct crit_unwinder *unwinder;
	struct crit_process_maps maps;
	struct crit_paths paths;
	size_t put_path_count; /* of paths */
	uint32_t *file_numbers; /* in the recording, of the unwinder's files; CRIT_NONE: not put */
	size_t file_number_count, file_number_capacity;
	uint32_t no_file_number;
	uint32_t next_file;
	struct crit_rec_sample_path *samples; /* to be put */
	size_t sample_count, sample_capacity;
	struct crit_stack_counts counts;
	size_t body_bytes;
	unsigned char body[CRIT_STACK_BODY_MAX];
	struct crit_unwind_chain chain;
	_Alignas(8) unsigned char entry[ENTRY_BYTES_MAX];
};

int crit_stack_reader_create(const struct crit_stack_reader_options *options,
			     struct crit_stack_reader **ret_reader)
{
	struct crit_stack_reader *reader = calloc(1, sizeof(*reader));
	int rc = reader ? crit_stack_entries_open(options->memory, options->memory_bytes,
						  &reader->ring)
			: -ENOMEM;

	if (!rc)
		rc = crit_unwinder_create(options->elf_reader, &reader->unwinder);
	if (rc) {
		crit_stack_reader_destroy(reader);
		return rc;
	}
	reader->put = options->put;
	reader->user = options->user;
	reader->no_file_number = CRIT_NONE;
	reader->put_path_count = CRIT_PATH_FIRST;
	*ret_reader = reader;
	return 0;
}

void crit_stack_reader_destroy(struct crit_stack_reader *reader)
{
	if (!reader)
		return;
	crit_process_maps_fini(&reader->maps);
	crit_paths_fini(&reader->paths);
	crit_unwinder_destroy(reader->unwinder);
	free(reader->file_numbers);
	free(reader->samples);
	free(reader);
}

const struct crit_stack_counts *crit_stack_reader_counts(const struct crit_stack_reader *reader)
{
	return &reader->counts;
}

static void lose(struct crit_stack_reader *reader, uint64_t byte_count)
{
	reader->counts.overrun_count++;
	reader->counts.lost_bytes += byte_count;
}

/* Copies an entry that is at least so long, and counts one that cannot be had. */
static bool copy_entry(struct crit_stack_reader *reader, uint64_t position, uint32_t byte_count,
		       size_t least)
{
	if (byte_count < least || byte_count > sizeof(reader->entry)) {
		reader->counts.refused_count++;
		return false;
	}
	if (crit_stack_entries_copy(&reader->ring, position, byte_count, reader->entry)) {
		lose(reader, byte_count);
		return false;
	}
	return true;
}

static void take_maps(struct crit_stack_reader *reader, uint64_t position, uint32_t byte_count)
{
	const size_t text_at = sizeof(struct crit_stacks_entry) + sizeof(struct crit_rec_maps);
	struct crit_rec_maps maps;

	if (!copy_entry(reader, position, byte_count, text_at))
		return;
	memcpy(&maps, reader->entry + sizeof(struct crit_stacks_entry), sizeof(maps));
	if (crit_process_maps_add(&reader->maps, crit_unwinder_files(reader->unwinder), maps.pid,
				  maps.time_ns, (const char *)reader->entry + text_at,
				  byte_count - text_at))
		reader->counts.refused_count++;
	else
		reader->counts.maps_count++;
}

static int unwind(struct crit_stack_reader *reader, const struct crit_stacks_copy *stack)
{
	const struct crit_unwind_copy copy = { .pc = stack->ip,
					       .sp = stack->sp,
					       .bp = stack->bp,
					       .lr = stack->lr,
					       .stack = reader->entry + sizeof(*stack),
					       .stack_bytes = stack->stack_bytes };
	const struct crit_unwind_maps *maps =
		crit_process_maps_find(&reader->maps, stack->pid, stack->time_ns);
	uint32_t path;

	crit_unwind(reader->unwinder, maps, &copy, &reader->chain);
	reader->counts.copy_count++;
	reader->counts.end_counts[reader->chain.end]++;
	path = crit_paths_add(&reader->paths, &reader->chain, 1);
	if (path == CRIT_PATH_NONE) {
		reader->counts.no_path_count++;
		return 0;
	}
	if (crit_array_grow(&reader->samples, &reader->sample_capacity, reader->sample_count + 1,
			    sizeof(*reader->samples)))
		return -ENOMEM;
	reader->samples[reader->sample_count++] =
		(struct crit_rec_sample_path){ .request = stack->request, .path = path };
	return 0;
}

static int take_copy(struct crit_stack_reader *reader, uint64_t position, uint32_t byte_count)
{
	struct crit_stacks_copy stack;

	if (!copy_entry(reader, position, byte_count, sizeof(stack)))
		return 0;
	memcpy(&stack, reader->entry, sizeof(stack));
	if (stack.stack_bytes > byte_count - sizeof(stack)) {
		reader->counts.refused_count++;
		return 0;
	}
	return unwind(reader, &stack);
}

/* Goes on behind what cannot be taken: at what is left of the ring, up to its end at the most. */
static void skip(struct crit_stack_reader *reader, uint64_t *at, uint64_t end, int why)
{
	uint64_t position = end;

	if (why == -EOVERFLOW) {
		position = crit_stack_entries_oldest(&reader->ring, end);
		if (position <= *at)
			position = end;
		lose(reader, position - *at);
	} else {
		reader->counts.refused_count++;
	}
	*at = position;
}

static void look_for_maps(struct crit_stack_reader *reader, uint64_t written)
{
	while (reader->maps_at != written) {
		const uint64_t position = reader->maps_at;
		struct crit_stacks_entry entry;
		const int rc = crit_stack_entries_look(&reader->ring, position, written, &entry);

		if (rc) {
			skip(reader, &reader->maps_at, written, rc);
			continue;
		}
		if (entry.kind == CRIT_STACKS_MAPS)
			take_maps(reader, position, entry.bytes);
		reader->maps_at += entry.bytes;
	}
}

static size_t ready_bytes(const struct crit_stack_reader *reader)
{
	const size_t paths = reader->paths.path_count > reader->put_path_count
				     ? reader->paths.path_count - reader->put_path_count
				     : 0;

	return paths * sizeof(struct crit_rec_path) +
	       reader->sample_count * sizeof(struct crit_rec_sample_path);
}

static bool is_enough(const struct crit_stack_reader *reader, uint64_t deadline_ns)
{
	return ready_bytes(reader) >= READY_BYTES_MAX ||
	       (deadline_ns && crit_clock_ns(CLOCK_MONOTONIC) >= deadline_ns);
}

static int unwind_up_to(struct crit_stack_reader *reader, uint64_t end, uint64_t deadline_ns)
{
	int rc = 0;

	while (!rc && reader->copies_at != end && !is_enough(reader, deadline_ns)) {
		const uint64_t position = reader->copies_at;
		struct crit_stacks_entry entry;
		int found = crit_stack_entries_look(&reader->ring, position, end, &entry);

		if (found) {
			skip(reader, &reader->copies_at, end, found);
			continue;
		}
		if (entry.kind == CRIT_STACKS_COPY)
			rc = take_copy(reader, position, entry.bytes);
		else if (entry.kind != CRIT_STACKS_MAPS)
			reader->counts.refused_count++;
		reader->copies_at += entry.bytes;
	}
	return rc;
}

int crit_stack_reader_look(struct crit_stack_reader *reader, uint64_t deadline_ns)
{
	bool is_over;
	const uint64_t written = crit_stack_entries_written(&reader->ring, &is_over);
	uint64_t end = reader->maps_at; /* what was there at the last look */
	int rc;

	look_for_maps(reader, written);
	if (is_over || written - reader->copies_at > reader->ring.byte_count / 2)
		end = written;
	rc = unwind_up_to(reader, end, deadline_ns);
	return rc ? rc : is_over && reader->copies_at == written;
}

static int put_body(struct crit_stack_reader *reader, enum crit_chunk_kind kind)
{
	const size_t byte_count = reader->body_bytes;

	reader->body_bytes = 0;
	return byte_count ? reader->put(kind, reader->body, byte_count, reader->user) : 0;
}

/* Makes room in the body for so many bytes of that chunk. */
static int reserve(struct crit_stack_reader *reader, enum crit_chunk_kind kind, size_t byte_count,
		   unsigned char **ret_bytes)
{
	int rc = 0;

	if (byte_count > sizeof(reader->body) - reader->body_bytes)
		rc = put_body(reader, kind);
	*ret_bytes = reader->body + reader->body_bytes;
	reader->body_bytes += byte_count;
	return rc;
}

static const char *name_of(const struct crit_stack_reader *reader, uint32_t file)
{
	return file == CRIT_UNWIND_NO_FILE
		       ? CRIT_STACK_NO_FILE_NAME
		       : crit_unwinder_files(reader->unwinder)->files[file].path;
}

/* Where the number of a file is kept.  NULL: out of memory. */
static uint32_t *number_of(struct crit_stack_reader *reader, uint32_t file)
{
	const size_t count = crit_unwinder_files(reader->unwinder)->file_count;

	if (file == CRIT_UNWIND_NO_FILE)
		return &reader->no_file_number;
	if (crit_array_grow(&reader->file_numbers, &reader->file_number_capacity, count,
			    sizeof(*reader->file_numbers)))
		return NULL;
	while (reader->file_number_count < count)
		reader->file_numbers[reader->file_number_count++] = CRIT_NONE;
	return &reader->file_numbers[file];
}

/* The name of a file when its first path is put. */
static int put_file(struct crit_stack_reader *reader, uint32_t file)
{
	const char *name = name_of(reader, file);
	uint32_t *number = number_of(reader, file);
	struct crit_rec_path_file head = { .name_bytes = (uint32_t)strlen(name) };
	const size_t name_bytes = crit_chunk_padded(head.name_bytes);
	unsigned char *bytes;
	int rc;

	if (!number || *number != CRIT_NONE)
		return number ? 0 : -ENOMEM;
	*number = head.file = reader->next_file++;
	rc = reserve(reader, CRIT_C_PATH_FILES, sizeof(head) + name_bytes, &bytes);
	memset(bytes, 0, sizeof(head) + name_bytes);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), name, head.name_bytes);
	return rc;
}

static int put_path(struct crit_stack_reader *reader, size_t i)
{
	const struct crit_path *path = &reader->paths.paths[i];
	const struct crit_rec_path row = { .path = (uint32_t)i,
					   .parent = path->parent,
					   .file = *number_of(reader, path->file),
					   .offset = path->offset };
	unsigned char *bytes;
	int rc = reserve(reader, CRIT_C_PATHS, sizeof(row), &bytes);

	memcpy(bytes, &row, sizeof(row));
	return rc;
}

static int put_paths(struct crit_stack_reader *reader)
{
	const struct crit_paths *paths = &reader->paths;
	int rc = 0;

	for (size_t i = reader->put_path_count; !rc && i < paths->path_count; i++)
		rc = put_file(reader, paths->paths[i].file);
	if (!rc)
		rc = put_body(reader, CRIT_C_PATH_FILES);
	for (; !rc && reader->put_path_count < paths->path_count; reader->put_path_count++)
		rc = put_path(reader, reader->put_path_count);
	return rc ? rc : put_body(reader, CRIT_C_PATHS);
}

static int put_samples(struct crit_stack_reader *reader)
{
	unsigned char *bytes;
	int rc = 0;

	for (size_t i = 0; !rc && i < reader->sample_count; i++) {
		rc = reserve(reader, CRIT_C_SAMPLES, sizeof(reader->samples[i]), &bytes);
		memcpy(bytes, &reader->samples[i], sizeof(reader->samples[i]));
	}
	reader->sample_count = 0;
	return rc ? rc : put_body(reader, CRIT_C_SAMPLES);
}

int crit_stack_reader_flush(struct crit_stack_reader *reader)
{
	const int rc = put_paths(reader);

	return rc ? rc : put_samples(reader);
}
