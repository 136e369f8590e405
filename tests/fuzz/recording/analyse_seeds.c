// SPDX-License-Identifier: BSD-3-Clause
// Small recordings: simulated schedules, messages that fit now and then, OpenMP teams, what other
// versions of the format hold, and samples with call paths.
#include "core/base/call.h"
#include "tests/fuzz/seeds.h"
#include "tests/maker/acts.h"
#include "tests/maker/random.h"
#include "tests/sim/scenario.h"

#define SEEDS_OF_SCENARIOS 40u
#define SEEDS_OF_MESSAGES 20u
#define SEEDS_OF_TEAMS 20u
#define SEEDS_OF_VERSIONS 16u
#define SEEDS_OF_PATHS 8u

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

		crit_maker_clock(m, clock);
	}
}

static struct input make_message_seed(uint64_t seed)
{
	struct crit_maker_options options = { .chunk_bytes = seed % 2 ? 64 : 4096 };
	struct crit_random random = { .state = seed };
	struct crit_maker *m = crit_maker_create(&options);
	uint32_t streams[3];

	crit_maker_file(m, (struct crit_rec_file){ .host = "node",
						   .level = seed % 3 ? CRIT_LEVEL_TRACE
								     : CRIT_LEVEL_PROFILE,
						   .kernel_status = -1 });
	compare_clocks(&random, m);
	for (uint32_t i = 0; i < 3; i++)
		streams[i] = crit_act_open(m, (struct crit_act_rank){ 100 + i, i, 3, 0, 1, 1 });
	for (uint64_t at = 10; at < 400; at += 10) {
		uint32_t stream = streams[crit_random_below(&random, 3)];
		uint32_t call = 1 + (uint32_t)crit_random_below(&random, 300);

		crit_maker_enter(m, stream, at, call);
		while (crit_random_is(&random, 60))
			put_detail(&random, m, stream);
		crit_maker_leave(m, stream, at + 5, call);
	}
	return input_of(m);
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

	crit_maker_file(m, (struct crit_rec_file){ .host = "node",
						   .level = CRIT_LEVEL_TRACE,
						   .kernel_status = -1 });
	for (uint32_t i = 0; i < 2; i++)
		streams[i] = crit_act_open(m, (struct crit_act_rank){ 100 + i, i, 3, 0, 1, 1 });
	for (uint32_t i = 2; i < 4; i++)
		streams[i] = crit_act_claim(m, 100, 100 + i, 1);
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
	return input_of(m);
}

static void put_kernel(struct crit_random *random, struct crit_maker *m, uint64_t at_ns)
{
	union {
		struct crit_kernel_wake wake;
		unsigned char bytes[4096];
	} record = { .wake = { .head = { .kind = (uint16_t)crit_random_below(random, 18),
					 .cpu = (uint16_t)crit_random_below(random, 3),
					 .time_ns = at_ns },
			       .tid = 100 + (uint32_t)crit_random_below(random, 4) } };

	crit_maker_kernel(m, &record.wake.head,
			  8 * (size_t)crit_random_below(random,
							crit_random_is(random, 10) ? 513 : 10));
}

/* Known and unknown kinds of chunks, kernel records and slots, in each version of the format. */
static struct input make_version_seed(uint64_t seed)
{
	struct crit_maker_options options = { .chunk_bytes = seed % 2 ? 64 : 4096,
					      .version = 1 + seed % CRIT_RECORDING_VERSION };
	struct crit_random random = { .state = seed };
	struct crit_maker *m = crit_maker_create(&options);
	uint32_t stream;

	crit_maker_file(m, (struct crit_rec_file){ .host = "node", .level = CRIT_LEVEL_TRACE });
	stream = crit_act_open(m, (struct crit_act_rank){ 100, 0, 1, 0, 1, 1 });
	for (uint64_t at = 10; at < 400; at += 10) {
		crit_maker_slot(m, stream,
				(struct crit_slot){ .time_ns = at,
						    .kind = (uint8_t)crit_random_below(&random, 15),
						    .call = CRIT_MPI_Recv });
		put_kernel(&random, m, at);
		if (crit_random_is(&random, 10))
			crit_maker_chunk(m,
					 (struct crit_chunk_head){
						 .kind = (uint16_t)crit_random_below(&random, 30) },
					 &random, sizeof(random));
	}
	return input_of(m);
}

/* Two threads sampled, by paths of which some have no parent, file or place. */
static struct input make_path_seed(uint64_t seed)
{
	struct crit_random random = { .state = seed };
	struct crit_maker *m = crit_act_begin("node");
	struct crit_rec_sample_path samples[20];
	struct crit_rec_path paths[20];

	crit_act_enrol(m, 1, CRIT_ACT_ROOT);
	crit_act_start(m, 2, CRIT_ACT_ROOT + 1, CRIT_ACT_ROOT, 1);
	crit_maker_path_file(m, 1, "/bin/solver");
	crit_maker_path_file(m, 2, "[vdso]");
	for (uint32_t i = 0; i < 20; i++) {
		paths[i] = (struct crit_rec_path){ .path = CRIT_PATH_FIRST + i,
						   .parent = 1 + (uint32_t)crit_random_below(
									 &random, 4 + i),
						   .file = (uint32_t)crit_random_below(&random, 4),
						   .offset = crit_random_below(&random, 9) };
		samples[i] = (struct crit_rec_sample_path){
			.request = 1 + i, .path = (uint32_t)crit_random_below(&random, 30)
		};
		crit_maker_sample(m, (struct crit_kernel_sample){
					     .head = { .time_ns = 10 * (i + 1), .cpu = i % 2 },
					     .tid = CRIT_ACT_ROOT + i % 2,
					     .request = i,
					     .ip = crit_random_below(&random, 4),
					     .period_ns = 10 });
	}
	crit_maker_chunk(m, (struct crit_chunk_head){ .kind = CRIT_C_PATHS }, paths, sizeof(paths));
	crit_maker_chunk(m, (struct crit_chunk_head){ .kind = CRIT_C_SAMPLES }, samples,
			 sizeof(samples));
	crit_act_end(m, 300, CRIT_ACT_ROOT, CRIT_ACT_ROOT, 0);
	return input_of(m);
}

static struct input make_scenario_seed(uint64_t seed)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, 60);
	struct crit_maker_options options = { .chunk_bytes = seed % 2 ? 256 : 4096 };
	struct crit_scenario *s;
	struct crit_maker *m;

	shape.events_max = shape.events_max % 60;
	s = crit_scenario_simulate(&shape);
	m = crit_scenario_record(s, 0, &options);
	crit_scenario_destroy(s);
	return input_of(m);
}

struct input crit_fuzz_seed(size_t number)
{
	if (number < SEEDS_OF_SCENARIOS)
		return make_scenario_seed(number + 1);
	if (number < SEEDS_OF_SCENARIOS + SEEDS_OF_MESSAGES)
		return make_message_seed(number);
	if (number < SEEDS_OF_SCENARIOS + SEEDS_OF_MESSAGES + SEEDS_OF_TEAMS)
		return make_team_seed(number);
	if (number < SEEDS_OF_SCENARIOS + SEEDS_OF_MESSAGES + SEEDS_OF_TEAMS + SEEDS_OF_VERSIONS)
		return make_version_seed(number);
	number -= SEEDS_OF_SCENARIOS + SEEDS_OF_MESSAGES + SEEDS_OF_TEAMS + SEEDS_OF_VERSIONS;
	if (number < SEEDS_OF_PATHS)
		return make_path_seed(number + 1);
	return (struct input){ NULL, 0 };
}
