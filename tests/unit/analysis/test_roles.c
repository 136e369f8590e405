// SPDX-License-Identifier: BSD-3-Clause
// Roles and names of threads, and their windows: exec, tags, counters, cuts, refusals.
#include <errno.h>

#include "analysis/table/efficiency.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/maker/maker.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT

/*
 * The root is mpirun: it starts rank 200; the rank's library starts 201 in an MPI call, the
 * program 202.
 */
static struct crit_maker *make_launched(uint32_t *ret_stream)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_kernel_fork helper = { .head = { .time_ns = 9 * MS, .flags = CRIT_KF_HAS_TAG },
					   .parent_tid = 200,
					   .parent_tgid = 200,
					   .tid = 201,
					   .tgid = 200,
					   .ns_tid = 201,
					   .parent_tag = crit_tag_pack(1, 0, CRIT_MPI_Init,
								       CRIT_CLASS_MPI, 0) };

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_act_start(m, 2 * MS, 200, 200, 1);
	crit_maker_fork(m, helper);
	helper.head.time_ns = 12 * MS;
	helper.tid = helper.ns_tid = 202;
	helper.parent_tag = crit_tag_pack(2, 0, 0, CRIT_CLASS_USER, 0);
	crit_maker_fork(m, helper);
	*ret_stream = crit_act_rank(m, 200, 0, 10 * MS);
	crit_maker_enter(m, *ret_stream, 9 * MS, CRIT_MPI_Init);
	crit_maker_leave(m, *ret_stream, 10 * MS, CRIT_MPI_Init);
	return m;
}

/*
 * What perf events tell: a thread that slept is on its CPU all at once; no tag says who was born in
 * MPI, the time does; children are named as their creator until they say more.
 */
static void test_perf_half(void)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_kernel_fork child = { .head = { .time_ns = 9500000 },
					  .parent_tid = ROOT,
					  .parent_tgid = ROOT,
					  .tid = 101,
					  .tgid = ROOT };
	struct crit_kernel_enrol name = {
		.head = { .time_ns = 13 * MS }, .tid = 102, .tgid = ROOT, .comm = "worker"
	};
	struct crit_results *r;
	uint32_t stream;

	crit_maker_file(m, (struct crit_rec_file){ .kernel_status = -EPERM, .perf_status = 1 });
	crit_maker_enrol(m, (struct crit_kernel_enrol){
				    .head = { .time_ns = 9 * MS, .flags = CRIT_KF_RUNNING },
				    .tid = ROOT,
				    .tgid = ROOT,
				    .comm = "solver" });
	crit_maker_fork(m, child);
	child.head.time_ns = 11 * MS;
	child.tid = 102;
	crit_maker_fork(m, child);
	crit_act_in(m, 12 * MS, 102, 1);
	crit_maker_enrol(m, name);
	crit_act_out(m, 14 * MS, 102, 1, CRIT_ACT_SLEEPING);
	crit_act_in(m, 16 * MS, 102, 1);
	crit_act_out(m, 18 * MS, 102, 1, 0);
	crit_act_in(m, 19 * MS, 102, 0);
	stream = crit_act_rank(m, ROOT, 0, 10 * MS);
	crit_act_close(m, ROOT, stream, 20 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_KERNEL);
	CHECK_INT_EQ(r->nodes[0].kernel_half, CRIT_HALF_PERF);
	CHECK_UINT_EQ(r->losses.unmatched_switches, 0);
	CHECK_UINT_EQ(r->losses.unknown_ns, 0);
	CHECK_UINT_EQ(r->losses.tag_stale, 0);
	CHECK_INT_EQ(crit_analysed_thread(r, 101)->role, CRIT_THREAD_SERVICE);
	CHECK_STR_EQ(crit_analysed_thread(r, 101)->name, "solver");
	CHECK_INT_EQ(crit_analysed_thread(r, 102)->role, CRIT_THREAD_APP);
	CHECK_STR_EQ(crit_analysed_thread(r, 102)->name, "worker");
	CHECK_UINT_EQ(crit_cells_state(&crit_analysed_thread(r, 102)->cells, CRIT_STATE_RUNNABLE),
		      MS);
	CHECK_UINT_EQ(crit_cells_state(&crit_analysed_thread(r, 102)->cells, CRIT_STATE_BLOCKED),
		      3 * MS);
	crit_results_destroy(r);
}

static void test_roles(void)
{
	uint32_t stream;
	struct crit_maker *m = make_launched(&stream);
	struct crit_results *r;

	crit_act_close(m, 200, stream, 20 * MS);
	crit_act_end(m, 21 * MS, 200, 200, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_INT_EQ(crit_analysed_thread(r, ROOT)->role, CRIT_THREAD_LAUNCHER);
	CHECK_INT_EQ(crit_analysed_thread(r, ROOT)->rank_row, -1);
	CHECK_INT_EQ(crit_analysed_thread(r, 200)->role, CRIT_THREAD_APP);
	CHECK_INT_EQ(crit_analysed_thread(r, 201)->role, CRIT_THREAD_SERVICE);
	CHECK_INT_EQ(crit_analysed_thread(r, 202)->role, CRIT_THREAD_APP);
	CHECK_INT_EQ(crit_analysed_thread(r, 202)->rank_row, 0);
	CHECK_UINT_EQ(r->window_ns, 10 * MS);
	CHECK_NEAR(crit_analysed_ms(crit_analysed_thread(r, 200)->run.cmetric[CRIT_UNIT_RANKS]),
		   10.0, 1e-9);
	CHECK(crit_analysed_thread(r, ROOT)->run.cmetric[CRIT_UNIT_THREADS] == 0);
	crit_results_destroy(r);
}

/*
 * A rank that entered MPI_Init at 5 ms and registered at 9 ms, in MPI_Init until 10 ms: RANK has
 * the time of entry, or lacks it.
 */
static uint32_t register_late(struct crit_maker *m, uint64_t init_ns)
{
	struct {
		struct crit_rec_rank rank;
		__u64 init_ns;
	} record = { .rank = { .pid = 200, .size = 1, .open_ns = 10 * MS, .world = "world" },
		     .init_ns = init_ns };

	crit_maker_process(m, (struct crit_rec_process){ .pid = 200,
							 .ns_pid = 200,
							 .flavour = CRIT_FLAVOUR_MPICH,
							 .has_memfd = 1,
							 .time_ns = 9 * MS });
	crit_maker_chunk(m, (struct crit_chunk_head){ .kind = CRIT_C_RANK }, &record,
			 init_ns ? sizeof(record) : sizeof(record.rank));
	return crit_act_claim(m, 200, 200, 5 * MS);
}

static void fork_by_rank(struct crit_maker *m, uint64_t at_ns, uint32_t tid)
{
	crit_maker_fork(m, (struct crit_kernel_fork){ .head = { .time_ns = at_ns },
						      .parent_tid = 200,
						      .parent_tgid = 200,
						      .tid = tid,
						      .tgid = 200,
						      .ns_tid = tid });
}

/* Of a rank that registers inside MPI_Init no tag tells who was born there before that. */
static void test_late_registration(void)
{
	const struct crit_kernel_enrol helper = { .head = { .time_ns = 9 * MS, .state = 1 },
						  .tid = 201,
						  .tgid = 200,
						  .ns_tid = 201,
						  .parent_tgid = ROOT };
	const enum crit_role born[] = { CRIT_THREAD_APP, CRIT_THREAD_SERVICE };

	for (int is_told = 0; is_told < 2; is_told++) {
		struct crit_maker *m = crit_act_begin("node0");
		struct crit_results *r;
		uint32_t stream;

		CHECK_CASE("enrolled, entry %s", is_told ? "told" : "not told");
		crit_act_enrol(m, 9 * MS, 200);
		crit_maker_enrol(m, helper);
		fork_by_rank(m, 12 * MS, 202);
		stream = register_late(m, is_told ? 5 * MS : 0);
		crit_act_close(m, 200, stream, 20 * MS);
		r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
		CHECK_INT_EQ(crit_analysed_thread(r, 200)->role, CRIT_THREAD_APP);
		CHECK_INT_EQ(crit_analysed_thread(r, 201)->role, born[is_told]);
		CHECK_INT_EQ(crit_analysed_thread(r, 202)->role, CRIT_THREAD_APP);
		crit_results_destroy(r);

		CHECK_CASE("member by its parent, entry %s", is_told ? "told" : "not told");
		m = crit_act_begin("node0");
		crit_act_enrol(m, 1 * MS, ROOT);
		crit_act_start(m, 2 * MS, 200, 200, 1);
		fork_by_rank(m, 4 * MS, 203);
		fork_by_rank(m, 6 * MS, 201);
		fork_by_rank(m, 12 * MS, 202);
		stream = register_late(m, is_told ? 5 * MS : 0);
		crit_act_close(m, 200, stream, 20 * MS);
		r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
		CHECK_INT_EQ(crit_analysed_thread(r, 203)->role, CRIT_THREAD_APP);
		CHECK_INT_EQ(crit_analysed_thread(r, 201)->role, born[is_told]);
		CHECK_INT_EQ(crit_analysed_thread(r, 202)->role, CRIT_THREAD_APP);
		crit_results_destroy(r);
	}
}

/* A thread born in MPI that calls MPI itself is the program's. */
static void test_caller_is_no_service(void)
{
	uint32_t stream;
	struct crit_maker *m = make_launched(&stream);
	uint32_t own = crit_maker_stream(
		m, (struct crit_rec_stream){
			   .pid = 200, .ns_tid = 201, .buffer = 1, .claim_ns = 13 * MS });
	struct crit_results *r;

	crit_maker_enter(m, own, 13 * MS, CRIT_MPI_Recv);
	crit_maker_leave(m, own, 14 * MS, CRIT_MPI_Recv);
	crit_act_close(m, 200, stream, 20 * MS);
	crit_act_end(m, 21 * MS, 200, 200, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_INT_EQ(crit_analysed_thread(r, 201)->role, CRIT_THREAD_APP);
	crit_results_destroy(r);
}

/* OpenMP's workers born in MPI are the program's, told by a slot or, without a buffer, by a tag. */
static void test_worker_is_no_service(void)
{
	uint32_t stream;
	struct crit_maker *m = make_launched(&stream);
	uint32_t own = crit_maker_stream(
		m, (struct crit_rec_stream){
			   .pid = 200, .ns_tid = 201, .buffer = 1, .claim_ns = 13 * MS });
	struct crit_results *r;

	crit_maker_worker(m, own, 13 * MS);
	crit_act_close(m, 200, stream, 20 * MS);
	crit_act_end(m, 21 * MS, 200, 200, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_INT_EQ(crit_analysed_thread(r, 201)->role, CRIT_THREAD_APP);
	crit_results_destroy(r);
	m = make_launched(&stream);
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = 15 * MS, .cpu = 2, .state = 1 },
				     .prev_tid = 201,
				     .prev_tag = crit_tag_pack(0, 0, 0, CRIT_CLASS_OMP_IDLE, 0) });
	crit_act_close(m, 200, stream, 20 * MS);
	crit_act_end(m, 21 * MS, 200, 200, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_INT_EQ(crit_analysed_thread(r, 201)->role, CRIT_THREAD_APP);
	CHECK_UINT_EQ(
		crit_analysed_thread(r, 201)->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP_IDLE],
		crit_analysed_thread(r, 201)->death_ns - 15 * MS -
			crit_analysed_thread(r, 201)
				->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_SETUP]);
	crit_results_destroy(r);
}

/* Life ends where critd closed the window, whatever was recorded after it; names still count. */
static void test_window_cuts_lives(void)
{
	uint32_t stream;
	struct crit_maker *m = make_launched(&stream);
	struct crit_results *r;

	crit_act_close(m, 200, stream, 20 * MS);
	crit_maker_exit(m, (struct crit_kernel_exit){ .head = { .time_ns = 40 * MS },
						      .tid = 202,
						      .tgid = 200,
						      .comm = "worker" });
	crit_maker_window(m, 22 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(crit_analysed_thread(r, 202)->death_ns, 22 * MS);
	CHECK_STR_EQ(crit_analysed_thread(r, 202)->name, "worker");
	CHECK(r->nodes[0].has_window);
	crit_results_destroy(r);
}

/* At 13 ms thread 200 execs: it gets the number of its leader. */
static void exec_in_thread(struct crit_maker *m)
{
	crit_act_start(m, 10 * MS, 200, ROOT, 1);
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = { .time_ns = 12 * MS }, .tid = ROOT, .tgid = ROOT });
	crit_maker_exec(m, (struct crit_kernel_exec){ .head = { .time_ns = 13 * MS, .cpu = 1 },
						      .tid = ROOT,
						      .old_tid = 200,
						      .tgid = ROOT,
						      .ns_tid = ROOT,
						      .comm = "other" });
}

/*
 * The root's exec begins the window; before it, setup.  A thread's exec takes the leader's number.
 */
static void test_exec(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_maker_exec(m, (struct crit_kernel_exec){ .head = { .time_ns = 5 * MS },
						      .tid = ROOT,
						      .old_tid = ROOT,
						      .tgid = ROOT,
						      .ns_tid = ROOT,
						      .comm = "solver" });
	exec_in_thread(m);
	crit_act_end(m, 15 * MS, ROOT, ROOT, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->window_begin_ns, 5 * MS);
	CHECK_UINT_EQ(r->window_ns, 10 * MS);
	if (CHECK_UINT_EQ(r->thread_count, 2)) {
		CHECK_UINT_EQ(r->threads[0].life_ns, 11 * MS);
		CHECK_UINT_EQ(r->threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_SETUP], 4 * MS);
		CHECK_UINT_EQ(r->threads[1].tid, ROOT);
		CHECK_UINT_EQ(r->threads[1].life_ns, 5 * MS);
	}
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	crit_results_destroy(r);
}

/* What an attached process did before it became another program is the run's. */
static void test_attached_exec(void)
{
	const char *const arguments[] = { "solver -n 4", "" };
	const uint64_t begin_ms[] = { 5, 1 };

	for (int is_attached = 0; is_attached < 2; is_attached++) {
		struct crit_maker *m = crit_act_begin("node0");
		struct crit_rec_process process = { .pid = ROOT,
						    .ns_pid = ROOT,
						    .time_ns = 1 * MS };
		struct crit_results *r;

		CHECK_CASE("%s", is_attached ? "attached" : "started");
		(void)snprintf(process.arguments, sizeof(process.arguments), "%s",
			       arguments[is_attached]);
		crit_maker_process(m, process);
		crit_act_enrol(m, 1 * MS, ROOT);
		crit_maker_exec(m, (struct crit_kernel_exec){ .head = { .time_ns = 5 * MS },
							      .tid = ROOT,
							      .old_tid = ROOT,
							      .tgid = ROOT,
							      .ns_tid = ROOT });
		crit_act_end(m, 15 * MS, ROOT, ROOT, 0);
		r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
		CHECK_UINT_EQ(r->window_begin_ns, begin_ms[is_attached] * MS);
		CHECK_UINT_EQ(r->window_ns, (15 - begin_ms[is_attached]) * MS);
		CHECK_NEAR(crit_analysed_ms(
				   crit_analysed_thread(r, ROOT)->run.cmetric[CRIT_UNIT_THREADS]),
			   15.0 - (double)begin_ms[is_attached], 1e-9);
		crit_results_destroy(r);
	}
}

/* A thread's exec takes the leader's number; its own, on the same CPU, is another's then. */
static void test_number_after_exec(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1 * MS, ROOT);
	exec_in_thread(m);
	crit_act_out(m, 14 * MS, 200, 1, CRIT_ACT_SLEEPING);
	crit_act_end(m, 15 * MS, ROOT, ROOT, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->thread_count, 3);
	CHECK_UINT_EQ(crit_analysed_thread(r, 200)->birth_ns, 14 * MS);
	crit_results_destroy(r);
}

/*
 * The enter is stamped 300 ns after the switch-out whose tag tells of it: the sleep is in the
 * call.
 */
static void test_tag_orders_switch_and_span(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_kernel_switch out = { .head = { .time_ns = 12 * MS,
						    .state = CRIT_ACT_SLEEPING,
						    .flags = CRIT_KF_HAS_TAG },
					  .prev_tid = ROOT };
	struct crit_results *r;
	uint32_t stream;

	crit_act_enrol(m, 1 * MS, ROOT);
	stream = crit_act_rank(m, ROOT, 0, 10 * MS);
	crit_maker_enter(m, stream, 12 * MS + 300, CRIT_MPI_Recv);
	out.prev_tag = crit_maker_tag(m, stream);
	crit_maker_switch(m, out);
	crit_act_wake(m, 15 * MS, ROOT);
	crit_act_in(m, 15 * MS, ROOT, 0);
	crit_maker_leave(m, stream, 16 * MS, CRIT_MPI_Recv);
	crit_act_close(m, ROOT, stream, 18 * MS);
	crit_act_end(m, 18 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_MPI_WAIT], 3 * MS);
	CHECK_UINT_EQ(r->ranks[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER], 0);
	CHECK_UINT_EQ(r->losses.tag_disagreements, 0);
	crit_results_destroy(r);
}

/* No thread buffer was left: the tag alone says that the thread slept in MPI_Recv. */
static void test_tag_only(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = 4 * MS,
					       .state = CRIT_ACT_SLEEPING,
					       .flags = CRIT_KF_HAS_TAG },
				     .prev_tid = ROOT,
				     .prev_tag = crit_tag_pack(0, 0, CRIT_MPI_Recv,
							       CRIT_CLASS_MPI_WAIT, 0) });
	crit_act_wake(m, 9 * MS, ROOT);
	crit_act_in(m, 9 * MS, ROOT, 0);
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = 10 * MS, .flags = CRIT_KF_HAS_TAG },
				     .prev_tid = ROOT,
				     .prev_tag = crit_tag_pack(0, 0, 0, CRIT_CLASS_USER, 0) });
	crit_act_in(m, 10 * MS, ROOT, 0);
	crit_act_end(m, 12 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->threads[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_MPI_WAIT], 5 * MS);
	CHECK_UINT_EQ(r->losses.no_buffer_threads, 1);
	if (CHECK_UINT_EQ(r->call_count, 1))
		CHECK_UINT_EQ(r->calls[0].call, CRIT_MPI_Recv);
	crit_results_destroy(r);
}

/* Without the kernel half critd's own count is all that is known of threads without a buffer. */
static void test_no_buffer(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;
	uint32_t stream = crit_act_rank(m, ROOT, 0, 10 * MS);

	crit_act_close(m, ROOT, stream, 18 * MS);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = 19 * MS, .no_buffer = 3 });
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->losses.no_buffer_threads, 3);
	CHECK_UINT_EQ(r->losses.shim_spans, 0);
	crit_results_destroy(r);
}

/* Level profile: calls without spans are counted, short waits folded. */
static void test_counters(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t stream = crit_act_rank(m, 100, 0, 10 * MS);
	struct crit_counter counters[2] = {
		{ .site = 0xa, .call = CRIT_MPI_Isend, .count = 70 },
		{ .site = 0xb,
		  .call = CRIT_MPI_Recv,
		  .count = 5,
		  .folded_count = 5,
		  .folded_ns = 900,
		  .polled_count = 8 },
	};
	struct crit_results *r;

	crit_maker_enter_at(m, stream, 11 * MS, CRIT_MPI_Recv, 0xb);
	crit_maker_leave(m, stream, 12 * MS, CRIT_MPI_Recv);
	crit_maker_counters(m, stream, counters, 2);
	crit_act_close(m, 100, stream, 20 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->call_count, 2) && CHECK_UINT_EQ(r->call_site_count, 2)) {
		CHECK_UINT_EQ(r->calls[0].call, CRIT_MPI_Isend);
		CHECK_UINT_EQ(r->calls[0].visits, 70);
		CHECK_UINT_EQ(r->calls[1].visits, 6);
		CHECK_UINT_EQ(r->calls[1].folded_visits, 5);
		CHECK_UINT_EQ(r->calls[1].folded_ns, 900);
		CHECK_UINT_EQ(r->calls[1].polled_calls, 8);
		CHECK_UINT_EQ(r->calls[1].time_ns, MS);
	}
	crit_results_destroy(r);
}

static void test_kernel_rule_needs_kernel(void)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_results *r = NULL;
	uint32_t stream;

	crit_maker_file(m, (struct crit_rec_file){ .kernel_status = -EPERM });
	stream = crit_act_rank(m, 100, 0, 10 * MS);
	crit_act_close(m, 100, stream, 20 * MS);
	CHECK_INT_EQ(crit_analysed_makers(&m, 1, CRIT_ACTIVE_KERNEL, &r), -EINVAL);
	CHECK_INT_EQ(crit_analysed_bytes("CRT", 3, CRIT_ACTIVE_DEFAULT, &r), -ENODATA);
	CHECK_INT_EQ(crit_analysed_bytes("a text file", 11, CRIT_ACTIVE_DEFAULT, &r), -EPROTO);
	CHECK(r == NULL);
	crit_maker_destroy(m);
}

int main(void)
{
	test_roles();
	test_perf_half();
	test_late_registration();
	test_caller_is_no_service();
	test_worker_is_no_service();
	test_window_cuts_lives();
	test_exec();
	test_attached_exec();
	test_number_after_exec();
	test_tag_orders_switch_and_span();
	test_tag_only();
	test_no_buffer();
	test_counters();
	test_kernel_rule_needs_kernel();
	return check_done();
}
