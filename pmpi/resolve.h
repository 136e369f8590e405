/* SPDX-License-Identifier: BSD-3-Clause */
/* What the resolvers of C and Fortran names share. */
#ifndef CRIT_PMPI_RESOLVE_H
#define CRIT_PMPI_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

/* Places among those of C names that no call has; pmpi/generate.py has the numbers, too. */
#define CRIT_PMPI_OPENMP 768u /* names of core/abi/gomp.map, in libcrit_ompt.so */
#define CRIT_PMPI_PCONTROL 1000u

#pragma GCC visibility push(hidden)

/* Is there an MPI in this process by now? */
bool crit_pmpi_is_loaded(void);

/*
 * Are calls recorded in this process?  Asked after crit_pmpi_is_loaded, at the first call of this
 * number, 0 where it has none.
 */
bool crit_pmpi_is_recording(uint32_t number);

/* "Send", of a number in core/abi/mpi_calls.def. */
const char *crit_pmpi_c_name(uint32_t number);

/* By its name, is this library a part of an MPI: libmpi, libmpi_mpifh, libmpichfort, …? */
bool crit_pmpi_is_of_mpi(const char *path);

/* A library beside this one, loaded; NULL: there is none. */
void *crit_pmpi_load(const char *name);

/* Does this function, or code, lie in such a library? */
bool crit_pmpi_is_in_mpi(const void *code);

/* What MPI_X leads to without us, by the name PMPI_X: another tool's, or MPI's own. */
void *crit_pmpi_next(const char *pmpi_name);

#pragma GCC visibility pop

#endif
