// SPDX-License-Identifier: BSD-3-Clause
// Hand-made recordings whose CMetric, stall and waiting time are known in closed form.
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT

/* A runs 0..10 ms, B 5..15: each alone for 5 ms, together for 5. */
static void test_half_overlap(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 0 * MS + 1, ROOT);
	crit_act_start(m, 5 * MS + 1, 200, ROOT, 1);
	crit_act_end(m, 10 * MS + 1, ROOT, ROOT, 0);
	crit_act_end(m, 15 * MS + 1, 200, ROOT, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->window_ns, 15 * MS);
	CHECK_NEAR(crit_analysed_ms(crit_analysed_thread(r, ROOT)->run.cmetric[CRIT_UNIT_THREADS]),
		   7.5, 1e-9);
	CHECK_NEAR(crit_analysed_ms(crit_analysed_thread(r, 200)->run.cmetric[CRIT_UNIT_THREADS]),
		   7.5, 1e-9);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK(!r->has_ranks);
	crit_results_destroy(r);
}

/* Both on one CPU, in turns: the preempted one stays active; the blocked one does not. */
static void test_preempted_and_blocked(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	const struct crit_thread_row *t;
	struct crit_results *r;

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS + 1, 200, ROOT, 1);
	crit_act_out(m, 12 * MS + 1, 200, 1, 0);
	crit_act_in(m, 16 * MS + 1, 200, 1);
	crit_act_out(m, 20 * MS + 1, 200, 1, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 28 * MS + 1, 200);
	crit_act_in(m, 30 * MS + 1, 200, 1);
	crit_act_end(m, 40 * MS + 1, 200, ROOT, 1);
	crit_act_end(m, 40 * MS + 1, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_KERNEL);
	t = crit_analysed_thread(r, 200);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], 16 * MS);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER], 6 * MS);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER], 8 * MS);
	CHECK_NEAR(crit_analysed_ms(t->run.cmetric[CRIT_UNIT_THREADS]), 11.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(crit_analysed_thread(r, ROOT)->run.cmetric[CRIT_UNIT_THREADS]),
		   29.0, 1e-9);
	CHECK_UINT_EQ(t->run.waiting_ns, 8 * MS);
	CHECK_NEAR(crit_analysed_ms(crit_analysed_thread(r, ROOT)->run.blame), 8.0, 1e-9);
	CHECK_UINT_EQ(t->preemptions, 1);
	crit_results_destroy(r);
}

/* The wakeup is missing: from the switch-out on nothing is known until the switch-in. */
static void test_lost_wakeup_is_unknown(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	const struct crit_thread_row *t;
	struct crit_results *r;

	crit_act_enrol(m, 1, ROOT);
	crit_act_out(m, 10 * MS + 1, ROOT, 0, CRIT_ACT_SLEEPING);
	crit_act_in(m, 30 * MS + 1, ROOT, 0);
	crit_act_end(m, 40 * MS + 1, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	t = crit_analysed_thread(r, ROOT);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], 20 * MS);
	CHECK_UINT_EQ(r->losses.unknown_ns, 20 * MS);
	CHECK_UINT_EQ(r->losses.unmatched_switches, 1);
	CHECK_UINT_EQ(t->unmatched, 1);
	CHECK_NEAR(crit_analysed_ms(t->run.cmetric[CRIT_UNIT_THREADS]), 20.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(t->run.all_waiting[CRIT_UNIT_THREADS]), 20.0, 1e-9);
	crit_results_destroy(r);
}

/* B appears on the CPU that A never left: A is unknown since it got there, and credited nothing. */
static void test_two_on_one_cpu(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 1, 200, ROOT, 1);
	crit_act_start(m, 10 * MS + 1, 201, ROOT, 1);
	crit_act_in(m, 30 * MS + 1, 200, 2);
	crit_act_end(m, 40 * MS + 1, 200, ROOT, 2);
	crit_act_end(m, 40 * MS + 1, 201, ROOT, 1);
	crit_act_end(m, 40 * MS + 1, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(crit_analysed_thread(r, 200)->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER],
		      30 * MS);
	CHECK_UINT_EQ(crit_analysed_thread(r, 200)->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER],
		      10 * MS);
	CHECK_UINT_EQ(r->losses.unmatched_switches, 1);
	CHECK_NEAR(crit_analysed_ms(crit_analysed_thread(r, 200)->run.cmetric[CRIT_UNIT_THREADS]),
		   10.0 / 3, 1e-9);
	crit_results_destroy(r);
}

/* Number 200 is used twice: two rows, each with its own life. */
static void test_number_used_again(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS + 1, 200, ROOT, 1);
	crit_act_end(m, 20 * MS + 1, 200, ROOT, 1);
	crit_act_start(m, 30 * MS + 1, 200, ROOT, 1);
	crit_act_end(m, 35 * MS + 1, 200, ROOT, 1);
	crit_act_end(m, 40 * MS + 1, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->thread_count, 3)) {
		CHECK_UINT_EQ(r->threads[1].life_ns, 10 * MS);
		CHECK_UINT_EQ(r->threads[2].life_ns, 5 * MS);
	}
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	crit_results_destroy(r);
}

/*
 * Rank 0 works 30 ms, rank 1 10 ms, then a spinning barrier; shims only.  Together 10 ms, rank 0
 * alone for 20 while rank 1 waits; then both in the barrier for 10: stall.
 */
static void test_barrier_shims_only(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t a = crit_act_rank(m, 100, 0, 10 * MS), b = crit_act_rank(m, 101, 1, 10 * MS);
	const struct crit_call_row *call;
	struct crit_results *r;

	crit_maker_enter_at(m, b, 20 * MS, CRIT_MPI_Barrier, 0xb1);
	crit_maker_enter_at(m, a, 40 * MS, CRIT_MPI_Barrier, 0xb0);
	crit_maker_leave(m, a, 50 * MS, CRIT_MPI_Barrier);
	crit_maker_leave(m, b, 50 * MS, CRIT_MPI_Barrier);
	crit_act_close(m, 100, a, 50 * MS);
	crit_act_close(m, 101, b, 50 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK(r->has_ranks);
	CHECK_UINT_EQ(r->window_ns, 40 * MS);
	if (!CHECK_UINT_EQ(r->rank_count, 2) || !CHECK_UINT_EQ(r->call_count, 1) ||
	    !CHECK_UINT_EQ(r->call_site_count, 2))
		exit(1);
	CHECK_NEAR(crit_analysed_ms(r->ranks[0].run.cmetric[CRIT_UNIT_RANKS]), 25.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(r->ranks[1].run.cmetric[CRIT_UNIT_RANKS]), 5.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(r->ranks[0].run.all_waiting[CRIT_UNIT_RANKS]), 5.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(r->ranks[1].run.all_waiting[CRIT_UNIT_RANKS]), 5.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(r->ranks[0].run.blame), 20.0, 1e-9);
	CHECK_UINT_EQ(r->ranks[1].run.waiting_ns, 20 * MS);
	CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_SETUP], 2 * MS);
	call = &r->calls[0];
	CHECK_UINT_EQ(call->call, CRIT_MPI_Barrier);
	CHECK_UINT_EQ(call->visits, 2);
	CHECK_UINT_EQ(call->time_ns, 40 * MS);
	CHECK_UINT_EQ(call->wait_ns, 40 * MS);
	CHECK_NEAR(crit_analysed_ms(call->run.all_waiting[CRIT_UNIT_THREADS]), 10.0, 1e-9);
	CHECK_UINT_EQ(call->run.waiting_ns, 20 * MS);
	CHECK_INT_EQ(call->top_rank_row, 0);
	CHECK_UINT_EQ(r->call_sites[0].site, 0xb1);
	CHECK_UINT_EQ(r->call_sites[0].pid, 101);
	crit_results_destroy(r);
}

static void check_rank_call(const struct crit_rank_call_row *row, uint32_t rank, uint32_t call,
			    const struct crit_durations *durations)
{
	CHECK_CASE("call %u of rank %u", call, rank);
	CHECK_UINT_EQ(row->rank_row, rank);
	CHECK_UINT_EQ(row->call, call);
	CHECK_UINT_EQ(row->durations.count, durations->count);
	CHECK_UINT_EQ(row->durations.sum_ns, durations->sum_ns);
	CHECK_UINT_EQ(row->durations.min_ns, durations->min_ns);
	CHECK_UINT_EQ(row->durations.max_ns, durations->max_ns);
}

/* Rank 0 is 3 and 1 ms in barriers, from two places, and never leaves a third; rank 1 sends. */
static void test_rank_calls(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t a = crit_act_rank(m, 100, 0, 10 * MS), b = crit_act_rank(m, 101, 1, 10 * MS);
	struct crit_results *r;

	crit_maker_enter_at(m, a, 12 * MS, CRIT_MPI_Barrier, 0xb0);
	crit_maker_leave(m, a, 15 * MS, CRIT_MPI_Barrier);
	crit_maker_enter_at(m, a, 20 * MS, CRIT_MPI_Barrier, 0xb1);
	crit_maker_leave(m, a, 21 * MS, CRIT_MPI_Barrier);
	crit_maker_enter_at(m, a, 30 * MS, CRIT_MPI_Barrier, 0xb1);
	crit_maker_enter_at(m, b, 20 * MS, CRIT_MPI_Send, 0xc0);
	crit_maker_leave(m, b, 20 * MS + 7, CRIT_MPI_Send);
	crit_act_close(m, 101, b, 50 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->rank_call_count, 2)) {
		check_rank_call(&r->rank_calls[0], 0, CRIT_MPI_Barrier,
				&(struct crit_durations){ 2, 4 * MS, 1 * MS, 3 * MS });
		CHECK_UINT_EQ(r->rank_calls[0].visits, 3);
		CHECK_UINT_EQ(r->rank_calls[0].wait_ns, r->rank_calls[0].time_ns);
		check_rank_call(&r->rank_calls[1], 1, CRIT_MPI_Send,
				&(struct crit_durations){ 1, 7, 7, 7 });
	}
	crit_results_destroy(r);
}

/* A poll span of 20 us waits, a shorter one works; with rule "poll" both work. */
static void test_poll_spans(void)
{
	for (int rule = CRIT_ACTIVE_DEFAULT; rule <= CRIT_ACTIVE_POLL; rule += CRIT_ACTIVE_POLL) {
		struct crit_maker *m = crit_act_begin("node0");
		uint32_t a = crit_act_rank(m, 100, 0, 10 * MS);
		struct crit_maker_poll poll = { .first_ns = 11 * MS,
						.last_ns = 11 * MS + 19999,
						.call = CRIT_MPI_Test,
						.count = 7 };
		struct crit_results *r;

		crit_maker_poll(m, a, poll);
		poll.first_ns = 12 * MS;
		poll.last_ns = 12 * MS + 20000;
		crit_maker_poll(m, a, poll);
		crit_act_close(m, 100, a, 13 * MS);
		r = crit_analysed_finish(&m, 1, (enum crit_active_rule)rule);
		CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_MPI], 19999);
		CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_MPI_POLL], 20000);
		CHECK_NEAR(crit_analysed_ms(r->ranks[0].run.all_waiting[CRIT_UNIT_THREADS]),
			   rule == CRIT_ACTIVE_POLL ? 0.0 : 0.02, 1e-9);
		CHECK_UINT_EQ(r->calls[0].polled_calls, 14);
		CHECK_UINT_EQ(r->calls[0].visits, 2);
		CHECK_UINT_EQ(r->calls[0].wait_ns, 20000);
		crit_results_destroy(r);
	}
}

/*
 * Rank 0 has two threads, rank 1 one; all run for 12 ms.  By threads each earns 4; by ranks each
 * rank earns 6, which rank 0 splits.  Two nodes: on its own node each rank earns all 12.
 */
static void test_ranks_with_threads_on_two_nodes(void)
{
	struct crit_maker *m[2] = { crit_act_begin("node0"), crit_act_begin("node1") };
	const struct crit_thread_row *t;
	struct crit_results *r;
	uint32_t a, b;

	crit_act_enrol(m[0], 1 * MS, 100);
	crit_act_start(m[0], 5 * MS, 150, 100, 1);
	a = crit_act_rank(m[0], 100, 0, 10 * MS);
	crit_act_enrol(m[1], 1 * MS, 101);
	b = crit_act_rank(m[1], 101, 1, 10 * MS);
	crit_act_close(m[0], 100, a, 22 * MS);
	crit_act_close(m[1], 101, b, 22 * MS);
	crit_act_end(m[0], 22 * MS, 150, 100, 1);
	crit_act_end(m[0], 23 * MS, 100, 100, 0);
	crit_act_end(m[1], 23 * MS, 101, 101, 0);
	r = crit_analysed_finish(m, 2, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->check_count, 6);
	t = crit_analysed_thread(r, 150);
	CHECK_NEAR(crit_analysed_ms(t->run.cmetric[CRIT_UNIT_THREADS]), 4.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(t->run.cmetric[CRIT_UNIT_RANKS]), 3.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(t->node_cmetric[CRIT_UNIT_THREADS]), 6.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(t->node_cmetric[CRIT_UNIT_RANKS]), 6.0, 1e-9);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_SETUP], 5 * MS);
	t = crit_analysed_thread(r, 101);
	CHECK_NEAR(crit_analysed_ms(t->run.cmetric[CRIT_UNIT_THREADS]), 4.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(t->run.cmetric[CRIT_UNIT_RANKS]), 6.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(t->node_cmetric[CRIT_UNIT_RANKS]), 12.0, 1e-9);
	CHECK_UINT_EQ(r->ranks[0].app_threads, 2);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	crit_results_destroy(r);
}

int main(void)
{
	test_half_overlap();
	test_preempted_and_blocked();
	test_lost_wakeup_is_unknown();
	test_two_on_one_cpu();
	test_number_used_again();
	test_barrier_shims_only();
	test_rank_calls();
	test_poll_spans();
	test_ranks_with_threads_on_two_nodes();
	return check_done();
}
