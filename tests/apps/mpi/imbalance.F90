! SPDX-License-Identifier: BSD-3-Clause
! Ranks that work unequally between barriers, from Fortran: barrier_imbalance.c says the rest.
!
! usage: imbalance PHASES MS-OF-RANK-0 MS-OF-RANK-1      DIALECT as in dialect.inc
program imbalance
	use iso_c_binding
#include "../dialect.inc"
	interface
		subroutine work_for(cpu_ns) bind(c)
			import :: c_int64_t
			integer(c_int64_t), value :: cpu_ns
		end subroutine
		subroutine work_on(cpu_number) bind(c)
			import :: c_int
			integer(c_int), value :: cpu_number
		end subroutine
	end interface
	integer :: arguments(3), ierror, i, rank
	character(len=16) :: text

	do i = 1, 3
		call get_command_argument(i, text)
		read (text, *) arguments(i)
	end do
	call MPI_Init(ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	call work_on(int(rank, c_int))
	call MPI_Barrier(MPI_COMM_WORLD, ierror)
	do i = 1, arguments(1)
		call work_for(arguments(2 + mod(rank, 2)) * 1000000_c_int64_t)
		call MPI_Barrier(MPI_COMM_WORLD, ierror)
	end do
	call MPI_Finalize(ierror)
end program
