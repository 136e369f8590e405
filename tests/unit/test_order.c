// SPDX-License-Identifier: BSD-3-Clause
// Messages received before they were sent: by the k-th of each way, whoever is told of first.
#include "analysis/order.h"
#include "analysis/model.h"
#include "tests/lib/check.h"

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

static struct crit_order order; /* each member is on the node of the same number */

static void take(const struct step *steps, size_t count)
{
	crit_order_init(&order, 0, 1000);
	for (size_t i = 0; i < count; i++) {
		struct crit_order_message message = { .from = steps[i].from,
						      .to = steps[i].to,
						      .tag = steps[i].tag,
						      .is_send = steps[i].is_send,
						      .node = steps[i].is_send ? steps[i].from
									       : steps[i].to,
						      .time_ns = steps[i].time_ns };

		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	}
}

#define TAKE(...)                                                                                  \
	take((const struct step[]){ __VA_ARGS__ },                                                 \
	     sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static void check(uint64_t early_count, uint64_t early_max_ns)
{
	CHECK_UINT_EQ(order.early_count, early_count);
	CHECK_UINT_EQ(order.early_max_ns, early_max_ns);
	crit_order_fini(&order);
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
	crit_order_init(&order, 0, 1000);
	for (uint64_t i = 0; i < 100000; i++) {
		struct crit_order_message message = {
			.from = 0, .to = 1, .tag = 7, .is_send = true, .time_ns = i
		};

		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
		message.is_send = false;
		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	}
	CHECK_UINT_EQ(order.wait_count, 1);
	CHECK_UINT_EQ(order.way_count, 1);
	check(0, 0);
}

/* Where there is no room any more nothing is claimed. */
static void test_full(void)
{
	struct crit_order_message message = { .from = 0, .to = 1, .is_send = true, .time_ns = 100 };

	crit_order_init(&order, 0, 1000);
	for (uint32_t i = 0; i <= CRIT_ORDER_MAX; i++)
		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	CHECK(order.is_full);
	message.is_send = false;
	message.time_ns = 1;
	CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	check(0, 0);
}

/* What is left of a link is its least in each of the sections that meet at a time. */
static void test_transits(void)
{
	const struct crit_transits *t = &order.transits;

	take(NULL, 0);
	crit_order_fini(&order);
	crit_order_init(&order, 1000, 1000 + 10 * CRIT_TRANSIT_SECTIONS - 1); /* 10 ns each */
	CHECK_UINT_EQ(t->section_ns, 10);
	for (uint32_t i = 0; i < 20; i++) {
		struct crit_order_message message = {
			.from = 3, .to = 5, .is_send = true, .node = 3, .time_ns = 1000 + i
		};

		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
		message.is_send = false;
		message.node = i < 10 ? 3 : 5; /* on its own node it is no transit */
		message.time_ns += 100 - i;
		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	}
	CHECK_UINT_EQ(t->link_count, 1);
	CHECK(crit_transits_least(t, 0, 0) == CRIT_TRANSIT_NONE);
	CHECK_INT_EQ(crit_transits_least(t, 0, 1), 81);
	CHECK_INT_EQ(crit_transits_least(t, 0, 2), 81);
	CHECK(crit_transits_least(t, 0, 3) == CRIT_TRANSIT_NONE);
	CHECK(crit_transits_least(t, 0, CRIT_TRANSIT_SECTIONS) == CRIT_TRANSIT_NONE);
	crit_order_fini(&order);
}

/* More links have fewer sections, which lose nothing. */
static void test_coarse(void)
{
	const uint32_t links = 4 * CRIT_TRANSIT_CELLS / CRIT_TRANSIT_SECTIONS;
	struct crit_transits t;
	uint32_t link;

	crit_transits_init(&t, 0, CRIT_TRANSIT_SECTIONS - 1); /* of 1 ns */
	for (uint32_t i = 0; i < links; i++) {
		CHECK_INT_EQ(crit_transits_link(&t, i, i + 1, &link), 0);
		CHECK_UINT_EQ(link, i);
		crit_transits_take(&t, link, 7, 7 + i);
		crit_transits_take(&t, link, CRIT_TRANSIT_SECTIONS - 1, 3 * i);
	}
	CHECK_UINT_EQ(t.sections, CRIT_TRANSIT_SECTIONS / 4);
	CHECK_UINT_EQ(t.section_ns, 4);
	for (uint32_t i = 0; i < links; i++) {
		int64_t last_ns = 3 * (int64_t)i - (int64_t)CRIT_TRANSIT_SECTIONS + 1;

		CHECK_INT_EQ(crit_transits_least(&t, i, 1), i);
		CHECK_INT_EQ(crit_transits_least(&t, i, 2), i);
		CHECK(crit_transits_least(&t, i, 3) == CRIT_TRANSIT_NONE);
		CHECK_INT_EQ(crit_transits_least(&t, i, t.sections), last_ns);
	}
	CHECK_INT_EQ(crit_transits_link(&t, 9, 10, &link), 0);
	CHECK_UINT_EQ(link, 9);
	crit_transits_fini(&t);
}

int main(void)
{
	test_one_message();
	test_others_do_not_match();
	test_in_turn();
	test_memory();
	test_full();
	test_transits();
	test_coarse();
	return check_done();
}
