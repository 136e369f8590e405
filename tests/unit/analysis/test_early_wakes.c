// SPDX-License-Identifier: BSD-3-Clause
// Threads that are woken on their way to sleep: they never were asleep, and nothing is unmatched.
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define US 1000ull
#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define SLEEPER 200u
#define CPU 1

struct expected { /* of the sleeper, which lives from 10 to 50 ms */
	uint64_t running_ns, runnable_ns, blocked_ns, unknown_ns;
	uint64_t early, unmatched;
};

static struct crit_maker *begin(const char *what)
{
	struct crit_maker *m = crit_act_begin("node0");

	CHECK_CASE("%s", what);
	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, SLEEPER, ROOT, CPU);
	return m;
}

static void waking(struct crit_maker *m, uint64_t at_ns)
{
	struct crit_kernel_wake record = { .head = { .kind = CRIT_K_WAKING, .time_ns = at_ns },
					   .tid = SLEEPER };

	crit_maker_kernel(m, &record.head, sizeof(record));
}

static void check(struct crit_maker *m, const struct expected *expected)
{
	const struct crit_thread_row *t;
	struct crit_results *r;

	crit_act_end(m, 50 * MS, SLEEPER, ROOT, CPU);
	crit_act_end(m, 60 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	t = crit_analysed_thread(r, SLEEPER);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], expected->running_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER], expected->runnable_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER], expected->blocked_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], expected->unknown_ns);
	CHECK_UINT_EQ(r->losses.wakes_early, expected->early);
	CHECK_UINT_EQ(r->losses.unmatched_switches, expected->unmatched);
	crit_results_destroy(r);
}

/* It wants a CPU from where it leaves the one that it had. */
static void test_early(void)
{
	struct crit_maker *m = begin("6 us before");

	waking(m, 20 * MS - 6 * US);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 21 * MS, SLEEPER, CPU);
	waking(m, 30 * MS - 1 * MS); /* the most */
	crit_act_out(m, 30 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 33 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 36 * MS, 4 * MS, 0, 0, 2, 0 });
}

/* Then it was not that one: the other is lost. */
static void test_too_early(void)
{
	struct crit_maker *m = begin("1001 us before");

	waking(m, 20 * MS - 1001 * US);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 21 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 39 * MS, 0, 0, 1 * MS, 0, 1 });
}

/* Before its CPU went on, it looked for other work, or a host had taken it away. */
static void test_held_up(void)
{
	struct crit_maker *m = begin("2 ms before, as the switch says");

	waking(m, 20 * MS - 2 * MS);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING | CRIT_STATE_WOKEN);
	crit_act_in(m, 21 * MS, SLEEPER, CPU);
	crit_act_out(m, 30 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 32 * MS, SLEEPER, CPU); /* of which nobody was told */
	check(m, &(struct expected){ 37 * MS, 1 * MS, 0, 2 * MS, 1, 1 });
}

/* It did not sleep then, but a little later, until it was woken again. */
static void test_stale(void)
{
	struct crit_maker *m = begin("woken again");

	waking(m, 20 * MS - 6 * US);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	waking(m, 28 * MS);
	crit_act_in(m, 29 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 31 * MS, 1 * MS, 8 * MS, 0, 0, 0 });
}

static void test_used(void)
{
	struct crit_maker *m = begin("woken before it last got its CPU");

	waking(m, 20 * MS - 20 * US);
	crit_act_out(m, 20 * MS - 15 * US, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 20 * MS - 10 * US, SLEEPER, CPU);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 21 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 39 * MS - 5 * US, 5 * US, 0, 1 * MS, 1, 1 });
}

static void test_preempted(void)
{
	struct crit_maker *m = begin("preempted on its way");

	waking(m, 20 * MS - 6 * US);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, 0);
	crit_act_in(m, 21 * MS, SLEEPER, CPU);
	crit_act_out(m, 21 * MS + 10 * US, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 22 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 38 * MS + 10 * US, 1 * MS, 0, 990 * US, 0, 1 });
}

/* WAKE comes when the thread is in the queue, which is after it has left its CPU. */
static void test_older(void)
{
	struct crit_maker *m = begin("of an older recording");

	crit_act_wake(m, 20 * MS - 6 * US, SLEEPER);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_act_in(m, 21 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 39 * MS, 0, 0, 1 * MS, 0, 1 });
}

/* The switch-in is hidden besides: how long it ran tells when that was. */
static void test_ran(void)
{
	struct crit_maker *m = begin("and got its CPU unseen");

	waking(m, 20 * MS - 6 * US);
	crit_act_out(m, 20 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	crit_maker_ran(m, (struct crit_kernel_ran){ .head = { .time_ns = 30 * MS, .cpu = CPU },
						    .tid = SLEEPER,
						    .ran_ns = 7 * MS });
	crit_act_out(m, 30 * MS, SLEEPER, CPU, CRIT_ACT_SLEEPING);
	waking(m, 40 * MS);
	crit_act_in(m, 41 * MS, SLEEPER, CPU);
	check(m, &(struct expected){ 26 * MS, 4 * MS, 10 * MS, 0, 1, 1 });
}

int main(void)
{
	test_early();
	test_too_early();
	test_held_up();
	test_stale();
	test_used();
	test_preempted();
	test_older();
	test_ran();
	return check_done();
}
