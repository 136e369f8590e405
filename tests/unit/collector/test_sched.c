// SPDX-License-Identifier: BSD-3-Clause
// The kernel half's decisions, compiled natively.
#include "bpf/sched.bpf.h"
#include "tests/bpf/decide_cases.h"
#include "tests/lib/check.h"

static void try_states(void)
{
	for (size_t i = 0; i < sizeof(crit_state_cases) / sizeof(crit_state_cases[0]); i++) {
		const struct crit_state_case *c = &crit_state_cases[i];

		CHECK_CASE("state %#x, now %#x, preempted %u", c->prev_state, c->state_now,
			   c->is_preempted);
		CHECK_INT_EQ(crit_sched_state(c->prev_state, c->state_now, c->is_preempted),
			     c->expected);
	}
}

static void try_expulsions(void)
{
	for (size_t i = 0; i < sizeof(crit_expulsion_cases) / sizeof(crit_expulsion_cases[0]);
	     i++) {
		const struct crit_expulsion_case *c = &crit_expulsion_cases[i];

		CHECK_CASE("expulsion %zu", i);
		CHECK_INT_EQ(crit_sched_expulsion(c->uid, c->euid, c->served_uid, c->mm_flags,
						  c->is_privileged),
			     c->expected);
	}
}

static void try_names(void)
{
	CHECK_CASE("names");
	CHECK(crit_sched_may_name(1000, 1000));
	CHECK(crit_sched_may_name(0, 1000));
	CHECK(!crit_sched_may_name(1001, 1000));
	CHECK(!crit_sched_may_name(1000, 0));
}

static void try_children(void)
{
	CHECK_CASE("children");
	CHECK_INT_EQ(crit_sched_child_flags(CRIT_MF_HAS_TAG, 1), CRIT_MF_FORKED | CRIT_MF_HAS_TAG);
	CHECK_INT_EQ(crit_sched_child_flags(CRIT_MF_HAS_TAG, 0), CRIT_MF_FORKED);
	CHECK_INT_EQ(crit_sched_child_flags(CRIT_MF_NEW | CRIT_MF_EXITED, 1), CRIT_MF_FORKED);
	CHECK(crit_sched_is_dead(0x10) && crit_sched_is_dead(0x20) && crit_sched_is_dead(0x80));
	CHECK(!crit_sched_is_dead(0) && !crit_sched_is_dead(1) && !crit_sched_is_dead(2) &&
	      !crit_sched_is_dead(4) && !crit_sched_is_dead(8));
}

int main(void)
{
	try_states();
	try_expulsions();
	try_names();
	try_children();
	return check_done();
}
