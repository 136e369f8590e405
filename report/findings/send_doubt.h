/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the shares of ranks depend on how MPI_Send is counted. */
#ifndef CRIT_SEND_DOUBT_H
#define CRIT_SEND_DOUBT_H

#include "report/tables/summary.h"

/* Fills may_wait_note where counting mpi_may_wait as active changes much. */
void crit_send_doubt_find(struct crit_summary *summary);

#endif
