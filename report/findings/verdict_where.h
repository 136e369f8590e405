/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the code ranks or threads work and wait, as the verdict says it. */
#ifndef CRIT_VERDICT_WHERE_H
#define CRIT_VERDICT_WHERE_H

#include "report/tables/summary.h"

#define CRIT_OMP_SENTENCE 160 /* bytes */

/* " at solver+0x14c1": where most of the waiting in a call is; "" unknown. */
void crit_verdict_call_site(const struct crit_summary *summary, uint32_t call, char *text,
			    size_t text_bytes);

/*
 * ", mostly while its thread 7 (a) is in omp parallel step (stencil.c:42) and they are in MPI_Recv
 * at ...": what that rank or thread does, and what the others are in meanwhile.
 */
void crit_verdict_where(const struct crit_summary *summary, size_t unit_row, uint32_t call,
			char *text, size_t text_bytes);

/*
 * Of a standstill: "rank 0 in MPI_Recv at solver.c:42, ranks 1, 2, 3 and 4 more in MPI_Barrier at
 * solver.c:50", the fewest first.
 */
void crit_verdict_last_calls(const struct crit_summary *summary, char *text, size_t text_bytes);

/*
 * "; inside ranks OpenMP threads idle for 1.2 s (sum over threads), mostly in serial parts": ranks
 * are active while one of their threads is; "": it is not worth a word.
 */
void crit_verdict_omp(const struct crit_summary *summary, char *text, size_t text_bytes);

#endif
