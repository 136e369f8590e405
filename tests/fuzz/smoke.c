// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a fuzz target over its seeds and some thousand random mutations of them.
//
//   fuzz-NAME-smoke [--kept DIR] [COUNT [SEED]]  DIR where it is there; then so many mutations
//   fuzz-NAME-smoke --seeds DIR                  writes seeds there: a first corpus
//   fuzz-NAME-smoke --run PATH...                these inputs, or all in these directories
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"
#include "tests/lib/check.h"

#define BYTES_MAX (256u << 10)
#define SEEDS_MAX 1024u

struct corpus {
	struct input inputs[SEEDS_MAX];
	size_t count;
};

static struct input read_input(const char *path)
{
	struct input input = { malloc(BYTES_MAX), 0 };
	FILE *file = fopen(path, "rb");

	if (CHECK_MSG(file, "cannot open %s", path) && CHECK(input.bytes))
		input.length = fread(input.bytes, 1, BYTES_MAX, file);
	if (file)
		(void)fclose(file);
	return input;
}

static void add(struct corpus *corpus, struct input input) /* takes its bytes */
{
	if (input.length > 0 && corpus->count < SEEDS_MAX)
		corpus->inputs[corpus->count++] = input;
	else
		free(input.bytes);
}

static void add_path(struct corpus *corpus, const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, alphasort);

	if (count < 0)
		add(corpus, read_input(path));
	for (int i = 0; i < count; i++) {
		char name[4096];

		(void)snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			add(corpus, read_input(name));
		free(entries[i]);
	}
	free(entries);
}

static void add_seeds(struct corpus *corpus)
{
	struct input seed = crit_fuzz_seed(0);

	for (size_t i = 1; seed.bytes; i++) {
		add(corpus, seed);
		seed = crit_fuzz_seed(i);
	}
}

static void write_seeds(const struct corpus *corpus, const char *directory)
{
	for (size_t i = 0; i < corpus->count; i++) {
		const struct input *seed = &corpus->inputs[i];
		char path[4096];
		FILE *file;

		(void)snprintf(path, sizeof(path), "%s/seed%03zu", directory, i);
		file = fopen(path, "wb");
		if (!CHECK_MSG(file, "cannot write %s", path))
			return;
		CHECK_UINT_EQ(fwrite(seed->bytes, 1, seed->length, file), seed->length);
		(void)fclose(file);
	}
}

static void run(const struct corpus *corpus)
{
	for (size_t i = 0; i < corpus->count; i++)
		CHECK_INT_EQ(LLVMFuzzerTestOneInput(corpus->inputs[i].bytes,
						    corpus->inputs[i].length),
			     0);
}

/* Targets take choices from the last byte, which every mutation draws anew. */
static void run_mutations(const struct corpus *corpus, uint64_t count, uint64_t seed)
{
	static unsigned char bytes[BYTES_MAX];
	struct crit_random random = { .state = seed };

	for (uint64_t i = 0; i < count; i++) {
		const struct input *base =
			&corpus->inputs[crit_random_below(&random, corpus->count)];
		struct input input = { bytes, base->length < BYTES_MAX ? base->length : BYTES_MAX };
		uint64_t strokes = crit_random_below(&random, 12);

		memcpy(bytes, base->bytes, input.length);
		while (strokes--)
			crit_mutate(&random, &input);
		bytes[input.length - 1] = (unsigned char)crit_random_next(&random);
		CHECK_INT_EQ(LLVMFuzzerTestOneInput(bytes, input.length), 0);
	}
}

static void do_what_is_asked(struct corpus *corpus, int argc, char **argv)
{
	int at = 1;

	if (argc > 2 && strcmp(argv[1], "--run") == 0) {
		for (at = 2; at < argc; at++)
			add_path(corpus, argv[at]);
		run(corpus);
		return;
	}
	add_seeds(corpus);
	if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
		write_seeds(corpus, argv[2]);
		return;
	}
	if (argc > 2 && strcmp(argv[1], "--kept") == 0) {
		if (access(argv[2], F_OK) == 0)
			add_path(corpus, argv[2]);
		at = 3;
	}
	run(corpus);
	if (CHECK(corpus->count > 0))
		run_mutations(corpus, at < argc ? strtoull(argv[at], NULL, 10) : 3000,
			      at + 1 < argc ? strtoull(argv[at + 1], NULL, 10) : 1);
}

int main(int argc, char **argv)
{
	static struct corpus corpus;

	do_what_is_asked(&corpus, argc, argv);
	for (size_t i = 0; i < corpus.count; i++)
		free(corpus.inputs[i].bytes);
	return check_done();
}
