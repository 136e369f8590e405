/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenes of a run, for hand-made recordings: a thread starts, sleeps, ends; a rank opens and
 * closes. The root is task 100, on CPU 0 from its enrolment on.
 */
#ifndef CRIT_TESTS_ACTS_H
#define CRIT_TESTS_ACTS_H

#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/lib/recording_maker.h"

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

/* A process registers 1 ms before its part opens; yields its main thread's stream. */
uint32_t crit_act_rank(struct crit_maker *m, uint32_t pid, uint32_t rank, uint64_t open_ns);

/* Its part closes, its stripe is given back; it is gone 1 ms later. */
void crit_act_close(struct crit_maker *m, uint32_t pid, uint32_t stream, uint64_t close_ns);

/* The row of a task number; ends the test when there is none. */
const struct crit_thread_row *crit_act_thread(const struct crit_results *r, uint32_t tid);

double crit_act_ms(crit_fix value);

/* Analyses and destroys the makers; laws and cells are checked on the way. */
__attribute__((unused)) static struct crit_results *
crit_act_finish(struct crit_maker **makers, size_t count, enum crit_active_rule rule)
{
	struct crit_results *r = NULL;
	size_t i;

	if (!CHECK_INT_EQ(crit_analysed_makers(makers, count, rule, &r), 0))
		exit(1);
	for (i = 0; i < r->law_count; i++)
		CHECK_MSG(r->laws[i].error_ratio <= 1e-12, "law broken by %g",
			  r->laws[i].error_ratio);
	for (i = 0; i < r->thread_count; i++)
		CHECK_UINT_EQ(crit_analysed_cells_ns(&r->threads[i].cells), r->threads[i].life_ns);
	for (i = 0; i < count; i++)
		crit_maker_destroy(makers[i]);
	return r;
}

#endif
