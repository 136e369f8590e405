/* SPDX-License-Identifier: BSD-3-Clause */
/* The one sentence a report begins with. */
#ifndef CRIT_VERDICT_H
#define CRIT_VERDICT_H

#include "report/tables/summary.h"

/* Fills verdict, sentence, has_promise and may_wait_note; orders, sums, lost must be there. */
void crit_verdict_find(struct crit_summary *summary, const struct crit_results *may_wait);

/* " at solver+0x14c1": where most of the waiting in a call is; "" unknown. (verdict_where.c) */
void crit_verdict_site(const struct crit_summary *summary, uint32_t call, char *text,
		       size_t text_bytes);

/* Fills may_wait_note, from the same run with mpi_may_wait active. (verdict_may_wait.c) */
void crit_verdict_check_may_wait(struct crit_summary *summary, const struct crit_results *other);

/*
 * ", mostly while its thread 7 (a) is in omp parallel step (stencil.c:42) and they are in MPI_Recv
 * at ...": what that rank or thread does, and what the others are in meanwhile.
 */
void crit_verdict_where(const struct crit_summary *summary, size_t unit_row, uint32_t call,
			char *text, size_t text_bytes);

/* Fills preempted_note. (preempted.c) */
void crit_preempted_find(struct crit_summary *summary);

#endif
