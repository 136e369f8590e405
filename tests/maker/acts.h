/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of a run, for made recordings: a thread starts, sleeps, ends; a rank opens and closes.
 * The root is task 100, on CPU 0 from its enrolment on.
 */
#ifndef CRIT_TESTS_ACTS_H
#define CRIT_TESTS_ACTS_H

#include "tests/maker/maker.h"

#define CRIT_ACT_MS 1000000ull
#define CRIT_ACT_ROOT 100u
#define CRIT_ACT_SLEEPING 1

/* A recording with its FILE chunk, kernel half and all. */
struct crit_maker *crit_act_begin(const char *host);

/* A running task becomes a member, the leader of its process. */
void crit_act_enrol(struct crit_maker *m, uint64_t at_ns, uint32_t tid);

/* The root makes a thread, or a process when tgid is tid; it is woken and on a CPU at once. */
void crit_act_start(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t tgid,
		    uint16_t cpu);

void crit_act_out(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu, uint8_t state);
void crit_act_in(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu);
void crit_act_wake(struct crit_maker *m, uint64_t at_ns, uint32_t tid);
void crit_act_end(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t tgid, uint16_t cpu);

struct crit_act_rank {
	uint32_t pid, rank, size;
	uint16_t flavour; /* 0: MPICH */
	uint64_t begin_ns; /* of its process, and of its main thread's stream */
	uint64_t open_ns; /* 0: at begin_ns */
};

/* A process registers and opens its part; yields its main thread's stream. */
uint32_t crit_act_open(struct crit_maker *m, struct crit_act_rank rank);

/* Another of its threads takes a thread buffer. */
uint32_t crit_act_claim(struct crit_maker *m, uint32_t pid, uint32_t tid, uint64_t at_ns);

/* Its part closes, its main thread's buffer is released, it is gone. */
void crit_act_shut(struct crit_maker *m, uint32_t pid, uint32_t stream, uint64_t close_ns,
		   uint64_t gone_ns);

/* The same for a rank of two, 1 ms before its part opens and after it closes. */
uint32_t crit_act_rank(struct crit_maker *m, uint32_t pid, uint32_t rank, uint64_t open_ns);
void crit_act_close(struct crit_maker *m, uint32_t pid, uint32_t stream, uint64_t close_ns);

#endif
