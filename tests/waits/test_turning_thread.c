// SPDX-License-Identifier: BSD-3-Clause
// A film turned round by a thread of its own is the one that is turned round without.
#include <errno.h>
#include <string.h>

#include "analysis/waits/film/film_meeting.h"
#include "analysis/waits/turning_thread.h"
#include "tests/lib/check_scratch.h"

#define THREADS 5u
#define BUCKETS 7u
#define STEP_NS 10u

static const struct crit_resolved_film_options options = {
	.file = { .directory = check_scratch, .max_bytes = 1u << 30 },
	.thread_count = THREADS,
	.bucket_count = BUCKETS,
};

/* The entry that is told so many before the last; kinds in turn. */
static struct crit_film_entry entry_of(size_t left)
{
	static const uint8_t types[] = { CRIT_FILM_UNTIL, CRIT_FILM_END,  CRIT_FILM_CAUSE,
					 CRIT_FILM_UNTIL, CRIT_FILM_WAIT, CRIT_FILM_RUN,
					 CRIT_FILM_QUEUE, CRIT_FILM_WAKE, CRIT_FILM_SLEEP };
	const uint8_t type = types[left % sizeof(types)];
	const bool may_tell = type == CRIT_FILM_END || type == CRIT_FILM_WAIT;

	return (struct crit_film_entry){ .time_ns = (left + 1) * STEP_NS,
					 .node = (uint32_t)(left % THREADS),
					 .number = (uint32_t)(left % BUCKETS),
					 .more = may_tell ? (uint32_t)(left % (BUCKETS + 1)) : 0,
					 .type = type };
}

/* So many entries, at most MOST at a time, to both. */
static void tell(struct crit_film_turning *alone, struct crit_turning_thread *beside, size_t count,
		 size_t most)
{
	struct crit_film_entry entries[100];

	for (size_t told = 0, i; told < count; told += i) {
		for (i = 0; i < most && told + i < count; i++)
			entries[i] = entry_of(count - told - i - 1);
		crit_film_turning_take(alone, entries, i);
		crit_turning_thread_take(beside, entries, i);
		memset(entries, 0xff, sizeof(entries)); /* they were copied */
	}
}

static bool is_same_film(struct crit_film *left, struct crit_film *right)
{
	struct crit_film_entry one, other;
	int rc;

	while ((rc = crit_film_back(left, &one)) > 0) {
		if (crit_film_back(right, &other) <= 0 || one.time_ns != other.time_ns ||
		    one.node != other.node || one.number != other.number ||
		    one.more != other.more || one.type != other.type)
			return false;
	}
	return !rc && crit_film_back(right, &other) == 0;
}

static void try_count(size_t count, size_t most)
{
	struct crit_film_turning *alone = NULL;
	struct crit_turning_thread *beside = NULL;
	struct crit_filmed_run expected = { 0 }, run = { 0 };
	struct crit_err err = { "" };

	CHECK_CASE("%zu entries, %zu at a time", count, most);
	CHECK_INT_EQ(crit_film_turning_create(&options, &alone, &err), 0);
	CHECK_INT_EQ(crit_turning_thread_create(&options, &beside, &err), 0);
	tell(alone, beside, count, most);
	CHECK_INT_EQ(crit_film_turning_end(alone, &expected, &err), 0);
	CHECK_INT_EQ(crit_turning_thread_end(beside, &run, &err), 0);
	CHECK_UINT_EQ(crit_film_entry_count(run.film), crit_film_entry_count(expected.film));
	CHECK(is_same_film(expected.film, run.film));
	CHECK(memcmp(expected.bucket_ns, run.bucket_ns, BUCKETS * sizeof(*run.bucket_ns)) == 0);
	crit_filmed_run_fini(&expected);
	crit_filmed_run_fini(&run);
}

/* The fault is told at the end, and what comes after it is taken as well. */
static void try_fault(void)
{
	struct crit_film_entry entry = entry_of(9);
	struct crit_turning_thread *beside = NULL;
	struct crit_filmed_run run = { 0 };
	struct crit_err err = { "" };

	CHECK_CASE("fault");
	entry.node = THREADS;
	CHECK_INT_EQ(crit_turning_thread_create(&options, &beside, &err), 0);
	for (int i = 0; i < 50000; i++)
		crit_turning_thread_take(beside, &entry, 1);
	CHECK_INT_EQ(crit_turning_thread_end(beside, &run, &err), -EPROTO);
	CHECK(!run.film);
	CHECK(strstr(err.text, "turn"));
	crit_filmed_run_fini(&run);
}

#define MEETS(by, of) .node = (by), .number = (of), .type = CRIT_FILM_CAUSE, .kind = CRIT_FILM_MEETS

/* The cause of a meeting needs the object at which its thread arrives then, no other does. */
static void try_meet(void)
{
	const uint32_t object = CRIT_FILM_OBJECT | 7;
	struct {
		struct crit_film_entry entry;
		uint64_t more;
	} rows[] = {
		{ { MEETS(2, 5) }, 0 },
		{ { .node = 1, .number = 8, .type = CRIT_FILM_ARRIVAL }, 0 },
		{ { .node = 2, .number = 5, .type = CRIT_FILM_CAUSE, .kind = 1 }, 0 },
		{ { .node = 2, .number = object + 1, .type = CRIT_FILM_ARRIVAL }, 0 },
		{ { .node = 2,
		    .number = object,
		    .type = CRIT_FILM_ARRIVAL,
		    .kind = CRIT_FILM_LAST },
		  0 },
		{ { MEETS(3, 6) }, 0 },
		{ { MEETS(2, 4) }, 0 },
	};
	static const uint32_t needs[] = { 1, 0, 0, 0, 0, 0, 1 };
	static const uint32_t nodes[] = { 2, 1, 2, 2, 2, 3, 2 };

	CHECK(crit_film_meet(rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0])));
	CHECK(!crit_film_meet(&rows[1], 3, sizeof(rows[0])));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_CASE("row %zu", i);
		CHECK((rows[i].entry.type == CRIT_FILM_NEED) == needs[i]);
		CHECK_UINT_EQ(rows[i].entry.node, needs[i] ? object : nodes[i]);
	}
}

int main(void)
{
	static const size_t counts[] = { 0, 1, 4095, 4096, 4097, 8192, 100000 };

	if (!check_enter_scratch())
		return check_done();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		try_count(counts[i], 1);
		try_count(counts[i], 100);
	}
	try_fault();
	try_meet();
	check_leave_scratch();
	return check_done();
}
