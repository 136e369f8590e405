! SPDX-License-Identifier: BSD-3-Clause
! Calls from marked lines: a module's procedure, one inside another, an external one, the program.
module grid
   use mpi
   implicit none
   integer, parameter :: rounds = 20
contains
   subroutine solve(total, step)
      double precision, intent(in out) :: total
      integer, intent(in) :: step
      integer :: i
      do i = 1, rounds
         call exchange()
         call reduce(total)
      end do
   contains
      subroutine exchange()
         integer :: error
         call MPI_Bcast(total, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error) ! MARK exchange
         total = total + step
      end subroutine
   end subroutine
end module

subroutine reduce(total)
   use mpi
   double precision, intent(in out) :: total
   double precision :: sum
   integer :: error, kind = MPI_DOUBLE_PRECISION
   call MPI_Allreduce(total, sum, 1, kind, MPI_SUM, MPI_COMM_WORLD, error) ! MARK reduce
   total = sum / 2
end subroutine

program places
   use grid
   use iso_c_binding
   implicit none
   double precision, target :: total = 1
   integer :: error, rank
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error) ! MARK places
   call solve(total, rank)
   call MPI_Barrier(MPI_COMM_WORLD, error) ! MARK places
   print '(a, z0)', 'main 0x', transfer(c_loc(total), 1_c_intptr_t)
   call MPI_Finalize(error)
end program
