// SPDX-License-Identifier: BSD-3-Clause
//
// Films of two ranks by hand: which sends wait for their receivers is known by the sizes at which
// some did, and some did not.
#include <unistd.h>

#include "analysis/waits/filming_state.h"
#include "core/base/call.h"
#include "tests/edges/told_edges.h"
#include "tests/lib/check_scratch.h"
#include "tests/maker/acts.h"

#define T0 1000000000ull
#define US 1000ull
#define RANKS 2

static struct crit_maker *maker;
static uint32_t streams[RANKS];

static void detail(uint32_t rank, unsigned int kind, uint64_t bytes, uint64_t request)
{
	crit_maker_detail(maker, streams[rank],
			  (struct crit_slot_detail){ .detail = (uint16_t)kind,
						     .comm = CRIT_COMM_WORLD,
						     .peer = (int32_t)(1 - rank),
						     .tag = 3,
						     .bytes = bytes,
						     .request = request });
}

/* A call with one detail. */
static void call(uint32_t rank, uint64_t begin_us, uint64_t end_us, uint32_t number,
		 struct crit_slot_detail what)
{
	crit_maker_enter(maker, streams[rank], T0 + begin_us * US, number);
	detail(rank, what.detail, what.bytes, what.request);
	crit_maker_leave(maker, streams[rank], T0 + end_us * US, number);
}

#define SEND(begin_us, end_us, size)                                                               \
	call(0, begin_us, end_us, CRIT_MPI_Send,                                                   \
	     (struct crit_slot_detail){ .detail = CRIT_D_SEND, .bytes = (size) })
#define SSEND(begin_us, end_us, size)                                                              \
	call(0, begin_us, end_us, CRIT_MPI_Ssend,                                                  \
	     (struct crit_slot_detail){ .detail = CRIT_D_SEND, .bytes = (size) })
#define RECV(begin_us, end_us, size)                                                               \
	call(1, begin_us, end_us, CRIT_MPI_Recv,                                                   \
	     (struct crit_slot_detail){ .detail = CRIT_D_RECV, .bytes = (size) })
/* A send with a request that begins at that time and takes 1 us. */
static void isend(uint64_t begin_us, uint64_t size, uint64_t handle)
{
	call(0, begin_us, begin_us + 1, CRIT_MPI_Isend,
	     (struct crit_slot_detail){ .detail = CRIT_D_ISEND, .bytes = size, .request = handle });
}

/* One send waits from 10 to 20 at 5000 bytes, one of 4000 is over before its receiver comes. */
static void begin(void)
{
	maker = crit_act_begin("node0");
	streams[0] = crit_act_rank(maker, 101, 0, T0);
	streams[1] = crit_act_rank(maker, 102, 1, T0);
	SEND(10, 30, 5000);
	RECV(20, 32, 5000);
	SEND(40, 41, 4000);
	RECV(50, 51, 4000);
}

/* Films what was made, which is over then. */
static struct crit_filming *film(struct crit_results **ret_results, struct crit_costs *ret_costs)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 24 }, .has_needs = true
	};
	struct crit_filming *filming = NULL;
	struct crit_err err = { "" };

	crit_act_close(maker, 101, streams[0], T0 + 9000 * US);
	crit_act_close(maker, 102, streams[1], T0 + 200 * US);
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	CHECK_INT_EQ(crit_told_edges_film(maker, filming, ret_results), 0);
	CHECK_MSG(crit_filming_play(filming, 100, ret_costs, &err) == 0, "%s", err.text);
	crit_maker_destroy(maker);
	return filming;
}

/* How long one rank waited for the other, in us. */
static uint64_t waited_us(const struct crit_results *results, const struct crit_costs *costs,
			  int32_t from, int32_t to)
{
	uint64_t raw_ns = 0;

	for (size_t i = 1; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];

		if (results->threads[edge->from].rank_row == from &&
		    results->threads[edge->to].rank_row == to)
			raw_ns += edge->raw_ns;
	}
	return raw_ns / US;
}

static void check_waits_of(uint64_t sender_us, uint64_t receiver_us, uint64_t endless_us)
{
	struct crit_results *results = NULL;
	struct crit_costs costs = { 0 };
	struct crit_filming *filming = film(&results, &costs);

	CHECK_UINT_EQ(waited_us(results, &costs, 0, 1), sender_us);
	CHECK_UINT_EQ(waited_us(results, &costs, 1, 0), receiver_us);
	if (endless_us)
		CHECK_UINT_EQ(costs.endless_ns, endless_us * US);
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
	crit_results_destroy(results);
}

static void check_waits(uint64_t sender_us, uint64_t receiver_us)
{
	check_waits_of(sender_us, receiver_us, 0);
}

/* How much later the run, which ends with rank 0, ends with rank 1 ten times as slow, in us. */
static uint64_t later_us(void)
{
	const struct crit_factor slow = { 10, 1 }, same = { 1, 1 };
	struct crit_results *results = NULL;
	struct crit_costs costs = { 0 };
	struct crit_filming *filming = film(&results, &costs);
	struct crit_filmed_run run = { 0 };
	struct crit_forecast forecast = { 0 };
	struct crit_scenario scenarios[2] = { { 0 } };
	struct crit_factor factors[64];
	struct crit_err err = { "" };
	uint64_t by_us = 0;

	CHECK_MSG(crit_filming_resolve(filming, &run, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < run.options.bucket_count && i < 64; i++) {
		const uint32_t thread = crit_filming_keys(filming)[i].thread;

		factors[i] = thread < results->thread_count &&
					     results->threads[thread].rank_row == 1
				     ? slow
				     : same;
	}
	scenarios[1].factors = factors;
	run.options.scenarios = scenarios;
	run.options.scenario_count = 2;
	if (CHECK_MSG(crit_forecast_play(run.film, &run.options, &forecast, &err) == 0, "%s",
		      err.text))
		by_us = (forecast.end_ns[1] - forecast.end_ns[0]) / US;
	crit_forecast_fini(&forecast);
	crit_filmed_run_fini(&run);
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
	crit_results_destroy(results);
	return by_us;
}

/*
 * Rank 1 comes to its first receive at 200 instead of 20, so the first send ends at 210 instead of
 * 30, and rank 0 is 180 late from there on; rank 1 comes to its third receive at 583 instead of 70.
 */
static void test_sends_that_begin_to_wait(void)
{
	static const struct {
		const char *name;
		uint64_t bytes;
		bool is_synchronous;
		uint64_t later_us;
	} cases[] = {
		{ "as large as one that waited", 5000, false, 503 },
		{ "larger", 6000, false, 503 },
		{ "smaller", 4999, false, 180 },
		{ "so small that it passed", 4000, false, 180 },
		{ "small, but synchronous", 10, true, 503 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_CASE("%s", cases[i].name);
		begin();
		RECV(70, 82, cases[i].bytes);
		if (cases[i].is_synchronous)
			SSEND(80, 81, cases[i].bytes);
		else
			SEND(80, 81, cases[i].bytes);
		CHECK_UINT_EQ(later_us(), cases[i].later_us);
	}
	CHECK_CASE("%s", "");
}

/*
 * A send of 3000 bytes lasts until its receiver comes, by chance, for one of 4000 passed: so it
 * does not make those of 3500 wait, which would be 53 more.
 */
static void test_chance(void)
{
	begin();
	SEND(60, 62, 3000);
	RECV(61, 63, 3000);
	RECV(70, 82, 3500);
	SEND(80, 81, 3500);
	CHECK_UINT_EQ(later_us(), 432);
}

/* Two sends that one call completes: it needs the receiver of the large one, at 120. */
static void test_requests(void)
{
	begin();
	isend(110, 7000, 0x10);
	isend(112, 100, 0x20);
	crit_maker_enter(maker, streams[0], T0 + 114 * US, CRIT_MPI_Waitall);
	detail(0, CRIT_D_DONE, 0, 0x10);
	detail(0, CRIT_D_DONE, 0, 0x20);
	crit_maker_leave(maker, streams[0], T0 + 130 * US, CRIT_MPI_Waitall);
	RECV(120, 128, 7000);
	RECV(129, 131, 100);
	check_waits(10 + 6, 0);
}

/* A call that completes one send lasts until its receiver, who has posted before, goes on. */
static void test_late_progress(void)
{
	begin();
	call(1, 60, 61, CRIT_MPI_Irecv,
	     (struct crit_slot_detail){ .detail = CRIT_D_IRECV, .bytes = 100, .request = 0x10 });
	isend(70, 100, 0x10);
	call(0, 75, 95, CRIT_MPI_Wait,
	     (struct crit_slot_detail){ .detail = CRIT_D_DONE, .request = 0x10 });
	call(1, 90, 96, CRIT_MPI_Wait,
	     (struct crit_slot_detail){ .detail = CRIT_D_DONE, .bytes = 100, .request = 0x10 });
	check_waits(10 + 15, 0);
}

/* A receive lasts until its sender, who has gone on, comes back to the send. */
static void test_late_sender_progress(void)
{
	begin();
	isend(60, 6000, 0x10);
	RECV(70, 95, 6000);
	call(0, 90, 96, CRIT_MPI_Wait,
	     (struct crit_slot_detail){ .detail = CRIT_D_DONE, .request = 0x10 });
	check_waits(10, 20);
}

/* A call of rank 0 or 1 that completes two requests. */
static void complete_two(uint32_t rank, uint64_t begin_us, uint64_t end_us)
{
	crit_maker_enter(maker, streams[rank], T0 + begin_us * US, CRIT_MPI_Waitall);
	detail(rank, CRIT_D_DONE, 100, 0x10);
	detail(rank, CRIT_D_DONE, 100, 0x20);
	crit_maker_leave(maker, streams[rank], T0 + end_us * US, CRIT_MPI_Waitall);
}

/* Ranks exchange messages too small to tell of, and rank 0's call lasts until rank 1 goes on. */
static void exchange(void)
{
	begin();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		call(rank, 60, 61, CRIT_MPI_Irecv,
		     (struct crit_slot_detail){
			     .detail = CRIT_D_IRECV, .bytes = 100, .request = 0x10 });
		call(rank, 62 + rank, 64, CRIT_MPI_Isend,
		     (struct crit_slot_detail){
			     .detail = CRIT_D_ISEND, .bytes = 100, .request = 0x20 });
	}
	complete_two(0, 90, 168);
	complete_two(1, 164, 170);
}

/* Rank 1 comes back at 164.  Ten times as slow its second receive ends at 393, as above. */
static void test_late_exchange(void)
{
	exchange();
	check_waits_of(10 + 74, 0, 12 + 1 + 1 + 6); /* RECV, SEND and RECV of begin, rank 1's */
	exchange();
	CHECK_UINT_EQ(later_us(), 393 + 1130 - 164);
}

/* The same in a collective operation by requests. */
static void test_late_collective(void)
{
	begin();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		crit_maker_enter(maker, streams[rank], T0 + (60 + rank) * US, CRIT_MPI_Iallreduce);
		crit_maker_detail(maker, streams[rank],
				  (struct crit_slot_detail){ .detail = CRIT_D_ICOLL,
							     .comm = CRIT_COMM_WORLD,
							     .peer = CRIT_PEER_ANY,
							     .bytes = 8,
							     .request = 0x10 });
		crit_maker_leave(maker, streams[rank], T0 + (62 + rank) * US, CRIT_MPI_Iallreduce);
	}
	call(0, 90, 168, CRIT_MPI_Wait,
	     (struct crit_slot_detail){ .detail = CRIT_D_DONE, .request = 0x10 });
	call(1, 164, 170, CRIT_MPI_Wait,
	     (struct crit_slot_detail){ .detail = CRIT_D_DONE, .request = 0x10 });
	check_waits(10 + 74, 0);
}

/* Rank 0 needs nobody's data in a scan, but some libraries exchange. */
static void test_scan(void)
{
	static const struct {
		const char *name;
		uint64_t end_us, waited_us;
	} cases[] = {
		{ "left before the other one came", 62, 0 },
		{ "left right after", 168, 104 },
		{ "left a quarter later", 164 + 26, 104 },
		{ "left later", 164 + 27, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_CASE("%s", cases[i].name);
		begin();
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			crit_maker_enter(maker, streams[rank], T0 + (rank ? 164 : 60) * US,
					 CRIT_MPI_Scan);
			crit_maker_detail(maker, streams[rank],
					  (struct crit_slot_detail){ .detail = CRIT_D_COLL,
								     .comm = CRIT_COMM_WORLD,
								     .peer = CRIT_PEER_ANY,
								     .bytes = 8,
								     .request = 8 });
			crit_maker_leave(maker, streams[rank],
					 T0 + (rank ? 195 : cases[i].end_us) * US, CRIT_MPI_Scan);
		}
		check_waits(10 + cases[i].waited_us, 0);
	}
	CHECK_CASE("%s", "");
}

static void test_sizes(void)
{
	struct crit_send_sizes sizes = { 0 };

	CHECK_UINT_EQ(crit_send_sizes_smallest(&sizes), UINT64_MAX);
	for (uint64_t i = 0; i < 3ull * CRIT_SEND_SIZES; i++)
		crit_send_sizes_wait(&sizes, 1000 - i % 100);
	CHECK_UINT_EQ(crit_send_sizes_smallest(&sizes), 901);
	crit_send_sizes_pass(&sizes, 920);
	crit_send_sizes_wait(&sizes, 920);
	CHECK_UINT_EQ(crit_send_sizes_smallest(&sizes), 921);
	crit_send_sizes_pass(&sizes, 0);
	CHECK_UINT_EQ(crit_send_sizes_smallest(&sizes), 921);
	crit_send_sizes_pass(&sizes, 5000);
	CHECK_UINT_EQ(crit_send_sizes_smallest(&sizes), UINT64_MAX);
	crit_send_sizes_wait(&sizes, 5001);
	CHECK_UINT_EQ(crit_send_sizes_smallest(&sizes), 5001);
}

int main(void)
{
	unsetenv("TMPDIR");
	if (!check_enter_scratch())
		return check_done();
	test_sizes();
	test_sends_that_begin_to_wait();
	test_chance();
	test_requests();
	test_late_progress();
	test_late_sender_progress();
	test_late_exchange();
	test_late_collective();
	test_scan();
	check_leave_scratch();
	return check_done();
}
