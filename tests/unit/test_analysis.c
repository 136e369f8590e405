// SPDX-License-Identifier: BSD-3-Clause
// Hand-made recordings whose CMetric, stall and waiting time are known in closed form.
#include <errno.h>

#include "core/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/lib/recording_maker.h"

#define MS 1000000ull
#define SLEEPING 1
#define DEAD 0x80
#define PARENT 100u /* the first thread of every recording */

static double ms(crit_fix value)
{
	return crit_fix_seconds(value) * 1e3;
}

static struct crit_maker *begin(const char *host)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_rec_file file = { .cpu_count = 4, .level = CRIT_LEVEL_TRACE };

	(void)snprintf(file.host, sizeof(file.host), "%s", host);
	crit_maker_file(m, file);
	return m;
}

static void enrol(struct crit_maker *m, uint64_t at_ns, uint32_t tid)
{
	crit_maker_enrol(m, (struct crit_kernel_enrol){
				    .head = { .time_ns = at_ns, .flags = CRIT_KF_RUNNING },
				    .tid = tid,
				    .tgid = tid,
				    .ns_tid = tid });
}

/* A thread (or process, when tgid is tid) is created, woken and put on a CPU at once. */
static void start(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t tgid, uint16_t cpu)
{
	crit_maker_fork(m, (struct crit_kernel_fork){
				   .head = { .time_ns = at_ns,
					     .flags = tid == tgid ? CRIT_KF_NEW_PROCESS : 0 },
				   .parent_tid = PARENT,
				   .parent_tgid = PARENT,
				   .tid = tid,
				   .tgid = tgid,
				   .ns_tid = tid });
	crit_maker_wake_new(m,
			    (struct crit_kernel_wake){ .head = { .time_ns = at_ns }, .tid = tid });
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = at_ns, .cpu = cpu }, .next_tid = tid });
}

static void out(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu, uint8_t state)
{
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = at_ns, .cpu = cpu, .state = state },
				     .prev_tid = tid });
}

static void in(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu)
{
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = at_ns, .cpu = cpu }, .next_tid = tid });
}

static void wake(struct crit_maker *m, uint64_t at_ns, uint32_t tid)
{
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = { .time_ns = at_ns }, .tid = tid });
}

static void end(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t tgid, uint16_t cpu)
{
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = { .time_ns = at_ns }, .tid = tid, .tgid = tgid });
	out(m, at_ns, tid, cpu, DEAD);
}

/* Analyses and destroys the makers; the laws are checked on the way. */
static struct crit_results *finish(struct crit_maker **makers, size_t count,
				   enum crit_active_rule rule)
{
	struct crit_results *r = NULL;
	size_t i;

	if (!CHECK_INT_EQ(crit_analysed_makers(makers, count, rule, &r), 0))
		exit(1);
	for (i = 0; i < r->law_count; i++)
		CHECK_MSG(r->laws[i].error_ratio <= 1e-12, "law broken by %g",
			  r->laws[i].error_ratio);
	for (i = 0; i < r->thread_count; i++)
		CHECK_UINT_EQ(crit_analysed_cells_ns(&r->threads[i].cells), r->threads[i].life_ns);
	for (i = 0; i < count; i++)
		crit_maker_destroy(makers[i]);
	return r;
}

static const struct crit_thread_row *thread(const struct crit_results *r, uint32_t tid)
{
	size_t i;

	for (i = 0; i < r->thread_count; i++) {
		if (r->threads[i].tid == tid)
			return &r->threads[i];
	}
	fprintf(stderr, "no thread %u\n", tid);
	exit(1);
}

/* A runs 0..10 ms, B 5..15: each alone for 5 ms, together for 5. */
static void test_half_overlap(void)
{
	struct crit_maker *m = begin("node0");
	struct crit_results *r;

	enrol(m, 0 * MS + 1, PARENT);
	start(m, 5 * MS + 1, 200, PARENT, 1);
	end(m, 10 * MS + 1, PARENT, PARENT, 0);
	end(m, 15 * MS + 1, 200, PARENT, 1);
	r = finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->window_ns, 15 * MS);
	CHECK_NEAR(ms(thread(r, PARENT)->run.cmetric[CRIT_UNIT_THREADS]), 7.5, 1e-9);
	CHECK_NEAR(ms(thread(r, 200)->run.cmetric[CRIT_UNIT_THREADS]), 7.5, 1e-9);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK(!r->has_ranks);
	crit_results_destroy(r);
}

/* Both on one CPU, in turns: the preempted one stays active; the blocked one does not. */
static void test_preempted_and_blocked(void)
{
	struct crit_maker *m = begin("node0");
	const struct crit_thread_row *t;
	struct crit_results *r;

	enrol(m, 1, PARENT);
	start(m, 10 * MS + 1, 200, PARENT, 1);
	out(m, 12 * MS + 1, 200, 1, 0);
	in(m, 16 * MS + 1, 200, 1);
	out(m, 20 * MS + 1, 200, 1, SLEEPING);
	wake(m, 28 * MS + 1, 200);
	in(m, 30 * MS + 1, 200, 1);
	end(m, 40 * MS + 1, 200, PARENT, 1);
	end(m, 40 * MS + 1, PARENT, PARENT, 0);
	r = finish(&m, 1, CRIT_ACTIVE_KERNEL);
	t = thread(r, 200);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], 16 * MS);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER], 6 * MS);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER], 8 * MS);
	CHECK_NEAR(ms(t->run.cmetric[CRIT_UNIT_THREADS]), 11.0, 1e-9);
	CHECK_NEAR(ms(thread(r, PARENT)->run.cmetric[CRIT_UNIT_THREADS]), 29.0, 1e-9);
	CHECK_UINT_EQ(t->run.waiting_ns, 8 * MS);
	CHECK_NEAR(ms(thread(r, PARENT)->run.waited_for), 8.0, 1e-9);
	CHECK_UINT_EQ(t->preemptions, 1);
	crit_results_destroy(r);
}

/* The wakeup is missing: from the switch-out on nothing is known until the switch-in. */
static void test_lost_wakeup_is_unknown(void)
{
	struct crit_maker *m = begin("node0");
	const struct crit_thread_row *t;
	struct crit_results *r;

	enrol(m, 1, PARENT);
	out(m, 10 * MS + 1, PARENT, 0, SLEEPING);
	in(m, 30 * MS + 1, PARENT, 0);
	end(m, 40 * MS + 1, PARENT, PARENT, 0);
	r = finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	t = thread(r, PARENT);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], 20 * MS);
	CHECK_UINT_EQ(r->losses.unknown_ns, 20 * MS);
	CHECK_UINT_EQ(r->losses.unmatched_switches, 1);
	CHECK_UINT_EQ(t->unmatched, 1);
	CHECK_NEAR(ms(t->run.cmetric[CRIT_UNIT_THREADS]), 20.0, 1e-9);
	CHECK_NEAR(ms(t->run.stall[CRIT_UNIT_THREADS]), 20.0, 1e-9);
	crit_results_destroy(r);
}

/* B appears on the CPU that A never left: A is unknown since it got there, and credited nothing. */
static void test_two_on_one_cpu(void)
{
	struct crit_maker *m = begin("node0");
	struct crit_results *r;

	enrol(m, 1, PARENT);
	start(m, 1, 200, PARENT, 1);
	start(m, 10 * MS + 1, 201, PARENT, 1);
	in(m, 30 * MS + 1, 200, 2);
	end(m, 40 * MS + 1, 200, PARENT, 2);
	end(m, 40 * MS + 1, 201, PARENT, 1);
	end(m, 40 * MS + 1, PARENT, PARENT, 0);
	r = finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(thread(r, 200)->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], 30 * MS);
	CHECK_UINT_EQ(thread(r, 200)->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], 10 * MS);
	CHECK_UINT_EQ(r->losses.unmatched_switches, 1);
	CHECK_NEAR(ms(thread(r, 200)->run.cmetric[CRIT_UNIT_THREADS]), 10.0 / 3, 1e-9);
	crit_results_destroy(r);
}

/* Number 200 is used twice: two rows, each with its own life. */
static void test_number_used_again(void)
{
	struct crit_maker *m = begin("node0");
	struct crit_results *r;

	enrol(m, 1, PARENT);
	start(m, 10 * MS + 1, 200, PARENT, 1);
	end(m, 20 * MS + 1, 200, PARENT, 1);
	start(m, 30 * MS + 1, 200, PARENT, 1);
	end(m, 35 * MS + 1, 200, PARENT, 1);
	end(m, 40 * MS + 1, PARENT, PARENT, 0);
	r = finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->thread_count, 3)) {
		CHECK_UINT_EQ(r->threads[1].life_ns, 10 * MS);
		CHECK_UINT_EQ(r->threads[2].life_ns, 5 * MS);
	}
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	crit_results_destroy(r);
}

static uint32_t add_rank(struct crit_maker *m, uint32_t pid, uint32_t rank, uint64_t open_ns)
{
	crit_maker_process(m, (struct crit_rec_process){ .pid = pid,
							 .ns_pid = pid,
							 .flavour = CRIT_FLAVOUR_MPICH,
							 .has_memfd = 1,
							 .time_ns = open_ns - MS });
	crit_maker_rank(m, (struct crit_rec_rank){ .pid = pid,
						   .rank = rank,
						   .size = 2,
						   .open_ns = open_ns,
						   .world = "world" });
	return crit_maker_stream(m, (struct crit_rec_stream){
					    .pid = pid, .ns_tid = pid, .claim_ns = open_ns - MS });
}

static void close_rank(struct crit_maker *m, uint32_t pid, uint32_t stream, uint64_t close_ns)
{
	crit_maker_close(m, (struct crit_rec_close){ .pid = pid, .close_ns = close_ns });
	crit_maker_stream_end(m, stream,
			      (struct crit_rec_stream_end){ .pid = pid, .release_ns = close_ns });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = pid, .time_ns = close_ns + MS });
}

/*
 * Rank 0 works 30 ms, rank 1 10 ms, then a spinning barrier; shims only.  Together 10 ms, rank 0
 * alone for 20 while rank 1 waits; then both in the barrier for 10: stall.
 */
static void test_barrier_shims_only(void)
{
	struct crit_maker *m = begin("node0");
	uint32_t a = add_rank(m, 100, 0, 10 * MS), b = add_rank(m, 101, 1, 10 * MS);
	const struct crit_call_row *call;
	struct crit_results *r;

	crit_maker_enter_at(m, b, 20 * MS, CRIT_MPI_Barrier, 0xb1);
	crit_maker_enter_at(m, a, 40 * MS, CRIT_MPI_Barrier, 0xb0);
	crit_maker_leave(m, a, 50 * MS, CRIT_MPI_Barrier);
	crit_maker_leave(m, b, 50 * MS, CRIT_MPI_Barrier);
	close_rank(m, 100, a, 50 * MS);
	close_rank(m, 101, b, 50 * MS);
	r = finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK(r->has_ranks);
	CHECK_UINT_EQ(r->window_ns, 40 * MS);
	if (!CHECK_UINT_EQ(r->rank_count, 2) || !CHECK_UINT_EQ(r->call_count, 1) ||
	    !CHECK_UINT_EQ(r->site_count, 2))
		exit(1);
	CHECK_NEAR(ms(r->ranks[0].run.cmetric[CRIT_UNIT_RANKS]), 25.0, 1e-9);
	CHECK_NEAR(ms(r->ranks[1].run.cmetric[CRIT_UNIT_RANKS]), 5.0, 1e-9);
	CHECK_NEAR(ms(r->ranks[0].run.stall[CRIT_UNIT_RANKS]), 5.0, 1e-9);
	CHECK_NEAR(ms(r->ranks[1].run.stall[CRIT_UNIT_RANKS]), 5.0, 1e-9);
	CHECK_NEAR(ms(r->ranks[0].run.waited_for), 20.0, 1e-9);
	CHECK_UINT_EQ(r->ranks[1].run.waiting_ns, 20 * MS);
	CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_SETUP], 2 * MS);
	call = &r->calls[0];
	CHECK_UINT_EQ(call->call, CRIT_MPI_Barrier);
	CHECK_UINT_EQ(call->visits, 2);
	CHECK_UINT_EQ(call->time_ns, 40 * MS);
	CHECK_UINT_EQ(call->wait_ns, 40 * MS);
	CHECK_NEAR(ms(call->run.stall[CRIT_UNIT_THREADS]), 10.0, 1e-9);
	CHECK_UINT_EQ(call->run.waiting_ns, 20 * MS);
	CHECK_INT_EQ(call->top_rank_row, 0);
	CHECK_UINT_EQ(r->sites[0].site, 0xb1);
	CHECK_UINT_EQ(r->sites[0].pid, 101);
	crit_results_destroy(r);
}

/* A poll span of 20 us waits, a shorter one works; with rule "poll" both work. */
static void test_poll_spans(void)
{
	int rule;

	for (rule = CRIT_ACTIVE_DEFAULT; rule <= CRIT_ACTIVE_POLL; rule += CRIT_ACTIVE_POLL) {
		struct crit_maker *m = begin("node0");
		uint32_t a = add_rank(m, 100, 0, 10 * MS);
		struct crit_maker_poll poll = { .first_ns = 11 * MS,
						.last_ns = 11 * MS + 19999,
						.call = CRIT_MPI_Test,
						.count = 7 };
		struct crit_results *r;

		crit_maker_poll(m, a, poll);
		poll.first_ns = 12 * MS;
		poll.last_ns = 12 * MS + 20000;
		crit_maker_poll(m, a, poll);
		close_rank(m, 100, a, 13 * MS);
		r = finish(&m, 1, (enum crit_active_rule)rule);
		CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_MPI], 19999);
		CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_MPI_POLL], 20000);
		CHECK_NEAR(ms(r->ranks[0].run.stall[CRIT_UNIT_THREADS]),
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
	struct crit_maker *m[2] = { begin("node0"), begin("node1") };
	const struct crit_thread_row *t;
	struct crit_results *r;
	uint32_t a, b;

	enrol(m[0], 1 * MS, 100);
	start(m[0], 5 * MS, 150, 100, 1);
	a = add_rank(m[0], 100, 0, 10 * MS);
	enrol(m[1], 1 * MS, 101);
	b = add_rank(m[1], 101, 1, 10 * MS);
	close_rank(m[0], 100, a, 22 * MS);
	close_rank(m[1], 101, b, 22 * MS);
	end(m[0], 22 * MS, 150, 100, 1);
	end(m[0], 23 * MS, 100, 100, 0);
	end(m[1], 23 * MS, 101, 101, 0);
	r = finish(m, 2, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->law_count, 6);
	t = thread(r, 150);
	CHECK_NEAR(ms(t->run.cmetric[CRIT_UNIT_THREADS]), 4.0, 1e-9);
	CHECK_NEAR(ms(t->run.cmetric[CRIT_UNIT_RANKS]), 3.0, 1e-9);
	CHECK_NEAR(ms(t->node_cmetric[CRIT_UNIT_THREADS]), 6.0, 1e-9);
	CHECK_NEAR(ms(t->node_cmetric[CRIT_UNIT_RANKS]), 6.0, 1e-9);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_SETUP], 5 * MS);
	t = thread(r, 101);
	CHECK_NEAR(ms(t->run.cmetric[CRIT_UNIT_THREADS]), 4.0, 1e-9);
	CHECK_NEAR(ms(t->run.cmetric[CRIT_UNIT_RANKS]), 6.0, 1e-9);
	CHECK_NEAR(ms(t->node_cmetric[CRIT_UNIT_RANKS]), 12.0, 1e-9);
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
	test_poll_spans();
	test_ranks_with_threads_on_two_nodes();
	return check_done();
}
