// SPDX-License-Identifier: BSD-3-Clause
// Recordings of a newer critd: unknown kinds of chunks, kernel records and slots are counted and
// change nothing else.
#include <stdlib.h>
#include <string.h>

#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"
#include "tests/sim/synthetic.h"

#define T0 1000000000ull
#define UNKNOWN_SLOT 77

/* Puts what is unknown between everything a maker is told. */
struct newer {
	struct crit_maker *maker;
	struct crit_random random;
	uint64_t chunks, records;
	bool is_inserting;
};

static void put_chunk(struct newer *newer)
{
	static const uint16_t kinds[] = { 0, CRIT_C_SAMPLES, CRIT_C_COUNTER_VALUES, CRIT_C_COUNT,
					  0xffff };
	static unsigned char payload[CRIT_CHUNK_PAYLOAD_MAX];
	const uint64_t length = crit_random_is(&newer->random, 5)
					? sizeof(payload)
					: crit_random_below(&newer->random, 100);

	crit_maker_chunk(newer->maker,
			 (struct crit_chunk_head){
				 .kind = kinds[newer->chunks++ % (sizeof(kinds) / sizeof(*kinds))],
				 .lost = 1000 },
			 payload, (size_t)length);
}

static bool add_kernel(void *user, struct crit_kernel_head *record)
{
	static const uint16_t kinds[] = { 0, CRIT_K_SAMPLE, CRIT_K_COUNT, 256 + CRIT_K_SWITCH,
					  0xffff };
	static union {
		struct crit_kernel_head head;
		unsigned char bytes[CRIT_KERNEL_RECORD_MAX];
	} room;
	struct newer *newer = user;
	size_t size = 16 + 8 * (size_t)crit_random_below(&newer->random, 20);

	if (newer->is_inserting)
		return true;
	newer->is_inserting = true;
	if (crit_random_is(&newer->random, 2))
		size = sizeof(room);
	if (crit_random_is(&newer->random, 20)) {
		room.head = *record;
		room.head.kind = kinds[newer->records++ % (sizeof(kinds) / sizeof(*kinds))];
		crit_maker_kernel(newer->maker, &room.head, size);
	}
	if (crit_random_is(&newer->random, 5))
		put_chunk(newer);
	newer->is_inserting = false;
	return true;
}

static bool add_slots(void *user, uint32_t stream, struct crit_slot *slot)
{
	struct newer *newer = user;
	uint64_t more = crit_random_below(&newer->random, 4);

	if (newer->is_inserting || slot->kind == CRIT_S_CONTINUED)
		return true;
	newer->is_inserting = true;
	if (crit_random_is(&newer->random, 20)) {
		newer->records++;
		crit_maker_slot(newer->maker, stream,
				(struct crit_slot){ .time_ns = ~0ull, .kind = UNKNOWN_SLOT });
		while (more--)
			crit_maker_slot(newer->maker, stream,
					(struct crit_slot){ .kind = CRIT_S_CONTINUED });
	}
	if (crit_random_is(&newer->random, 5))
		put_chunk(newer);
	newer->is_inserting = false;
	return true;
}

static void check_same(uint64_t seed)
{
	const struct crit_synthetic spec = { .nodes = 1,
					     .ranks = 3,
					     .threads = 2,
					     .period_ns = 10000001,
					     .periods = 50,
					     .peers = 1,
					     .is_spinning = seed % 2 };
	struct newer newer = { .random = { .state = seed } };
	struct crit_maker_options options = { .chunk_bytes = seed % 3 ? 4096 : 64,
					      .tamper_kernel = add_kernel,
					      .tamper_slot = add_slots,
					      .user = &newer };
	struct crit_results *plain = NULL, *mixed = NULL;
	struct crit_maker *m = crit_maker_create(NULL);

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	newer.maker = crit_maker_create(&options);
	crit_synthetic_write(&spec, 0, m);
	crit_synthetic_write(&spec, 0, newer.maker);
	CHECK_INT_EQ(crit_analysed_makers(&m, 1, CRIT_ACTIVE_DEFAULT, &plain), 0);
	CHECK_INT_EQ(crit_analysed_makers(&newer.maker, 1, CRIT_ACTIVE_DEFAULT, &mixed), 0);
	if (plain && mixed) {
		CHECK_INT_GT(newer.chunks, 0);
		CHECK_INT_GT(newer.records, 0);
		CHECK_UINT_EQ(mixed->losses.unknown_chunks, newer.chunks);
		CHECK_UINT_EQ(mixed->losses.unknown_records, newer.records);
		mixed->losses = plain->losses; /* all others are 0, as in any such recording */
		CHECK_UINT_EQ(crit_analysed_losses(&plain->losses), 0);
		mixed->nodes[0].kernel_record_count = plain->nodes[0].kernel_record_count;
		mixed->nodes[0].slot_count = plain->nodes[0].slot_count;
		mixed->nodes[0].recording_bytes = plain->nodes[0].recording_bytes;
		CHECK_UINT_EQ(crit_analysed_digest(mixed), crit_analysed_digest(plain));
	}
	crit_results_destroy(plain);
	crit_results_destroy(mixed);
	crit_maker_destroy(newer.maker);
	crit_maker_destroy(m);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		check_same(seed);
	return check_done();
}
