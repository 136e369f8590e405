// SPDX-License-Identifier: BSD-3-Clause
// Messages received before they were sent: the k-th send matches the k-th receive, whichever is
// seen first.
#include "analysis/clock/latencies.h"
#include "analysis/clock/latency_links.h"
#include "analysis/mpi/match.h"
#include "analysis/model/model.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"

enum {
	SENT = 1,
	RECEIVED = 0
};

struct step {
	bool is_send;
	uint32_t from, to;
	int32_t tag;
	uint64_t time_ns;
};

static struct crit_match match;
static struct crit_match_open open;
static uint32_t place; /* each member is on the node of the same number */

static struct crit_edge pairs[8]; /* that were told */
static size_t pair_count;

static int on_pair(void *user, const struct crit_event *event)
{
	(void)user;
	pairs[pair_count++ % 8] = *event->edge;
	return 0;
}

static void listen(bool is_wanted)
{
	static const uint32_t rows[8] = { 0, 10, 20, 30, 40, 50, 60, 70 }; /* members, by thread */
	static const struct crit_mpi_returns returns;
	static struct crit_listeners listeners;
	struct crit_listener listener = { 0 };

	listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_MESSAGE] = is_wanted ? on_pair : NULL;
	pair_count = 0;
	listeners = (struct crit_listeners){ .thread_rows = rows };
	CHECK_INT_EQ(crit_listeners_add(&listeners, &listener), 0);
	crit_match_init(&match, &listeners, &returns);
}

static void take(const struct step *steps, size_t count)
{
	listen(count % 2); /* it makes no difference */
	for (size_t i = 0; i < count; i++) {
		struct crit_match_message message = { .from = steps[i].from,
						      .to = steps[i].to,
						      .tag = steps[i].tag,
						      .is_send = steps[i].is_send,
						      .node = steps[i].is_send ? steps[i].from
									       : steps[i].to,
						      .time_ns = steps[i].time_ns };

		message.end.thread = message.node;
		message.end.stay.begin_ns = steps[i].time_ns - 1;
		CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
	}
}

#define TAKE(...)                                                                                  \
	take((const struct step[]){ __VA_ARGS__ },                                                 \
	     sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static void check(uint64_t early_count, uint64_t early_max_ns)
{
	uint64_t max_ns;

	CHECK_UINT_EQ(crit_match_early(&match, &max_ns), early_count);
	CHECK_UINT_EQ(max_ns, early_max_ns);
	crit_match_fini(&match);
}

static void test_one_message(void)
{
	TAKE({ SENT, 0, 1, 7, 100 }, { RECEIVED, 0, 1, 7, 150 });
	check(0, 0);
	TAKE({ SENT, 0, 1, 7, 100 }, { RECEIVED, 0, 1, 7, 100 });
	check(0, 0);
	TAKE({ SENT, 0, 1, 7, 100 }, { RECEIVED, 0, 1, 7, 90 });
	check(1, 10);
	TAKE({ RECEIVED, 0, 1, 7, 90 }, { SENT, 0, 1, 7, 100 }); /* told of in the other order */
	check(1, 10);
	TAKE({ RECEIVED, 0, 1, 7, 150 }, { SENT, 0, 1, 7, 100 });
	check(0, 0);
}

static void test_others_do_not_match(void)
{
	TAKE({ SENT, 0, 1, 7, 100 }, { RECEIVED, 0, 1, 8, 50 }, { RECEIVED, 1, 0, 7, 50 },
	     { RECEIVED, 0, 2, 7, 50 });
	check(0, 0);
}

static void test_in_turn(void)
{
	TAKE({ SENT, 0, 1, 7, 100 }, { SENT, 0, 1, 7, 200 }, { RECEIVED, 0, 1, 7, 150 },
	     { RECEIVED, 0, 1, 7, 170 }, { RECEIVED, 0, 1, 7, 300 }, { SENT, 0, 1, 7, 340 });
	check(2, 40);
}

/* Places are used again: what is under way is what costs memory. */
static void test_memory(void)
{
	crit_match_init(&match, NULL, NULL);
	for (uint64_t i = 0; i < 100000; i++) {
		struct crit_match_message message = {
			.from = 0, .to = 1, .tag = 7, .is_send = true, .time_ns = i
		};

		CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
		message.is_send = false;
		CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
	}
	CHECK_UINT_EQ(match.wait_count, 1);
	CHECK_UINT_EQ(match.way_count, 1);
	check(0, 0);
}

/* Where there is no room any more nothing is claimed. */
static void test_full(void)
{
	struct crit_match_message message = { .from = 0, .to = 1, .is_send = true, .time_ns = 100 };

	crit_match_init(&match, NULL, NULL);
	for (uint32_t i = 0; i <= CRIT_MATCH_MAX; i++)
		CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
	CHECK(match.is_full);
	message.is_send = false;
	message.time_ns = 1;
	CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
	check(0, 0);
}

/* Sends told of in another order than they began: of their way nothing is said, nor of its link. */
static void test_mixed(void)
{
	uint64_t max_ns;

	TAKE({ SENT, 0, 1, 7, 100 }, { RECEIVED, 0, 1, 7, 90 }, { RECEIVED, 0, 1, 7, 95 },
	     { SENT, 0, 1, 7, 120 });
	CHECK_UINT_EQ(crit_match_early(&match, &max_ns), 2);
	CHECK(match.latencies->link_count == 1 && !match.latencies->links[0].is_mixed);
	check(2, 25);
	TAKE({ RECEIVED, 0, 1, 7, 102 }, { SENT, 0, 1, 7, 120 }, { SENT, 0, 1, 7, 100 },
	     { RECEIVED, 0, 1, 7, 110 }, { SENT, 0, 1, 8, 50 }, { RECEIVED, 0, 1, 8, 45 });
	CHECK(match.latencies->link_count == 1 && match.latencies->links[0].is_mixed);
	check(1, 5); /* of the other tag */
}

/* Messages inside of a node are no latencies. */
static void test_same_node(void)
{
	struct crit_match_message message = { .from = 3, .to = 5, .is_send = true, .node = 2 };

	crit_match_init(&match, NULL, NULL);
	CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
	message.is_send = false;
	CHECK_INT_EQ(crit_match_take(&match, &message, &open, &place), 0);
	CHECK(!match.latencies);
	check(0, 0);
}

/* Pairs are told in the order in which they are complete, once the second of the two is told of. */
static void test_pairs(void)
{
	TAKE({ SENT, 1, 2, 7, 100 }, { RECEIVED, 1, 3, 7, 130 }, { SENT, 1, 2, 7, 110 },
	     { RECEIVED, 1, 2, 7, 140 }, { SENT, 1, 3, 7, 120 }, { RECEIVED, 1, 2, 7, 150 },
	     { RECEIVED, 1, 2, 8, 160 });
	if (CHECK_UINT_EQ(pair_count, 3)) {
		CHECK_UINT_EQ(pairs[0].waiter, 20);
		CHECK_UINT_EQ(pairs[0].cause, 10);
		CHECK_UINT_EQ(pairs[0].begin_ns, 139);
		CHECK_UINT_EQ(pairs[0].end_ns, 140);
		CHECK_UINT_EQ(pairs[0].cause_ns, 100);
		CHECK_UINT_EQ(pairs[1].waiter, 30);
		CHECK_UINT_EQ(pairs[1].end_ns, 130);
		CHECK_UINT_EQ(pairs[1].cause_ns, 120);
		CHECK_UINT_EQ(pairs[1].send_number, 0);
		CHECK_UINT_EQ(pairs[2].cause_ns, 110);
		CHECK_UINT_EQ(pairs[2].send_number, 1);
	}
	check(0, 0);
}

/* Where threads send side by side nobody knows which message is whose. */
static void test_mixed_pairs(void)
{
	TAKE({ SENT, 1, 2, 7, 100 }, { RECEIVED, 1, 2, 7, 130 }, { SENT, 1, 2, 7, 90 },
	     { RECEIVED, 1, 2, 7, 140 }, { SENT, 1, 2, 7, 150 });
	CHECK_UINT_EQ(pair_count, 1);
	check(0, 0);
}

/* Nothing is kept of what nobody wants. */
static void test_no_pairs(void)
{
	TAKE({ SENT, 1, 2, 7, 100 }, { RECEIVED, 1, 2, 7, 130 });
	CHECK_UINT_EQ(pair_count, 0);
	CHECK(!match.listeners && !match.ends);
	check(0, 0);
}

static const struct crit_latency *points_of(struct crit_latencies *t, uint64_t seed, bool is_mixed)
{
	struct crit_random random = { seed };
	uint32_t link;

	CHECK_INT_EQ(crit_latencies_link(t, 1, 2, &link), 0);
	for (int i = 0; i < 2000; i++) {
		uint64_t sent_ns =
			1000 + (is_mixed ? crit_random_below(&random, 4000) : 2u * (uint32_t)i);
		uint64_t took_ns = 500 + crit_random_below(&random, 3000);

		CHECK_INT_EQ(crit_latencies_take(t, link, sent_ns, sent_ns + took_ns - 1000), 0);
	}
	return t->links[link].points;
}

/* The hull is convex, below all messages, and touches those it consists of, in whatever order. */
static void test_hull(uint64_t seed, bool is_mixed)
{
	struct crit_latencies *t = crit_latencies_create();
	const struct crit_latency *points = points_of(t, seed, is_mixed);
	struct crit_random random = { seed };
	size_t count = t->links[0].count, at;

	CHECK_UINT_EQ(t->point_count, count);
	CHECK(count >= 2 && count < 60);
	for (at = 1; at + 1 < count; at++) /* left turns only */
		CHECK((points[at].took_ns - points[at - 1].took_ns) *
			      (int64_t)(points[at + 1].sent_ns - points[at].sent_ns) <
		      (points[at + 1].took_ns - points[at].took_ns) *
			      (int64_t)(points[at].sent_ns - points[at - 1].sent_ns));
	for (int i = 0; i < 2000; i++) {
		uint64_t sent_ns =
			1000 + (is_mixed ? crit_random_below(&random, 4000) : 2u * (uint32_t)i);
		int64_t took_ns = (int64_t)crit_random_below(&random, 3000) - 500;

		for (at = 1; at + 1 < count && points[at].sent_ns < sent_ns; at++)
			;
		CHECK(points[0].sent_ns <= sent_ns && sent_ns <= points[count - 1].sent_ns);
		CHECK((took_ns - points[at - 1].took_ns) *
			      (int64_t)(points[at].sent_ns - points[at - 1].sent_ns) >=
		      (points[at].took_ns - points[at - 1].took_ns) *
			      (int64_t)(sent_ns - points[at - 1].sent_ns));
	}
	crit_latencies_destroy(t);
}

int main(void)
{
	test_one_message();
	test_others_do_not_match();
	test_in_turn();
	test_memory();
	test_full();
	test_mixed();
	test_pairs();
	test_mixed_pairs();
	test_no_pairs();
	test_same_node();
	for (uint64_t seed = 1; seed <= 20; seed++)
		test_hull(seed, seed % 2);
	return check_done();
}
