// SPDX-License-Identifier: BSD-3-Clause
// The kernel half's decisions, compiled natively.
#include "bpf/decide/sched.bpf.h"

#include "bpf/decide/credit.bpf.h"
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

static void try_keeps(void)
{
	for (size_t i = 0; i < sizeof(crit_keep_cases) / sizeof(crit_keep_cases[0]); i++) {
		const struct crit_keep_case *c = &crit_keep_cases[i];
		const __u64 tag = crit_tag_pack(77, 5, 3, c->span_class, 1);
		__u32 kept = 0;

		CHECK_CASE("class %u, %u active", c->span_class, c->active);
		CHECK_INT_EQ(crit_sample_keep(tag, c->active, c->cpu_count), c->expected);
		for (__u32 random = 0; random < 65536; random++)
			kept += crit_sample_is_kept((__u16)c->expected, 0xabcd0000u | random);
		CHECK_UINT_EQ(kept, c->expected ? c->expected : 65536u);
	}
}

static void try_actives(void)
{
	const __u64 waits = crit_tag_pack(1, 0, 7, CRIT_CLASS_MPI_WAIT, 0);
	const __u64 works = crit_tag_pack(1, 0, 7, CRIT_CLASS_USER, 0);

	CHECK_CASE("actives");
	CHECK(crit_sample_is_active(0, 0) && crit_sample_is_active(0, works));
	CHECK(!crit_sample_is_active(0, waits));
	CHECK(!crit_sample_is_active(1, works) && !crit_sample_is_active(0x80, 0));
	CHECK_UINT_EQ(crit_sample_active(-3), 0);
	CHECK_UINT_EQ(crit_sample_active(12), 12);
	CHECK_UINT_EQ(crit_sample_active(1000000), 65535);
}

/* Blocks at even distances, to within 20 ns. */
static void try_draws(void)
{
	static const __u64 distances[] = { 100, 1000, 5000, 1000000, 1000000000, 4294967296 };

	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		__u64 now_ns = 5000000000000000000ull;
		__u32 drawn = 0;

		CHECK_CASE("blocks every %llu ns", distances[i]);
		for (__u32 block = 0; block < 16000; block++) {
			drawn += crit_capture_is_drawn(now_ns);
			now_ns += distances[i] + block * 7919u % 21;
		}
		CHECK_INT_GT(drawn * CRIT_CAPTURE_OTHERS, 16000 * 85 / 100);
		CHECK_INT_LT(drawn * CRIT_CAPTURE_OTHERS, 16000 * 115 / 100);
	}
}

static __u32 is_affordable(struct crit_stack_credit *credit, __u64 now_ns, __u32 budget)
{
	crit_stack_earn(credit, now_ns, budget);
	return crit_stack_is_affordable(credit, 0);
}

/* Copies of 3 us each as often as asked for: so many are taken in a second. */
static __u32 count_copies(__u32 budget, __u64 every_ns, __u32 is_block)
{
	struct crit_stack_credit credit = { 0 };
	__u64 now_ns = 5000000000000000000ull; /* a node's up-time: no product of it may overflow */
	__u32 count = 0;

	while (is_affordable(&credit, now_ns, budget)) /* used up */
		crit_stack_pay(&credit, 3000, 1);
	credit.blocks_left_ns = 0;
	for (__u64 i = 0; i < 1000000000 / every_ns; i++) {
		now_ns += every_ns;
		crit_stack_earn(&credit, now_ns, budget);
		if (!crit_stack_is_affordable(&credit, is_block))
			continue;
		crit_stack_pay(&credit, 3000, is_block);
		count++;
	}
	return count;
}

static void try_credit(void)
{
	struct crit_stack_credit credit = { 0 };

	CHECK_CASE("credit");
	CHECK_UINT_EQ(count_copies(10, 5000000, 0), 200);
	CHECK_NEAR(count_copies(10, 10000, 0), 3333, 1);
	CHECK_NEAR(count_copies(1, 10000, 0), 333, 1);
	CHECK_UINT_EQ(count_copies(1000, 10000, 0), 100000);
	CHECK_NEAR(count_copies(10, 20000, 1), 416, 1);
	CHECK(is_affordable(&credit, 1000000000000000000ull, 1));
	CHECK_INT_EQ(credit.left_ns, CRIT_STACK_CREDIT_NS);
	CHECK(is_affordable(&credit, 1000000000000000001ull, 1000));
	CHECK_INT_EQ(credit.left_ns, CRIT_STACK_CREDIT_NS);
	credit.left_ns = -5000;
	CHECK(!is_affordable(&credit, 1000000000000500001ull, 10));
	CHECK(is_affordable(&credit, 1000000000000500201ull, 10));
	CHECK(!is_affordable(&(struct crit_stack_credit){ 0 }, 5, 0));
}

/* Blocks that come at once, and take long, leave most of what is saved to ticks. */
static void try_shares(void)
{
	struct crit_stack_credit credit = { 0 };
	__u32 count = 0;

	CHECK_CASE("shares");
	for (crit_stack_earn(&credit, 1000000000000000000ull, 10);
	     crit_stack_is_affordable(&credit, 1); count++)
		crit_stack_pay(&credit, 60000, 1);
	CHECK_UINT_EQ(count, 5);
	CHECK_INT_EQ(credit.left_ns, CRIT_STACK_CREDIT_NS - 300000);
	CHECK(crit_stack_is_affordable(&credit, 0));
	/* what ticks took is not there for blocks */
	crit_stack_earn(&credit, 1000000000100000000ull, 10);
	crit_stack_pay(&credit, CRIT_STACK_CREDIT_NS, 0);
	CHECK(!crit_stack_is_affordable(&credit, 1) && credit.blocks_left_ns > 0);
}

static void try_blocks(void)
{
	struct crit_stack_credit credit = { 0 };
	__u64 now_ns = 5000000000000000000ull;
	__u32 count = 0;

	CHECK_CASE("blocks");
	while (crit_stack_take_block(&credit, now_ns))
		count++;
	CHECK_UINT_EQ(count, CRIT_STACK_BLOCKS_AT_ONCE + 1);
	for (count = 0; now_ns < 5000000010000000000ull; now_ns += 50000)
		count += crit_stack_take_block(&credit, now_ns);
	CHECK_NEAR(count, 10 * CRIT_STACK_BLOCKS_A_SECOND, 1);
}

static void try_readable(void)
{
	CHECK_CASE("readable");
	CHECK(crit_sched_is_readable(1000, 1));
	CHECK(!crit_sched_is_readable(1000, 0));
	CHECK(!crit_sched_is_readable(1000, 2));
	CHECK(crit_sched_is_readable(0, 2));
}

int main(void)
{
	try_credit();
	try_shares();
	try_blocks();
	try_readable();
	try_actives();
	try_draws();
	try_keeps();
	try_states();
	try_expulsions();
	try_names();
	try_children();
	return check_done();
}
