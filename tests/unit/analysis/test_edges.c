// SPDX-License-Identifier: BSD-3-Clause
// Recordings made by hand for what random ones do not reach, with figures worked out on paper.
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"

#define T0 1000000000ull
#define PID 100u

/* One rank of one thread that runs from T0 on, its part open from the start. */
static struct crit_maker *begin(uint32_t *ret_stream)
{
	struct crit_maker *m = crit_maker_create(NULL);

	crit_maker_file(m, (struct crit_rec_file){ .host = "node0",
						   .cpu_count = 2,
						   .level = CRIT_LEVEL_TRACE,
						   .start_mono_ns = T0,
						   .start_real_ns = T0 });
	crit_maker_enrol(
		m, (struct crit_kernel_enrol){ .head = { .time_ns = T0, .flags = CRIT_KF_RUNNING },
					       .tid = PID,
					       .tgid = PID,
					       .ns_tid = PID,
					       .comm = "main" });
	crit_maker_process(m, (struct crit_rec_process){ .pid = PID,
							 .ns_pid = PID,
							 .flavour = CRIT_FLAVOUR_MPICH,
							 .time_ns = T0 });
	*ret_stream = crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = PID, .ns_tid = PID, .claim_ns = T0 });
	crit_maker_rank(m, (struct crit_rec_rank){
				   .pid = PID, .size = 1, .open_ns = T0, .world = "world" });
	return m;
}

/* The thread ends and with it the process. */
static void end(struct crit_maker *m, uint64_t time_ns)
{
	struct crit_kernel_head head = { .time_ns = time_ns };

	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = head, .tid = PID, .tgid = PID, .comm = "main" });
	head.state = 0x80;
	head.flags = CRIT_KF_TAG_STALE;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = PID, .time_ns = time_ns });
}

/* Analyses and destroys; NULL when that fails. */
static struct crit_results *finish(struct crit_maker *m)
{
	struct crit_results *r = NULL;

	if (CHECK_INT_EQ(crit_analysed_makers(&m, 1, CRIT_ACTIVE_DEFAULT, &r), 0) && r)
		CHECK_STR_EQ(crit_analysed_failed_check(r), NULL);
	crit_maker_destroy(m);
	return r;
}

static uint64_t running(const struct crit_results *r, enum crit_span_class class)
{
	return r->threads[0].cells.ns[CRIT_STATE_RUNNING][class];
}

static void switch_at(struct crit_maker *m, uint64_t time_ns, uint64_t tag)
{
	struct crit_kernel_head head = { .time_ns = time_ns, .flags = CRIT_KF_PREEMPTED };

	crit_maker_switch(
		m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID, .prev_tag = tag });
	head.flags = 0;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = PID });
}

/* The depth guard lets one MPI span in; a second enter means that a leave was lost. */
static void check_lost_leave(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("a leave is lost");
	crit_maker_enter(m, stream, T0 + 100, CRIT_MPI_Recv);
	crit_maker_enter(m, stream, T0 + 300, CRIT_MPI_Isend);
	crit_maker_leave(m, stream, T0 + 400, CRIT_MPI_Isend);
	end(m, T0 + 1000);
	r = finish(m);
	if (r) {
		CHECK_UINT_EQ(r->losses.unbalanced_spans, 1);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_MPI_WAIT), 200);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_MPI), 100);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 700);
	}
	crit_results_destroy(r);
}

/* A leave nobody entered changes nothing. */
static void check_lost_enter(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("an enter is lost");
	crit_maker_leave(m, stream, T0 + 400, CRIT_MPI_Isend);
	end(m, T0 + 1000);
	r = finish(m);
	if (r) {
		CHECK_UINT_EQ(r->losses.unbalanced_spans, 1);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 1000);
	}
	crit_results_destroy(r);
}

/*
 * Level profile holds a wait back until it is over: who dies inside leaves it in the thread
 * buffer's head.
 */
static void check_held_wait(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("dies in a wait that was held back");
	crit_maker_stream_end(m, stream,
			      (struct crit_rec_stream_end){ .open_call = CRIT_MPI_Recv,
							    .open_class = CRIT_CLASS_MPI_WAIT,
							    .open_first_ns = T0 + 300,
							    .open_last_ns = T0 + 300 });
	end(m, T0 + 1000);
	r = finish(m);
	if (r) {
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 300);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_MPI_WAIT), 700);
	}
	crit_results_destroy(r);
}

/* Who dies in a poll loop polled until the last failing call. */
static void check_open_poll(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("dies in a poll loop");
	crit_maker_stream_end(m, stream,
			      (struct crit_rec_stream_end){ .open_call = CRIT_MPI_Test,
							    .open_class = CRIT_CLASS_MPI_POLL,
							    .open_first_ns = T0 + 10000,
							    .open_last_ns = T0 + 90000,
							    .open_count = 200 });
	end(m, T0 + 100000);
	r = finish(m);
	if (r) {
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 20000);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_MPI_POLL), 80000);
	}
	crit_results_destroy(r);
}

/*
 * The tag says the span had begun although its stamp is later: the stamp is moved, nothing is
 * lost.
 */
static void check_tag_before_stamp(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("a tag orders switch and span");
	crit_maker_enter(m, stream, T0 + 500, CRIT_MPI_Barrier);
	switch_at(m, T0 + 400, crit_maker_tag(m, stream));
	crit_maker_leave(m, stream, T0 + 800, CRIT_MPI_Barrier);
	switch_at(m, T0 + 900, crit_maker_tag(m, stream));
	end(m, T0 + 1000);
	r = finish(m);
	if (r) {
		CHECK_UINT_EQ(r->losses.tag_disagreements, 0);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_MPI_WAIT), 400);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 600);
	}
	crit_results_destroy(r);
}

/* A tag from before spans that were written long ago is impossible. */
static void check_tag_disagrees(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;
	uint64_t before = crit_maker_tag(m, stream);

	CHECK_CASE("an impossible tag");
	for (uint64_t i = 0; i < 10; i++) {
		crit_maker_enter(m, stream, T0 + 100 * i, CRIT_MPI_Barrier);
		crit_maker_leave(m, stream, T0 + 100 * i + 50, CRIT_MPI_Barrier);
	}
	switch_at(m, T0 + 5000, before);
	end(m, T0 + 6000);
	r = finish(m);
	if (r)
		CHECK_UINT_EQ(r->losses.tag_disagreements, 1);
	crit_results_destroy(r);
}

/* Slots that are missing inside a stream show in the numbers of those after them. */
static bool drop_third(void *user, uint32_t stream, struct crit_slot *slot)
{
	uint32_t *seen = user;

	(void)stream;
	(void)slot;
	return (*seen)++ != 2;
}

static void check_slot_hole(bool is_last)
{
	uint32_t seen = 0;
	struct crit_maker_options options = { .tamper_slot = drop_third, .user = &seen };
	struct crit_maker *m = crit_maker_create(&options);
	struct crit_results *r = NULL;
	uint32_t stream;

	CHECK_CASE("a slot is missing, %s", is_last ? "at the end" : "inside");
	crit_maker_file(m, (struct crit_rec_file){ .host = "node0", .kernel_status = -1 });
	crit_maker_process(m,
			   (struct crit_rec_process){ .pid = PID, .ns_pid = PID, .time_ns = T0 });
	stream = crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = PID, .ns_tid = PID, .claim_ns = T0 });
	crit_maker_rank(m, (struct crit_rec_rank){ .pid = PID, .size = 1, .open_ns = T0 });
	crit_maker_enter(m, stream, T0 + 100, CRIT_MPI_Barrier);
	crit_maker_leave(m, stream, T0 + 200, CRIT_MPI_Barrier);
	crit_maker_enter(m, stream, T0 + 300, CRIT_MPI_Barrier); /* dropped */
	crit_maker_drain(m);
	if (!is_last) {
		crit_maker_enter(m, stream, T0 + 500, CRIT_MPI_Barrier);
		crit_maker_leave(m, stream, T0 + 600, CRIT_MPI_Barrier);
	}
	crit_maker_stream_end(m, stream, (struct crit_rec_stream_end){ .release_ns = T0 + 1000 });
	r = finish(m);
	if (r)
		CHECK_INT_GT(r->losses.shim_spans, 0);
	crit_results_destroy(r);
}

/*
 * A switch-in is lost: between the wakeup and the switch-out the thread was runnable or running,
 * active
 * either way, so it is credited; the misfit is counted.
 */
static void check_lost_switch_in(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_kernel_head head = { .time_ns = T0 + 100, .state = 1 };
	struct crit_results *r;

	CHECK_CASE("a switch-in is lost");
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	head.time_ns = T0 + 300;
	head.state = 0;
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = head, .tid = PID });
	/* the switch-in at T0 + 350 is not here */
	switch_at(m, T0 + 600, 0);
	end(m, T0 + 1000);
	r = finish(m);
	if (r) {
		const struct crit_thread_row *t = &r->threads[0];

		CHECK_UINT_EQ(r->losses.unmatched_switches, 1);
		CHECK_UINT_EQ(t->unmatched, 1);
		CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER], 200);
		CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER], 300);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 500);
		CHECK_NEAR(crit_fix_seconds(t->run.cmetric[CRIT_UNIT_THREADS]) * 1e9, 800, 1e-6);
		CHECK_NEAR(crit_fix_seconds(t->run.all_waiting[CRIT_UNIT_THREADS]) * 1e9, 200,
			   1e-6);
	}
	crit_results_destroy(r);
}

/* A switch-out is lost: unknown from the last certain stamp to the next one, credited to nobody. */
static void check_lost_switch_out(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_kernel_head head = { .time_ns = T0 + 700 };
	struct crit_results *r;

	CHECK_CASE("a switch-out is lost");
	switch_at(m, T0 + 200, 0);
	/* the switch-out at T0 + 300, blocked, is not here, nor can the wakeup tell */
	head.time_ns = T0 + 600;
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = head, .tid = PID });
	head.time_ns = T0 + 700;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = PID });
	end(m, T0 + 1000);
	r = finish(m);
	if (r) {
		const struct crit_thread_row *t = &r->threads[0];

		CHECK_UINT_EQ(r->losses.unmatched_switches, 1);
		CHECK_UINT_EQ(r->losses.unknown_ns, 500);
		CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], 500);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 500);
		CHECK_NEAR(crit_fix_seconds(t->run.cmetric[CRIT_UNIT_THREADS]) * 1e9, 500, 1e-6);
		CHECK_NEAR(crit_fix_seconds(t->run.all_waiting[CRIT_UNIT_THREADS]) * 1e9, 500,
			   1e-6);
	}
	crit_results_destroy(r);
}

static void bear(struct crit_maker *m, uint64_t time_ns, uint32_t tid)
{
	struct crit_kernel_head head = { .time_ns = time_ns, .cpu = 1 };

	crit_maker_fork(m, (struct crit_kernel_fork){ .head = head,
						      .parent_tid = PID,
						      .parent_tgid = PID,
						      .tid = tid,
						      .tgid = PID,
						      .ns_tid = tid,
						      .comm = "child" });
	crit_maker_wake_new(m, (struct crit_kernel_wake){ .head = head, .tid = tid });
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = tid });
}

static void bury(struct crit_maker *m, uint64_t time_ns, uint32_t tid)
{
	struct crit_kernel_head head = { .time_ns = time_ns, .cpu = 1 };

	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = head, .tid = tid, .tgid = PID, .comm = "child" });
	head.state = 0x80;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = tid });
}

/* Two threads cannot be on one CPU: who was there is unknown since it came, on the last CPU too. */
static void check_displaced(uint16_t cpu)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_kernel_head head = { .time_ns = T0 + 100, .flags = CRIT_KF_PREEMPTED };
	struct crit_results *r;

	CHECK_CASE("another thread comes to CPU %u", cpu);
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	head = (struct crit_kernel_head){ .time_ns = T0 + 200, .cpu = cpu };
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = PID });
	bear(m, T0 + 300, 101);
	head = (struct crit_kernel_head){ .time_ns = T0 + 400, .cpu = 1 };
	head.flags = CRIT_KF_PREEMPTED;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = 101 });
	head = (struct crit_kernel_head){ .time_ns = T0 + 500, .cpu = cpu };
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = 101 });
	/* the switch-out of the first one is not here */
	head.flags = CRIT_KF_PREEMPTED;
	head.time_ns = T0 + 600;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = 101 });
	head.time_ns = T0 + 700;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	head = (struct crit_kernel_head){ .time_ns = T0 + 800 };
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = PID });
	head.cpu = 1;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = 101 });
	bury(m, T0 + 900, 101);
	end(m, T0 + 1000);
	r = finish(m);
	if (r && CHECK_UINT_EQ(r->thread_count, 2)) {
		CHECK_UINT_EQ(r->losses.unknown_ns, 500);
		CHECK_UINT_EQ(r->threads[0].cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], 500);
		CHECK_UINT_EQ(running(r, CRIT_CLASS_USER), 300);
	}
	crit_results_destroy(r);
}

/* A number that is used again is another thread, with a stream and a row of its own. */
static void check_reused_number(void)
{
	uint32_t stream, child;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("a thread number is used again");
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t at = T0 + 100 + 400 * i;

		bear(m, at, 101);
		child = crit_maker_stream(
			m, (struct crit_rec_stream){ .pid = PID, .ns_tid = 101, .claim_ns = at });
		crit_maker_enter(m, child, at + 50, CRIT_MPI_Recv);
		crit_maker_leave(m, child, at + 150 + 50 * i, CRIT_MPI_Recv);
		crit_maker_stream_end(m, child,
				      (struct crit_rec_stream_end){ .release_ns = at + 200 });
		bury(m, at + 300, 101);
	}
	end(m, T0 + 1000);
	r = finish(m);
	if (r && CHECK_UINT_EQ(r->thread_count, 3)) {
		for (size_t i = 1; i < 3; i++) {
			const struct crit_thread_row *t = &r->threads[i];

			CHECK_UINT_EQ(t->tid, 101);
			CHECK_UINT_EQ(t->birth_ns, T0 + 100 + 400 * (i - 1));
			CHECK_UINT_EQ(t->life_ns, 300);
			CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT],
				      50 + 50 * i);
		}
		CHECK_UINT_EQ(crit_analysed_losses(&r->losses), 0);
	}
	crit_results_destroy(r);
}

/* A thread that calls exec takes the leader's number; the leader and its spans are gone. */
static void check_exec_by_thread(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_kernel_head head = { .time_ns = T0 + 500, .cpu = 1 };
	struct crit_results *r;

	CHECK_CASE("exec by another thread than the leader");
	bear(m, T0 + 100, 101);
	head.time_ns = T0 + 400;
	head.cpu = 0;
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = head, .tid = PID, .tgid = PID, .comm = "main" });
	head.state = 0x80;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	head = (struct crit_kernel_head){ .time_ns = T0 + 500, .cpu = 1 };
	crit_maker_exec(m, (struct crit_kernel_exec){ .head = head,
						      .tid = PID,
						      .old_tid = 101,
						      .tgid = PID,
						      .ns_tid = PID,
						      .comm = "next" });
	head.time_ns = T0 + 900;
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = head, .tid = PID, .tgid = PID, .comm = "next" });
	head.state = 0x80;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = PID, .time_ns = T0 + 900 });
	r = finish(m);
	if (r && CHECK_UINT_EQ(r->thread_count, 2)) {
		CHECK_UINT_EQ(r->window_ns, 900);
		CHECK_UINT_EQ(r->threads[0].life_ns + r->threads[1].life_ns, 400 + 800);
		CHECK_UINT_EQ(crit_analysed_losses(&r->losses), 0);
		CHECK_UINT_EQ(r->losses.unknown_ns, 0);
	}
	crit_results_destroy(r);
}

/* A record that comes long after its time is counted, and the laws stand. */
static void check_late_record(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("a record comes 40 ms late");
	for (uint64_t i = 1; i <= 10; i++)
		switch_at(m, T0 + 10000000 * i, 0);
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = { .time_ns = T0 + 60000000 },
						      .tid = PID });
	end(m, T0 + 110000000);
	r = finish(m);
	if (r)
		CHECK_UINT_EQ(r->losses.late_records, 1);
	crit_results_destroy(r);
}

/* A rank whose last session ended and that began another one takes part until the new one's end. */
static void check_reopened(void)
{
	uint32_t stream;
	struct crit_maker *m = begin(&stream);
	struct crit_results *r;

	CHECK_CASE("a session is opened again");
	crit_maker_close(m, (struct crit_rec_close){ .pid = PID, .close_ns = T0 + 300 });
	crit_maker_window(m, T0 + 300);
	crit_maker_close(m, (struct crit_rec_close){ .pid = PID, .has_reopened = 1 });
	crit_maker_close(m, (struct crit_rec_close){ .pid = PID, .close_ns = T0 + 800 });
	end(m, T0 + 1000);
	crit_maker_window(m, T0 + 1000);
	r = finish(m);
	if (r && CHECK_UINT_EQ(r->rank_count, 1)) {
		CHECK_UINT_EQ(r->window_ns, 800);
		CHECK_INT_EQ(r->ranks[0].is_open, 0);
		CHECK_UINT_EQ(r->threads[0].life_ns, 1000);
	}
	crit_results_destroy(r);
}

int main(void)
{
	check_reopened();
	check_lost_switch_in();
	check_lost_switch_out();
	check_displaced(7);
	check_displaced(65535);
	check_reused_number();
	check_exec_by_thread();
	check_late_record();
	check_lost_leave();
	check_lost_enter();
	check_held_wait();
	check_open_poll();
	check_tag_before_stamp();
	check_tag_disagrees();
	check_slot_hole(false);
	check_slot_hole(true);
	return check_done();
}
