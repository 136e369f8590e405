// SPDX-License-Identifier: BSD-3-Clause
// Stays on CPUs that are told of together, after the time they were in, in closed form.
#include "analysis/schema/trace.h"
#include "analysis/table/efficiency.h"
#include "core/abi/abi_tag.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define RANK 200u
#define CPU 1

static uint32_t stream;

static void preempt(struct crit_maker *m, uint64_t at_ns)
{
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = at_ns,
								    .cpu = CPU,
								    .flags = CRIT_KF_PREEMPTED },
							  .prev_tid = RANK,
							  .prev_tag = crit_maker_tag(m, stream) });
}

/* A rank whose part is open from 10 ms on, in MPI_Recv from 20 ms on, and off its CPU at 22. */
static struct crit_maker *begin(void)
{
	struct crit_maker *m = crit_act_begin("node0");

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 2 * MS, RANK, RANK, CPU);
	stream = crit_act_rank(m, RANK, 0, 10 * MS);
	crit_maker_enter(m, stream, 20 * MS, CRIT_MPI_Recv);
	preempt(m, 22 * MS);
	return m;
}

static void yields(struct crit_maker *m, uint64_t at_ns, uint64_t since_ns, uint64_t running_ns,
		   uint8_t flags)
{
	crit_maker_yields(m, (struct crit_kernel_yields){
				     .head = { .time_ns = at_ns, .cpu = CPU, .flags = flags },
				     .tid = RANK,
				     .count = 100,
				     .running_ns = running_ns,
				     .since_ns = since_ns });
}

/* The rank is on its CPU; its part closes at 60 ms.  What it did inside, class by class. */
static void check(struct crit_maker *m, uint64_t wait_running_ns, uint64_t wait_runnable_ns,
		  uint64_t user_running_ns, uint64_t switches)
{
	struct crit_results *r;
	const struct crit_thread_row *t;

	crit_act_close(m, RANK, stream, 60 * MS);
	crit_act_end(m, 61 * MS, RANK, RANK, CPU);
	crit_act_end(m, 62 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	t = crit_analysed_thread(r, RANK);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT], wait_running_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_MPI_WAIT], wait_runnable_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], user_running_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER], 0);
	CHECK_UINT_EQ(t->switches, switches);
	CHECK_UINT_EQ(t->unmatched, 0);
	CHECK_UINT_EQ(r->preemptor_count, 0);
	crit_results_destroy(r);
}

/* Of 22 to 30 ms on CPUs for 3; told at 45, when it has left MPI and worked for 5 since 40. */
static void test_late(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("late");
	crit_maker_leave(m, stream, 40 * MS, CRIT_MPI_Recv);
	yields(m, 45 * MS, 15 * MS, 3 * MS, CRIT_KF_RUNNING);
	crit_act_out(m, 45 * MS, RANK, CPU, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 50 * MS, RANK);
	crit_act_in(m, 50 * MS, RANK, CPU);
	check(m, (2 + 3 + 10) * MS, 5 * MS, (10 + 5 + 10) * MS, 103);
}

/* Ten milliseconds are over, twice: the second time it gets its CPU in a switch that is told. */
static void test_in_pieces(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("in pieces");
	yields(m, 32 * MS, 1 * MS, 4 * MS, CRIT_KF_RUNNING);
	preempt(m, 32 * MS);
	yields(m, 42 * MS, 0, 6 * MS, 0);
	crit_act_in(m, 42 * MS, RANK, CPU);
	crit_maker_leave(m, stream, 44 * MS, CRIT_MPI_Recv);
	check(m, (2 + 4 + 1 + 6 + 2) * MS, (5 + 4) * MS, (10 + 16) * MS, 203);
}

/* It ends in the middle, without another switch before. */
static void test_exit(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("exit");
	yields(m, 50 * MS, 10 * MS, 9 * MS, CRIT_KF_RUNNING);
	check(m, (2 + 9 + 20) * MS, 9 * MS, 10 * MS, 102);
}

struct told { /* of waits in MPI, in order */
	uint64_t running_ns[4], runnable_ns[4];
	size_t count;
};

static int note_leave(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct told *told = user;

	(void)thread, (void)time_ns;
	if (span->span_class != CRIT_CLASS_MPI_WAIT || !CHECK(told->count < 4))
		return 0;
	told->running_ns[told->count] = sums->state_ns[CRIT_STATE_RUNNING];
	told->runnable_ns[told->count++] = sums->state_ns[CRIT_STATE_RUNNABLE];
	return 0;
}

/*
 * Of 22 to 32 ms it was on CPUs for 9, and left one wait at 26 for the next: the first was told of
 * as runnable from 22 on, so the second was not, until 50, and the third for 6 of 9 ms.
 */
static void test_spans(void)
{
	struct told told = { .count = 0 };
	const struct crit_trace_sink sink = { .user = &told, .leave = note_leave };
	struct crit_maker *m = begin();
	struct crit_results *r = NULL;

	CHECK_CASE("spans");
	crit_maker_leave(m, stream, 26 * MS, CRIT_MPI_Recv);
	crit_maker_enter(m, stream, 26 * MS, CRIT_MPI_Recv);
	yields(m, 32 * MS, 0, 9 * MS, CRIT_KF_RUNNING);
	crit_maker_leave(m, stream, 50 * MS, CRIT_MPI_Recv);
	crit_maker_enter(m, stream, 50 * MS, CRIT_MPI_Recv);
	preempt(m, 51 * MS);
	crit_act_in(m, 57 * MS, RANK, CPU);
	crit_maker_leave(m, stream, 59 * MS, CRIT_MPI_Recv);
	crit_act_close(m, RANK, stream, 60 * MS);
	crit_act_end(m, 61 * MS, RANK, RANK, CPU);
	crit_act_end(m, 62 * MS, ROOT, ROOT, 0);
	CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0);
	crit_maker_destroy(m);
	CHECK_UINT_EQ(told.count, 3);
	CHECK_UINT_EQ(told.running_ns[0], (6 - 4) * MS);
	CHECK_UINT_EQ(told.runnable_ns[0], 4 * MS);
	CHECK_UINT_EQ(told.running_ns[1], 24 * MS);
	CHECK_UINT_EQ(told.runnable_ns[1], 0);
	CHECK_UINT_EQ(told.running_ns[2], (3 + 3) * MS);
	CHECK_UINT_EQ(told.runnable_ns[2], (6 - 3) * MS);
	CHECK_UINT_EQ(
		crit_analysed_thread(r, RANK)->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_MPI_WAIT],
		(1 + 6) * MS);
	crit_results_destroy(r);
}

/* More than there was room for is cut; what would be before the switch away comes after it. */
static void test_nonsense(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("nonsense");
	yields(m, 30 * MS, UINT64_MAX, UINT64_MAX, CRIT_KF_RUNNING);
	crit_maker_leave(m, stream, 40 * MS, CRIT_MPI_Recv);
	check(m, 20 * MS, 0, (10 + 20) * MS, 102);
}

static void construct(struct crit_maker *m, uint32_t of, uint64_t at_ns, uint32_t call,
		      uint64_t arg)
{
	crit_maker_construct(m, of, at_ns, (struct crit_maker_construct){ call, 1, 0x1001, arg });
}

/*
 * A worker comes to its team's barrier at 20 ms and is off its CPU from 22 on; the barrier is
 * complete at 30.  At 32 it is told that it was on CPUs for 9 of these 10 ms: from 30 on it can
 * have wanted one for no more than 1.
 */
static void test_in_barrier(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	const uint64_t primary = CRIT_INSTANCE_PRIMARY | 1;
	struct crit_results *r;
	struct crit_efficiency efficiency;
	uint32_t worker;

	CHECK_CASE("in a barrier");
	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 2 * MS, RANK, ROOT, CPU);
	stream = crit_act_rank(m, ROOT, 0, 10 * MS);
	worker = crit_act_claim(m, ROOT, RANK, 10 * MS);
	crit_maker_worker(m, worker, 10 * MS);
	construct(m, stream, 10 * MS, CRIT_CONSTRUCT_PARALLEL, primary);
	construct(m, worker, 10 * MS, CRIT_CONSTRUCT_PARALLEL, 1);
	construct(m, worker, 20 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 0);
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = 22 * MS,
								    .cpu = CPU,
								    .flags = CRIT_KF_PREEMPTED },
							  .prev_tid = RANK,
							  .prev_tag = crit_maker_tag(m, worker) });
	construct(m, stream, 30 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 0);
	yields(m, 32 * MS, 0, 9 * MS, CRIT_KF_RUNNING);
	crit_maker_leave(m, worker, 34 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, stream, 34 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, worker, 35 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, stream, 35 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_act_close(m, ROOT, stream, 60 * MS);
	crit_act_end(m, 61 * MS, RANK, ROOT, CPU);
	crit_act_end(m, 62 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->regions.row_count, 1))
		CHECK_UINT_EQ(r->regions.rows[0].runnable_ns, 0);
	crit_efficiency_of(r, &efficiency);
	CHECK(efficiency.cpu_oversubscription > 0.95);
	crit_results_destroy(r);
}

int main(void)
{
	test_in_barrier();
	test_late();
	test_in_pieces();
	test_exit();
	test_spans();
	test_nonsense();
	return check_done();
}
