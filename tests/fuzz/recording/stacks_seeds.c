// SPDX-License-Identifier: BSD-3-Clause
// Entries of a ring: maps of processes at several times, and stacks in them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/abi_recording.h"
#include "core/abi/abi_stacks.h"
#include "core/base/chunk.h"
#include "tests/fuzz/seeds.h"

#define SEEDS 4
#define BYTES_MAX (32u << 10)

struct entry_head {
	struct crit_stacks_entry entry;
	struct crit_rec_maps maps;
};

/* Padded, with its length in the head. */
static size_t add(uint8_t *bytes, size_t at, void *head, size_t head_bytes, const void *tail,
		  size_t tail_bytes)
{
	struct crit_stacks_entry *entry = head;

	entry->bytes = (uint32_t)crit_chunk_padded(head_bytes + tail_bytes);
	if (entry->bytes > BYTES_MAX - at)
		abort();
	memcpy(bytes + at, head, head_bytes);
	memcpy(bytes + at + head_bytes, tail, tail_bytes);
	return at + entry->bytes;
}

static size_t add_maps(uint8_t *bytes, size_t at, uint32_t pid, uint64_t time_ns, uint32_t inode)
{
	struct entry_head head = { .entry = { .kind = CRIT_STACKS_MAPS },
				   .maps = { .pid = pid, .time_ns = time_ns } };
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "1000-2000 r-xp 00000000 00:01 %u /no/such\n"
		       "3000-4000 r-xp 00000000 00:00 0 \n",
		       inode);
	return add(bytes, at, &head, sizeof(head), text, strlen(text));
}

static size_t add_copy(uint8_t *bytes, size_t at, uint32_t pid, uint64_t time_ns, uint32_t words)
{
	uint64_t stack[64];
	struct crit_stacks_copy copy = { .entry = { .kind = CRIT_STACKS_COPY },
					 .request = words,
					 .pid = pid,
					 .stack_bytes = words * 8 - words % 8,
					 .time_ns = time_ns,
					 .ip = words % 2 ? 0x1500 : 0x3500,
					 .sp = 0x7000 };

	for (size_t i = 0; i < sizeof(stack) / sizeof(stack[0]); i++)
		stack[i] = 0x1000 + i;
	return add(bytes, at, &copy, sizeof(copy), stack, copy.stack_bytes);
}

struct input crit_fuzz_seed(size_t number)
{
	struct input input = { NULL, 0 };

	if (number >= SEEDS)
		return input;
	input.bytes = calloc(1, BYTES_MAX);
	if (!input.bytes)
		abort();
	for (uint32_t i = 0; i < 6 + 12 * number; i++) {
		if (i % 5 == 1)
			input.length = add_maps(input.bytes, input.length, i % 3, i, i / 10);
		input.length = add_copy(input.bytes, input.length, i % 3, i, 1 + i % 30);
	}
	return input;
}
