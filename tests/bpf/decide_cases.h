/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task's state and credentials mean: the same tables natively and in the kernel. */
#ifndef CRIT_TESTS_DECIDE_CASES_H
#define CRIT_TESTS_DECIDE_CASES_H

#include "core/abi/abi_kernel.h"
#include "core/abi/abi_tag.h"

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
	{ 2, 0x200, 0, 0x42 }, /* another CPU is waking it */
	{ 0x8000, 0x200, 0, 0x42 },
	{ 2, 0x200, 1, 0 },
};

struct crit_expulsion_case {
	unsigned int uid;
	unsigned int euid;
	unsigned int served_uid;
	unsigned long long mm_flags;
	unsigned int is_privileged;
	unsigned int expected;
};

static const struct crit_expulsion_case crit_expulsion_cases[] = {
	{ 1000, 1000, 1000, 1, 0, CRIT_EXPELLED_NOT },
	{ 1000, 1000, 1000, 0xfd01, 0, CRIT_EXPELLED_NOT },
	{ 1000, 0, 1000, 1, 1, CRIT_EXPELLED_USER }, /* setuid root */
	{ 0, 1000, 1000, 1, 0, CRIT_EXPELLED_USER },
	{ 1001, 1001, 1000, 1, 0, CRIT_EXPELLED_USER },
	{ 1000, 1000, 1000, 1, 1, CRIT_EXPELLED_PRIVILEGES }, /* setgid, or capabilities */
	{ 1000, 1000, 1000, 0, 0, CRIT_EXPELLED_UNREADABLE },
	{ 1000, 1000, 1000, 2, 0, CRIT_EXPELLED_UNREADABLE }, /* dumpable by root only */
	{ 0, 0, 0, 1, 0, CRIT_EXPELLED_NOT }, /* root's own run keeps all */
	{ 1000, 1000, 0, 1, 0, CRIT_EXPELLED_NOT },
	{ 0, 1000, 0, 0, 1, CRIT_EXPELLED_NOT },
};

struct crit_keep_case {
	unsigned int span_class;
	unsigned int active;
	unsigned int cpu_count;
	unsigned int expected; /* of 65536, 0: all */
};

static const struct crit_keep_case crit_keep_cases[] = {
	{ CRIT_CLASS_USER, 0, 8, 0 }, /* not known how many */
	{ CRIT_CLASS_USER, 1, 8, 0 },
	{ CRIT_CLASS_NONE, 2, 8, 32768 },
	{ CRIT_CLASS_USER, 3, 8, 21845 },
	{ CRIT_CLASS_MPI, 128, 128, 512 },
	{ CRIT_CLASS_MPI, 128, 2, 32768 }, /* two of them run */
	{ CRIT_CLASS_USER, 128, 1, 0 },
	{ CRIT_CLASS_OMP, 65535, 65535, 1 },
	{ CRIT_CLASS_MPI_MAY_WAIT, 2, 8, 32768 },
	{ CRIT_CLASS_MPI_WAIT, 1, 8, 4096 },
	{ CRIT_CLASS_MPI_POLL, 128, 8, 4096 },
	{ CRIT_CLASS_OMP_WAIT, 0, 8, 4096 },
};

#endif
