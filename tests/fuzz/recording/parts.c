// SPDX-License-Identifier: BSD-3-Clause
// Joins files to one input, and takes inputs apart, whatever they say about sizes.
#include "tests/fuzz/recording/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct head {
	uint32_t count;
	uint32_t sizes[FUZZ_PARTS_MAX];
};

bool parts_take(struct parts *ret_parts, const uint8_t *data, size_t size)
{
	struct head head;
	size_t left, at = sizeof(head);

	memset(ret_parts, 0, sizeof(*ret_parts));
	if (size <= sizeof(head))
		return false;
	ret_parts->bytes = malloc(size);
	if (!ret_parts->bytes)
		return false;
	memcpy(ret_parts->bytes, data, size);
	memcpy(&head, data, sizeof(head));
	left = size - sizeof(head) - 1;
	ret_parts->count = head.count % FUZZ_PARTS_MAX + 1;
	ret_parts->choice = data[size - 1];
	for (size_t i = 0; i < ret_parts->count; i++) {
		size_t length = head.sizes[i] < left ? head.sizes[i] : left;

		ret_parts->files[i] = (struct input){ ret_parts->bytes + at, length };
		at += length;
		left -= length;
	}
	return true;
}

struct input parts_join(const struct input *files, size_t count, uint8_t choice)
{
	struct head head = { .count = (uint32_t)count - 1 };
	struct input joined = { NULL, sizeof(head) + 1 };
	size_t at = sizeof(head);

	for (size_t i = 0; i < count; i++)
		joined.length += files[i].length;
	joined.bytes = malloc(joined.length);
	if (!joined.bytes)
		abort();
	for (size_t i = 0; i < count; i++) {
		head.sizes[i] = (uint32_t)files[i].length;
		if (files[i].length > 0)
			memcpy(joined.bytes + at, files[i].bytes, files[i].length);
		at += files[i].length;
		free(files[i].bytes);
	}
	memcpy(joined.bytes, &head, sizeof(head));
	joined.bytes[joined.length - 1] = choice;
	return joined;
}

int parts_open(const struct input *file, char ret_path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, file->bytes, file->length, 0) != (ssize_t)file->length)
		abort();
	(void)snprintf(ret_path, 32, "/proc/self/fd/%d", fd);
	return fd;
}
