// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the fuzz target over small recordings and some thousand random mutations of them.
//
//   fuzz-smoke [COUNT [SEED]]    that many mutations (default 3000)
//   fuzz-smoke --seeds DIR       writes the recordings there instead: the first corpus of a fuzzer
//   fuzz-smoke FILE              one input, to repeat a finding
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/analyse_target.h"
#include "tests/lib/check.h"
#include "tests/lib/random.h"
#include "tests/lib/scenario.h"

#define SEEDS 40
#define BYTES_MAX (256u << 10)

struct input {
	unsigned char *bytes;
	size_t length;
};

static struct input make_seed(uint64_t seed)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, 60);
	struct crit_maker_options options = { .chunk_bytes = seed % 2 ? 256 : 4096 };
	struct crit_scenario *s;
	struct crit_maker *m;
	struct input input;

	shape.events_max = shape.events_max % 60;
	s = crit_scenario_simulate(&shape);
	m = crit_scenario_record(s, 0, &options);
	input.bytes = crit_maker_bytes(m, &input.length);
	crit_maker_destroy(m);
	crit_scenario_destroy(s);
	return input;
}

static void write_seeds(const char *directory, const struct input *seeds)
{
	for (int i = 0; i < SEEDS; i++) {
		char path[4096];
		FILE *file;

		(void)snprintf(path, sizeof(path), "%s/seed%02d.crit", directory, i);
		file = fopen(path, "wb");
		if (!CHECK(file))
			return;
		CHECK_UINT_EQ(fwrite(seeds[i].bytes, 1, seeds[i].length, file), seeds[i].length);
		(void)fclose(file);
	}
}

/* Values that sit on the edges of checks. */
static void place_edge(struct crit_random *random, unsigned char *at, size_t room)
{
	static const uint64_t edges[] = { 0,          1,          UINT64_MAX, UINT64_MAX - 1,
					  1ull << 31, 1ull << 32, 1ull << 62, 1ull << 63,
					  0xffff,     0x7fffffff, 0xffffffff };
	uint64_t edge = edges[crit_random_below(random, sizeof(edges) / sizeof(edges[0]))];
	size_t width = (size_t)1 << crit_random_below(random, 4);

	memcpy(at, &edge, width < room ? width : room);
}

static void mutate_once(struct crit_random *random, struct input *input)
{
	size_t at = (size_t)crit_random_below(random, input->length);
	size_t room = input->length - at;
	size_t span = 1 + (size_t)crit_random_below(random, room < 300 ? room : 300);
	size_t from = (size_t)crit_random_below(random, input->length - span + 1);

	switch (crit_random_below(random, 6)) {
	case 0:
		input->bytes[at] ^= (unsigned char)(1u << crit_random_below(random, 8));
		break;
	case 1:
		input->bytes[at] = (unsigned char)crit_random_next(random);
		break;
	case 2:
		place_edge(random, input->bytes + at, room);
		break;
	case 3:
		place_edge(random, input->bytes + (at & ~(size_t)7), room);
		break;
	case 4:
		memmove(input->bytes + at, input->bytes + from, span);
		break;
	default:
		if (crit_random_is(random, 20))
			input->length = at + 1;
		break;
	}
}

static void run_mutations(const struct input *seeds, uint64_t count, uint64_t seed)
{
	static unsigned char bytes[BYTES_MAX];
	struct crit_random random = { .state = seed };

	for (uint64_t i = 0; i < count; i++) {
		const struct input *base = &seeds[crit_random_below(&random, SEEDS)];
		struct input input = { bytes, base->length < BYTES_MAX ? base->length : BYTES_MAX };
		uint64_t strokes = 1 + crit_random_below(&random, 12);

		memcpy(bytes, base->bytes, input.length);
		while (strokes--)
			mutate_once(&random, &input);
		bytes[input.length - 1] = (unsigned char)crit_random_next(&random);
		CHECK_INT_EQ(LLVMFuzzerTestOneInput(bytes, input.length), 0);
	}
}

static void run_file(const char *path)
{
	static unsigned char bytes[BYTES_MAX];
	FILE *file = fopen(path, "rb");
	size_t length;

	if (!CHECK(file))
		return;
	length = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	CHECK_INT_EQ(LLVMFuzzerTestOneInput(bytes, length), 0);
}

int main(int argc, char **argv)
{
	static struct input seeds[SEEDS];
	bool is_count = argc < 2 || strspn(argv[1], "0123456789") == strlen(argv[1]);

	for (int i = 0; i < SEEDS; i++)
		seeds[i] = make_seed((uint64_t)i + 1);
	if (argc == 3 && !strcmp(argv[1], "--seeds")) {
		write_seeds(argv[2], seeds);
	} else if (!is_count) {
		run_file(argv[1]);
	} else {
		for (int i = 0; i < SEEDS; i++)
			CHECK_INT_EQ(LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].length), 0);
		run_mutations(seeds, argc > 1 ? strtoull(argv[1], NULL, 10) : 3000,
			      argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
	}
	for (int i = 0; i < SEEDS; i++)
		free(seeds[i].bytes);
	return check_done();
}
