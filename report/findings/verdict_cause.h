/* SPDX-License-Identifier: BSD-3-Clause */
/* For whom the others wait, directly or through others, where nobody's work stands out. */
#ifndef CRIT_VERDICT_CAUSE_H
#define CRIT_VERDICT_CAUSE_H

#include "report/tables/summary.h"

#define CRIT_CAUSE_SENTENCE 640 /* bytes */

/*
 * "93% of all waiting is for rank 0, 48% of that through others, between MPI_Recv heat.c:40 and
 * MPI_Send heat.c:55"; "": waits are not told one by one, or nobody stands out.
 * ret_unit_row: the rank, or the thread without ranks.
 */
void crit_verdict_cause(const struct crit_summary *summary, char *text, size_t text_bytes,
			size_t *ret_unit_row);

/*
 * "; they wait for each other: 99% of all waiting is for code of other threads", where the threads
 * that are blocked wait for what several of the run compute; else "".
 */
void crit_verdict_mutual(const struct crit_summary *summary, char *text, size_t text_bytes);

/* "rank 2 on vm", "thread 42 (worker) of process 40".  row: of ranks, or of threads without. */
void crit_verdict_unit_name(const struct crit_summary *summary, size_t row, char *text,
			    size_t text_bytes);

/*
 * Why no rank computes towards the end: "rank 0 on vm ended without MPI_Finalize, ...", or "for the
 * last 3.000 s (99.0% of the window) all ranks wait in MPI, ..."; "": neither is so.
 */
void crit_verdict_end(const struct crit_summary *summary, char *text, size_t text_bytes);

/*
 * "rank 0 on vm is blocked outside MPI for 0.8 s (99.6% of the window) in which no rank computes:
 * I/O, locks or sleep", or a thread in a parallel region; "": that explains less than half of the
 * time in which nobody is active.
 * is_most: it has to be most of what all are blocked, too; else only that one has to be.
 */
void crit_verdict_blocked(const struct crit_summary *summary, bool is_most, char *text,
			  size_t text_bytes);

/*
 * " (45% in futex, 30% in fdatasync)": where a thread was blocked, CRIT_NONE: those that did
 * something; else "".
 */
void crit_verdict_system_calls(const struct crit_summary *summary, uint32_t thread, char *text,
			       size_t text_bytes);

/*
 * How long the others waited for a unit, s: for a rank in calls while it was active; for a thread
 * by who woke whom, directly or through others, 0 where that is not known: who sleeps may well wait
 * for somebody else.
 */
double crit_verdict_waited(const struct crit_summary *summary, size_t unit_row);

/* Nobody else does much, not even all others together. */
bool crit_verdict_is_single(const struct crit_summary *summary);

/*
 * "only thread 42 (worker) of process 40 has much to do; it is active for 4.8 s of 5.0 s"; "": it
 * is not so, or too little is waited for it.  ret_waited_s: how long others wait; only with a text.
 * is_beside: beside a loss, where they wait for more than its end, and it has no name there yet.
 */
void crit_verdict_single(const struct crit_summary *summary, bool is_beside, char *text,
			 size_t text_bytes, double *ret_waited_s);

#endif
