! SPDX-License-Identifier: BSD-3-Clause
! A communicator that gets its name in Fortran.
program comm_name
#if DIALECT == 1
	include 'mpif.h'
	integer :: comm
#elif DIALECT == 2
	use mpi
	integer :: comm
#else
	use mpi_f08
	type(MPI_Comm) :: comm
#endif
	integer :: ierror

	call MPI_Init(ierror)
	call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
	call MPI_Comm_set_name(comm, "atmosphere", ierror)
	call MPI_Barrier(comm, ierror)
	call MPI_Comm_free(comm, ierror)
	call MPI_Finalize(ierror)
end program
