/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampling clocks of threads, where those of CPUs may not be had: a perf event per thread and
 * CPU on which it was seen, that takes its registers and a copy of its stack.
 *
 * They are not inherited, for the kernel lets nobody change the period of an event that was.
 */
#ifndef CRIT_COLLECTOR_PERF_CLOCKS_H
#define CRIT_COLLECTOR_PERF_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * What a sample has of registers, in words: which ABI they are of, 0 for none, then those that were
 * asked for, in the order of their numbers.
 */
enum crit_perf_word {
	CRIT_PERF_ABI = 0,
	CRIT_PERF_BP,
#if defined(__aarch64__)
	CRIT_PERF_LR,
#endif
	CRIT_PERF_SP,
	CRIT_PERF_IP,
	CRIT_PERF_WORD_COUNT
};

struct crit_perf_clocks;

struct crit_perf_clock_options {
	uint32_t hz; /* while a thread runs in user mode */
	uint32_t stack_bytes; /* of a copy; 0: none is taken */
	uint32_t ring_count;
	uint32_t clocks_max; /* descriptors */
	uint32_t budget; /* thousandths of each CPU's time for starting clocks at switches */
};

/* Ownership: destroy accepts NULL.  Errors: -ENOMEM. */
int crit_perf_clocks_create(const struct crit_perf_clock_options *options,
			    struct crit_perf_clocks **ret_clocks);
void crit_perf_clocks_destroy(struct crit_perf_clocks *clocks);

/*
 * Gives a thread a clock on the CPU of that ring, if it has none there.  Range: ring below
 * ring_count; fd is that of the ring.  Errors: -ESRCH, -EACCES, -EMFILE where there are too many.
 */
int crit_perf_clocks_add(struct crit_perf_clocks *clocks, uint32_t tid, uint32_t ring, uint16_t cpu,
			 int fd, uint64_t now_ns);

/* Takes all of a thread's. */
void crit_perf_clocks_drop(struct crit_perf_clocks *clocks, uint32_t tid);

/* The time a sample of the thread stands for on that CPU; 0: it has no clock there. */
uint32_t crit_perf_clocks_period_ns(const struct crit_perf_clocks *clocks, uint32_t tid,
				    uint32_t ring);

/* Threads came onto a CPU so many times; each time the kernel started a clock, which costs. */
void crit_perf_clocks_count(struct crit_perf_clocks *clocks, uint32_t ring, uint32_t switches);

/* Of what a CPU's clocks tell each stands for 65536 / share.  Range: 1 to 65536. */
uint32_t crit_perf_clocks_share(const struct crit_perf_clocks *clocks, uint32_t ring);

/*
 * Gives clocks whose time has come another period; and has those of a CPU stand still now and then,
 * drawn anew each time, where they cost more than the budget.  To be called every 100 ms or so;
 * what they told before has to be read by then.
 */
void crit_perf_clocks_look(struct crit_perf_clocks *clocks, uint64_t now_ns);

#endif
