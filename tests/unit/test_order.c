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

static struct crit_order order;

static void take(const struct step *steps, size_t count)
{
	crit_order_init(&order);
	for (size_t i = 0; i < count; i++) {
		struct crit_order_message message = { .from = steps[i].from,
						      .to = steps[i].to,
						      .tag = steps[i].tag,
						      .is_send = steps[i].is_send,
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
	crit_order_init(&order);
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

	crit_order_init(&order);
	for (uint32_t i = 0; i <= CRIT_ORDER_MAX; i++)
		CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	CHECK(order.is_full);
	message.is_send = false;
	message.time_ns = 1;
	CHECK_INT_EQ(crit_order_take(&order, &message), 0);
	check(0, 0);
}

int main(void)
{
	test_one_message();
	test_others_do_not_match();
	test_in_turn();
	test_memory();
	test_full();
	return check_done();
}
