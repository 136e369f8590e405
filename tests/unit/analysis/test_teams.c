// SPDX-License-Identifier: BSD-3-Clause
// Hand-made recordings of OpenMP teams whose figures are known in closed form.
#include <string.h>

#include "analysis/table/efficiency.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/maker/maker.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define PRIMARY CRIT_INSTANCE_PRIMARY
#define TEAM(size) ((uint64_t)(size) << CRIT_INSTANCE_TEAM_SHIFT)

static void begin(struct crit_maker *m, uint32_t stream, uint64_t at_ns, uint32_t call,
		  uint32_t region, uint64_t arg)
{
	crit_maker_construct(m, stream, at_ns,
			     (struct crit_maker_construct){ call, region, 0x1000 + region, arg });
}

static uint32_t claim(struct crit_maker *m, uint32_t pid, uint32_t tid, uint64_t at_ns)
{
	return crit_act_claim(m, pid, tid, at_ns);
}

static const struct crit_region_row *region_of(const struct crit_results *r, uint32_t pid,
					       uint32_t number)
{
	for (size_t i = 0; i < r->regions.row_count; i++) {
		if (r->regions.rows[i].pid == pid && r->regions.rows[i].number == number)
			return &r->regions.rows[i];
	}
	fprintf(stderr, "no region %u of %u\n", number, pid);
	exit(1);
}

static const struct crit_region_part *part_of(const struct crit_results *r, uint32_t pid,
					      uint32_t number, uint32_t tid)
{
	const struct crit_region_row *row = region_of(r, pid, number);

	for (size_t i = 0; i < row->part_count; i++) {
		const struct crit_region_part *part = &r->regions.parts[row->first_part + i];

		if (r->threads[part->thread].tid == tid)
			return part;
	}
	fprintf(stderr, "thread %u was not in region %u\n", tid, number);
	exit(1);
}

static uint64_t class_ns(const struct crit_results *r, uint32_t tid, enum crit_span_class class)
{
	const struct crit_cells *cells = &crit_analysed_thread(r, tid)->cells;
	uint64_t sum_ns = 0;

	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		sum_ns += cells->ns[state][class];
	return sum_ns;
}

/*
 * Two ranks of two threads, in ms; P: in the parallel region, w: in its barrier, M: in MPI_Barrier.
 *
 *              10        20      30      40      50
 *   rank 0     |P--------P-------P------w|M------|      100
 *   worker  idle PPPPPPPPPwwwwwwwwwwwwwww|idle          101
 *   rank 1     |P----------------w-------|M------|      200
 *   worker  idle PPPPPPPPPPPPPPPPPPPPPPPP|idle          201
 *
 * Region 1 of each is from 10 to 40; 101 works until 20, 100 until 38, 200 until 30, 201 until 40.
 * The members' spans of rank 0's worker are never ended by itself: the primary's leave does it.
 */
static struct crit_maker *make_two_by_two(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t main0, main1, worker0, worker1;

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_act_start(m, 1 * MS, 101, ROOT, 1);
	crit_act_start(m, 1 * MS, 200, 200, 2);
	crit_act_start(m, 1 * MS, 201, 200, 3);
	main0 = crit_act_rank(m, ROOT, 0, 5 * MS);
	main1 = crit_act_rank(m, 200, 1, 5 * MS);
	worker0 = claim(m, ROOT, 101, 5 * MS);
	worker1 = claim(m, 200, 201, 5 * MS);
	crit_maker_worker(m, worker0, 5 * MS);
	crit_maker_worker(m, worker1, 5 * MS);
	crit_maker_region(m, main0,
			  (struct crit_slot_region){
				  .site = 0x77, .call = CRIT_CONSTRUCT_PARALLEL, .region = 1 },
			  NULL);
	begin(m, main0, 10 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, main1, 10 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, worker0, 10 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, worker1, 10 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, worker0, 20 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	begin(m, main1, 30 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	begin(m, main0, 38 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	crit_maker_leave(m, main0, 40 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, main1, 40 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, main0, 40 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, main1, 40 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_enter(m, main0, 40 * MS, CRIT_MPI_Barrier);
	crit_maker_enter(m, main1, 40 * MS, CRIT_MPI_Barrier);
	crit_maker_leave(m, worker1, 45 * MS, CRIT_CONSTRUCT_PARALLEL); /* late */
	crit_maker_leave(m, main0, 50 * MS, CRIT_MPI_Barrier);
	crit_maker_leave(m, main1, 50 * MS, CRIT_MPI_Barrier);
	crit_act_close(m, ROOT, main0, 50 * MS);
	crit_act_close(m, 200, main1, 50 * MS);
	return m;
}

/*
 * ms of the ranks: useful 33 + 10 and 25 + 30; scheduling 4 and 0; imbalance 18 and 10; idle
 * outside regions 15 each, 10 of it in MPI; MPI 10 each; 2 CPUs times 45.
 */
static void check_two_by_two_efficiency(const struct crit_results *r)
{
	struct crit_efficiency eff;

	crit_efficiency_of(r, &eff);
	CHECK(eff.is_valid && eff.has_omp);
	CHECK_NEAR(eff.wall_parallel, 98.0 / 180, 1e-12);
	CHECK_NEAR(eff.wall_mpi_parallel, 35.0 / 45, 1e-12);
	CHECK_NEAR(eff.wall_balance, 1, 1e-12);
	CHECK_NEAR(eff.wall_omp_parallel, 118.0 / 180, 1e-12);
	CHECK_NEAR(eff.wall_omp_serialization, 118.0 / 148, 1e-12);
	CHECK_NEAR(eff.wall_omp_balance, 148.0 / 176, 1e-12);
	CHECK_NEAR(eff.wall_omp_scheduling, 176.0 / 180, 1e-12);
	CHECK_NEAR(eff.cpu_parallel, 98.0 / 180, 1e-12);
	CHECK_NEAR(eff.cpu_omp_scheduling, 98.0 / 102, 1e-12);
	CHECK_NEAR(eff.cpu_omp_balance, 102.0 / 130, 1e-12);
	CHECK_NEAR(eff.cpu_omp_serialization, 130.0 / 140, 1e-12);
	CHECK_NEAR(eff.cpu_balance, 1, 1e-12);
	CHECK_NEAR(eff.cpu_communication, 35.0 / 45, 1e-12);
}

static void test_two_by_two(void)
{
	struct crit_maker *m = make_two_by_two();
	struct crit_results *r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	const struct crit_region_row *row;

	CHECK_UINT_EQ(r->window_ns, 45 * MS);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	if (!CHECK_UINT_EQ(r->regions.row_count, 2))
		exit(1);
	row = region_of(r, ROOT, 1);
	CHECK_INT_EQ(row->rank_row, 0);
	CHECK_INT_EQ(row->parent, -1);
	CHECK_UINT_EQ(row->call, CRIT_CONSTRUCT_PARALLEL);
	CHECK_UINT_EQ(row->site, 0x77); /* defined */
	CHECK_UINT_EQ(region_of(r, 200, 1)->site, 0x1001); /* of its spans */
	CHECK_UINT_EQ(row->visits, 1);
	CHECK_UINT_EQ(row->elapsed_ns, 30 * MS);
	CHECK_UINT_EQ(row->team_max, 2);
	CHECK_UINT_EQ(row->scheduling_ns, 2 * 2 * MS); /* idle 2 and 20 ms */
	CHECK_UINT_EQ(row->imbalance_ns, 18 * MS);
	row = region_of(r, 200, 1); /* idle 10 and 0 ms */
	CHECK_UINT_EQ(row->scheduling_ns, 0);
	CHECK_UINT_EQ(row->imbalance_ns, 10 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, 101)->visits, 1);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, 101)->time_ns, 30 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, 101)->useful_ns, 10 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, 101)->omp_wait_ns, 20 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, ROOT)->useful_ns, 28 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, ROOT)->mpi_ns, 0);
	CHECK_UINT_EQ(part_of(r, 200, 1, 200)->useful_ns, 20 * MS);
	CHECK_UINT_EQ(part_of(r, 200, 1, 201)->useful_ns, 30 * MS);
	/* four work for 10 ms, then 100, 200 and 201, then 100 and 201 */
	CHECK_NEAR(crit_analysed_ms(part_of(r, ROOT, 1, ROOT)->run.cmetric[CRIT_UNIT_THREADS]),
		   10 / 4.0 + 10 / 3.0 + 8 / 2.0, 1e-9);
	CHECK_NEAR(crit_analysed_ms(part_of(r, 200, 1, 201)->run.cmetric[CRIT_UNIT_THREADS]),
		   10 / 4.0 + 10 / 3.0 + 8 / 2.0 + 2, 1e-9);
	/* before and after the region the workers idle; from 40 on while their ranks are in MPI */
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP_IDLE), 15 * MS);
	CHECK_UINT_EQ(class_ns(r, 201, CRIT_CLASS_OMP_IDLE), 15 * MS);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_USER), 0);
	CHECK_UINT_EQ(r->ranks[0].idle_in_mpi_ns, 10 * MS);
	CHECK_UINT_EQ(r->ranks[1].idle_in_mpi_ns, 10 * MS);
	check_two_by_two_efficiency(r);
	crit_results_destroy(r);
}

/* One rank, from 10 ms on: its main thread, and workers 101 and 102 on other CPUs. */
static struct crit_maker *make_team(uint32_t streams[3])
{
	struct crit_maker *m = crit_act_begin("node0");

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_act_start(m, 1 * MS, 101, ROOT, 1);
	crit_act_start(m, 1 * MS, 102, ROOT, 2);
	streams[0] = crit_act_rank(m, ROOT, 0, 10 * MS);
	for (uint32_t i = 1; i < 3; i++) {
		streams[i] = claim(m, ROOT, ROOT + i, 10 * MS);
		crit_maker_worker(m, streams[i], 10 * MS);
	}
	return m;
}

static struct crit_results *end_team(struct crit_maker *m, const uint32_t streams[3])
{
	crit_act_close(m, ROOT, streams[0], 100 * MS);
	return crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
}

/* 101 is the primary of an instance, dies inside, and takes 102 out with it. */
static void test_primary_dies(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[1], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, streams[2], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, streams[2], 30 * MS, CRIT_CONSTRUCT_TASK, 2, 0);
	crit_act_end(m, 40 * MS, 101, ROOT, 1);
	r = end_team(m, streams);
	CHECK_UINT_EQ(class_ns(r, 102, CRIT_CLASS_OMP), 20 * MS);
	CHECK_UINT_EQ(class_ns(r, 102, CRIT_CLASS_OMP_IDLE), 70 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->elapsed_ns, 20 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->team_max, 2);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->elapsed_ns, 10 * MS);
	crit_results_destroy(r);
}

/* A worker of the outer team is primary of an inner one, and is dismissed with all of it. */
static void test_nested_teams(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[0], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, streams[1], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, streams[1], 30 * MS, CRIT_CONSTRUCT_PARALLEL, 2, PRIMARY | 2);
	begin(m, streams[2], 32 * MS, CRIT_CONSTRUCT_PARALLEL, 2, 2);
	begin(m, streams[1], 40 * MS, CRIT_CONSTRUCT_BARRIER, 2, 0);
	crit_maker_leave(m, streams[0], 50 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, streams[1], 60 * MS, CRIT_CONSTRUCT_BARRIER);
	crit_maker_leave(m, streams[1], 60 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, streams[1], 60 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, streams[2], 60 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP), 20 * MS);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP_WAIT), 10 * MS);
	CHECK_UINT_EQ(class_ns(r, 102, CRIT_CLASS_OMP), 18 * MS);
	CHECK_UINT_EQ(class_ns(r, 102, CRIT_CLASS_OMP_IDLE), 72 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->imbalance_ns, 10 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->imbalance_ns, 0); /* the wait is the inner one's */
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->elapsed_ns, 20 * MS);
	crit_results_destroy(r);
}

/* Who comes to an instance that is over does not enter it; the next one counts again. */
static void test_late_arrival(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[0], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	crit_maker_leave(m, streams[0], 30 * MS, CRIT_CONSTRUCT_PARALLEL);
	begin(m, streams[1], 30 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, streams[1], 31 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	crit_maker_leave(m, streams[1], 32 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_enter(m, streams[1], 33 * MS, CRIT_MPI_Recv); /* the program's own */
	crit_maker_leave(m, streams[1], 34 * MS, CRIT_MPI_Recv);
	begin(m, streams[0], 40 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 2);
	begin(m, streams[1], 42 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 2); /* the end of 1 was lost */
	crit_maker_leave(m, streams[0], 50 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_MPI_WAIT), 1 * MS);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP), 8 * MS);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP_IDLE), 81 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->visits, 2);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->elapsed_ns, 20 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, 101)->visits, 1);
	crit_results_destroy(r);
}

/* Without a number nobody is dismissed: each member's span ends when it says so. */
static void test_instance_0(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[0], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY);
	begin(m, streams[1], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 0);
	crit_maker_leave(m, streams[0], 30 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, streams[1], 35 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP), 15 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->visits, 1);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->elapsed_ns, 10 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->team_max, 0);
	crit_results_destroy(r);
}

/* A member that leaves before the primary idles in the instance until it is over. */
static void test_early_leaver(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[0], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, streams[1], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	crit_maker_leave(m, streams[1], 25 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_leave(m, streams[0], 40 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->imbalance_ns, 15 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->team_max, 2);
	CHECK_UINT_EQ(part_of(r, ROOT, 1, 101)->time_ns, 5 * MS);
	crit_results_destroy(r);
}

/*
 * A team of one has nobody to wait for in barriers and for tasks: that is its own time.  A lock
 * may be another's.  Region 1 is a team of three, in which 101 begins region 2 alone, in ms:
 *
 *             20      30      40      50      60      70
 *   100       P-----------------------w---------------|     3 members, barrier from 50 on
 *   101       P-------2-------b-------t---L---2---w---|     alone from 30 to 65: barrier, taskwait
 *                                                           and from 55 to 60 a lock; w from 65 on
 *   102       P---------------w-----------------------|     barrier from 40 on
 *
 * Idle are 20, 5 + 5 and 30: scheduling 3 * 10, imbalance 10 + 0 + 20.
 */
static void test_team_of_one(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[0], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, streams[1], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, streams[2], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, streams[1], 30 * MS, CRIT_CONSTRUCT_PARALLEL, 2, PRIMARY | TEAM(1) | 2);
	begin(m, streams[1], 40 * MS, CRIT_CONSTRUCT_BARRIER, 2, 0);
	begin(m, streams[2], 40 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	crit_maker_leave(m, streams[1], 50 * MS, CRIT_CONSTRUCT_BARRIER);
	begin(m, streams[0], 50 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	begin(m, streams[1], 50 * MS, CRIT_CONSTRUCT_TASKWAIT, 2, 0);
	crit_maker_leave(m, streams[1], 55 * MS, CRIT_CONSTRUCT_TASKWAIT);
	begin(m, streams[1], 55 * MS, CRIT_CONSTRUCT_LOCK_WAIT, 2, 0);
	crit_maker_leave(m, streams[1], 60 * MS, CRIT_CONSTRUCT_LOCK_WAIT);
	crit_maker_leave(m, streams[1], 65 * MS, CRIT_CONSTRUCT_PARALLEL);
	begin(m, streams[1], 65 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	for (uint32_t i = 0; i < 3; i++)
		crit_maker_leave(m, streams[i], 70 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, streams[0], 70 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP), 40 * MS);
	CHECK_UINT_EQ(class_ns(r, 101, CRIT_CLASS_OMP_WAIT), 10 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 2, 101)->useful_ns, 30 * MS);
	CHECK_UINT_EQ(part_of(r, ROOT, 2, 101)->omp_wait_ns, 5 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->scheduling_ns, 0);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->imbalance_ns, 0);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->team_max, 1);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->scheduling_ns, 30 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->imbalance_ns, 30 * MS);
	crit_results_destroy(r);
}

static void leave_barrier(struct crit_maker *m, uint32_t stream, uint64_t at_ns)
{
	crit_maker_leave(m, stream, at_ns, CRIT_CONSTRUCT_BARRIER);
}

/* Not on a CPU, and runnable. */
static void preempt(struct crit_maker *m, uint32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	crit_act_out(m, from_ns, tid, (uint16_t)(tid - ROOT), 0);
	crit_act_in(m, to_ns, tid, (uint16_t)(tid - ROOT));
}

/*
 * Once all have arrived, who does not run in a barrier waits for a CPU.  Two barriers, in ms:
 *
 *   100   works from 20, waits from 30 to 60, works to 68, waits to 70
 *   101   works from 20, waits from 40 to 62, works to 66, waits to 70; preempted 45-62, 67-69
 *   102   works from 20, waits from 50 to 51, works to 65, waits to 70
 *
 * All are there from 50 and from 68 on, so 101 is runnable for 12 + 1 of its 22 + 4 ms.  Idle are
 * 32, 13 and 6: scheduling 3 * 6, imbalance 26 + 7.  Useful are 58, 24 and 44 of 3 * 90, and the
 * workers idle outside for 40 each.
 */
static void test_waiting_for_a_cpu(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_efficiency eff;
	struct crit_results *r;

	for (uint32_t i = 0; i < 3; i++)
		begin(m, streams[i], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, (i ? 0 : PRIMARY) | 1);
	begin(m, streams[0], 30 * MS, CRIT_CONSTRUCT_BARRIER, 1, 0);
	begin(m, streams[1], 40 * MS, CRIT_CONSTRUCT_BARRIER, 1, 0);
	preempt(m, 101, 45 * MS, 62 * MS);
	begin(m, streams[2], 50 * MS, CRIT_CONSTRUCT_BARRIER, 1, 0);
	leave_barrier(m, streams[2], 51 * MS);
	leave_barrier(m, streams[0], 60 * MS);
	leave_barrier(m, streams[1], 62 * MS);
	begin(m, streams[2], 65 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	begin(m, streams[1], 66 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	preempt(m, 101, 67 * MS, 69 * MS);
	begin(m, streams[0], 68 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	crit_maker_leave(m, streams[0], 70 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, streams[0], 70 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->runnable_ns, 13 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->scheduling_ns, 18 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->imbalance_ns, 33 * MS);
	crit_efficiency_of(r, &eff);
	CHECK_NEAR(eff.cpu_parallel, 126.0 / 270, 1e-12);
	CHECK_NEAR(eff.cpu_omp_scheduling, 126.0 / 144, 1e-12);
	CHECK_NEAR(eff.cpu_omp_balance, 144.0 / 177, 1e-12);
	CHECK_NEAR(eff.cpu_omp_serialization, 177.0 / 257, 1e-12);
	CHECK_NEAR(eff.cpu_oversubscription, 257.0 / 270, 1e-12);
	CHECK_NEAR(eff.cpu_communication, 1, 1e-12);
	CHECK_NEAR(eff.wall_parallel, 139.0 / 270, 1e-12);
	CHECK_NEAR(eff.wall_omp_scheduling, 252.0 / 270, 1e-12);
	crit_results_destroy(r);
}

/* Tasks in a barrier hold it up, and so does who comes late. */
static void test_incomplete_barriers(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	begin(m, streams[0], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, streams[1], 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, 1);
	begin(m, streams[0], 25 * MS, CRIT_CONSTRUCT_BARRIER, 1, 0);
	preempt(m, ROOT, 26 * MS, 40 * MS);
	begin(m, streams[1], 30 * MS, CRIT_CONSTRUCT_BARRIER, 1, 0);
	begin(m, streams[1], 32 * MS, CRIT_CONSTRUCT_TASK, 1, 0);
	crit_maker_leave(m, streams[1], 37 * MS, CRIT_CONSTRUCT_TASK);
	leave_barrier(m, streams[0], 41 * MS);
	leave_barrier(m, streams[1], 41 * MS);
	crit_maker_leave(m, streams[0], 41 * MS, CRIT_CONSTRUCT_PARALLEL);
	begin(m, streams[0], 50 * MS, CRIT_CONSTRUCT_PARALLEL, 2, PRIMARY | 2);
	begin(m, streams[1], 50 * MS, CRIT_CONSTRUCT_PARALLEL, 2, 2);
	begin(m, streams[0], 55 * MS, CRIT_CONSTRUCT_BARRIER, 2, 0);
	preempt(m, ROOT, 56 * MS, 70 * MS);
	begin(m, streams[1], 60 * MS, CRIT_CONSTRUCT_BARRIER, 2, 0);
	begin(m, streams[2], 62 * MS, CRIT_CONSTRUCT_PARALLEL, 2, 2);
	begin(m, streams[2], 65 * MS, CRIT_CONSTRUCT_BARRIER, 2, 0);
	leave_barrier(m, streams[1], 71 * MS);
	leave_barrier(m, streams[2], 71 * MS);
	leave_barrier(m, streams[0], 71 * MS);
	crit_maker_leave(m, streams[0], 71 * MS, CRIT_CONSTRUCT_PARALLEL);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	/* 100 idles for 16 and is runnable from 30 to 32 and from 37 to 40; 101 for 2 + 4 */
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->runnable_ns, 5 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->scheduling_ns, 12 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->imbalance_ns, 5 * MS);
	/* 16 of 100 with 5 runnable from 65 on, 11 of 101, 6 of 102 */
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->runnable_ns, 5 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->scheduling_ns, 18 * MS);
	CHECK_UINT_EQ(region_of(r, ROOT, 2)->imbalance_ns, 10 * MS);
	crit_results_destroy(r);
}

/* Nobody tells the size of its teams, but a process of one thread has no other. */
static void test_process_of_one(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_efficiency eff;
	struct crit_results *r;
	uint32_t stream;

	crit_act_enrol(m, 1 * MS, ROOT);
	stream = crit_act_rank(m, ROOT, 0, 10 * MS);
	begin(m, stream, 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1, PRIMARY | 1);
	begin(m, stream, 30 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 1, 0);
	crit_maker_leave(m, stream, 60 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, stream, 60 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_act_close(m, ROOT, stream, 100 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(class_ns(r, ROOT, CRIT_CLASS_OMP), 40 * MS);
	CHECK_UINT_EQ(class_ns(r, ROOT, CRIT_CLASS_OMP_WAIT), 0);
	crit_efficiency_of(r, &eff);
	CHECK(!eff.has_omp);
	CHECK_NEAR(eff.cpu_parallel, 1, 1e-12);
	CHECK_NEAR(eff.cpu_omp_parallel, 1, 1e-12);
	crit_results_destroy(r);
}

/* Tasks may nest deeper than an engine's first room, and a foreign parent makes no circle. */
static void test_depth_and_circles(void)
{
	uint32_t streams[3];
	struct crit_maker *m = make_team(streams);
	struct crit_results *r;

	for (uint32_t i = 1; i <= 60; i++)
		begin(m, streams[0], (10 + i) * MS / 2 + 5 * MS, CRIT_CONSTRUCT_TASK, i, 0);
	crit_maker_region(
		m, streams[0],
		(struct crit_slot_region){ .call = CRIT_CONSTRUCT_TASK, .region = 1, .parent = 2 },
		NULL);
	crit_maker_region(
		m, streams[0],
		(struct crit_slot_region){ .call = CRIT_CONSTRUCT_TASK, .region = 2, .parent = 1 },
		NULL);
	for (uint32_t i = 60; i >= 1; i--)
		crit_maker_leave(m, streams[0], 60 * MS, CRIT_CONSTRUCT_TASK);
	r = end_team(m, streams);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	CHECK_UINT_EQ(r->regions.row_count, 60);
	CHECK_INT_EQ(region_of(r, ROOT, 1)->parent, -1);
	CHECK_INT_EQ(region_of(r, ROOT, 2)->parent, 0);
	CHECK_UINT_EQ(region_of(r, ROOT, 1)->elapsed_ns, 60 * MS - 10 * MS - MS / 2);
	crit_results_destroy(r);
}

int main(void)
{
	test_two_by_two();
	test_primary_dies();
	test_nested_teams();
	test_late_arrival();
	test_instance_0();
	test_early_leaver();
	test_team_of_one();
	test_process_of_one();
	test_waiting_for_a_cpu();
	test_incomplete_barriers();
	test_depth_and_circles();
	return check_done();
}
