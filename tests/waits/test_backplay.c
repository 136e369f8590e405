// SPDX-License-Identifier: BSD-3-Clause
// Small films whose costs are known by hand.
#include <errno.h>

#include "analysis/waits/backwards/backplay.h"
#include "tests/lib/check_scratch.h"
#include "tests/maker/random.h"

#define U 0u
#define P 1u
#define X 2u
#define NIC (CRIT_FILM_OBJECT + 5)
#define THREADS 4u
#define NIC_BUCKET THREADS /* threads have the bucket of their number */
#define CPU_BUCKET (THREADS + 1)
#define BUCKETS (THREADS + 2)
#define OF_NIC (CRIT_FILM_OBJECT + NIC_BUCKET)

struct wait {
	uint32_t node;
	uint64_t s, e;
	uint32_t cause;
	uint64_t c;
};

struct known_edge {
	uint32_t from, to;
	uint64_t raw, self, nested;
	int64_t impact;
};

struct in_bucket {
	uint32_t bucket;
	enum crit_part part;
	int64_t cost, path;
};

static struct crit_film *film;
static uint64_t end_ns;
static struct crit_costs costs;

static void put_entry(const struct crit_film_entry *entry)
{
	CHECK_INT_EQ(crit_film_put(film, entry, NULL), 0);
}

static void put(enum crit_film_type type, uint64_t time_ns, uint32_t node, uint32_t number,
		uint8_t kind)
{
	put_entry(&(struct crit_film_entry){ .time_ns = time_ns,
					     .node = node,
					     .number = number,
					     .type = (uint8_t)type,
					     .kind = kind });
}

static void put_cause(uint64_t time_ns, uint32_t node, uint32_t waiter, uint32_t number)
{
	put_entry(&(struct crit_film_entry){ .time_ns = time_ns,
					     .node = node,
					     .number = number,
					     .more = waiter,
					     .type = CRIT_FILM_CAUSE });
}

static void begin_film(uint64_t end)
{
	const struct crit_film_options options = { .directory = check_scratch,
						   .max_bytes = 1u << 20 };
	struct crit_err err = { "" };

	CHECK_MSG(crit_film_create(&options, &film, &err) == 0, "%s", err.text);
	end_ns = end;
}

static int play(uint32_t last_thread, struct crit_err *err)
{
	static const uint8_t parts[BUCKETS] = { [CPU_BUCKET] = CRIT_PART_CPU };
	const struct crit_backplay_options options = { .end_ns = end_ns,
						       .thread_count = THREADS,
						       .bucket_count = BUCKETS,
						       .bucket_parts = parts,
						       .edges_max = 16,
						       .last_thread = last_thread };
	int rc;

	CHECK_INT_EQ(crit_film_finish(film, NULL), 0);
	rc = crit_backplay(film, &options, &costs, err);
	crit_film_destroy(film);
	film = NULL;
	return rc;
}

/* Entries of waits in the order of their times; a node that waits is in its bucket all the time. */
static void put_waits(const struct wait *waits, uint32_t count)
{
	for (uint64_t t = 0; t <= end_ns; t++) {
		for (uint32_t i = 0; i < count; i++) {
			const uint8_t kind = waits[i].node & CRIT_FILM_OBJECT ? CRIT_FILM_HOLD : 1;

			if (waits[i].e != t)
				continue;
			put(CRIT_FILM_END, t, waits[i].node, i, kind);
			put_cause(waits[i].c, waits[i].cause, waits[i].node, i);
		}
		for (uint32_t i = 0; i < count; i++) {
			if (waits[i].s == t)
				put(CRIT_FILM_WAIT, t, waits[i].node, i, 1);
		}
	}
}

static void put_buckets(void)
{
	for (uint32_t thread = 0; thread < THREADS; thread++)
		put(CRIT_FILM_UNTIL, end_ns, thread, thread, 0);
	put(CRIT_FILM_UNTIL, end_ns, NIC, NIC_BUCKET, 0);
}

static void check_edges(const struct known_edge *known, size_t count)
{
	CHECK_UINT_EQ(costs.edge_count, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct crit_wait_edge *edge =
			crit_costs_edge(&costs, known[i].from, known[i].to);

		CHECK_CASE("edge %x to %x", known[i].from, known[i].to);
		CHECK_UINT_EQ(edge->raw_ns, known[i].raw);
		CHECK_UINT_EQ(edge->part_ns[CRIT_PART_SELF], known[i].self);
		CHECK_UINT_EQ(edge->part_ns[CRIT_PART_NESTED], known[i].nested);
		CHECK_INT_EQ(edge->impact, known[i].impact);
	}
	CHECK_CASE("%s", "");
	CHECK_UINT_EQ(costs.edge_count, count + 1);
}

static void check_buckets(const struct in_bucket *known, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct crit_cost *row = &costs.buckets[known[i].bucket];

		CHECK_CASE("bucket %u, part %d", known[i].bucket, known[i].part);
		CHECK_INT_EQ(row->cost[known[i].part], known[i].cost);
		CHECK_INT_EQ(row->path_ns[known[i].part], known[i].path);
	}
	CHECK_CASE("%s", "");
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void play_waits(const struct wait *waits, uint32_t count, uint64_t end, uint32_t last_thread)
{
	struct crit_err err = { "" };

	begin_film(end);
	put_waits(waits, count);
	put_buckets();
	CHECK_MSG(play(last_thread, &err) == 0, "%s", err.text);
	CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
	CHECK_UINT_EQ(costs.cycle_count, 0);
}

/* wPerf, OSDI'18: what its analyzer says of three traces, in milliseconds. */
static void test_wperf(void)
{
	static const struct wait waits[] = { { U, 0, 101, P, 101 },
					     { P, 10, 90, NIC, 90 },
					     { X, 0, 101, P, 101 } };
	static const struct known_edge one[] = { { U, P, 101, 21, 80, 101 },
						 { P, OF_NIC, 80, 80, 0, 160 } };
	static const struct known_edge two[] = { { U, P, 101, 21, 80, 101 },
						 { X, P, 101, 21, 80, 101 },
						 { P, OF_NIC, 80, 80, 0, 240 } };
	static const struct wait turns[] = { { U, 0, 100, P, 100 }, { P, 100, 200, U, 200 } };
	static const struct known_edge third[] = { { U, P, 100, 100, 0, 100 },
						   { P, U, 100, 100, 0, 100 } };

	play_waits(waits, 2, 110, U);
	check_edges(one, COUNT(one));
	crit_costs_fini(&costs);
	play_waits(waits, 3, 110, U);
	check_edges(two, COUNT(two));
	crit_costs_fini(&costs);
	play_waits(turns, 2, 200, P);
	check_edges(third, COUNT(third));
	crit_costs_fini(&costs);
}

/* 3 waits for 2, that for 1, that for 0, each only in a part of the other's wait. */
static void test_chain_of_four(void)
{
	static const struct wait waits[] = { { 3, 10, 40, 2, 40 },
					     { 2, 20, 60, 1, 60 },
					     { 1, 30, 50, 0, 50 } };
	static const struct known_edge edges[] = { { 3, 2, 30, 10, 20, 30 },
						   { 2, 1, 40, 20, 20, 60 },
						   { 1, 0, 20, 20, 0, 50 } };
	static const struct in_bucket from_3[] = { { 0, CRIT_PART_SELF, 50, 40 },
						   { 1, CRIT_PART_SELF, 30, 0 },
						   { 2, CRIT_PART_SELF, 10, 0 },
						   { 3, CRIT_PART_SELF, 0, 30 } };
	static const struct in_bucket from_2[] = { { 0, CRIT_PART_SELF, 50, 50 },
						   { 1, CRIT_PART_SELF, 30, 10 },
						   { 2, CRIT_PART_SELF, 10, 10 },
						   { 3, CRIT_PART_SELF, 0, 0 } };

	play_waits(waits, COUNT(waits), 70, 3);
	check_edges(edges, COUNT(edges));
	check_buckets(from_3, COUNT(from_3));
	CHECK_INT_EQ(costs.buckets[0].direct, 20);
	CHECK_INT_EQ(costs.buckets[1].direct, 20);
	CHECK_INT_EQ(costs.buckets[2].direct, 10);
	crit_costs_fini(&costs);
	play_waits(waits, COUNT(waits), 70, 2);
	check_buckets(from_2, COUNT(from_2));
	crit_costs_fini(&costs);
}

/* A chain of four where all but the first begin earlier than what they wait for. */
static void test_transfer_and_cpu(void)
{
	static const struct known_edge edges[] = { { 1, 0, 20, 20, 0, 30 },
						   { 2, 1, 40, 10, 10, 40 } };
	static const struct in_bucket buckets[] = { { 0, CRIT_PART_SELF, 30, 30 },
						    { 1, CRIT_PART_TRANSFER, 30, 15 },
						    { CPU_BUCKET, CRIT_PART_CPU, 10, 5 },
						    { 1, CRIT_PART_SELF, 10, 10 },
						    { 2, CRIT_PART_SELF, 0, 10 } };
	struct crit_err err = { "" };

	begin_film(70);
	put(CRIT_FILM_WAIT, 10, 1, 1, 1);
	put(CRIT_FILM_WAIT, 20, 2, 2, 1);
	put(CRIT_FILM_UNTIL, 35, 1, 1, 0);
	put_cause(30, 0, 1, 1);
	put(CRIT_FILM_UNTIL, 40, 1, CPU_BUCKET, 0);
	put(CRIT_FILM_END, 50, 1, 1, 1);
	put(CRIT_FILM_END, 60, 2, 2, 1);
	put_buckets();
	put_cause(60, 1, 2, 2);
	CHECK_INT_EQ(play(2, &err), 0);
	CHECK_INT_EQ(crit_costs_check(&costs, NULL), 0);
	check_edges(edges, COUNT(edges));
	CHECK_UINT_EQ(crit_costs_edge(&costs, 2, 1)->part_ns[CRIT_PART_TRANSFER], 15);
	CHECK_UINT_EQ(crit_costs_edge(&costs, 2, 1)->part_ns[CRIT_PART_CPU], 5);
	check_buckets(buckets, COUNT(buckets));
	CHECK_UINT_EQ(costs.threads[1].part_ns[CRIT_PART_NESTED], 20); /* its wait state */
	CHECK_UINT_EQ(costs.threads[1].part_ns[CRIT_PART_TRANSFER], 15);
	CHECK_UINT_EQ(costs.threads[1].part_ns[CRIT_PART_CPU], 5);
	CHECK_UINT_EQ(costs.threads[2].part_ns[CRIT_PART_NESTED], 40);
	crit_costs_fini(&costs);
}

/* 1 and 2 wait for the last at a barrier; then 0 waits for a lock that others have in turn. */
static void test_objects(void)
{
	static const struct wait barrier[] = { { 1, 10, 55, NIC, 50 },
					       { 2, 20, 55, NIC, 50 },
					       { NIC, 10, 50, 0, 50 },
					       { 0, 50, 55, 0, 50 } };
	static const struct known_edge met[] = { { 1, OF_NIC, 40, 40, 0, 40 },
						 { 2, OF_NIC, 30, 30, 0, 30 },
						 { OF_NIC, 0, 40, 40, 0, 70 } };
	static const struct in_bucket late[] = { { 0, CRIT_PART_SELF, 70, 50 },
						 { 0, CRIT_PART_TRANSFER, 5, 0 },
						 { 1, CRIT_PART_TRANSFER, 5, 5 } };
	static const struct wait lock[] = { { NIC, 0, 20, 1, 20 },
					    { NIC, 25, 40, 2, 40 },
					    { 0, 10, 45, NIC, 40 } };
	static const struct known_edge held[] = { { 0, OF_NIC, 30, 30, 0, 30 },
						  { OF_NIC, 1, 20, 20, 0, 10 },
						  { OF_NIC, 2, 15, 15, 0, 15 } };
	static const struct in_bucket taken[] = { { 0, CRIT_PART_TRANSFER, 5, 5 },
						  { 1, CRIT_PART_SELF, 10, 0 },
						  { 2, CRIT_PART_SELF, 15, 40 },
						  { NIC_BUCKET, CRIT_PART_SELF, 5, 0 } };

	play_waits(barrier, COUNT(barrier), 60, 1);
	check_edges(met, COUNT(met));
	check_buckets(late, COUNT(late));
	crit_costs_fini(&costs);
	play_waits(lock, COUNT(lock), 50, 0);
	check_edges(held, COUNT(held));
	check_buckets(taken, COUNT(taken));
	crit_costs_fini(&costs);
}

/* Where pairs are more than there is room for, the rest is in one row, and the laws hold. */
static void test_edges_max(void)
{
	struct crit_costs few;

	CHECK_INT_EQ(crit_costs_init(&few, 1, 0, 2), 0);
	crit_costs_edge(&few, 1, 2)->count++;
	crit_costs_edge(&few, 2, 1)->count++;
	crit_costs_edge(&few, 3, 1)->count++;
	crit_costs_edge(&few, 1, 2)->count++;
	CHECK_UINT_EQ(few.edge_count, 3);
	CHECK_UINT_EQ(few.edges[0].count, 1);
	CHECK_UINT_EQ(few.edges[1].count, 2);
	crit_costs_fini(&few);
}

/* One nanosecond less in any sum breaks a law. */
static void test_laws(void)
{
	static const struct wait waits[] = { { U, 0, 101, P, 101 }, { P, 10, 90, NIC, 90 } };
	struct crit_err err = { "" };

	play_waits(waits, 2, 110, U);
	costs.buckets[P].cost[CRIT_PART_SELF]--;
	CHECK_INT_EQ(crit_costs_check(&costs, &err), -EPROTO);
	CHECK_MSG(strstr(err.text, "cost") != NULL, "%s", err.text);
	costs.buckets[P].cost[CRIT_PART_SELF]++;
	costs.buckets[U].path_ns[CRIT_PART_SELF]--;
	CHECK_INT_EQ(crit_costs_check(&costs, &err), -EPROTO);
	CHECK_MSG(strstr(err.text, "path") != NULL, "%s", err.text);
	costs.buckets[U].path_ns[CRIT_PART_SELF]++;
	costs.threads[U].part_ns[CRIT_PART_NESTED]--;
	CHECK_INT_EQ(crit_costs_check(&costs, &err), -EPROTO);
	CHECK_MSG(strstr(err.text, "threads") != NULL, "%s", err.text);
	costs.threads[U].part_ns[CRIT_PART_NESTED]++;
	costs.edges[1].part_ns[CRIT_PART_CPU]++;
	CHECK_INT_EQ(crit_costs_check(&costs, &err), -EPROTO);
	CHECK_MSG(strstr(err.text, "parts") != NULL, "%s", err.text);
	crit_costs_fini(&costs);
}

/* Films that contradict themselves. */
static void test_refused(void)
{
	static const struct {
		enum crit_film_type type;
		uint64_t time_ns;
		uint32_t node, number;
	} cases[][2] = {
		{ { CRIT_FILM_END, 10, 0, 1 }, { CRIT_FILM_END, 20, 0, 2 } },
		{ { CRIT_FILM_END, 10, 0, 1 }, { CRIT_FILM_END, 101, 1, 2 } },
		{ { CRIT_FILM_END, 10, 0, 1 }, { CRIT_FILM_END, 20, THREADS, 2 } },
		{ { CRIT_FILM_END, 10, 0, 1 }, { CRIT_FILM_UNTIL, 20, 0, BUCKETS } },
		{ { CRIT_FILM_END, 10, 0, 1 }, { CRIT_FILM_END, 9, 1, 2 } },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct crit_err err = { "" };

		begin_film(100);
		for (int k = 0; k < 2; k++)
			put(cases[i][k].type, cases[i][k].time_ns, cases[i][k].node,
			    cases[i][k].number, 1);
		CHECK_CASE("film %zu", i);
		CHECK_INT_EQ(play(0, &err), -EPROTO);
		CHECK_STR_EQ(err.text, "cannot play the film of the waits: Protocol error");
	}
	CHECK_CASE("%s", "");
}

/*
 * Entries at random are refused, or the laws hold: waits without end or begin, objects that begin
 * while others wait for them, numbers that are used twice.
 */
static uint32_t test_any_film(uint64_t seed)
{
	struct crit_random dice = { seed };
	const uint32_t count = (uint32_t)crit_random_below(&dice, 60);
	const uint32_t names = 1 + (uint32_t)crit_random_below(&dice, THREADS);
	struct crit_err err = { "" };
	uint64_t time_ns = 0;
	int rc;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	begin_film(100);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t node = (uint32_t)crit_random_below(&dice, names) |
				      (crit_random_is(&dice, 40) ? CRIT_FILM_OBJECT : 0);
		const enum crit_film_type type = 1 + crit_random_below(&dice, CRIT_FILM_NEED);

		if (crit_random_is(&dice, 70) && time_ns < end_ns)
			time_ns += crit_random_below(&dice, end_ns - time_ns) / 8;
		put_entry(&(struct crit_film_entry){
			.time_ns = type == CRIT_FILM_CAUSE ? crit_random_below(&dice, time_ns + 1)
							   : time_ns,
			.node = node,
			.number = crit_random_is(&dice, 20)
					  ? CRIT_FILM_NO_BUCKET
					  : (uint32_t)crit_random_below(&dice, BUCKETS),
			.more = type == CRIT_FILM_CAUSE
					? (uint32_t)crit_random_below(&dice, names) |
						  (node & CRIT_FILM_OBJECT)
				: type == CRIT_FILM_WAIT || type == CRIT_FILM_END
					? (uint32_t)crit_random_below(&dice, BUCKETS + 1)
					: 0,
			.type = (uint8_t)type,
			.kind = (uint8_t)crit_random_below(&dice, 3) });
	}
	rc = play(U, &err);
	CHECK(rc == 0 || rc == -EPROTO);
	if (!rc)
		CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
	crit_costs_fini(&costs);
	CHECK_CASE("%s", "");
	return !rc;
}

static void test_any_films(void)
{
	uint32_t played = 0;

	for (uint64_t seed = 0; seed < 3000; seed++)
		played += test_any_film(seed);
	CHECK_INT_GT(played, 300);
}

int main(void)
{
	unsetenv("TMPDIR");
	if (!check_enter_scratch())
		return check_done();
	test_wperf();
	test_chain_of_four();
	test_transfer_and_cpu();
	test_objects();
	test_edges_max();
	test_laws();
	test_refused();
	test_any_films();
	check_leave_scratch();
	return check_done();
}
