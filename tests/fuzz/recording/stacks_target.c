// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary bytes to the reader of stacks, as a ring that is written in pieces.  What it puts
// makes sense whatever it read: a tree, and samples whose paths are in it.
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/unwind/stack_reader.h"
#include "core/abi/abi_stacks.h"
#include "core/base/chunk.h"

#define RING_BYTES 4096u
#define PIECES 7u

static _Alignas(64) unsigned char memory[CRIT_STACKS_HEAD_BYTES + RING_BYTES];

struct told {
	uint32_t next_path;
	uint32_t next_file;
};

static void check_files(struct told *told, const unsigned char *body, size_t byte_count)
{
	struct crit_rec_path_file file;

	for (size_t at = 0; at < byte_count; at += sizeof(file) + file.name_bytes) {
		if (byte_count - at < sizeof(file))
			abort();
		memcpy(&file, body + at, sizeof(file));
		if (file.file != told->next_file++)
			abort();
		file.name_bytes = (uint32_t)crit_chunk_padded(file.name_bytes);
		if (file.name_bytes > byte_count - at - sizeof(file))
			abort();
	}
}

static void check_paths(struct told *told, const unsigned char *body, size_t byte_count)
{
	struct crit_rec_path path;

	for (size_t at = 0; at < byte_count; at += sizeof(path)) {
		memcpy(&path, body + at, sizeof(path));
		if (path.path != told->next_path++ || path.parent >= path.path ||
		    path.parent == CRIT_PATH_NONE || path.file >= told->next_file)
			abort();
	}
}

static void check_samples(const struct told *told, const unsigned char *body, size_t byte_count)
{
	struct crit_rec_sample_path sample;

	for (size_t at = 0; at < byte_count; at += sizeof(sample)) {
		memcpy(&sample, body + at, sizeof(sample));
		if (sample.path == CRIT_PATH_NONE || sample.path >= told->next_path)
			abort();
	}
}

static int check(enum crit_chunk_kind kind, const void *body, size_t byte_count, void *user)
{
	if (byte_count == 0 || byte_count > CRIT_STACK_BODY_MAX || byte_count % 8)
		abort();
	if (kind == CRIT_C_PATH_FILES)
		check_files(user, body, byte_count);
	else if (kind == CRIT_C_PATHS && byte_count % sizeof(struct crit_rec_path) == 0)
		check_paths(user, body, byte_count);
	else if (kind == CRIT_C_SAMPLES)
		check_samples(user, body, byte_count);
	else
		abort();
	return 0;
}

/* Every piece but the last ones is whole; the input's first bytes are the head's. */
static void write_and_look(struct crit_stack_reader *reader, const uint8_t *data, size_t size)
{
	struct crit_stacks_head *head = (struct crit_stacks_head *)memory;
	unsigned char *ring = memory + CRIT_STACKS_HEAD_BYTES;
	const size_t piece = crit_chunk_padded(size / PIECES + 1);

	for (size_t at = 0; at < size; at += piece) {
		const size_t byte_count = piece < size - at ? piece : size - at;

		head->begun += byte_count;
		for (size_t i = 0; i < byte_count; i++)
			ring[(head->written + i) % RING_BYTES] = data[at + i];
		head->written += byte_count;
		if (crit_stack_reader_look(reader, 0) < 0)
			abort();
		if (at % 3 == 0 && crit_stack_reader_flush(reader))
			abort();
	}
	head->is_over = 1;
	while (crit_stack_reader_look(reader, 0) == 0)
		if (crit_stack_reader_flush(reader))
			abort();
	if (crit_stack_reader_flush(reader))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct crit_stacks_head head = { .magic = CRIT_STACKS_MAGIC,
					       .ring_bytes = RING_BYTES };
	struct told told = { .next_path = CRIT_PATH_FIRST };
	const struct crit_stack_reader_options options = {
		.memory = memory, .memory_bytes = sizeof(memory), .put = check, .user = &told
	};
	struct crit_stack_reader *reader = NULL;

	memset(memory, 0, sizeof(memory));
	memcpy(memory, data, size < sizeof(head) ? size : sizeof(head)); /* any head */
	if (crit_stack_reader_create(&options, &reader) == 0)
		crit_stack_reader_destroy(reader);
	memcpy(memory, &head, sizeof(head));
	if (crit_stack_reader_create(&options, &reader))
		abort();
	write_and_look(reader, data, size);
	crit_stack_reader_destroy(reader);
	return 0;
}
