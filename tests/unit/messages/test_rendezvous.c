// SPDX-License-Identifier: BSD-3-Clause
//
// What is told of a message both of whose ends were waited for: by hand, in us.
#include "analysis/mpi/rendezvous.h"
#include "core/base/call.h"
#include "tests/lib/check.h"

#define US 1000ull
#define BYTES 700

enum side {
	SENDER = 0,
	RECEIVER
};

static struct crit_mpi_returns returns; /* of both */

struct told {
	struct crit_edge edges[4];
	size_t count;
};

static int take(void *user, const struct crit_event *event)
{
	struct told *told = user;

	told->edges[told->count++ % 4] = *event->edge;
	return 0;
}

static struct told tell(const struct crit_message_end *send, const struct crit_message_end *receive)
{
	static const uint32_t rows[] = { 0, 1 };
	struct told told = { .count = 0 };
	const struct crit_listener listener = {
		.user = &told,
		.on = { [CRIT_EVENT_EDGE + CRIT_EDGE_RECEIVER] = take,
			[CRIT_EVENT_EDGE + CRIT_EDGE_RENDEZVOUS] = take },
	};
	struct crit_listeners listeners = { .thread_rows = rows };

	CHECK_INT_EQ(crit_listeners_add(&listeners, &listener), 0);
	crit_rendezvous_tell(&listeners, &returns, 5, send, receive);
	return told;
}

/* A request of before 20, completed with others from begin_us to end_us. */
static struct crit_message_end end_of(enum side side, uint64_t begin_us, uint64_t end_us,
				      uint64_t left_us)
{
	return (struct crit_message_end){
		.begin_ns = begin_us * US,
		.end_ns = end_us * US,
		.posted_ns = (10 + side) * US,
		.left_ns = left_us * US,
		.bytes = side == SENDER ? BYTES : 0,
		.thread = side,
		.call = CRIT_MPI_Waitall,
	};
}

static void check_edge(const struct crit_edge *edge, enum crit_edge_kind kind, enum side waiter,
		       uint64_t cause_us)
{
	CHECK_INT_EQ(edge->kind, kind);
	CHECK_UINT_EQ(edge->waiter, waiter);
	CHECK_UINT_EQ(edge->cause, 1 - waiter);
	CHECK_UINT_EQ(edge->cause_ns, cause_us * US);
	CHECK_UINT_EQ(edge->bytes, kind == CRIT_EDGE_RECEIVER ? CRIT_EDGE_ANY_BYTES : BYTES);
}

/* One waits from 100 on; the other computes, and comes back to its request. */
static void test_who_comes_back(void)
{
	static const struct {
		const char *name;
		uint64_t left_us, back_us, end_us;
		bool is_met;
	} cases[] = {
		{ "right before the end", 20, 180, 190, true },
		{ "a quarter of its time away before the end", 20, 180, 200, true },
		{ "longer before", 20, 180, 201, false },
		{ "away for long enough", 20, 120, 121, true },
		{ "too short", 20, 119, 120, false },
		{ "after another call, long ago", 140, 180, 190, true },
		{ "after another call", 160, 180, 186, false },
		{ "after a call right before", 179, 180, 181, false },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const enum side waits = i % 2 ? RECEIVER : SENDER;
		const struct crit_message_end waiter = end_of(waits, 100, cases[i / 2].end_us, 99);
		const struct crit_message_end helper = end_of(1 - waits, cases[i / 2].back_us,
							      cases[i / 2].end_us + 2,
							      cases[i / 2].left_us);
		const enum crit_edge_kind kind = cases[i / 2].is_met ? CRIT_EDGE_RECEIVER
								     : CRIT_EDGE_RENDEZVOUS;
		const struct told told = waits == SENDER ? tell(&waiter, &helper)
							 : tell(&helper, &waiter);

		CHECK_CASE("%s, %s waits", cases[i / 2].name, waits ? "receiver" : "sender");
		if (!CHECK_UINT_EQ(told.count, waits == SENDER ? 1 : 2))
			continue;
		/* the send needs its receiver, whoever came first */
		check_edge(&told.edges[0], kind, SENDER,
			   waits == SENDER ? cases[i / 2].back_us : 100);
		if (waits == RECEIVER)
			check_edge(&told.edges[1], kind, RECEIVER, cases[i / 2].back_us);
	}
	CHECK_CASE("%s", "");
}

/* A message that was received while its sender computed needed nobody's help. */
static void test_in_flight(void)
{
	const struct crit_message_end receive = end_of(RECEIVER, 100, 150, 20);
	const struct crit_message_end send = end_of(SENDER, 180, 190, 20);
	const struct told told = tell(&send, &receive);

	if (CHECK_UINT_EQ(told.count, 1))
		check_edge(&told.edges[0], CRIT_EDGE_RENDEZVOUS, SENDER, 100);
}

/* The receive was posted late, by a call that left right before its completion began. */
static void test_late_post(void)
{
	struct crit_message_end receive = end_of(RECEIVER, 180, 185, 179);
	const struct crit_message_end send = end_of(SENDER, 100, 183, 99);
	struct told told;

	receive.posted_ns = 178 * US;
	told = tell(&send, &receive);
	if (CHECK_UINT_EQ(told.count, 1))
		check_edge(&told.edges[0], CRIT_EDGE_RENDEZVOUS, SENDER, 180);
}

/* All that its call had to complete: that tells the size, too. */
static void test_sole_send(void)
{
	struct crit_message_end send = end_of(SENDER, 100, 190, 99);
	const struct crit_message_end receive = end_of(RECEIVER, 180, 192, 20);
	struct told told;

	send.is_sole = true;
	told = tell(&send, &receive);
	if (CHECK_UINT_EQ(told.count, 1)) {
		CHECK_INT_EQ(told.edges[0].kind, CRIT_EDGE_RECEIVER);
		CHECK_UINT_EQ(told.edges[0].bytes, BYTES);
	}
	send.mode = CRIT_SEND_BUFFERED;
	CHECK_UINT_EQ(tell(&send, &receive).count, 0);
}

/* Away from MPI until it comes back to another call, its own request still active. */
static void test_other_call(void)
{
	static const struct {
		const char *name;
		uint64_t posted_us, left_us, back_us, end_us;
		bool is_met;
	} cases[] = {
		{ "right before the end", 10, 20, 180, 190, true },
		{ "a quarter of its time away before the end", 10, 20, 180, 200, true },
		{ "longer before", 10, 20, 180, 201, false },
		{ "too short", 10, 20, 119, 120, false },
		{ "after the end", 10, 20, 180, 175, false },
		{ "before the wait", 10, 20, 90, 92, false },
		{ "it posts only then", 185, 20, 180, 190, false },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const enum side waits = i % 2 ? RECEIVER : SENDER;
		const struct crit_message_end waiter = end_of(waits, 100, cases[i / 2].end_us, 99);
		struct crit_message_end helper = end_of(1 - waits, 300, 310, 290);
		const enum crit_edge_kind kind = cases[i / 2].is_met ? CRIT_EDGE_RECEIVER
								     : CRIT_EDGE_RENDEZVOUS;
		struct told told;

		helper.posted_ns = cases[i / 2].posted_us * US;
		for (int k = 0; k < 3; k++) /* it was away before, and comes back short of breath */
			CHECK_INT_EQ(crit_mpi_returns_note(&returns, 1 - waits, k * US, k * US), 0);
		CHECK_INT_EQ(crit_mpi_returns_note(&returns, 1 - waits, 19 * US,
						   cases[i / 2].left_us * US),
			     0);
		CHECK_INT_EQ(crit_mpi_returns_note(&returns, 1 - waits, cases[i / 2].back_us * US,
						   280 * US),
			     0);
		CHECK_INT_EQ(crit_mpi_returns_note(&returns, 1 - waits, 282 * US, 290 * US), 0);
		told = waits == SENDER ? tell(&waiter, &helper) : tell(&helper, &waiter);
		CHECK_CASE("%s, %s waits", cases[i / 2].name, waits ? "receiver" : "sender");
		if (CHECK_UINT_EQ(told.count, waits == RECEIVER && cases[i / 2].is_met ? 2 : 1)) {
			check_edge(&told.edges[0], kind, SENDER,
				   waits == RECEIVER     ? 100
				   : cases[i / 2].is_met ? cases[i / 2].back_us
							 : cases[i / 2].posted_us);
			if (told.count > 1)
				check_edge(&told.edges[1], kind, RECEIVER, cases[i / 2].back_us);
		}
		crit_mpi_returns_fini(&returns);
	}
	CHECK_CASE("%s", "");
}

/* Of many returns the last ones are known. */
static void test_returns(void)
{
	struct crit_message_end receive = end_of(RECEIVER, 1, 0, 0);
	const struct crit_message_end send = end_of(SENDER, 9000, 9001, 8000);

	CHECK_UINT_EQ(crit_mpi_returns_left(&returns, 0), 0);
	for (uint64_t i = 1; i <= CRIT_RETURNS + 2; i++)
		CHECK_INT_EQ(crit_mpi_returns_note(&returns, SENDER, (100 * i + 50) * US,
						   (100 * i + 60) * US),
			     0);
	CHECK_UINT_EQ(crit_mpi_returns_left(&returns, SENDER),
		      (100 * (CRIT_RETURNS + 2) + 60) * US);
	CHECK_UINT_EQ(crit_mpi_returns_left(&returns, 7000), 0);
	for (uint64_t i = 1; i <= CRIT_RETURNS + 2; i++) {
		receive.begin_ns = (100 * i - 30) * US;
		receive.end_ns = (100 * i + 51) * US;
		CHECK_CASE("%u", (unsigned int)i);
		CHECK_UINT_EQ(tell(&send, &receive).count, i > 2 ? 2 : 1);
	}
	CHECK_CASE("%s", "");
	crit_mpi_returns_fini(&returns);
}

int main(void)
{
	test_who_comes_back();
	test_in_flight();
	test_late_post();
	test_sole_send();
	test_other_call();
	test_returns();
	return check_done();
}
