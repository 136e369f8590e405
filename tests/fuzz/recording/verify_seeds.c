// SPDX-License-Identifier: BSD-3-Clause
// Small archives that crit exports.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "otf2/archive_export.h"
#include "tests/fuzz/recording/archive.h"
#include "tests/fuzz/recording/place.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/recording/worlds.h"

static struct input read_file(const char *name)
{
	struct input input = { NULL, 0 };
	char path[256];
	FILE *file;
	long length;

	(void)snprintf(path, sizeof(path), "%s/%s", place_directory(), name);
	file = fopen(path, "rb");
	if (!file)
		return input;
	if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0) {
		rewind(file);
		input.bytes = malloc((size_t)length);
		if (input.bytes)
			input.length = fread(input.bytes, 1, (size_t)length, file);
	}
	(void)fclose(file);
	return input;
}

static void export(const struct parts *parts, size_t number)
{
	const struct crit_otf2_options options = { .has_metrics = number % 2,
						   .has_all = number % 4 < 2,
						   .has_samples = number % 8 < 4,
						   .creator = "crit" };
	struct crit_otf2_archive archive;
	struct crit_err err;
	const char *paths[FUZZ_PARTS_MAX];
	char names[FUZZ_PARTS_MAX][32];
	int fds[FUZZ_PARTS_MAX] = { 0 };

	for (size_t i = 0; i < parts->count; i++) {
		fds[i] = parts_open(&parts->files[i], names[i]);
		paths[i] = names[i];
	}
	/* without one the parts are empty, and the fuzzer has a poor seed */
	(void)crit_otf2_export(paths, parts->count, place_directory(), &options, &archive, &err);
	for (size_t i = 0; i < parts->count; i++)
		close(fds[i]);
}

struct input crit_fuzz_seed(size_t number)
{
	struct input files[FUZZ_PARTS_MAX];
	struct input world;
	struct parts parts;

	if (number >= WORLDS)
		return (struct input){ NULL, 0 };
	world = world_make(number);
	if (!parts_take(&parts, world.bytes, world.length))
		abort();
	place_empty();
	export(&parts, number);
	free(parts.bytes);
	free(world.bytes);
	for (size_t i = 0; i < FUZZ_PARTS_MAX; i++)
		files[i] = read_file(archive_files[i]);
	return parts_join(files, FUZZ_PARTS_MAX, 0);
}
