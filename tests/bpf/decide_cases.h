/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task's state at its switch-out means: the same table natively and in the kernel. */
#ifndef CRIT_TESTS_DECIDE_CASES_H
#define CRIT_TESTS_DECIDE_CASES_H

struct crit_state_case {
	unsigned int prev_state;
	unsigned int state_now;
	unsigned int is_preempted;
	unsigned int expected;
};

static const struct crit_state_case crit_state_cases[] = {
	{ 0, 0, 0, 0 }, /* its time was up, or it yielded */
	{ 0, 0, 1, 0 },
	{ 1, 1, 0, 1 },
	{ 1, 1, 1, 0 }, /* preempted on its way to sleep */
	{ 1, 0, 0, 0 }, /* a signal was pending: never left its queue */
	{ 2, 2, 0, 2 },
	{ 0x102, 0x102, 0, 2 }, /* killable */
	{ 0x402, 0x402, 0, 2 }, /* no load */
	{ 0x104, 0x104, 0, 4 },
	{ 8, 8, 0, 8 },
	{ 0x40, 0x40, 0, 0x40 },
	{ 0x80, 0x80, 0, 0x80 },
	{ 0x10, 0x10, 0, 0x10 },
	{ 0x1000, 0x1000, 0, 2 }, /* waits of which the low byte says nothing */
	{ 0x8000, 0x8000, 0, 2 },
	{ 0x8000, 0x8000, 1, 0 },
	{ 0x2001, 0x2001, 0, 1 }, /* freezable */
	{ 2, 0x200, 0, 2 }, /* another CPU is waking it */
};

#endif
