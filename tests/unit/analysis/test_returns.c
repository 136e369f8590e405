// SPDX-License-Identifier: BSD-3-Clause
// CPUs that threads get unseen: how long they ran tells since when, and the break is counted.
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define RAN 200u /* thread whose switch-in is hidden, on CPU 1 */
#define CPU 1

static struct crit_maker *begin(void)
{
	struct crit_maker *m = crit_act_begin("node0");

	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS, RAN, ROOT, CPU);
	return m;
}

static void ran(struct crit_maker *m, uint64_t at_ns, uint64_t ran_ns)
{
	crit_maker_ran(m, (struct crit_kernel_ran){ .head = { .time_ns = at_ns, .cpu = CPU },
						    .tid = RAN,
						    .ran_ns = ran_ns });
}

/* Ends all at 60 ms; what the thread did besides sleeping. */
static void check(struct crit_maker *m, uint64_t running_ns, uint64_t runnable_ns,
		  uint64_t unknown_ns, uint64_t unmatched)
{
	struct crit_results *r;
	const struct crit_thread_row *t;

	crit_act_end(m, 60 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	t = crit_analysed_thread(r, RAN);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], running_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER], runnable_ns);
	CHECK_UINT_EQ(t->cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER], unknown_ns);
	CHECK_UINT_EQ(t->unmatched, unmatched);
	CHECK_UINT_EQ(r->losses.unmatched_switches, unmatched);
	crit_results_destroy(r);
}

static void test_woken(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "woken");
	crit_act_out(m, 12 * MS, RAN, CPU, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 20 * MS, RAN);
	ran(m, 30 * MS, 7 * MS);
	crit_act_out(m, 30 * MS, RAN, CPU, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 40 * MS, RAN);
	crit_act_in(m, 41 * MS, RAN, CPU);
	crit_act_end(m, 50 * MS, RAN, ROOT, CPU);
	check(m, (2 + 7 + 9) * MS, (3 + 1) * MS, 0, 1);
}

static void test_preempted(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "preempted");
	crit_act_out(m, 12 * MS, RAN, CPU, 0);
	ran(m, 20 * MS, 5 * MS);
	crit_act_out(m, 20 * MS, RAN, CPU, 0);
	ran(m, 50 * MS, 29 * MS);
	crit_act_out(m, 50 * MS, RAN, CPU, 0x80);
	check(m, (2 + 5 + 29) * MS, (3 + 1) * MS, 0, 2);
}

/* It cannot have run before it was woken, nor for no time at all. */
static void test_bounds(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "bounds");
	crit_act_out(m, 12 * MS, RAN, CPU, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 20 * MS, RAN);
	ran(m, 30 * MS, UINT64_MAX);
	crit_act_out(m, 30 * MS, RAN, CPU, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 40 * MS, RAN);
	ran(m, 50 * MS, 0);
	crit_act_end(m, 50 * MS, RAN, ROOT, CPU);
	check(m, (2 + 10) * MS - 1, 10 * MS + 1, 0, 2);
}

static void test_seen(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "seen after all");
	crit_act_out(m, 12 * MS, RAN, CPU, 0);
	crit_act_in(m, 15 * MS, RAN, CPU);
	ran(m, 30 * MS, 17 * MS);
	crit_act_out(m, 30 * MS, RAN, CPU, 0);
	crit_act_in(m, 31 * MS, RAN, CPU);
	crit_act_end(m, 50 * MS, RAN, ROOT, CPU);
	check(m, (2 + 15 + 19) * MS, (3 + 1) * MS, 0, 0);
}

/* It ends before anybody is told since when it ran. */
static void test_ends(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "ends");
	crit_act_out(m, 12 * MS, RAN, CPU, CRIT_ACT_SLEEPING);
	crit_act_wake(m, 20 * MS, RAN);
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = { .time_ns = 49 * MS }, .tid = RAN, .tgid = ROOT });
	ran(m, 50 * MS, 25 * MS);
	crit_act_out(m, 50 * MS, RAN, CPU, 0x80);
	check(m, (2 + 25) * MS, 5 * MS, 0, 1);
}

/* Where that record found no room it was active either way. */
static void test_untold(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "untold");
	crit_act_out(m, 12 * MS, RAN, CPU, 0);
	crit_act_out(m, 50 * MS, RAN, CPU, 0x80);
	check(m, 2 * MS, 38 * MS, 0, 1);
}

/* Without its wakeup nobody knows what it did until then. */
static void test_doubt(void)
{
	struct crit_maker *m = begin();

	CHECK_CASE("%s", "asleep");
	crit_act_out(m, 12 * MS, RAN, CPU, CRIT_ACT_SLEEPING);
	ran(m, 49 * MS, 7 * MS);
	crit_act_out(m, 50 * MS, RAN, CPU, 0x80);
	check(m, 3 * MS, 0, 37 * MS, 1);
}

int main(void)
{
	test_woken();
	test_preempted();
	test_bounds();
	test_seen();
	test_ends();
	test_untold();
	test_doubt();
	return check_done();
}
