// SPDX-License-Identifier: BSD-3-Clause
// crit-unwake FROM TO NTH FIRST: copies a recording, makes each NTH wake from the FIRST on one that
// nobody knows, rights the checksums, and prints how many these were.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/abi/abi_kernel.h"
#include "core/abi/abi_recording.h"
#include "core/base/chunk.h"
#include "tests/fuzz/repair.h"

struct unwaking {
	uint64_t nth, seen, changed;
};

static void change(struct unwaking *unwaking, unsigned char *payload, size_t length)
{
	struct crit_kernel_head head;

	for (size_t at = 0; at + sizeof(head) <= length; at += head.size) {
		memcpy(&head, payload + at, sizeof(head));
		if (head.size < sizeof(head))
			return;
		if (head.kind != CRIT_K_WAKING || unwaking->seen++ % unwaking->nth)
			continue;
		head.kind = CRIT_K_SYSCALL;
		memcpy(payload + at, &head, sizeof(head));
		unwaking->changed++;
	}
}

static void change_all(struct unwaking *unwaking, unsigned char *bytes, size_t length)
{
	struct crit_chunk_head head;

	for (size_t at = 0; at + sizeof(head) <= length;
	     at += sizeof(head) + crit_chunk_padded(head.length)) {
		memcpy(&head, bytes + at, sizeof(head));
		if (head.length > length - at - sizeof(head))
			return;
		if (head.kind == CRIT_C_KERNEL)
			change(unwaking, bytes + at + sizeof(head), head.length);
	}
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct unwaking unwaking = { 0 };
	unsigned char *bytes;
	struct stat status;
	size_t length;
	FILE *from, *to;

	if (argc != 5) {
		fprintf(stderr, "usage: crit-unwake FROM TO NTH FIRST\n");
		return 2;
	}
	unwaking.nth = strtoull(argv[3], NULL, 10);
	if (!unwaking.nth)
		return 2;
	unwaking.seen = unwaking.nth - strtoull(argv[4], NULL, 10) % unwaking.nth;
	from = fopen(argv[1], "rb");
	if (!from || fstat(fileno(from), &status) || status.st_size == 0)
		return fail(argv[1]);
	bytes = malloc((size_t)status.st_size);
	if (!bytes)
		return fail("crit-unwake");
	length = fread(bytes, 1, (size_t)status.st_size, from);
	(void)fclose(from);
	change_all(&unwaking, bytes, length);
	crit_repair(bytes, length);
	to = fopen(argv[2], "wb");
	if (!to || fwrite(bytes, 1, length, to) != length || fclose(to))
		return fail(argv[2]);
	free(bytes);
	printf("%llu\n", (unsigned long long)unwaking.changed);
	return 0;
}
