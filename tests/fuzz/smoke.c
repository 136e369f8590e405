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

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/target.h"
#include "core/call.h"
#include "tests/lib/check.h"
#include "tests/lib/maker_constructs.h"
#include "tests/lib/random.h"
#include "tests/lib/scenario.h"

#define SEEDS 80
#define SEEDS_OF_SCENARIOS 40
#define SEEDS_OF_MESSAGES 20
#define BYTES_MAX (256u << 10)

/* One rank and its process. */
static uint32_t begin_rank(struct crit_maker *m, uint32_t rank)
{
	uint32_t pid = 100 + rank;

	crit_maker_process(m, (struct crit_rec_process){ .pid = pid, .ns_pid = pid, .time_ns = 1 });
	crit_maker_rank(
		m, (struct crit_rec_rank){ .pid = pid, .rank = rank, .size = 3, .open_ns = 1 });
	return crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = pid, .ns_tid = pid, .claim_ns = 1 });
}

/* Details that fit together now and then: few requests, communicators and sequence numbers. */
static void put_detail(struct crit_random *random, struct crit_maker *m, uint32_t stream)
{
	if (crit_random_is(random, 10))
		crit_maker_comm(m, stream,
				(struct crit_slot_comm){
					.hash = crit_random_below(random, 2),
					.flags = (uint16_t)crit_random_below(random, 32),
					.comm = 3 + (uint32_t)crit_random_below(random, 3),
					.nth = (uint32_t)crit_random_below(random, 2),
					.parent = (int32_t)crit_random_below(random, 4),
					.rank = (uint32_t)crit_random_below(random, 3),
					.size = 1 + (uint32_t)crit_random_below(random, 3) });
	else
		crit_maker_detail(
			m, stream,
			(struct crit_slot_detail){
				.detail = (uint16_t)crit_random_below(random, CRIT_D_COUNT + 1),
				.comm = (uint32_t)crit_random_below(random, 6),
				.peer = (int32_t)crit_random_below(random, 6) - 3,
				.tag = (int32_t)crit_random_below(random, 8) - 1,
				.bytes = crit_random_is(random, 10)
						 ? CRIT_BYTES_UNKNOWN
						 : crit_random_below(random, 5000),
				.request = crit_random_below(random, 4) });
}

/* Bounds in which clocks can be moved. */
static void compare_clocks(struct crit_random *random, struct crit_maker *m)
{
	for (uint64_t at = 5; at < 800; at += 400) {
		struct crit_rec_clock clock = { .time_ns = at,
						.offset_ns = (int64_t)crit_random_below(random, 9),
						.bound_ns = crit_random_below(random, 200),
						.reference = "other" };

		crit_maker_chunk(m, (struct crit_chunk_head){ .kind = CRIT_C_CLOCK }, &clock,
				 sizeof(clock));
	}
}

static struct input make_message_seed(uint64_t seed)
{
	struct crit_maker_options options = { .chunk_bytes = seed % 2 ? 64 : 4096 };
	struct crit_random random = { .state = seed };
	struct crit_maker *m = crit_maker_create(&options);
	uint32_t streams[3];
	struct input input;

	crit_maker_file(m, (struct crit_rec_file){ .host = "node",
						   .level = seed % 3 ? CRIT_LEVEL_TRACE
								     : CRIT_LEVEL_PROFILE,
						   .kernel_status = -1 });
	compare_clocks(&random, m);
	for (uint32_t i = 0; i < 3; i++)
		streams[i] = begin_rank(m, i);
	for (uint64_t at = 10; at < 400; at += 10) {
		uint32_t stream = streams[crit_random_below(&random, 3)];
		uint32_t call = 1 + (uint32_t)crit_random_below(&random, 300);

		crit_maker_enter(m, stream, at, call);
		while (crit_random_is(&random, 60))
			put_detail(&random, m, stream);
		crit_maker_leave(m, stream, at + 5, call);
	}
	input.bytes = crit_maker_bytes(m, &input.length);
	crit_maker_destroy(m);
	return input;
}

/* One slot of a thread that knows a few constructs, regions and instances, in no order. */
static void put_construct(struct crit_random *random, struct crit_maker *m, uint32_t stream,
			  uint64_t at_ns)
{
	static const char name[] = "a phase whose name is longer than one slot";
	uint32_t call = crit_random_is(random, 50) ? CRIT_CONSTRUCT_PARALLEL
						   : 768 + (uint32_t)crit_random_below(random, 24);
	uint32_t region = (uint32_t)crit_random_below(random, 5);

	switch (crit_random_below(random, 8)) {
	case 0:
		crit_maker_region(
			m, stream,
			(struct crit_slot_region){
				.call = (uint16_t)(crit_random_is(random, 30) ? 900 : call),
				.region = region,
				.parent = (uint32_t)crit_random_below(random, 5) },
			crit_random_is(random, 30) ? name : NULL);
		break;
	case 1:
		crit_maker_worker(m, stream, at_ns);
		break;
	case 2:
		crit_maker_release(m, stream, at_ns, CRIT_CONSTRUCT_LOCK_WAIT, region);
		break;
	case 3:
	case 4:
		crit_maker_slot(m, stream,
				(struct crit_slot){ .time_ns = at_ns,
						    .kind = CRIT_S_LEAVE,
						    .slots = 1,
						    .call = (uint16_t)call });
		break;
	default:
		crit_maker_slot(m, stream,
				(struct crit_slot){ .time_ns = at_ns,
						    .kind = CRIT_S_ENTER,
						    .slots = 1,
						    .call = (uint16_t)call,
						    .region = region,
						    .site = region,
						    .arg = crit_random_below(random, 4) |
							   crit_random_below(random, 2) << 63 });
		break;
	}
}

static struct input make_team_seed(uint64_t seed)
{
	struct crit_maker_options options = { .chunk_bytes = seed % 2 ? 64 : 4096 };
	struct crit_random random = { .state = seed };
	struct crit_maker *m = crit_maker_create(&options);
	uint32_t streams[4];
	struct input input;

	crit_maker_file(m, (struct crit_rec_file){ .host = "node",
						   .level = CRIT_LEVEL_TRACE,
						   .kernel_status = -1 });
	streams[0] = begin_rank(m, 0);
	streams[1] = begin_rank(m, 1);
	for (uint32_t i = 2; i < 4; i++)
		streams[i] = crit_maker_stream(m, (struct crit_rec_stream){ .pid = 100,
									    .ns_tid = 100 + i,
									    .claim_ns = 1 });
	for (uint64_t at = 10; at < 700; at += 10) {
		uint32_t stream = streams[crit_random_below(&random, 4)];

		put_construct(&random, m, stream, at);
		if (crit_random_is(&random, 20))
			crit_maker_slot(m, stream,
					(struct crit_slot){ .time_ns = at,
							    .kind = CRIT_S_ENTER,
							    .slots = 1,
							    .call = CRIT_MPI_Recv });
		if (seed % 4 == 0 && at == 400)
			crit_maker_stream_end(m, streams[2 + seed % 2],
					      (struct crit_rec_stream_end){ .release_ns = at });
	}
	input.bytes = crit_maker_bytes(m, &input.length);
	crit_maker_destroy(m);
	return input;
}

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
			crit_mutate(&random, &input);
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
		seeds[i] = i < SEEDS_OF_SCENARIOS ? make_seed((uint64_t)i + 1)
			   : i < SEEDS_OF_SCENARIOS + SEEDS_OF_MESSAGES
				   ? make_message_seed((uint64_t)i)
				   : make_team_seed((uint64_t)i);
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
