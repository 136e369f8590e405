/* SPDX-License-Identifier: BSD-3-Clause */
/* An input made of several files: their sizes first, then the files, then a byte of choices. */
#ifndef CRIT_TESTS_PARTS_H
#define CRIT_TESTS_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "tests/fuzz/mutate.h"

#define FUZZ_PARTS_MAX 8u

struct parts {
	size_t count; /* at least 1 */
	struct input files[FUZZ_PARTS_MAX]; /* into the input's copy */
	uint8_t choice;
	unsigned char *bytes;
};

/* Takes any bytes apart.  Ownership: free bytes.  Errors: false for too few bytes, or no memory. */
bool parts_take(struct parts *ret_parts, const uint8_t *data, size_t size);

/* Puts files together.  Ownership: takes their bytes; the caller frees those of the result. */
struct input parts_join(const struct input *files, size_t count, uint8_t choice);

/* Opens the bytes as a file in memory; writes how it is called.  Errors: aborts. */
int parts_open(const struct input *file, char ret_path[32]);

#endif
