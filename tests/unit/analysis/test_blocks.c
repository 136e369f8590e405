// SPDX-License-Identifier: BSD-3-Clause
// Threads blocked for known times in known system calls: what each cell has, in closed form.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "analysis/samples/last_waits.h"
#include "core/abi/abi_blocked.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define OTHER 200u
#define STOPPED 4 /* states of the kernel */
#define TRACED 8
#define LOCK_A 0x7f0000001000ull
#define LOCK_B 0x7f0000001040ull

static struct crit_kernel_call call_of(long number, uint64_t argument, uint32_t argument_2)
{
	return (struct crit_kernel_call){ .argument = argument,
					  .argument_2 = argument_2,
					  .number = (int16_t)number };
}

/* The thread, on a CPU of its own, blocks from at_ns on in the call; for_ns later it runs again. */
static void block_in(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint64_t for_ns,
		     struct crit_kernel_call call, uint8_t state)
{
	const uint16_t cpu = tid == ROOT ? 0 : 1;
	struct crit_kernel_blocked record = { .switched = { .head = { .kind = CRIT_K_SWITCH,
								      .cpu = cpu,
								      .flags = CRIT_KF_PREV_MEMBER |
									       CRIT_KF_CALL,
								      .state = state,
								      .time_ns = at_ns },
							    .prev_tid = tid },
					      .call = call };

	crit_maker_kernel(m, &record.switched.head, sizeof(record));
	crit_act_wake(m, at_ns + for_ns, tid);
	crit_act_in(m, at_ns + for_ns, tid, cpu);
}

static void block(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint64_t for_ns,
		  struct crit_kernel_call call)
{
	block_in(m, at_ns, tid, for_ns, call, CRIT_ACT_SLEEPING);
}

/* As block, while a member waits for the CPU, which a task outside the run gets. */
static void block_taken(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint64_t for_ns,
			struct crit_kernel_call call)
{
	struct crit_kernel_blocked_taken record = {
		.taken = { .switched = { .head = { .kind = CRIT_K_SWITCH,
						   .flags = CRIT_KF_PREV_MEMBER | CRIT_KF_CALL,
						   .state = CRIT_ACT_SLEEPING,
						   .time_ns = at_ns },
					 .prev_tid = tid },
			   .taker_tid = 77,
			   .taker_comm = "hog" },
		.call = call
	};

	crit_maker_kernel(m, &record.taken.switched.head, sizeof(record));
	crit_act_wake(m, at_ns + for_ns, tid);
	crit_act_in(m, at_ns + for_ns, tid, 0);
}

static const struct crit_block_cell *find(const struct crit_results *r, uint32_t tid, long number,
					  uint64_t object)
{
	for (size_t i = 0; i < r->blocks.cell_count; i++) {
		const struct crit_block_cell *cell = &r->blocks.cells[i];

		if (r->threads[cell->thread].tid == tid && cell->call.number == number &&
		    cell->call.object == object)
			return cell;
	}
	return NULL;
}

static void check_cell(const struct crit_results *r, uint32_t tid, long number, uint64_t object,
		       uint64_t count, uint64_t blocked_ns)
{
	const struct crit_block_cell *cell = find(r, tid, number, object);

	CHECK_CASE("%u in %ld on %llx", tid, number, (unsigned long long)object);
	if (!CHECK(cell))
		return;
	CHECK_UINT_EQ(cell->count, count);
	CHECK_UINT_EQ(cell->blocked_ns, blocked_ns);
}

static void check_calls(void)
{
	struct crit_maker *m = crit_act_begin("node");
	struct crit_kernel_call compat = call_of(SYS_read, 5, 0);
	struct crit_results *r;

	compat.flags = CRIT_CALL_COMPAT;
	crit_act_enrol(m, 0, ROOT);
	crit_act_start(m, 1 * MS, OTHER, OTHER, 1);
	block(m, 10 * MS, ROOT, 5 * MS, call_of(SYS_clock_nanosleep, 1, 0));
	block(m, 20 * MS, OTHER, 4 * MS, call_of(SYS_read, 3, 0x1000));
	block(m, 30 * MS, OTHER, 4 * MS, call_of(SYS_read, 4, 0x2000));
	block(m, 40 * MS, ROOT, 7 * MS, call_of(SYS_clock_nanosleep, 1, 0));
	block(m, 50 * MS, OTHER, 3 * MS, call_of(SYS_futex, LOCK_A, FUTEX_WAIT_PRIVATE));
	block(m, 60 * MS, OTHER, 2 * MS, call_of(SYS_futex, LOCK_B, FUTEX_WAIT_PRIVATE));
	block(m, 70 * MS, OTHER, 1 * MS, call_of(SYS_futex, LOCK_A, FUTEX_WAIT_PRIVATE));
	block(m, 80 * MS, ROOT, 6 * MS, call_of(-1, 0, 0));
	block_taken(m, 90 * MS, ROOT, 2 * MS, call_of(SYS_read, 3, 0x3000));
	block(m, 94 * MS, ROOT, 1 * MS, compat);
	crit_act_out(m, 96 * MS, ROOT, 0, CRIT_ACT_SLEEPING); /* by an older critd */
	crit_act_wake(m, 97 * MS, ROOT);
	crit_act_in(m, 98 * MS, ROOT, 0);
	crit_act_end(m, 100 * MS, OTHER, OTHER, 1);
	crit_act_end(m, 101 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	check_cell(r, ROOT, SYS_clock_nanosleep, 0, 2, 12 * MS);
	check_cell(r, OTHER, SYS_read, 3, 1, 4 * MS);
	check_cell(r, OTHER, SYS_read, 4, 1, 4 * MS);
	check_cell(r, OTHER, SYS_futex, LOCK_A, 2, 4 * MS);
	check_cell(r, OTHER, SYS_futex, LOCK_B, 1, 2 * MS);
	check_cell(r, ROOT, CRIT_BLOCK_NO_CALL, 0, 1, 6 * MS);
	check_cell(r, ROOT, SYS_read, 3, 1, 2 * MS);
	check_cell(r, ROOT, SYS_read, 0, 1,
		   1 * MS); /* descriptors are not what 32-bit calls have */
	check_cell(r, ROOT, CRIT_BLOCK_NOT_TOLD, 0, 1, 1 * MS);
	CHECK(find(r, ROOT, SYS_read, 0) && find(r, ROOT, SYS_read, 0)->call.is_compat);
	crit_results_destroy(r);
}

/* A signal stops a thread in a call, then one whose call is not told; a debugger stops another. */
static void check_stops(void)
{
	const struct crit_kernel_call sleep = call_of(SYS_clock_nanosleep, 1, 0);
	const struct crit_kernel_call lock = call_of(SYS_futex, LOCK_A, FUTEX_WAIT_PRIVATE);
	struct crit_maker *m = crit_act_begin("node");
	struct crit_results *r;

	crit_act_enrol(m, 0, ROOT);
	crit_act_start(m, 1 * MS, OTHER, OTHER, 1);
	block(m, 10 * MS, ROOT, 2 * MS, sleep);
	block_in(m, 13 * MS, ROOT, 5 * MS, sleep, STOPPED);
	block_in(m, 20 * MS, OTHER, 3 * MS, lock, TRACED);
	block(m, 30 * MS, OTHER, 4 * MS, lock);
	crit_act_out(m, 40 * MS, ROOT, 0, STOPPED);
	crit_act_wake(m, 41 * MS, ROOT);
	crit_act_in(m, 42 * MS, ROOT, 0);
	crit_act_end(m, 50 * MS, OTHER, OTHER, 1);
	crit_act_end(m, 51 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	check_cell(r, ROOT, SYS_clock_nanosleep, 0, 1, 2 * MS);
	check_cell(r, ROOT, CRIT_BLOCK_STOPPED, 0, 2, 6 * MS);
	check_cell(r, OTHER, CRIT_BLOCK_STOPPED, 0, 1, 3 * MS);
	check_cell(r, OTHER, SYS_futex, LOCK_A, 1, 4 * MS);
	CHECK_UINT_EQ(r->blocks.cell_count, 4);
	crit_results_destroy(r);
}

/* Of a rank's time outside its part of the window nothing is counted. */
static void check_window(void)
{
	struct crit_maker *m = crit_act_begin("node");
	struct crit_results *r;
	uint32_t stream;

	crit_act_enrol(m, 0, ROOT);
	crit_act_start(m, 1 * MS, OTHER, OTHER, 1);
	stream = crit_act_rank(m, OTHER, 0, 20 * MS);
	block(m, 15 * MS, OTHER, 10 * MS, call_of(SYS_read, 3, 0)); /* half of it inside */
	block(m, 90 * MS, OTHER, 20 * MS, call_of(SYS_read, 4, 0));
	crit_act_close(m, OTHER, stream, 100 * MS);
	crit_act_end(m, 120 * MS, OTHER, OTHER, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	check_cell(r, OTHER, SYS_read, 3, 1, 5 * MS);
	check_cell(r, OTHER, SYS_read, 4, 1, 10 * MS);
	CHECK_UINT_EQ(r->blocks.cell_count, 2);
	crit_results_destroy(r);
}

/* The way to the thread's next block, kept with keep / 65536. */
static void capture(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint64_t ip, uint16_t keep)
{
	struct crit_kernel_sample record = { .head = { .kind = CRIT_K_CAPTURE,
						       .cpu = tid == ROOT ? 0 : 1,
						       .flags = CRIT_KF_IN_KERNEL,
						       .time_ns = at_ns },
					     .tid = tid,
					     .request = 1,
					     .ip = ip,
					     .keep = keep };

	crit_maker_kernel(m, &record.head, sizeof(record));
}

/* Of 15 ms some blocks are captured: 4 ms at p = 1, and 1 ms at p = 1/16, which stands for 16. */
static void check_captures(void)
{
	const struct crit_kernel_call sleep = call_of(SYS_clock_nanosleep, 1, 0);
	struct crit_maker *m = crit_act_begin("node");
	const struct crit_block_cell *cell;
	struct crit_results *r;

	crit_act_enrol(m, 0, ROOT);
	capture(m, 10 * MS, ROOT, 0x10, 0);
	block(m, 10 * MS, ROOT, 4 * MS, sleep);
	block(m, 20 * MS, ROOT, 10 * MS, sleep);
	capture(m, 40 * MS, ROOT, 0x20, 65536 / 16);
	block(m, 40 * MS, ROOT, 1 * MS, sleep);
	block(m, 50 * MS, ROOT, 7 * MS, call_of(SYS_read, 3, 0));
	crit_act_end(m, 60 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->samples.count, 0); /* these are no samples of CPUs */
	CHECK_UINT_EQ(r->blocks.captures, 2);
	cell = find(r, ROOT, SYS_clock_nanosleep, 0);
	if (CHECK(cell) && CHECK_UINT_EQ(cell->path_count, 2)) {
		const struct crit_block_path *paths = &r->blocks.paths[cell->first_path];

		CHECK_UINT_EQ(cell->not_captured_ns, 0);
		CHECK_UINT_EQ(paths[0].address, 0x10);
		CHECK_UINT_EQ(paths[0].blocked_ns, 3 * MS);
		CHECK_UINT_EQ(paths[1].address, 0x20);
		CHECK_UINT_EQ(paths[1].blocked_ns, 12 * MS);
		CHECK_UINT_EQ(paths[1].count, 1);
	}
	cell = find(r, ROOT, SYS_read, 3);
	CHECK(cell && cell->path_count == 0 && cell->not_captured_ns == 7 * MS);
	crit_results_destroy(r);
}

static void check_last_wait(const struct crit_results *r, size_t at, uint32_t tid,
			    uint64_t since_ms, uint64_t until_ms)
{
	const struct crit_last_wait *wait = &r->blocks.last_waits[at];

	CHECK_CASE("thread %u", tid);
	CHECK_UINT_EQ(r->threads[wait->thread].tid, tid);
	CHECK_UINT_EQ(wait->since_ns - r->window_begin_ns, since_ms * MS);
	CHECK_UINT_EQ(wait->until_ns - r->window_begin_ns, until_ms * MS);
}

/*
 * A thread that is killed after 100 ms in a lock blocks for a moment on its way out; one sleeps
 * again and again; another one is still blocked when the recording ends.
 */
static void check_last_waits(void)
{
	const struct crit_kernel_call sleep = call_of(SYS_clock_nanosleep, 1, 0);
	const struct crit_kernel_call lock = call_of(SYS_futex, LOCK_A, FUTEX_WAIT_PRIVATE);
	struct crit_maker *m = crit_act_begin("node");
	struct crit_results *r;

	crit_act_enrol(m, 0, ROOT);
	crit_act_start(m, 1 * MS, OTHER, OTHER, 1);
	crit_act_start(m, 2 * MS, OTHER + 1, OTHER + 1, 2);
	crit_act_out(m, 5 * MS, OTHER + 1, 2, CRIT_ACT_SLEEPING);
	block(m, 10 * MS, OTHER, 30 * MS, sleep);
	block(m, 50 * MS, OTHER, 20 * MS, sleep);
	capture(m, 80 * MS, ROOT, 0x10, 0);
	block(m, 80 * MS, ROOT, 100 * MS, lock);
	block(m, 181 * MS, ROOT, 3 * MS, sleep);
	crit_act_end(m, 184 * MS, ROOT, ROOT, 0);
	crit_act_end(m, 185 * MS, OTHER, OTHER, 1);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	if (CHECK_UINT_EQ(r->blocks.last_wait_count, 3)) {
		check_last_wait(r, 0, ROOT, 80, 180);
		CHECK_UINT_EQ(r->blocks.last_waits[0].call.object, LOCK_A);
		CHECK_UINT_EQ(r->blocks.last_waits[0].operation, FUTEX_WAIT_PRIVATE);
		CHECK_UINT_EQ(r->blocks.last_waits[0].address, 0x10);
		CHECK(r->blocks.last_waits[0].is_end_seen);
		check_last_wait(r, 1, OTHER, 50, 70);
		CHECK_UINT_EQ(r->blocks.last_waits[1].address, 0);
		check_last_wait(r, 2, OTHER + 1, 2, 185); /* not told where, so all it lives */
		CHECK_INT_EQ(r->blocks.last_waits[2].call.number, CRIT_BLOCK_NOT_TOLD);
		CHECK(!r->blocks.last_waits[2].is_end_seen);
	}
	CHECK_CASE("%s", "");
	crit_results_destroy(r);
}

/* Of more threads than anybody reads of no row is kept. */
static void check_many_waits(void)
{
	const struct crit_model model = { .thread_count = CRIT_LAST_WAITS_MAX + 2 };
	struct crit_last_waits waits = { 0 };
	struct crit_last_wait row = { 0 };

	for (; row.thread < CRIT_LAST_WAITS_MAX; row.thread++)
		CHECK_INT_EQ(crit_last_waits_add(&waits, &model, &row), 0);
	CHECK_UINT_EQ(waits.count, CRIT_LAST_WAITS_MAX);
	for (; row.thread < model.thread_count; row.thread++) {
		CHECK_INT_EQ(crit_last_waits_add(&waits, &model, &row), 0);
		CHECK_UINT_EQ(waits.count, 0);
	}
	CHECK_INT_EQ(crit_last_waits_add(&waits, &model, &row), -EPROTO);
	crit_last_waits_fini(&waits);
}

int main(void)
{
	check_calls();
	check_stops();
	check_window();
	check_captures();
	check_last_waits();
	check_many_waits();
	return check_done();
}
