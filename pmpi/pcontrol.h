/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pcontrol: phases by name. */
#ifndef CRIT_PMPI_PCONTROL_H
#define CRIT_PMPI_PCONTROL_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * A call of MPI_Pcontrol, in C or (form > 0) by a name in Fortran: begins or ends a phase; answers
 * where the call goes on.  arguments: the first three, as they came.
 */
void *crit_pmpi_pcontrol(uint32_t form, const char *symbol, const void *site,
			 const uint64_t *arguments);

#pragma GCC visibility pop

#endif
