/* SPDX-License-Identifier: BSD-3-Clause */
/* Presence check: which ranks have the library preloaded; compiled once per MPI flavour. */
#ifndef CRIT_PMPI_PRESENCE_H
#define CRIT_PMPI_PRESENCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Inside MPI_Init: have all ranks of MPI_COMM_WORLD the library?  All that have it are given the
 * same answer: at once if it is yes, else after half a minute at most.
 */
bool crit_presence_check(int rank, int size);

/* Inside MPI_Finalize: no longer expects those who did not come. */
void crit_presence_end(void);

/* Waits for a request.  False: it is not done by then, and still the caller's. */
bool crit_is_done_by(MPI_Request *request, uint64_t deadline_ns);

#endif
