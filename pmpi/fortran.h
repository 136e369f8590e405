/* SPDX-License-Identifier: BSD-3-Clause */
/* Between pmpi/fortran.S, the one wrapper of all Fortran names, and pmpi/fortran.c. */
#ifndef CRIT_PMPI_FORTRAN_H
#define CRIT_PMPI_FORTRAN_H

/* Places of C names lie below, two for each number. */
#define CRIT_PMPI_FORTRAN 2048
#define CRIT_PMPI_FORTRAN_PLACES 4096 /* fortran_stubs.inc has fewer */
#define CRIT_PMPI_STUB_BYTES 16

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct crit_pmpi_fortran { /* pmpi/fortran.S knows size and offsets */
	void *next; /* NULL: nobody has called this name yet */
	uint32_t what; /* 0: hand on and do nothing else; stored before next */
	uint8_t flag; /* poll calls: the argument that says whether something was found; else 0 */
	bool is_announced; /* its C call opens the span */
	uint16_t reserved;
};

/* Where the first call of a name goes: its stub again if that wraps by now, else the next one. */
void *crit_pmpi_fortran_resolve(uint32_t place, const void *site);

/* What a Fortran name leads to without us, asked by the code at site: a tool's, or MPI's own. */
void *crit_pmpi_fortran_next(const char *symbol, const void *site);

/* Around the call; frame: the wrapper's, which holds its caller.  Leave comes if enter was true. */
bool crit_pmpi_fortran_enter(const struct crit_pmpi_fortran *call, const void *frame);
void crit_pmpi_fortran_leave(const struct crit_pmpi_fortran *call, const int32_t *const *arguments);

#pragma GCC visibility pop

_Static_assert(sizeof(struct crit_pmpi_fortran) == 16, "pmpi/fortran.S shifts by 4");
_Static_assert(__builtin_offsetof(struct crit_pmpi_fortran, what) == 8, "pmpi/fortran.S reads it");
#endif

#endif
