// SPDX-License-Identifier: BSD-3-Clause
// The oracle against figures worked out by hand, and its own laws over random scenarios.
#include "core/base/call.h"
#include "tests/lib/check.h"
#include "tests/sim/oracle.h"

static struct crit_scenario *make_two_ranks(void)
{
	struct crit_scenario *s = calloc(1, sizeof(*s));

	s->node_count = 1;
	s->has_kernel[0] = true;
	s->rank_count = 2;
	for (uint32_t rank = 0; rank < 2; rank++) {
		uint32_t p = crit_scenario_add_process(
			s, (struct crit_scenario_process){ .pid = 10 + rank,
							   .parent = CRIT_SCENARIO_NONE,
							   .has_rank = true,
							   .owner = rank,
							   .rank = rank,
							   .has_open = true,
							   .open_ns = 1000,
							   .close_ns = 2000 });
		uint32_t t = crit_scenario_add_thread(
			s, (struct crit_scenario_thread){
				   .process = p, .birth_ns = 900, .death_ns = 2100 });

		crit_scenario_add_piece(&s->threads[t], 900, CRIT_STATE_RUNNING);
	}
	return s;
}

static double cm(const struct crit_truth_row *row)
{
	return crit_exact_ns(row->attributed.cmetric[CRIT_SCOPE_RUN][CRIT_UNIT_THREADS]);
}

static double all_waiting(const struct crit_truth_row *row)
{
	return crit_exact_ns(row->attributed.all_waiting[CRIT_SCOPE_RUN][CRIT_UNIT_THREADS]);
}

/* Rank 0 works all the time, rank 1 waits from 1600 on in a barrier, both for the last 100 ns. */
static void check_imbalance(void)
{
	struct crit_scenario *s = make_two_ranks();
	struct crit_truth *truth;

	crit_scenario_add_span(&s->threads[1],
			       (struct crit_scenario_span){ 1600, 2000, CRIT_MPI_Barrier, false });
	crit_scenario_add_span(&s->threads[0],
			       (struct crit_scenario_span){ 1900, 2000, CRIT_MPI_Barrier, false });
	truth = crit_oracle_integrate(s, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(truth->window_begin_ns, 1000);
	CHECK_UINT_EQ(truth->window_ns, 1000);
	CHECK_NEAR(cm(&truth->threads[0]), 600 / 2.0 + 300, 1e-9);
	CHECK_NEAR(cm(&truth->threads[1]), 600 / 2.0, 1e-9);
	CHECK_NEAR(all_waiting(&truth->threads[0]), 50, 1e-9);
	CHECK_NEAR(all_waiting(&truth->threads[1]), 50, 1e-9);
	CHECK_NEAR(crit_exact_ns(truth->threads[0].attributed.blame), 300, 1e-9);
	CHECK_UINT_EQ(truth->threads[1].attributed.waiting_ns, 300);
	CHECK_UINT_EQ(truth->threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_SETUP], 200);
	CHECK_UINT_EQ(truth->threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], 900);
	CHECK_UINT_EQ(truth->threads[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT], 400);
	CHECK_NEAR(all_waiting(&truth->calls[CRIT_MPI_Barrier]), 100, 1e-9);
	CHECK_UINT_EQ(truth->calls[CRIT_MPI_Barrier].attributed.waiting_ns, 300);
	free(truth);
	truth = crit_oracle_integrate(s, CRIT_ACTIVE_KERNEL);
	CHECK_NEAR(cm(&truth->threads[0]), 500, 1e-9);
	CHECK_NEAR(cm(&truth->threads[1]), 500, 1e-9);
	free(truth);
	crit_scenario_destroy(s);
}

/*
 * Two threads in rank 0, one in rank 1, all active: thirds as threads, halves and quarters as
 * ranks.
 */
static void check_units(void)
{
	struct crit_scenario *s = make_two_ranks();
	uint32_t t = crit_scenario_add_thread(s, (struct crit_scenario_thread){ .process = 0,
										.birth_ns = 900,
										.death_ns = 2100 });
	struct crit_truth *truth;

	crit_scenario_add_piece(&s->threads[t], 900, CRIT_STATE_RUNNABLE);
	truth = crit_oracle_integrate(s, CRIT_ACTIVE_DEFAULT);
	for (uint32_t i = 0; i < 3; i++) {
		const struct crit_truth_attribution *e = &truth->threads[i].attributed;

		CHECK_NEAR(cm(&truth->threads[i]), 1000 / 3.0, 1e-9);
		CHECK_NEAR(crit_exact_ns(e->cmetric[CRIT_SCOPE_RUN][CRIT_UNIT_RANKS]),
			   i == 1 ? 500 : 250, 1e-9);
	}
	free(truth);
	crit_scenario_destroy(s);
}

static void piece(struct crit_scenario_thread *t, uint64_t at_ms, enum crit_kernel_state state)
{
	crit_scenario_add_piece(t, at_ms * 1000000, state);
}

static void recv(struct crit_scenario_thread *t, uint64_t from_ms, uint64_t to_ms)
{
	crit_scenario_add_span(t, (struct crit_scenario_span){ from_ms * 1000000, to_ms * 1000000,
							       CRIT_MPI_Recv, false });
}

static struct crit_scenario *make_worked_example(void)
{
	struct crit_scenario *s = make_two_ranks();

	(void)crit_scenario_add_thread(s, (struct crit_scenario_thread){ .process = 0 });
	for (uint32_t i = 0; i < 3; i++) {
		s->threads[i].piece_count = 0;
		s->threads[i].birth_ns = 0;
		s->threads[i].death_ns = 10000000;
		piece(&s->threads[i], 0, CRIT_STATE_RUNNING);
	}
	s->processes[0].open_ns = s->processes[1].open_ns = 0;
	s->processes[0].close_ns = s->processes[1].close_ns = 10000000;
	piece(&s->threads[0], 6, CRIT_STATE_BLOCKED); /* A */
	piece(&s->threads[0], 8, CRIT_STATE_RUNNING);
	recv(&s->threads[0], 8, 10);
	recv(&s->threads[1], 4, 8); /* C */
	piece(&s->threads[2], 4, CRIT_STATE_BLOCKED); /* B */
	piece(&s->threads[2], 8, CRIT_STATE_RUNNING);
	return s;
}

/* The table of docs/metric.md: A, C and B. */
static void check_worked_example(void)
{
	static const double threads_ms[] = { 10 / 3.0, 7 / 3.0, 7 / 3.0 };
	static const double ranks_ms[] = { 3, 3, 2 }, ranks_all_waiting_ms[] = { 0.5, 1, 0.5 };
	static const double blame_ms[] = { 4, 1, 1 }, kernel_ms[] = { 3, 5, 2 };
	struct crit_scenario *s = make_worked_example();
	struct crit_truth *truth = crit_oracle_integrate(s, CRIT_ACTIVE_DEFAULT);
	struct crit_truth *kernel = crit_oracle_integrate(s, CRIT_ACTIVE_KERNEL);

	for (int i = 0; i < 3; i++) {
		const struct crit_truth_attribution *e = &truth->threads[i].attributed;

		CHECK_NEAR(cm(&truth->threads[i]) * 1e-6, threads_ms[i], 1e-9);
		CHECK_NEAR(all_waiting(&truth->threads[i]) * 1e-6, 2 / 3.0, 1e-9);
		CHECK_NEAR(crit_exact_ns(e->cmetric[CRIT_SCOPE_RUN][CRIT_UNIT_RANKS]) * 1e-6,
			   ranks_ms[i], 1e-9);
		CHECK_NEAR(crit_exact_ns(e->all_waiting[CRIT_SCOPE_RUN][CRIT_UNIT_RANKS]) * 1e-6,
			   ranks_all_waiting_ms[i], 1e-9);
		CHECK_NEAR(crit_exact_ns(e->blame) * 1e-6, blame_ms[i], 1e-9);
		CHECK_UINT_EQ(e->waiting_ns, 2000000);
		CHECK_NEAR(cm(&kernel->threads[i]) * 1e-6, kernel_ms[i], 1e-9);
	}
	CHECK_NEAR(all_waiting(&truth->calls[CRIT_MPI_Recv]) * 1e-6, 2 / 3.0, 1e-9);
	CHECK_UINT_EQ(truth->calls[CRIT_MPI_Recv].attributed.waiting_ns, 4000000);
	free(truth);
	free(kernel);
	crit_scenario_destroy(s);
}

static void check_poll_edge(void)
{
	for (uint64_t length = 19999; length <= 20000; length++) {
		struct crit_scenario *s = make_two_ranks();
		struct crit_truth *truth;

		s->processes[0].close_ns = s->processes[1].close_ns = 101000;
		s->threads[0].death_ns = s->threads[1].death_ns = 101000;
		crit_scenario_add_span(&s->threads[0],
				       (struct crit_scenario_span){ 2000, 2000 + length,
								    CRIT_MPI_Test, true });
		truth = crit_oracle_integrate(s, CRIT_ACTIVE_DEFAULT);
		CHECK_NEAR(cm(&truth->threads[0]), length < 20000 ? 50000 : 40000, 1e-9);
		CHECK_NEAR(cm(&truth->threads[1]), length < 20000 ? 50000 : 60000, 1e-9);
		free(truth);
		truth = crit_oracle_integrate(s, CRIT_ACTIVE_POLL);
		CHECK_NEAR(cm(&truth->threads[0]), 50000, 1e-9);
		free(truth);
		crit_scenario_destroy(s);
	}
}

/* Exactly, not nearly: nothing is rounded here. */
static void check_law(const struct crit_truth_law *law, uint64_t window_ns)
{
	crit_exact one = (crit_exact)CRIT_ORACLE_LCM * CRIT_ORACLE_LCM;

	CHECK(law->cmetric == law->active_ns * one);
	CHECK(law->cmetric + law->all_waiting + law->nobody_ns * one == window_ns * one);
}

static void check_random(uint64_t seed, enum crit_active_rule rule)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, 200);
	struct crit_scenario *s = crit_scenario_simulate(&shape);
	struct crit_truth *truth = crit_oracle_integrate(s, rule);
	crit_exact blame = 0, waiting = 0;

	CHECK_CASE("seed %llu, rule %d", (unsigned long long)seed, (int)rule);
	check_law(&truth->run[CRIT_UNIT_THREADS], truth->window_ns);
	if (s->rank_count)
		check_law(&truth->run[CRIT_UNIT_RANKS], truth->window_ns);
	for (uint32_t node = 0; node < s->node_count; node++)
		check_law(&truth->node[node][CRIT_UNIT_THREADS], truth->window_ns);
	for (size_t i = 0; i < s->thread_count; i++) {
		const struct crit_scenario_thread *t = &s->threads[i];
		uint64_t life = 0;

		for (size_t k = 0; k < CRIT_STATE_COUNT * CRIT_CLASS_COUNT; k++)
			life += (&truth->threads[i].cells.ns[0][0])[k];
		CHECK_UINT_EQ(life, t->death_ns - t->birth_ns);
		blame += truth->threads[i].attributed.blame;
		waiting += truth->threads[i].attributed.waiting_ns;
	}
	CHECK(blame == waiting * CRIT_ORACLE_LCM * CRIT_ORACLE_LCM);
	CHECK_CASE("%s", "");
	free(truth);
	crit_scenario_destroy(s);
}

int main(void)
{
	check_imbalance();
	check_units();
	check_worked_example();
	check_poll_edge();
	for (uint64_t seed = 1; seed <= 200; seed++)
		check_random(seed, (enum crit_active_rule)(seed % CRIT_ACTIVE_COUNT));
	return check_done();
}
