/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of nodes compared by messages between one rank of each; compiled once per MPI flavour. */
#ifndef CRIT_PMPI_NODE_CLOCKS_H
#define CRIT_PMPI_NODE_CLOCKS_H

#include <mpi.h>
#include <stdbool.h>

/*
 * Collective over own, inside MPI_Init: finds the first recorded rank of each node, and
 * compares the clocks of all with the first one's.  Keeps own.
 */
void crit_node_clocks_begin(MPI_Comm own, int rank, bool is_recorded);

/* Compares once more, inside MPI_Finalize; gives up after a second.  Nothing on a single node. */
void crit_node_clocks_end(void);

/* Lets all ranks go on to MPICH's MPI_Finalize together; gives up after the same second. */
void crit_node_clocks_window(void);

#endif
