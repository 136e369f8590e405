! SPDX-License-Identifier: BSD-3-Clause
! culprit.c in Fortran: f and g are procedures of a module.
!
! usage: culprit_fortran ROUNDS      DIALECT as in dialect.inc
module culprits
	use iso_c_binding
	implicit none
	interface
		function clock_begin() bind(c)
			import :: c_double
			real(c_double) :: clock_begin
		end function
		subroutine clock_end(place, mark_ns, cpu_ns) bind(c)
			import :: c_int, c_double, c_int64_t
			integer(c_int), value :: place
			real(c_double), value :: mark_ns
			integer(c_int64_t), value :: cpu_ns
		end subroutine
		function clock_cpu_ns() bind(c)
			import :: c_int64_t
			integer(c_int64_t) :: clock_cpu_ns
		end function
		subroutine clock_tell() bind(c)
		end subroutine
	end interface
	real(8), volatile :: sums(64)
contains
	subroutine f()
		integer(c_int64_t) :: begin_ns
		real(c_double) :: mark_ns
		integer :: i

		begin_ns = clock_cpu_ns()
		mark_ns = clock_begin()
		do while (clock_cpu_ns() < begin_ns + 7000000)
			do i = 1, 100000
				sums(mod(i, 64) + 1) = sums(mod(i, 64) + 1) * 0.5 + i
			end do
		end do
		call clock_end(0, mark_ns, clock_cpu_ns() - begin_ns)
	end subroutine

	subroutine g()
		integer(c_int64_t) :: begin_ns
		real(c_double) :: mark_ns
		integer :: i

		begin_ns = clock_cpu_ns()
		mark_ns = clock_begin()
		do while (clock_cpu_ns() < begin_ns + 3000000)
			do i = 1, 100000
				sums(mod(i, 64) + 1) = sums(mod(i, 64) + 1) * 0.5 + i
			end do
		end do
		call clock_end(1, mark_ns, clock_cpu_ns() - begin_ns)
	end subroutine
end module

program culprit
	use culprits
#include "../dialect.inc"
	integer :: i, k, rank, ranks, rounds, ball(1), ierror
	character(len=16) :: text

	call get_command_argument(1, text)
	read (text, *) rounds
	call MPI_Init(ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
	ball = 0
	do i = 1, rounds
		if (rank /= 0) then
			call MPI_Recv(ball, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
			cycle
		end if
		call f()
		call g()
		do k = 1, ranks - 1
			call MPI_Send(ball, 1, MPI_INTEGER, k, 0, MPI_COMM_WORLD, ierror)
		end do
	end do
	call MPI_Finalize(ierror)
	if (rank == 0) call clock_tell()
end program
