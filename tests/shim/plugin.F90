! SPDX-License-Identifier: BSD-3-Clause
! plugin.c in Fortran.  DIALECT as in ../apps/dialect.inc.
function plugin_run() bind(c) result(total)
	use iso_c_binding
#include "../apps/dialect.inc"
	integer(c_int) :: total
	integer :: ierror, rank

	total = 0
	call MPI_Init(ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
	call MPI_Finalize(ierror)
end function
