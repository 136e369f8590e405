/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the shim of communicators, windows and files; compiled once per flavour. */
#ifndef CRIT_PMPI_DETAILS_COMM_H
#define CRIT_PMPI_DETAILS_COMM_H

#include <mpi.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void crit_world_made(void);
void crit_world_ends(void);
void crit_comm_made(MPI_Comm comm, MPI_Comm parent);
void crit_comm_joined(MPI_Comm comm, MPI_Comm parent);
void crit_comm_met(MPI_Comm comm);
void crit_comm_named(uint64_t comm, const char *name);
void crit_comm_copied(MPI_Comm comm, MPI_Comm parent);
void crit_win_made(MPI_Win win, MPI_Comm parent);
void crit_file_made(MPI_File file, MPI_Comm parent);
void crit_come_together(uint64_t handle);
void crit_came_together(uint64_t handle);
int crit_neighbours_in(MPI_Comm comm);
int crit_neighbours_out(MPI_Comm comm);

#pragma GCC visibility pop

#endif
