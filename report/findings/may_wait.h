/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the shares of ranks depend on how MPI_Send is counted. */
#ifndef CRIT_MAY_WAIT_H
#define CRIT_MAY_WAIT_H

#include "report/tables/summary.h"

/* Fills may_wait_note, from the same run with mpi_may_wait active. */
void crit_may_wait_find(struct crit_summary *summary, const struct crit_results *other);

#endif
