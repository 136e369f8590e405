/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libcrit_pmpi.so, which knows no MPI type, and a backend, which knows one flavour's,
 * agree on.
 */
#ifndef CRIT_PMPI_BACKEND_ABI_H
#define CRIT_PMPI_BACKEND_ABI_H

#define CRIT_PMPI_CALLS 1024 /* call numbers of core/abi/mpi_calls.def fit below */
#define CRIT_PMPI_BACKEND "crit_pmpi_backend" /* the one symbol a backend exports */

struct crit_pmpi_backend {
	void *const *wrappers; /* by call number; NULL: the flavour has no such call */
	void *const *nets; /* the same for PMPI_X where another tool's MPI_X may be who calls it */
	void **next; /* by call number; filled by libcrit_pmpi.so before a wrapper is used */
	void **mpi; /* handle of the loaded libmpi, for the backend's own PMPI calls */
};

#endif
