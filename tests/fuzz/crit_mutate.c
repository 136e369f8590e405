// SPDX-License-Identifier: BSD-3-Clause
// crit-mutate FROM TO SEED: copies a recording, damages it at random, and rights the checksums.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/repair.h"

#define STROKES_MAX 12

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct crit_random random;
	struct input input;
	struct stat status;
	FILE *from, *to;
	uint64_t strokes;

	if (argc != 4) {
		fprintf(stderr, "usage: crit-mutate FROM TO SEED\n");
		return 2;
	}
	from = fopen(argv[1], "rb");
	if (!from || fstat(fileno(from), &status) || status.st_size == 0)
		return fail(argv[1]);
	input.bytes = malloc((size_t)status.st_size);
	if (!input.bytes)
		return fail("crit-mutate");
	input.length = fread(input.bytes, 1, (size_t)status.st_size, from);
	(void)fclose(from);
	random.state = strtoull(argv[3], NULL, 10);
	strokes = 1 + crit_random_below(&random, STROKES_MAX);
	while (strokes--)
		crit_mutate(&random, &input);
	crit_repair(input.bytes, input.length);
	to = fopen(argv[2], "wb");
	if (!to || fwrite(input.bytes, 1, input.length, to) != input.length || fclose(to))
		return fail(argv[2]);
	free(input.bytes);
	return 0;
}
