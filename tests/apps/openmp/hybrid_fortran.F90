! SPDX-License-Identifier: BSD-3-Clause
! Ranks and threads with known work, in Fortran: tests/apps/openmp/hybrid.h says the rest.
!
! usage: hybrid_fortran ROUNDS      DIALECT as in tests/shim/all_kinds.F90
#include "core/crit.f90"
program hybrid_fortran
	use iso_c_binding
	use omp_lib
	use crit
#if DIALECT == 2
	use mpi
#elif DIALECT == 3
	use mpi_f08
#endif
	implicit none
#if DIALECT == 1
	include 'mpif.h'
#endif
	interface
		subroutine hybrid_begin(rank, ranks, rounds) bind(c)
			import :: c_int
			integer(c_int), value :: rank, ranks, rounds
		end subroutine
		subroutine hybrid_name(part, name, line) bind(c)
			import :: c_char, c_int
			integer(c_int), value :: part, line
			character(kind=c_char), intent(in) :: name(*)
		end subroutine
		subroutine hybrid_do(part, thread, units) bind(c)
			import :: c_double, c_int
			integer(c_int), value :: part, thread
			real(c_double), value :: units
		end subroutine
		subroutine hybrid_tell() bind(c)
		end subroutine
	end interface
	integer :: ierror, i, rank, ranks, rounds, provided, round
	character(len=16) :: text

	call get_command_argument(1, text)
	read (text, *) rounds
	call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
	call hybrid_begin(rank, ranks, rounds)
	call MPI_Barrier(MPI_COMM_WORLD, ierror)
	do round = 1, rounds
		call crit_region_begin("loop")
		call hybrid_name(0, "loop"//c_null_char, __LINE__ + 1)
		!$omp parallel do schedule(static, 1) num_threads(2)
		do i = 1, 2
			call hybrid_do(0, omp_get_thread_num(), 3.0_c_double - i)
		end do
		!$omp end parallel do
		call crit_region_end()
		call phase_by_mpi()
		call MPI_Barrier(MPI_COMM_WORLD, ierror)
	end do
	call MPI_Finalize(ierror)
	call hybrid_tell()

contains

	! A phase as MPI names one, where the interface lets a name through.
	subroutine phase_by_mpi()
#if DIALECT == 1
		call MPI_Pcontrol(1, "team"//c_null_char)
#else
		call crit_region_begin("team")
#endif
		call hybrid_name(1, "team"//c_null_char, __LINE__ + 1)
		!$omp parallel num_threads(2)
		call hybrid_do(1, omp_get_thread_num(), 1.0_c_double)
		!$omp end parallel
#if DIALECT == 1
		call MPI_Pcontrol(-1, "team"//c_null_char)
#else
		call crit_region_end()
#endif
	end subroutine
end program
