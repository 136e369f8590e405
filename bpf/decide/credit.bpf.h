/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* What a CPU may spend on copies of stacks: time, and a number of blocks.  As sched.bpf.h. */
#ifndef CRIT_CREDIT_BPF_H
#define CRIT_CREDIT_BPF_H

#include "core/abi/abi_kernel.h"

#define CRIT_STACK_CREDIT_NS 2000000 /* a CPU saves up no more than that */
#define CRIT_STACK_BLOCKS_PART 8 /* of what a CPU earns, for copies of blocks */
#define CRIT_STACK_EARNS_NS 2000000000u /* by then the least budget has earned so much */

/*
 * Of blocks no more than that: else those of threads that hand over 20,000 times a second take the
 * room in the ring of a second from which ticks are unwound, which may be starved so long.
 */
#define CRIT_STACK_BLOCKS_A_SECOND 128u /* on a CPU */
#define CRIT_STACK_BLOCKS_AT_ONCE 32u

/*
 * Time that a CPU may spend on copies of stacks.  Blocks may spend a part of what it earns: many
 * come at once, and ticks, which tell where a thread computes, are to find something left.
 */
struct crit_stack_credit {
	__s64 left_ns; /* whoever copies takes off what it took; may be negative */
	__s64 blocks_left_ns; /* the same, of blocks */
	__u64 since_ns; /* earned up to then */
	__u64 block_ns; /* when the next block may be copied */
};

/* Takes one of the copies of blocks, if one is left. */
static inline __u32 crit_stack_take_block(struct crit_stack_credit *credit, __u64 now_ns)
{
	const __u64 each_ns = 1000000000u / CRIT_STACK_BLOCKS_A_SECOND;

	if (credit->block_ns > now_ns)
		return 0;
	if (credit->block_ns + CRIT_STACK_BLOCKS_AT_ONCE * each_ns < now_ns)
		credit->block_ns = now_ns - CRIT_STACK_BLOCKS_AT_ONCE * each_ns;
	credit->block_ns += each_ns;
	return 1;
}

/* budget: thousandths of the time that passes */
static inline void crit_stack_earn(struct crit_stack_credit *credit, __u64 now_ns, __u32 budget)
{
	__u64 elapsed_ns = now_ns - credit->since_ns;

	if (elapsed_ns > CRIT_STACK_EARNS_NS)
		elapsed_ns = CRIT_STACK_EARNS_NS;
	credit->since_ns = now_ns;
	credit->left_ns += (__s64)(elapsed_ns * budget / 1000);
	if (credit->left_ns > CRIT_STACK_CREDIT_NS)
		credit->left_ns = CRIT_STACK_CREDIT_NS;
	credit->blocks_left_ns += (__s64)(elapsed_ns * budget / 1000 / CRIT_STACK_BLOCKS_PART);
	if (credit->blocks_left_ns > CRIT_STACK_CREDIT_NS / CRIT_STACK_BLOCKS_PART)
		credit->blocks_left_ns = CRIT_STACK_CREDIT_NS / CRIT_STACK_BLOCKS_PART;
}

/* Is anything left of what it has earned until now? */
static inline __u32 crit_stack_is_affordable(const struct crit_stack_credit *credit, __u32 is_block)
{
	return credit->left_ns > 0 && (!is_block || credit->blocks_left_ns > 0);
}

static inline void crit_stack_pay(struct crit_stack_credit *credit, __s64 took_ns, __u32 is_block)
{
	credit->left_ns -= took_ns;
	if (is_block)
		credit->blocks_left_ns -= took_ns;
}

#endif
