// SPDX-License-Identifier: BSD-3-Clause
//
// Events a sink gets: on random runs every span once, in order, and their attribution adds up to
// the rows; by hand, where the trace ends before the run does.
//
//   test-trace [FIRST_SEED [COUNT]]   repeats or widens the search
#include <errno.h>

#include "analysis/schema/trace.h"
#include "core/abi/abi_shim.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define DEPTH 16
#define CALLS 1024

struct heard_thread {
	bool is_open;
	uint32_t depth;
	uint16_t calls[DEPTH];
	uint64_t last_ns;
	uint64_t spans; /* ended */
	uint64_t cut; /* without sums */
	unsigned int setups;
	struct crit_trace_setup setup[2]; /* MPI_Init and MPI_Finalize */
	uint64_t total_cmetric_ns;
	struct crit_trace_sums sums; /* of all spans and of the time outside */
};

struct heard {
	struct heard_thread *threads;
	const struct crit_results *run;
	size_t thread_count;
	uint64_t end_ns;
	uint64_t visits[CALLS];
	uint64_t polled[CALLS];
	unsigned int begins, ends, messages, communicators;
	int answer; /* what enter answers after some spans */
};

static struct heard_thread *hear(struct heard *heard, uint32_t thread, uint64_t time_ns)
{
	struct heard_thread *t = &heard->threads[thread];

	CHECK(thread < heard->thread_count);
	CHECK(time_ns >= t->last_ns && time_ns >= heard->run->window_begin_ns &&
	      time_ns <= heard->end_ns);
	t->last_ns = time_ns;
	return t;
}

static void add(struct heard_thread *t, const struct crit_trace_sums *sums)
{
	if (!sums) {
		t->cut++;
		return;
	}
	t->sums.cmetric_ns += sums->cmetric_ns;
	t->sums.all_waiting_ns += sums->all_waiting_ns;
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		t->sums.state_ns[state] += sums->state_ns[state];
	CHECK(sums->total_cmetric_ns >= t->total_cmetric_ns);
	t->total_cmetric_ns = sums->total_cmetric_ns;
}

static int on_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct heard *heard = user;

	heard->run = run;
	heard->end_ns = end_ns;
	heard->thread_count = run->thread_count;
	heard->threads = calloc(run->thread_count + 1, sizeof(*heard->threads));
	heard->begins++;
	return heard->threads ? 0 : -ENOMEM;
}

static int on_thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	struct heard_thread *t = hear(user, thread, time_ns);

	CHECK(!t->is_open);
	t->is_open = true;
	return 0;
}

/* Before all else of the thread, or behind it. */
static int on_setup(void *user, uint32_t thread, const struct crit_trace_setup *setup)
{
	struct heard *heard = user;
	struct heard_thread *t = &heard->threads[thread];

	CHECK(!t->is_open && (t->last_ns == 0) == (t->setups == 0));
	if (CHECK(t->setups < 2))
		t->setup[t->setups++] = *setup;
	return 0;
}

static int on_thread_end(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sums *sums)
{
	struct heard_thread *t = hear(user, thread, time_ns);

	CHECK(t->is_open);
	CHECK_UINT_EQ(t->depth, 0);
	t->is_open = false;
	add(t, sums);
	return 0;
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct heard *heard = user;
	struct heard_thread *t = hear(heard, thread, time_ns);

	CHECK(t->is_open);
	CHECK(total_cmetric_ns >= t->total_cmetric_ns);
	if (CHECK(t->depth < DEPTH))
		t->calls[t->depth++] = span->call;
	heard->visits[span->call]++;
	return heard->answer;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct heard *heard = user;
	struct heard_thread *t = hear(heard, thread, time_ns);

	if (CHECK(t->depth > 0))
		CHECK_UINT_EQ(t->calls[--t->depth], span->call);
	t->spans++;
	if (sums)
		heard->polled[span->call] += sums->polled;
	add(t, sums);
	return 0;
}

static int on_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message)
{
	struct heard *heard = user;

	(void)hear(heard, thread, time_ns);
	(void)message;
	heard->messages++;
	return 0;
}

static int on_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	struct heard *heard = user;

	(void)communicator;
	heard->communicators++;
	return 0;
}

static int on_end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	struct heard *heard = user;

	(void)are_messages_whole;
	CHECK_UINT_EQ(results->thread_count, heard->thread_count);
	CHECK_UINT_EQ(results->window_begin_ns, heard->run->window_begin_ns);
	heard->ends++;
	return 0;
}

static struct crit_trace_sink sink_of(struct heard *heard)
{
	return (struct crit_trace_sink){ .user = heard,
					 .begin = on_begin,
					 .thread_begin = on_thread_begin,
					 .thread_end = on_thread_end,
					 .setup = on_setup,
					 .enter = on_enter,
					 .leave = on_leave,
					 .message = on_message,
					 .communicator = on_communicator,
					 .end = on_end };
}

/* Parts of a nanosecond are cut once per bucket, never lost twice. */
static bool is_sum_of(uint64_t told_ns, crit_fix exact, uint64_t parts)
{
	uint64_t exact_ns = (uint64_t)(exact >> 64);

	return told_ns <= exact_ns && exact_ns - told_ns <= parts;
}

static void compare(const struct heard *heard, const struct crit_results *r)
{
	for (size_t i = 0; i < r->thread_count; i++) {
		const struct heard_thread *t = &heard->threads[i];
		const struct crit_thread_row *row = &r->threads[i];
		uint64_t buckets = 1 + r->call_site_count + 2 * r->call_count;

		CHECK(!t->is_open);
		CHECK_UINT_EQ(t->cut, 0);
		if (row->role != CRIT_THREAD_APP) {
			CHECK_UINT_EQ(t->last_ns, 0);
			continue;
		}
		CHECK(is_sum_of(t->sums.cmetric_ns, row->run.cmetric[CRIT_UNIT_THREADS], buckets));
		CHECK(is_sum_of(t->sums.all_waiting_ns, row->run.all_waiting[CRIT_UNIT_THREADS],
				buckets));
		CHECK_UINT_EQ(t->sums.cmetric_ns, t->total_cmetric_ns);
		for (int state = 0; state < CRIT_STATE_COUNT; state++) {
			uint64_t want_ns = 0;

			for (int class = CRIT_CLASS_USER; class < CRIT_CLASS_COUNT; class ++)
				want_ns += row->cells.ns[state][class];
			CHECK_UINT_EQ(t->sums.state_ns[state], want_ns);
		}
	}
	for (size_t i = 0; i < r->call_count; i++) {
		const struct crit_call_row *call = &r->calls[i];

		CHECK_MSG(heard->visits[call->call] == call->visits,
			  "%s: %llu spans told, %llu visits", crit_call_name(call->call),
			  (unsigned long long)heard->visits[call->call],
			  (unsigned long long)call->visits);
		CHECK_UINT_EQ(heard->polled[call->call], call->polled_calls);
	}
}

static void check_seed(uint64_t seed)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, seed % 10 ? 150 : 1500);
	struct crit_scenario *s = crit_scenario_simulate(&shape);
	struct crit_maker *makers[CRIT_SCENARIO_NODES];
	struct heard heard = { .begins = 0 };
	struct crit_trace_sink sink = sink_of(&heard);
	struct crit_results *told = NULL, *silent = NULL;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	for (uint32_t node = 0; node < s->node_count; node++)
		makers[node] = crit_scenario_record(s, node, NULL);
	if (CHECK_INT_EQ(crit_analysed_traced(makers, s->node_count, CRIT_ACTIVE_DEFAULT, &sink,
					      &told),
			 0) &&
	    CHECK_INT_EQ(crit_analysed_makers(makers, s->node_count, CRIT_ACTIVE_DEFAULT, &silent),
			 0)) {
		CHECK_UINT_EQ(crit_analysed_digest(told), crit_analysed_digest(silent));
		CHECK_UINT_EQ(heard.begins, 1);
		CHECK_UINT_EQ(heard.ends, 1);
		compare(&heard, told);
	}
	for (uint32_t node = 0; node < s->node_count; node++)
		crit_maker_destroy(makers[node]);
	crit_results_destroy(told);
	crit_results_destroy(silent);
	crit_scenario_destroy(s);
	free(heard.threads);
	CHECK_CASE("%s", "");
}

/* Two ranks, shims only; a barrier at the end.  The window is 10 to 50 ms. */
static struct crit_maker *barrier_recording(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t a = crit_act_rank(m, 100, 0, 10 * MS), b = crit_act_rank(m, 101, 1, 10 * MS);

	crit_maker_enter_at(m, b, 20 * MS, CRIT_MPI_Barrier, 0xb1);
	crit_maker_enter_at(m, a, 40 * MS, CRIT_MPI_Barrier, 0xb0);
	crit_maker_leave(m, a, 50 * MS, CRIT_MPI_Barrier);
	crit_maker_leave(m, b, 50 * MS, CRIT_MPI_Barrier);
	crit_act_close(m, 100, a, 50 * MS);
	crit_act_close(m, 101, b, 50 * MS);
	return m;
}

/* Together 10 ms, rank 0 alone 20, then both stall for 10. */
static void test_attribution_of_spans(void)
{
	struct crit_maker *m = barrier_recording();
	struct heard heard = { .begins = 0 };
	struct crit_trace_sink sink = sink_of(&heard);
	struct crit_results *r = NULL;

	if (CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0)) {
		CHECK_UINT_EQ(heard.end_ns, 50 * MS);
		CHECK_UINT_EQ(heard.visits[CRIT_MPI_Barrier], 2);
		CHECK_UINT_EQ(heard.threads[0].sums.cmetric_ns, 25 * MS);
		CHECK_UINT_EQ(heard.threads[1].sums.cmetric_ns, 5 * MS);
		CHECK_UINT_EQ(heard.threads[0].sums.all_waiting_ns, 5 * MS);
		CHECK_UINT_EQ(heard.threads[1].sums.all_waiting_ns, 5 * MS);
		CHECK_UINT_EQ(heard.threads[1].sums.state_ns[CRIT_STATE_ASSUMED], 40 * MS);
	}
	crit_results_destroy(r);
	crit_maker_destroy(m);
	free(heard.threads);
}

static void check_setup(const struct crit_trace_setup *setup, uint32_t call, uint64_t begin_us,
			uint64_t end_us)
{
	CHECK_UINT_EQ(setup->call, call);
	CHECK_UINT_EQ(setup->begin_ns, begin_us * 1000);
	CHECK_UINT_EQ(setup->end_ns, end_us * 1000);
}

/*
 * Three ranks that are in MPI_Init before 10 ms and in MPI_Finalize from 50 ms on.  Nothing is
 * replayed after 52 ms: rank 0 returns later, rank 1 never does, rank 2 enters later.
 */
static void test_setup(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct heard heard = { .begins = 0 };
	struct crit_trace_sink sink = sink_of(&heard);
	struct crit_results *r = NULL;
	uint32_t streams[3];

	for (uint32_t i = 0; i < 3; i++) {
		streams[i] = crit_act_rank(m, 100 + i, i, 10 * MS);
		crit_maker_enter_at(m, streams[i], 9200000, CRIT_MPI_Init_thread, 0xa0);
		crit_maker_leave(m, streams[i], 9800000, CRIT_MPI_Init_thread);
		crit_maker_close(m, (struct crit_rec_close){ .pid = 100 + i, .close_ns = 50 * MS });
		crit_maker_enter_at(m, streams[i], i == 2 ? 53 * MS : 50100000, CRIT_MPI_Finalize,
				    0xa1);
		if (i != 1)
			crit_maker_leave(m, streams[i], 58 * MS, CRIT_MPI_Finalize);
	}
	crit_maker_window(m, 52 * MS);
	for (uint32_t i = 0; i < 3; i++)
		crit_maker_gone(m, (struct crit_rec_gone){ .pid = 100 + i, .time_ns = 60 * MS });
	if (CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0)) {
		CHECK_UINT_EQ(heard.end_ns, 50 * MS);
		CHECK_UINT_EQ(r->call_count, 0); /* nothing was called in the window */
		for (uint32_t i = 0; i < 3 && CHECK_UINT_EQ(heard.threads[i].setups, 2); i++)
			check_setup(&heard.threads[i].setup[0], CRIT_MPI_Init_thread, 9200, 9800);
		check_setup(&heard.threads[0].setup[1], CRIT_MPI_Finalize, 50100, 58000);
		check_setup(&heard.threads[1].setup[1], CRIT_MPI_Finalize, 50100, 60000);
		check_setup(&heard.threads[2].setup[1], CRIT_MPI_Finalize, 53000, 58000);
		CHECK_UINT_EQ(heard.threads[0].setup[1].site, 0xa1);
	}
	crit_results_destroy(r);
	crit_maker_destroy(m);
	free(heard.threads);
}

/* Level trace ends at 30 ms, inside rank 1's barrier: what was open is cut, the rest not told. */
static void test_fallback_cuts(void)
{
	struct crit_maker *m = barrier_recording();
	struct heard heard = { .begins = 0 };
	struct crit_trace_sink sink = sink_of(&heard);
	struct crit_results *r = NULL;

	crit_maker_note(m, (struct crit_rec_note){ .code = CRIT_NOTE_LEVEL, .time_ns = 30 * MS },
			"");
	if (CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0)) {
		CHECK_UINT_EQ(heard.end_ns, 30 * MS);
		CHECK_UINT_EQ(heard.visits[CRIT_MPI_Barrier], 1);
		CHECK_UINT_EQ(heard.threads[0].cut, 1);
		CHECK_UINT_EQ(heard.threads[1].cut, 2);
		CHECK_UINT_EQ(heard.threads[1].last_ns, 30 * MS);
		CHECK(!heard.threads[0].is_open && !heard.threads[1].is_open);
	}
	crit_results_destroy(r);
	crit_maker_destroy(m);
	free(heard.threads);
}

/* A process that sends, a rank or not: messages are told of only where their communicators are. */
static void test_messages_without_ranks(bool is_rank)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct heard heard = { .begins = 0 };
	struct crit_trace_sink sink = sink_of(&heard);
	struct crit_results *r = NULL;
	uint32_t a;

	if (is_rank) {
		a = crit_act_rank(m, 100, 0, 10 * MS);
	} else {
		crit_maker_process(m, (struct crit_rec_process){
					      .pid = 100, .ns_pid = 100, .time_ns = 9 * MS });
		a = crit_act_claim(m, 100, 100, 9 * MS);
	}
	crit_maker_enter(m, a, 20 * MS, CRIT_MPI_Send);
	crit_maker_detail(
		m, a, (struct crit_slot_detail){ .detail = CRIT_D_SEND, .comm = CRIT_COMM_SELF });
	crit_maker_leave(m, a, 30 * MS, CRIT_MPI_Send);
	crit_act_close(m, 100, a, 50 * MS);
	if (CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0)) {
		CHECK_UINT_EQ(heard.visits[CRIT_MPI_Send], 1);
		CHECK_UINT_EQ(heard.messages, is_rank);
		CHECK_UINT_EQ(heard.communicators, is_rank ? 2 : 0);
	}
	crit_results_destroy(r);
	crit_maker_destroy(m);
	free(heard.threads);
}

/* What a sink answers ends the analysis. */
static void test_error_of_sink(void)
{
	struct crit_maker *m = barrier_recording();
	struct heard heard = { .answer = -ENOSPC };
	struct crit_trace_sink sink = sink_of(&heard);
	struct crit_results *r = NULL;

	CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), -ENOSPC);
	CHECK_UINT_EQ(heard.ends, 0);
	crit_maker_destroy(m);
	free(heard.threads);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : 200;

	test_attribution_of_spans();
	test_setup();
	test_fallback_cuts();
	test_error_of_sink();
	test_messages_without_ranks(true);
	test_messages_without_ranks(false);
	for (uint64_t seed = first; seed < first + count; seed++)
		check_seed(seed);
	return check_done();
}
