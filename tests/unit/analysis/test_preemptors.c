// SPDX-License-Identifier: BSD-3-Clause
// Preemptors of threads and the time lost to each, in closed form.
#include <string.h>

#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT

/* Records of a CPU that is watched, or as older recordings have them. */
static uint8_t watched = CRIT_KF_WATCHED;

static struct crit_kernel_preempted name(struct crit_kernel_preempted record, uint32_t by,
					 const char *comm)
{
	record.taker_tid = by;
	record.taker_tgid = by;
	(void)snprintf(record.taker_comm, sizeof(record.taker_comm), "%s", comm);
	return record;
}

static void take_on(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu, uint32_t by,
		    const char *comm)
{
	struct crit_kernel_preempted record = {
		.switched = { .head = { .time_ns = at_ns,
					.cpu = cpu,
					.flags = CRIT_KF_PREEMPTED | watched },
			      .prev_tid = tid },
	};

	crit_maker_preempted(m, name(record, by, comm));
}

static void take(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t by, const char *comm)
{
	take_on(m, at_ns, tid, 1, by, comm);
}

static void give_back(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu, uint32_t by,
		      const char *comm)
{
	struct crit_kernel_preempted record = {
		.switched = { .head = { .time_ns = at_ns, .cpu = cpu }, .next_tid = tid },
	};

	crit_maker_preempted(m, name(record, by, comm));
}

/* The CPU goes from one stranger to another; a recording of today only. */
static void pass(struct crit_maker *m, uint64_t at_ns, uint32_t from, const char *from_comm,
		 uint32_t to, const char *to_comm)
{
	struct crit_kernel_outside record = { .head = { .time_ns = at_ns, .cpu = 1 },
					      .prev_tid = from,
					      .next_tid = to };

	(void)snprintf(record.prev_comm, sizeof(record.prev_comm), "%s", from_comm);
	(void)snprintf(record.next_comm, sizeof(record.next_comm), "%s", to_comm);
	if (watched)
		crit_maker_outside(m, record);
}

static void wake_to(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu)
{
	crit_maker_wake(m, (struct crit_kernel_wake){
				   .head = { .time_ns = at_ns, .cpu = cpu, .flags = watched },
				   .tid = tid });
}

static void check_row(const struct crit_preemptor_row *row, enum crit_preemptor_kind kind,
		      const char *comm, uint32_t tid, uint64_t count, uint64_t lost_ms)
{
	CHECK_CASE("%s, kind %d", comm, (int)kind);
	CHECK_INT_EQ(row->kind, kind);
	CHECK_STR_EQ(row->name, comm);
	CHECK_UINT_EQ(row->tid, tid);
	CHECK_UINT_EQ(row->count, count);
	CHECK_UINT_EQ(row->lost_ns, lost_ms * MS);
	CHECK_INT_EQ(row->by_thread >= 0, kind == CRIT_PREEMPTOR_MEMBER);
}

/* 200 loses its CPU to two hogs of one name, to somebody hidden, to 300 and to a quota. */
static struct crit_maker *make_takers(void)
{
	struct crit_maker *m = crit_act_begin("node0");

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, 200, ROOT, 1);
	crit_act_start(m, 10 * MS, 300, ROOT, 2);
	crit_act_out(m, 11 * MS, 300, 2, CRIT_ACT_SLEEPING);
	take(m, 12 * MS, 200, 900, "hog");
	give_back(m, 16 * MS, 200, 1, 900, "hog");
	take(m, 18 * MS, 200, 901, "hog");
	give_back(m, 20 * MS, 200, 1, 901, "hog");
	take(m, 21 * MS, 200, 0, "");
	give_back(m, 24 * MS, 200, 1, 0, "");
	crit_act_wake(m, 24 * MS + 1, 300);
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = 25 * MS, .cpu = 1 },
							  .prev_tid = 200,
							  .next_tid = 300 });
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = 27 * MS, .cpu = 1, .state = 1 },
				     .prev_tid = 300,
				     .next_tid = 200 });
	take(m, 30 * MS, 200, 0, "swapper/1");
	crit_act_in(m, 31 * MS, 200, 1);
	crit_act_end(m, 40 * MS, 200, ROOT, 1);
	crit_act_wake(m, 40 * MS, 300);
	crit_act_in(m, 40 * MS, 300, 1);
	crit_act_end(m, 41 * MS, 300, ROOT, 1);
	crit_act_end(m, 42 * MS, ROOT, ROOT, 0);
	return m;
}

static void test_takers(void)
{
	struct crit_maker *m = make_takers();
	struct crit_results *r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	const struct crit_thread_row *loser = crit_analysed_thread(r, 200);
	uint64_t lost_ns = 0;

	if (CHECK_UINT_EQ(r->preemptor_count, 4)) {
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_STRANGER, "hog", 0, 2, 6);
		check_row(&r->preemptors[1], CRIT_PREEMPTOR_HIDDEN, "", 0, 1, 3);
		check_row(&r->preemptors[2], CRIT_PREEMPTOR_MEMBER, "", 0, 1, 2);
		CHECK(&r->threads[r->preemptors[2].by_thread] == crit_analysed_thread(r, 300));
		check_row(&r->preemptors[3], CRIT_PREEMPTOR_IDLE, "", 0, 1, 1);
	}
	for (size_t i = 0; i < r->preemptor_count; i++) {
		CHECK(&r->threads[r->preemptors[i].thread] == loser);
		lost_ns += r->preemptors[i].lost_ns;
	}
	CHECK_UINT_EQ(lost_ns, loser->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER]);
	crit_results_destroy(r);
}

/* Seventy names: sixty-three are told apart, the other seven are one row. */
static void test_many_takers(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;
	uint64_t others = 0, count = 0;

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, 200, ROOT, 1);
	for (uint64_t i = 0; i < 140; i++) {
		char name_of[CRIT_COMM_BYTES];

		(void)snprintf(name_of, sizeof(name_of), "hog%u", (unsigned int)(i % 70));
		take(m, (20 + 2 * i) * MS, 200, (uint32_t)(900 + i % 70), name_of);
		give_back(m, (21 + 2 * i) * MS, 200, 1, (uint32_t)(900 + i % 70), name_of);
	}
	crit_act_end(m, 320 * MS, 200, ROOT, 1);
	crit_act_end(m, 320 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->preemptor_count, 64);
	for (size_t i = 0; i < r->preemptor_count; i++) {
		count += r->preemptors[i].count;
		if (r->preemptors[i].kind == CRIT_PREEMPTOR_OTHERS)
			others += r->preemptors[i].count;
	}
	CHECK_UINT_EQ(count, 140);
	CHECK_UINT_EQ(others, 14);
	check_row(&r->preemptors[0], CRIT_PREEMPTOR_OTHERS, "", 0, 14, 14);
	crit_results_destroy(r);
}

/* A rank that waits loses nothing when its CPU is taken; it does where waiting counts as work. */
static void test_waiting_loses_nothing(void)
{
	for (int is_kernel = 0; is_kernel < 2; is_kernel++) {
		struct crit_maker *m = crit_act_begin("node0");
		struct crit_results *r;
		uint32_t stream;

		CHECK_CASE("kernel rule %d", is_kernel);
		crit_act_enrol(m, 1, ROOT);
		crit_act_start(m, 2 * MS, 200, 200, 1);
		stream = crit_act_rank(m, 200, 0, 10 * MS);
		crit_maker_enter(m, stream, 20 * MS, CRIT_MPI_Recv);
		take(m, 22 * MS, 200, 900, "hog");
		give_back(m, 26 * MS, 200, 1, 900, "hog");
		crit_maker_leave(m, stream, 30 * MS, CRIT_MPI_Recv);
		crit_act_close(m, 200, stream, 40 * MS);
		crit_act_end(m, 41 * MS, 200, 200, 1);
		crit_act_end(m, 42 * MS, ROOT, ROOT, 0);
		r = crit_analysed_finish(&m, 1,
					 is_kernel ? CRIT_ACTIVE_KERNEL : CRIT_ACTIVE_DEFAULT);
		if (CHECK_UINT_EQ(r->preemptor_count, (size_t)is_kernel) && is_kernel)
			check_row(&r->preemptors[0], CRIT_PREEMPTOR_STRANGER, "hog", 900, 1, 4);
		crit_results_destroy(r);
	}
}

/* Who never runs again is charged until the window's end, and not beyond. */
static void test_cut(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, 200, ROOT, 1);
	take(m, 20 * MS, 200, 900, "hog");
	crit_maker_window(m, 30 * MS);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = 30 * MS });
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->preemptor_count, 1))
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_STRANGER, "hog", 900, 1,
			  (r->window_begin_ns + r->window_ns) / MS - 20);
	CHECK_UINT_EQ(r->preemptors[0].lost_ns,
		      crit_analysed_thread(r, 200)->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER]);
	crit_results_destroy(r);
}

/* Ends thread 200 at 60 ms on this CPU; the rows sum up to what it lost. */
static struct crit_results *end(struct crit_maker *m, uint16_t cpu)
{
	struct crit_results *r;
	const struct crit_thread_row *loser;
	uint64_t lost_ns = 0;

	crit_act_end(m, 60 * MS, 200, ROOT, cpu);
	crit_act_end(m, 62 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	loser = crit_analysed_thread(r, 200);
	for (size_t i = 0; i < r->preemptor_count; i++)
		lost_ns += &r->threads[r->preemptors[i].thread] == loser ? r->preemptors[i].lost_ns
									 : 0;
	CHECK_UINT_EQ(lost_ns, loser->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER]);
	return r;
}

static struct crit_maker *begin(void)
{
	struct crit_maker *m = crit_act_begin("node0");

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, 200, ROOT, 1);
	return m;
}

/* A daemon that comes first and last has 2 ms of ten; the hog between them has the other 8. */
static void test_stays(void)
{
	struct crit_maker *m = begin();
	struct crit_results *r;

	take(m, 20 * MS, 200, 800, "daemon");
	pass(m, 21 * MS, 800, "daemon", 900, "hog");
	pass(m, 29 * MS, 900, "hog", 800, "daemon");
	give_back(m, 30 * MS, 200, 1, 800, "daemon");
	r = end(m, 1);
	if (CHECK_UINT_EQ(r->preemptor_count, 2)) {
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_STRANGER, "hog", 900, 0, 8);
		check_row(&r->preemptors[1], CRIT_PREEMPTOR_STRANGER, "daemon", 800, 1, 2);
	}
	crit_results_destroy(r);
}

/* Woken while one that nobody named yet has the CPU; another member has it, too, in the end. */
static void test_woken(void)
{
	struct crit_maker *m = begin();
	struct crit_results *r;

	crit_act_start(m, 10 * MS, 300, ROOT, 2);
	crit_act_out(m, 11 * MS, 300, 2, CRIT_ACT_SLEEPING);
	crit_act_out(m, 12 * MS, 200, 1, CRIT_ACT_SLEEPING);
	wake_to(m, 20 * MS, 200, 1);
	pass(m, 23 * MS, 900, "hog", 800, "daemon");
	wake_to(m, 23 * MS, 300, 1);
	give_back(m, 24 * MS, 300, 1, 800, "daemon");
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = 26 * MS, .cpu = 1, .state = 1 },
				     .prev_tid = 300,
				     .next_tid = 200 });
	crit_act_out(m, 30 * MS, 200, 1, CRIT_ACT_SLEEPING);
	wake_to(m, 40 * MS, 200, 1);
	crit_act_in(m, 45 * MS, 200, 1); /* short: from the idle task */
	crit_act_end(m, 58 * MS, 300, ROOT, 2);
	r = end(m, 1);
	if (CHECK_UINT_EQ(r->preemptor_count, 5)) {
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_IDLE, "", 0, 0, 5);
		check_row(&r->preemptors[1], CRIT_PREEMPTOR_STRANGER, "hog", 900, 0, 3);
		check_row(&r->preemptors[2], CRIT_PREEMPTOR_MEMBER, "", 0, 0, 2);
		check_row(&r->preemptors[3], CRIT_PREEMPTOR_STRANGER, "daemon", 800, 0, 1);
		check_row(&r->preemptors[4], CRIT_PREEMPTOR_STRANGER, "daemon", 800, 0, 1);
		CHECK(&r->threads[r->preemptors[4].thread] == crit_analysed_thread(r, 300));
	}
	crit_results_destroy(r);
}

/* One that runs elsewhere was kept by whom it saw; nobody, where no switch came meanwhile. */
static void test_moved(void)
{
	struct crit_maker *m = begin();
	struct crit_results *r;

	take(m, 20 * MS, 200, 800, "daemon");
	pass(m, 21 * MS, 800, "daemon", 900, "hog");
	give_back(m, 24 * MS, 200, 2, 0, "swapper/2");
	pass(m, 26 * MS, 900, "hog", 800, "daemon");
	crit_act_out(m, 30 * MS, 200, 2, CRIT_ACT_SLEEPING);
	crit_act_in(m, 31 * MS, ROOT, 1);
	crit_act_out(m, 32 * MS, ROOT, 1, CRIT_ACT_SLEEPING);
	wake_to(m, 40 * MS, 200, 1);
	give_back(m, 45 * MS, 200, 2, 900, "hog");
	crit_act_in(m, 61 * MS, ROOT, 0);
	r = end(m, 2);
	if (CHECK_UINT_EQ(r->preemptor_count, 3)) {
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_IDLE, "", 0, 0, 5);
		check_row(&r->preemptors[1], CRIT_PREEMPTOR_STRANGER, "hog", 900, 0, 3);
		check_row(&r->preemptors[2], CRIT_PREEMPTOR_STRANGER, "daemon", 800, 1, 1);
	}
	crit_results_destroy(r);
}

/* It waits for CPU 1, where a hog is, from 25 ms on for CPU 2, where a daemon is, which ends. */
static void test_migrated(bool is_woken)
{
	struct crit_kernel_migrate migrate = {
		.head = { .kind = CRIT_K_MIGRATE, .time_ns = 25 * MS, .cpu = 2, .flags = watched },
		.tid = 200
	};
	struct crit_maker *m = begin();
	struct crit_results *r;

	CHECK_CASE("migrated, woken %d", is_woken);
	crit_act_start(m, 10 * MS, 300, ROOT, 2);
	if (is_woken) {
		crit_act_out(m, 12 * MS, 200, 1, CRIT_ACT_SLEEPING);
		wake_to(m, 20 * MS, 200, 1);
		pass(m, 20 * MS, 0, "swapper/1", 900, "hog");
	} else {
		take(m, 20 * MS, 200, 900, "hog");
	}
	take_on(m, 24 * MS, 300, 2, 800, "daemon");
	crit_maker_kernel(m, &migrate.head, sizeof(migrate));
	pass(m, 26 * MS, 900, "hog", 901, "hog"); /* of no concern any more */
	give_back(m, 28 * MS, 200, 2, 800, "daemon");
	crit_act_out(m, 29 * MS, 200, 2, CRIT_ACT_SLEEPING);
	crit_act_in(m, 29 * MS, 300, 2);
	crit_act_end(m, 30 * MS, 300, ROOT, 2);
	wake_to(m, 40 * MS, 200, 1);
	crit_act_in(m, 40 * MS, 200, 2);
	r = end(m, 2);
	for (size_t i = 0; i < r->preemptor_count; i++) {
		const struct crit_preemptor_row *row = &r->preemptors[i];

		if (&r->threads[row->thread] == crit_analysed_thread(r, 300))
			continue;
		if (row->tid == 800)
			check_row(row, CRIT_PREEMPTOR_STRANGER, "daemon", 800, 0, 3);
		else
			check_row(row, CRIT_PREEMPTOR_STRANGER, "hog", 900, !is_woken, 5);
	}
	CHECK_UINT_EQ(r->preemptor_count, 4); /* two of 300 */
	crit_results_destroy(r);
}

/* Some switches between 21 and 29 ms are left out, which the next record says. */
static void test_left_out(void)
{
	struct crit_maker *m = begin();
	struct crit_results *r;

	take(m, 20 * MS, 200, 800, "daemon");
	pass(m, 21 * MS, 800, "daemon", 900, "hog");
	crit_maker_outside(m, (struct crit_kernel_outside){ .head = { .time_ns = 29 * MS,
								      .cpu = 1,
								      .flags = CRIT_KF_LEFT_OUT },
							    .prev_tid = 900,
							    .next_tid = 800,
							    .prev_comm = "hog",
							    .next_comm = "daemon" });
	give_back(m, 30 * MS, 200, 1, 800, "daemon");
	r = end(m, 1);
	if (CHECK_UINT_EQ(r->preemptor_count, 2)) {
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_UNKNOWN, "", 0, 0, 8);
		check_row(&r->preemptors[1], CRIT_PREEMPTOR_STRANGER, "daemon", 800, 1, 2);
	}
	crit_results_destroy(r);
}

/* A recording from before CPUs were watched: one who came and left, two, one, and none named. */
static void test_older(void)
{
	struct crit_maker *m = begin();
	struct crit_results *r;

	watched = 0;
	take(m, 20 * MS, 200, 900, "hog");
	give_back(m, 24 * MS, 200, 1, 900, "hog");
	take(m, 30 * MS, 200, 800, "daemon");
	give_back(m, 35 * MS, 200, 1, 900, "hog");
	take(m, 40 * MS, 200, 900, "hog");
	give_back(m, 43 * MS, 200, 2, 0, "swapper/2");
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = 50 * MS,
								    .cpu = 2,
								    .flags = CRIT_KF_PREEMPTED },
							  .prev_tid = 200 });
	crit_act_in(m, 52 * MS, 200, 2);
	r = end(m, 2);
	if (CHECK_UINT_EQ(r->preemptor_count, 4)) {
		check_row(&r->preemptors[0], CRIT_PREEMPTOR_UNKNOWN, "", 0, 0, 8);
		check_row(&r->preemptors[1], CRIT_PREEMPTOR_STRANGER, "hog", 900, 2, 4);
		check_row(&r->preemptors[2], CRIT_PREEMPTOR_HIDDEN, "", 0, 1, 2);
		check_row(&r->preemptors[3], CRIT_PREEMPTOR_STRANGER, "daemon", 800, 1, 0);
	}
	crit_results_destroy(r);
	watched = CRIT_KF_WATCHED;
}

/* Of forty that wait for one CPU thirty-two are told who had it. */
static void test_long_queue(void)
{
	struct crit_maker *m = begin();
	struct crit_results *r;
	uint64_t others_ns = 0, hog_ns = 0;

	crit_act_out(m, 10 * MS, 200, 1, CRIT_ACT_SLEEPING);
	for (uint32_t i = 0; i < 40; i++) {
		crit_act_start(m, (11 + i) * MS, 300 + i, ROOT, 2);
		crit_act_out(m, (11 + i) * MS, 300 + i, 2, CRIT_ACT_SLEEPING);
		wake_to(m, 100 * MS, 300 + i, 1);
	}
	pass(m, 103 * MS, 900, "hog", 900, "hog");
	crit_maker_window(m, 104 * MS);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = 104 * MS });
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->preemptor_count, 40);
	for (size_t i = 0; i < r->preemptor_count; i++) {
		others_ns += r->preemptors[i].kind == CRIT_PREEMPTOR_OTHERS
				     ? r->preemptors[i].lost_ns
				     : 0;
		hog_ns += r->preemptors[i].kind == CRIT_PREEMPTOR_STRANGER
				  ? r->preemptors[i].lost_ns
				  : 0;
	}
	CHECK_UINT_EQ(others_ns, 8 * 4 * MS);
	CHECK_UINT_EQ(hog_ns, 32 * 4 * MS);
	crit_results_destroy(r);
}

int main(void)
{
	test_stays();
	test_woken();
	test_moved();
	test_migrated(true);
	test_migrated(false);
	test_left_out();
	test_older();
	test_long_queue();
	test_takers();
	test_many_takers();
	test_waiting_loses_nothing();
	test_cut();
	return check_done();
}
