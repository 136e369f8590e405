/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers by hand: the calls that begin and end the process's part of the window. */
#ifndef CRIT_PMPI_WINDOW_H
#define CRIT_PMPI_WINDOW_H

#include <mpi.h>

#pragma GCC visibility push(hidden)

int crit_backend_Init(int *argc, char ***argv);
int crit_backend_Init_thread(int *argc, char ***argv, int required, int *provided);
int crit_backend_Finalize(void);
#ifdef MPI_SESSION_NULL /* Open MPI 5 has them, and says that it is MPI 3.1 */
int crit_backend_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
int crit_backend_Session_finalize(MPI_Session *session);
#endif

#pragma GCC visibility pop

#endif
