// SPDX-License-Identifier: BSD-3-Clause
// Who took the CPU of whom, and for how long, in closed form.
#include <string.h>

#include "core/call.h"
#include "tests/lib/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT

static void take(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t by, const char *name)
{
	struct crit_kernel_taken record = {
		.switched = { .head = { .time_ns = at_ns, .cpu = 1, .flags = CRIT_KF_PREEMPTED },
			      .prev_tid = tid },
		.taker_tid = by,
		.taker_tgid = by,
	};

	(void)snprintf(record.taker_comm, sizeof(record.taker_comm), "%s", name);
	crit_maker_taken(m, record);
}

static void give_back(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu, uint32_t by,
		      const char *name)
{
	struct crit_kernel_taken record = {
		.switched = { .head = { .time_ns = at_ns, .cpu = cpu }, .next_tid = tid },
		.taker_tid = by,
		.taker_tgid = by,
	};

	(void)snprintf(record.taker_comm, sizeof(record.taker_comm), "%s", name);
	crit_maker_taken(m, record);
}

static void check_row(const struct crit_rival_row *row, enum crit_rival_kind kind, const char *name,
		      uint32_t tid, uint64_t count, uint64_t lost_ms)
{
	CHECK_CASE("%s, kind %d", name, (int)kind);
	CHECK_INT_EQ(row->kind, kind);
	CHECK_STR_EQ(row->name, name);
	CHECK_UINT_EQ(row->tid, tid);
	CHECK_UINT_EQ(row->count, count);
	CHECK_UINT_EQ(row->lost_ns, lost_ms * MS);
	CHECK_INT_EQ(row->by_thread >= 0, kind == CRIT_RIVAL_MEMBER);
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
	crit_act_in(m, 16 * MS, 200, 1);
	take(m, 18 * MS, 200, 901, "hog");
	crit_act_in(m, 20 * MS, 200, 1);
	take(m, 21 * MS, 200, 0, "");
	crit_act_in(m, 24 * MS, 200, 1);
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
	struct crit_results *r = crit_act_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	const struct crit_thread_row *loser = crit_act_thread(r, 200);
	uint64_t lost_ns = 0;

	if (CHECK_UINT_EQ(r->rival_count, 4)) {
		check_row(&r->rivals[0], CRIT_RIVAL_STRANGER, "hog", 0, 2, 6);
		check_row(&r->rivals[1], CRIT_RIVAL_HIDDEN, "", 0, 1, 3);
		check_row(&r->rivals[2], CRIT_RIVAL_MEMBER, "", 0, 1, 2);
		CHECK(&r->threads[r->rivals[2].by_thread] == crit_act_thread(r, 300));
		check_row(&r->rivals[3], CRIT_RIVAL_IDLE, "", 0, 1, 1);
	}
	for (size_t i = 0; i < r->rival_count; i++) {
		CHECK(&r->threads[r->rivals[i].thread] == loser);
		lost_ns += r->rivals[i].lost_ns;
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
		char name[CRIT_COMM_BYTES];

		(void)snprintf(name, sizeof(name), "hog%u", (unsigned int)(i % 70));
		take(m, (20 + 2 * i) * MS, 200, (uint32_t)(900 + i % 70), name);
		crit_act_in(m, (21 + 2 * i) * MS, 200, 1);
	}
	crit_act_end(m, 320 * MS, 200, ROOT, 1);
	crit_act_end(m, 320 * MS, ROOT, ROOT, 0);
	r = crit_act_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->rival_count, 64);
	for (size_t i = 0; i < r->rival_count; i++) {
		count += r->rivals[i].count;
		if (r->rivals[i].kind == CRIT_RIVAL_OTHERS)
			others += r->rivals[i].count;
	}
	CHECK_UINT_EQ(count, 140);
	CHECK_UINT_EQ(others, 14);
	check_row(&r->rivals[0], CRIT_RIVAL_OTHERS, "", 0, 14, 14);
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
		crit_act_in(m, 26 * MS, 200, 1);
		crit_maker_leave(m, stream, 30 * MS, CRIT_MPI_Recv);
		crit_act_close(m, 200, stream, 40 * MS);
		crit_act_end(m, 41 * MS, 200, 200, 1);
		crit_act_end(m, 42 * MS, ROOT, ROOT, 0);
		r = crit_act_finish(&m, 1, is_kernel ? CRIT_ACTIVE_KERNEL : CRIT_ACTIVE_DEFAULT);
		if (CHECK_UINT_EQ(r->rival_count, (size_t)is_kernel) && is_kernel)
			check_row(&r->rivals[0], CRIT_RIVAL_STRANGER, "hog", 900, 1, 4);
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
	r = crit_act_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->rival_count, 1))
		check_row(&r->rivals[0], CRIT_RIVAL_STRANGER, "hog", 900, 1,
			  (r->window_begin_ns + r->window_ns) / MS - 20);
	CHECK_UINT_EQ(r->rivals[0].lost_ns,
		      crit_act_thread(r, 200)->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER]);
	crit_results_destroy(r);
}

/* 10 ms begun by a daemon, ended by the hog: half each; on another CPU all is the first's. */
static void test_given_back(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, 200, ROOT, 1);
	take(m, 20 * MS, 200, 800, "daemon");
	give_back(m, 30 * MS, 200, 1, 900, "hog");
	take(m, 32 * MS, 200, 900, "hog");
	give_back(m, 34 * MS, 200, 1, 900, "hog");
	take(m, 36 * MS, 200, 900, "hog");
	give_back(m, 37 * MS, 200, 2, 0, "swapper/2");
	crit_act_end(m, 40 * MS, 200, ROOT, 2);
	crit_act_end(m, 42 * MS, ROOT, ROOT, 0);
	r = crit_act_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->rival_count, 2)) {
		check_row(&r->rivals[0], CRIT_RIVAL_STRANGER, "hog", 900, 2, 8);
		check_row(&r->rivals[1], CRIT_RIVAL_STRANGER, "daemon", 800, 1, 5);
	}
	crit_results_destroy(r);
}

int main(void)
{
	test_given_back();
	test_takers();
	test_many_takers();
	test_waiting_loses_nothing();
	test_cut();
	return check_done();
}
