// SPDX-License-Identifier: BSD-3-Clause
// Recordings of a newer critd: unknown kinds of chunks, kernel records and slots are counted and
// change nothing else.
#include <stdlib.h>
#include <string.h>

#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"

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
	static const uint16_t kinds[] = { 0, CRIT_C_COUNTER_VALUES, CRIT_C_COUNT, 0xffff };
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
	static const uint16_t kinds[] = { 0, CRIT_K_STACK, CRIT_K_COUNT, 256 + CRIT_K_SWITCH,
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
	struct newer newer = { .random = { .state = seed } };
	const struct crit_maker_options options = { .chunk_bytes = seed % 3 ? 4096 : 64,
						    .tamper_kernel = add_kernel,
						    .tamper_slot = add_slots,
						    .user = &newer };
	struct crit_results *r[2]; /* plain, and mixed */

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	crit_analysed_pair(&options, seed % 2, &newer.maker, r);
	CHECK_INT_GT(newer.chunks, 0);
	CHECK_INT_GT(newer.records, 0);
	CHECK_UINT_EQ(r[1]->losses.unknown_chunks, newer.chunks);
	CHECK_UINT_EQ(r[1]->losses.unknown_records, newer.records);
	r[1]->losses = r[0]->losses; /* all others are 0, as in any such recording */
	CHECK_UINT_EQ(crit_analysed_losses(&r[0]->losses), 0);
	r[1]->nodes[0].kernel_record_count = r[0]->nodes[0].kernel_record_count;
	r[1]->nodes[0].slot_count = r[0]->nodes[0].slot_count;
	r[1]->nodes[0].recording_bytes = r[0]->nodes[0].recording_bytes;
	CHECK_UINT_EQ(crit_analysed_digest(r[1]), crit_analysed_digest(r[0]));
	crit_results_destroy(r[0]);
	crit_results_destroy(r[1]);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		check_same(seed);
	return check_done();
}
