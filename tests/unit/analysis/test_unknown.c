// SPDX-License-Identifier: BSD-3-Clause
// Recordings of a newer critd: unknown kinds of chunks, kernel records and slots are counted and
// change nothing else; records of any size are taken whole; sizes that make no sense are counted.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/recording/kernel_feed.h"
#include "core/base/array.h"
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

/* The kernel feed of a made recording, on the node's own clock. */
struct opened {
	struct crit_recording *recording;
	struct crit_node_clock clock;
	struct crit_kernel_feed feed;
};

static void open_feed(struct opened *opened, struct crit_maker *m)
{
	int fd = crit_maker_memfd(m);
	uint32_t first = CRIT_NONE, *last = &first;
	char path[64];

	*opened = (struct opened){ 0 };
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (crit_recording_open(path, &opened->recording, NULL))
		exit(1);
	for (uint32_t i = 0; i < opened->recording->ref_count; i++) {
		if (opened->recording->refs[i].kind != CRIT_C_KERNEL)
			continue;
		*last = i;
		last = &opened->recording->refs[i].next;
	}
	if (crit_kernel_feed_init(&opened->feed, opened->recording, &opened->clock, first))
		exit(1);
	close(fd);
	crit_maker_destroy(m);
}

static void close_feed(struct opened *opened)
{
	crit_kernel_feed_fini(&opened->feed);
	crit_recording_close(opened->recording);
}

static const uint16_t sizes[] = { 24, 32, 56, 64, 72, 248, 256, 4096, CRIT_KERNEL_RECORD_MAX };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define RECORDS 4000u

/* A WAKE of any size: its thread's number again in each of its words. */
static void put_wake(struct crit_maker *m, uint32_t number, size_t size)
{
	static uint64_t words[CRIT_KERNEL_RECORD_MAX / 8];
	const struct crit_kernel_head head = {
		.kind = CRIT_K_WAKE,
		.cpu = 3,
		.flags = CRIT_KF_WATCHED,
		.state = 5,
		/* neighbours change places, all within the window of order */
		.time_ns = T0 + 10ull * (number ^ 1),
	};

	for (size_t i = 2; i < size / 8; i++)
		words[i] = number;
	memcpy(words, &head, sizeof(head));
	crit_maker_kernel(m, (void *)words, size);
}

/* All are given out whole and in order, and memory stays bounded. */
static void check_sizes(uint16_t version, size_t size_count)
{
	struct crit_maker_options options = { .version = version,
					      .chunk_bytes = CRIT_CHUNK_PAYLOAD_MAX };
	struct crit_maker *m = crit_maker_create(&options);
	const union crit_kernel_record *record;
	struct opened opened;
	uint32_t count = 0;

	CHECK_CASE("version %u", version);
	for (uint32_t i = 0; i < RECORDS; i++)
		put_wake(m, i, sizes[i % size_count]);
	open_feed(&opened, m);
	while ((record = crit_kernel_feed_front(&opened.feed))) {
		const uint32_t number = count++ ^ 1;
		const size_t size = sizes[number % size_count];
		uint64_t last = 0;

		CHECK_UINT_EQ(record->wake.tid, number);
		CHECK_UINT_EQ(record->head.time_ns, T0 + 10ull * (number ^ 1));
		CHECK_UINT_EQ(record->head.size, size);
		CHECK_INT_EQ(record->head.cpu, 3);
		CHECK_INT_EQ(record->head.flags, CRIT_KF_WATCHED);
		CHECK_INT_EQ(record->head.state, 5);
		memcpy(&last, (const char *)record + size - 8, 8);
		CHECK_UINT_EQ(last, number);
		CHECK(opened.feed.long_bytes < CRIT_REORDER_BYTES + CRIT_KERNEL_RECORD_MAX);
		crit_kernel_feed_pop(&opened.feed);
	}
	CHECK_UINT_EQ(count, RECORDS);
	CHECK_UINT_EQ(opened.feed.late_records, 0);
	CHECK_UINT_EQ(opened.feed.bad_chunks, 0);
	CHECK_UINT_EQ(opened.feed.unknown_records, 0);
	CHECK_UINT_EQ(opened.feed.long_bytes, 0);
	close_feed(&opened);
}

/* A chunk's records before one whose size makes no sense are taken, and all other chunks. */
static void check_senseless(uint16_t size)
{
	struct crit_kernel_wake wakes[3];
	struct crit_maker *m = crit_maker_create(NULL);
	struct opened opened;
	uint32_t count = 0;

	CHECK_CASE("size %u", size);
	for (uint32_t i = 0; i < 3; i++)
		wakes[i] = (struct crit_kernel_wake){
			.head = { .kind = CRIT_K_WAKE, .size = i == 1 ? size : 24, .time_ns = T0 },
			.tid = i
		};
	put_wake(m, 10, 24);
	crit_maker_chunk(m, (struct crit_chunk_head){ .kind = CRIT_C_KERNEL }, wakes,
			 sizeof(wakes));
	put_wake(m, 11, 4096);
	open_feed(&opened, m);
	while (crit_kernel_feed_front(&opened.feed)) {
		crit_kernel_feed_pop(&opened.feed);
		count++;
	}
	CHECK_UINT_EQ(count, 3);
	CHECK_UINT_EQ(opened.feed.bad_chunks, 1);
	CHECK_UINT_EQ(opened.feed.unknown_records, 0);
	close_feed(&opened);
}

/* Records of a known kind that lack a part are counted as unknown; what is held back is freed. */
static void check_short(void)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct opened opened;

	CHECK_CASE("short");
	put_wake(m, 1, 16);
	put_wake(m, 2, 4096);
	put_wake(m, 3, 16);
	put_wake(m, 4, 4096);
	open_feed(&opened, m);
	CHECK(crit_kernel_feed_front(&opened.feed) != NULL);
	CHECK_UINT_EQ(opened.feed.unknown_records, 2);
	CHECK_UINT_EQ(opened.feed.long_bytes, 8192);
	close_feed(&opened);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		check_same(seed);
	check_sizes(1, 6);
	check_sizes(2, 6);
	check_sizes(3, SIZES);
	check_senseless(0);
	check_senseless(8);
	check_senseless(28);
	check_senseless(56);
	check_senseless(CRIT_KERNEL_RECORD_MAX);
	check_short();
	return check_done();
}
