// SPDX-License-Identifier: BSD-3-Clause
// The film of waits: what is written is read backwards; places that do not serve, disks that fill.
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "analysis/waits/film/film.h"
#include "analysis/waits/film/film_moments.h"
#include "analysis/waits/film/rewind.h"
#include "tests/lib/check_scratch.h"
#include "tests/maker/random.h"

#define MANY 100000u

int __real_statfs(const char *path, struct statfs *fs);
int __real_fstatfs(int fd, struct statfs *fs);
ssize_t __real_pwrite(int fd, const void *bytes, size_t count, off_t at);
int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t at);

static long temporary_type, made_type; /* of $TMPDIR and of the file, 0: as it is */
static off_t disk_bytes; /* 0: as it is */

int __wrap_statfs(const char *path, struct statfs *fs)
{
	int rc = __real_statfs(path, fs);

	if (temporary_type)
		fs->f_type = temporary_type;
	return rc;
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	int rc = __real_fstatfs(fd, fs);

	if (made_type)
		fs->f_type = made_type;
	return rc;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t at)
{
	if (disk_bytes && at + (off_t)count > disk_bytes) {
		count = at < disk_bytes ? (size_t)(disk_bytes - at) : 0;
		errno = ENOSPC;
		return count ? __real_pwrite(fd, bytes, count, at) : -1;
	}
	return __real_pwrite(fd, bytes, count, at);
}

static struct crit_film *make_film(uint64_t max_bytes)
{
	const struct crit_film_options options = { .directory = check_scratch,
						   .max_bytes = max_bytes };
	struct crit_film *film = NULL;
	struct crit_err err = { "" };

	CHECK_MSG(crit_film_create(&options, &film, &err) == 0, "%s", err.text);
	return film;
}

/* Times 1 ns, seconds and weeks apart, both ways. */
static struct crit_film_entry entry_of(uint32_t i)
{
	return (struct crit_film_entry){ .time_ns = i % 1000 ? 5000000000ull * i - i % 7
							     : (uint64_t)i << 40,
					 .node = i * 2654435761u,
					 .number = ~i,
					 .more = i * 40503u,
					 .type = (uint8_t)(1 + i % 5),
					 .kind = (uint8_t)i };
}

static void test_round_trip(uint32_t count)
{
	struct crit_film *film = make_film(1u << 30);
	struct crit_film_entry entry;
	int rc = 0;

	CHECK_CASE("%u entries", count);
	for (uint32_t i = 0; i < count && !rc; i++) {
		entry = entry_of(i);
		rc = crit_film_put(film, &entry, NULL);
	}
	CHECK_INT_EQ(rc, 0);
	CHECK_INT_EQ(crit_film_finish(film, NULL), 0);
	CHECK_UINT_EQ(crit_film_entry_count(film), count);
	for (uint32_t i = count; i--;) {
		const struct crit_film_entry expected = entry_of(i);

		if (!CHECK_INT_EQ(crit_film_back(film, &entry), 1) ||
		    !CHECK_UINT_EQ(entry.time_ns, expected.time_ns) ||
		    !CHECK(entry.node == expected.node && entry.number == expected.number &&
			   entry.more == expected.more && entry.type == expected.type &&
			   entry.kind == expected.kind))
			break;
	}
	CHECK_INT_EQ(crit_film_back(film, &entry), 0);
	crit_film_destroy(film);
	CHECK_CASE("%s", "");
}

static int fill(struct crit_film *film, struct crit_err *err)
{
	const struct crit_film_entry entry = { .time_ns = 1, .type = CRIT_FILM_WAIT };
	int rc = 0;

	for (uint32_t i = 0; i < MANY && !rc; i++)
		rc = crit_film_put(film, &entry, err);
	return rc;
}

/* Of what is beyond the bound, or the disk, is told once, and nothing is taken any more. */
static void test_full(void)
{
	static const struct {
		uint64_t max_bytes;
		off_t disk_bytes;
		int rc;
		const char *text;
	} cases[] = {
		{ 4 * CRIT_FILM_BLOCK_BYTES, 0, -EFBIG, "262144 bytes" },
		{ 1u << 30, 100000, -ENOSPC, "No space left" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct crit_film *film = make_film(cases[i].max_bytes);
		struct crit_err err = { "" };

		disk_bytes = cases[i].disk_bytes;
		CHECK_INT_EQ(fill(film, &err), cases[i].rc);
		CHECK_MSG(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
		disk_bytes = 0;
		err.text[0] = '\0';
		CHECK_INT_EQ(fill(film, &err), cases[i].rc);
		CHECK_INT_EQ(crit_film_finish(film, &err), cases[i].rc);
		CHECK_STR_EQ(err.text, "");
		crit_film_destroy(film);
	}
}

/* $TMPDIR if it is a local disk with room, else the directory, which does not exist here. */
static void test_places(void)
{
	const struct crit_film_options options = { .directory = "missing", .max_bytes = 4096 };
	const struct crit_film_options huge = { .directory = "missing",
						.max_bytes = UINT64_MAX / 2 };
	struct crit_film *film = NULL;
	struct crit_err err = { "" };

	CHECK_INT_EQ(setenv("TMPDIR", check_scratch, 1), 0);
	temporary_type = made_type = EXT4_SUPER_MAGIC;
	CHECK_INT_EQ(crit_film_create(&options, &film, &err), 0);
	crit_film_destroy(film);
	CHECK_INT_EQ(crit_film_create(&huge, &film, &err), -ENOENT);
	CHECK_MSG(strstr(err.text, "missing") != NULL, "%s", err.text);
	temporary_type = TMPFS_MAGIC;
	CHECK_INT_EQ(crit_film_create(&options, &film, &err), -ENOENT);
	temporary_type = NFS_SUPER_MAGIC;
	CHECK_INT_EQ(crit_film_create(&options, &film, &err), -ENOENT);
	temporary_type = EXT4_SUPER_MAGIC;
	made_type = TMPFS_MAGIC;
	CHECK_INT_EQ(crit_film_create(&options, &film, &err), -EOPNOTSUPP);
	CHECK_MSG(strstr(err.text, "set TMPDIR") != NULL, "%s", err.text);
	temporary_type = made_type = 0;
	unsetenv("TMPDIR");
}

static void put(struct crit_film *film, uint64_t time_ns, uint8_t type, uint32_t number)
{
	const struct crit_film_entry entry = { .time_ns = time_ns, .type = type, .number = number };

	CHECK_INT_EQ(crit_film_put(film, &entry, NULL), 0);
}

/* Each entry with those of its time, causes behind them and when their time comes. */
static void test_rewind(void)
{
	static const struct {
		uint64_t time_ns;
		uint32_t numbers[4]; /* 0: no more */
	} expected[] = { { 9, { 7 } }, { 8, { 6 } }, { 5, { 4, 3, 8 } },
			 { 4, { 5 } }, { 3, { 9 } }, { 1, { 2, 1 } } };
	struct crit_film *film = make_film(1u << 20);
	struct crit_rewind rewind;
	size_t count;

	put(film, 1, CRIT_FILM_UNTIL, 1);
	put(film, 1, CRIT_FILM_WAIT, 2);
	put(film, 5, CRIT_FILM_END, 3);
	put(film, 5, CRIT_FILM_END, 4);
	put(film, 4, CRIT_FILM_CAUSE, 5);
	put(film, 8, CRIT_FILM_WAIT, 6);
	put(film, 9, CRIT_FILM_END, 7);
	put(film, 5, CRIT_FILM_CAUSE, 8);
	put(film, 3, CRIT_FILM_CAUSE, 9);
	CHECK_INT_EQ(crit_film_finish(film, NULL), 0);
	crit_rewind_init(&rewind, film);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CHECK_INT_EQ(crit_rewind_next(&rewind), 1);
		CHECK_UINT_EQ(rewind.time_ns, expected[i].time_ns);
		count = rewind.read.count - rewind.before;
		for (size_t k = 0; k < count; k++)
			CHECK_UINT_EQ(rewind.read.entries[rewind.before + k].number,
				      expected[i].numbers[k]);
		CHECK_UINT_EQ(expected[i].numbers[count], 0);
		if (i == 1)
			crit_rewind_empty(&rewind);
	}
	CHECK_INT_EQ(crit_rewind_next(&rewind), 0);
	crit_rewind_fini(&rewind);
	crit_film_destroy(film);
}

/* One at 5 ns, and this one after it. */
static void expect_fault(uint64_t time_ns, enum crit_film_type type)
{
	struct crit_film *film = make_film(1u << 20);
	struct crit_rewind rewind;

	put(film, 5, CRIT_FILM_WAIT, 1);
	put(film, time_ns, type, 1);
	CHECK_INT_EQ(crit_film_finish(film, NULL), 0);
	crit_rewind_init(&rewind, film);
	CHECK_INT_EQ(crit_rewind_next(&rewind), -EPROTO);
	crit_rewind_fini(&rewind);
	crit_film_destroy(film);
}

static void test_faults(void)
{
	expect_fault(4, CRIT_FILM_END);
	expect_fault(6, CRIT_FILM_NONE);
}

static int by_time(const void *left, const void *right)
{
	const struct crit_film_entry *a = left, *b = right;

	return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns ? 1 : -1)
					: (a->node > b->node) - (a->node < b->node);
}

/* Takes some, and compares them with the first of those that are left, sorted; their number. */
static size_t check_taken(struct crit_entry_queue *queue, struct crit_film_entry *left,
			  size_t count)
{
	struct crit_entry_list list = { .count = 0 };
	size_t at = 0;

	qsort(left, count, sizeof(*left), by_time);
	CHECK_UINT_EQ(crit_entry_queue_latest_ns(queue), left[0].time_ns);
	CHECK_INT_EQ(crit_entry_queue_take(queue, &list), 0);
	for (; at < list.count && at < count; at++)
		CHECK(list.entries[at].time_ns == left[at].time_ns &&
		      list.entries[at].node == left[at].node);
	CHECK(at == list.count && (at == count || left[at].time_ns < left[0].time_ns));
	free(list.entries);
	memmove(left, &left[at], (count - at) * sizeof(*left));
	return at;
}

/* Times within so many bits, few of them alike or many, put between what is taken. */
static void test_queue(uint64_t seed)
{
	struct crit_random dice = { seed };
	const unsigned int bits = 1 + (unsigned int)crit_random_below(&dice, 63);
	struct crit_entry_queue queue = { .unused = 0 };
	struct crit_film_entry left[300];
	uint64_t before_ns = 1ull << bits;
	size_t count = 0;

	CHECK_CASE("seed %llu, %u bits", (unsigned long long)seed, bits);
	for (int i = 0; i < 300; i++) {
		if (before_ns && crit_random_is(&dice, 70)) {
			left[count] = (struct crit_film_entry){
				.time_ns = crit_random_below(&dice, before_ns),
				.node = (uint32_t)crit_random_below(&dice, 20)
			};
			CHECK_INT_EQ(crit_entry_queue_put(&queue, &left[count++]), 0);
		} else if (count) {
			count -= check_taken(&queue, left, count);
			before_ns = ~queue.before_ns;
		}
	}
	while (count)
		count -= check_taken(&queue, left, count);
	CHECK(crit_entry_queue_is_empty(&queue));
	left[0].time_ns = ~queue.before_ns;
	CHECK_INT_EQ(crit_entry_queue_put(&queue, &left[0]), -EPROTO);
	crit_entry_queue_fini(&queue);
	CHECK_CASE("%s", "");
}

/* Of one time: the nodes of entries 0 to 99. */
struct shape {
	const char *name;
	uint32_t (*node_of)(uint32_t i);
};

static uint32_t two_nodes(uint32_t i)
{
	return i % 2 ? CRIT_FILM_OBJECT | 400 : 1023;
}

static uint32_t three_nodes(uint32_t i)
{
	return i % 3 * 300;
}

static uint32_t falling(uint32_t i)
{
	return 1000 - i;
}

static uint32_t falling_twice(uint32_t i)
{
	return i < 40 ? 39 - i : 139 - i;
}

static uint32_t falling_in_pairs(uint32_t i)
{
	return 500 - i / 2;
}

static uint32_t scattered(uint32_t i)
{
	return i * 0x9e3779b9u >> 7;
}

static const struct shape shapes[] = {
	{ "two nodes", two_nodes },
	{ "three nodes", three_nodes },
	{ "falling", falling },
	{ "falling twice", falling_twice },
	{ "falling in pairs", falling_in_pairs },
	{ "scattered", scattered },
};

/* All of one time come by node, and those of a node as they were put. */
static void test_one_time(const struct shape *shape)
{
	struct crit_entry_queue queue = { .unused = 0 };
	struct crit_entry_list list = { .count = 0 };
	struct crit_film_entry entry = { .time_ns = 7 };

	CHECK_CASE("%s", shape->name);
	for (entry.number = 0; entry.number < 100; entry.number++) {
		entry.node = shape->node_of(entry.number);
		CHECK_INT_EQ(crit_entry_queue_put(&queue, &entry), 0);
	}
	CHECK_INT_EQ(crit_entry_queue_take(&queue, &list), 0);
	CHECK_UINT_EQ(list.count, 100);
	for (size_t i = 0; i < list.count; i++) {
		const struct crit_film_entry *this = &list.entries[i], *before = this - 1;

		CHECK_UINT_EQ(this->node, shape->node_of(this->number));
		CHECK(!i || before->node < this->node ||
		      (before->node == this->node && before->number < this->number));
	}
	free(list.entries);
	crit_entry_queue_fini(&queue);
	CHECK_CASE("%s", "");
}

/* Entries of one time are there together, however many, each in its place. */
static void test_moments(void)
{
	static const uint32_t counts[] = { 1, 254, 1, 1, 255, 256, 257, 1, 2, 700, 5000, 3, 1 };
	const uint32_t moments_count = sizeof(counts) / sizeof(counts[0]);
	struct crit_film *film = make_film(1u << 30);
	struct crit_film_moments moments;

	for (uint32_t i = moments_count; i--;)
		for (uint32_t k = counts[i]; k--;)
			CHECK_INT_EQ(crit_film_put(film,
						   &(struct crit_film_entry){ .time_ns = i,
									      .number = k,
									      .type = 1 + k % 3 },
						   NULL),
				     0);
	CHECK_INT_EQ(crit_film_finish(film, NULL), 0);
	crit_film_moments_init(&moments, film, 0);
	for (uint32_t i = 0; i < moments_count; i++) {
		CHECK_INT_EQ(crit_film_moments_next(&moments), 1);
		CHECK_UINT_EQ(moments.time_ns, i);
		CHECK_UINT_EQ(moments.types, counts[i] < 3 ? (2u << counts[i]) - 2 : 14);
		CHECK_UINT_EQ(moments.count, counts[i]);
		for (uint32_t k = 0; k < moments.count; k++)
			CHECK(moments.now[k].number == k && moments.now[k].time_ns == i);
	}
	CHECK_INT_EQ(crit_film_moments_next(&moments), 0);
	crit_film_moments_fini(&moments);
	crit_film_moments_init(&moments, film, 1);
	CHECK_INT_EQ(crit_film_moments_next(&moments), -EPROTO);
	crit_film_moments_fini(&moments);
	crit_film_destroy(film);
}

int main(void)
{
	unsetenv("TMPDIR");
	if (!check_enter_scratch())
		return check_done();
	for (uint32_t count = 0; count < 3; count++)
		test_round_trip(count);
	for (uint32_t count = CRIT_FILM_BLOCK_ENTRIES - 2; count <= CRIT_FILM_BLOCK_ENTRIES + 2;
	     count++)
		test_round_trip(count);
	test_round_trip(MANY);
	test_full();
	test_places();
	test_moments();
	test_rewind();
	test_faults();
	for (uint64_t seed = 0; seed < 500; seed++)
		test_queue(seed);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_one_time(&shapes[i]);
	check_leave_scratch();
	return check_done();
}
