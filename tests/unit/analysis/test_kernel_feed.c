// SPDX-License-Identifier: BSD-3-Clause
// Kernel records of a node: taken whole at any size and given out in order of time; sizes that make
// no sense are counted.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/recording/kernel_feed.h"
#include "core/base/array.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"

#define T0 1000000000ull

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

/* Stamps of records in the order of the file, and how these are to be given out. */
struct stamps {
	uint64_t *ns;
	uint32_t count;
	uint64_t *given_ns; /* in this order */
	uint32_t *numbers;
	uint64_t late;
};

/* The plain way: each record is put into its place among all that are held back. */
static void order_plainly(struct stamps *s)
{
	uint64_t newest_ns = 0, given_ns = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		uint64_t time_ns = s->ns[i];
		uint32_t at = i;

		for (; first < i && newest_ns - s->given_ns[first] >= CRIT_REORDER_NS; first++)
			given_ns = s->given_ns[first];
		if (i - first == CRIT_REORDER_RECORDS)
			given_ns = s->given_ns[first++];
		if (time_ns < given_ns) {
			time_ns = given_ns;
			s->late++;
		}
		newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
		for (; at > first && s->given_ns[at - 1] > time_ns; at--) {
			s->given_ns[at] = s->given_ns[at - 1];
			s->numbers[at] = s->numbers[at - 1];
		}
		s->given_ns[at] = time_ns;
		s->numbers[at] = i;
	}
}

static void check_order(struct stamps *s)
{
	struct crit_maker *m = crit_maker_create(NULL);
	const union crit_kernel_record *record;
	struct opened opened;
	uint32_t count = 0, wrong = 0;

	s->given_ns = calloc(s->count, sizeof(*s->given_ns));
	s->numbers = calloc(s->count, sizeof(*s->numbers));
	if (!s->given_ns || !s->numbers)
		exit(1);
	order_plainly(s);
	for (uint32_t i = 0; i < s->count; i++) {
		struct crit_kernel_wake wake = {
			.head = { .kind = CRIT_K_WAKE, .size = sizeof(wake), .time_ns = s->ns[i] },
			.tid = i
		};

		crit_maker_kernel(m, (void *)&wake, sizeof(wake));
	}
	open_feed(&opened, m);
	while ((record = crit_kernel_feed_front(&opened.feed))) {
		wrong += count < s->count && (record->wake.tid != s->numbers[count] ||
					      record->head.time_ns != s->given_ns[count]);
		count++;
		crit_kernel_feed_pop(&opened.feed);
	}
	CHECK_UINT_EQ(count, s->count);
	CHECK_UINT_EQ(wrong, 0);
	CHECK_UINT_EQ(opened.feed.late_records, s->late);
	close_feed(&opened);
	free(s->given_ns);
	free(s->numbers);
}

/* Stamps that err by up to err_ns, more of them by up to stray_ns, and sometimes time leaps. */
static void check_random(uint64_t seed, uint64_t err_ns, unsigned int stray_percent,
			 uint64_t stray_ns)
{
	struct crit_random random = { .state = seed };
	struct stamps s = { .count = 20000 };
	uint64_t now_ns = T0;

	CHECK_CASE("seed %llu, %llu ns, %u %%", (unsigned long long)seed,
		   (unsigned long long)err_ns, stray_percent);
	s.ns = calloc(s.count, sizeof(*s.ns));
	if (!s.ns)
		exit(1);
	for (uint32_t i = 0; i < s.count; i++) {
		now_ns += crit_random_below(&random, 800);
		if (crit_random_below(&random, 3000) == 0)
			now_ns += 5000000;
		s.ns[i] = now_ns - crit_random_below(&random, err_ns + 1);
		if (crit_random_is(&random, stray_percent))
			s.ns[i] -= crit_random_below(&random, stray_ns);
	}
	check_order(&s);
	free(s.ns);
}

/* Threads of a node that act at the same times, told one after the other. */
static void check_threads(uint32_t threads, uint32_t periods)
{
	struct stamps s = { .count = 3 * threads * periods };

	CHECK_CASE("%u threads", threads);
	s.ns = calloc(s.count, sizeof(*s.ns));
	if (!s.ns)
		exit(1);
	for (uint32_t i = 0; i < s.count; i++)
		s.ns[i] = T0 + i / (3 * threads) * 400000ull + i % 3 * 100;
	check_order(&s);
	free(s.ns);
}

int main(void)
{
	check_sizes(1, 6);
	check_sizes(2, 6);
	check_sizes(3, SIZES);
	check_senseless(0);
	check_senseless(8);
	check_senseless(28);
	check_senseless(56);
	check_senseless(CRIT_KERNEL_RECORD_MAX);
	check_short();
	for (uint64_t seed = 1; seed <= 10; seed++) {
		check_random(seed, 0, 0, 1);
		check_random(seed, 2000, 1, 300000);
		check_random(seed, 2000, 50, 990000);
		check_random(seed, 100, 10, 3000000); /* some are late */
		check_random(seed, 900000, 0, 1);
	}
	check_threads(1, 1000);
	check_threads(300, 20);
	check_threads(2000, 5); /* more than there is room for at first */
	check_threads(12000, 3); /* more than may be held back */
	return check_done();
}
