! SPDX-License-Identifier: BSD-3-Clause
! Calls from Fortran: the program, a module's procedure, one inside another, an external one.
module probes
   use iso_c_binding
   implicit none
   integer, volatile :: turns = 1
   interface
      integer(c_int) function probe(name) bind(c)
         import
         character(kind=c_char), intent(in) :: name(*)
      end function
   end interface
contains
   subroutine sweep(total)
      integer, intent(in out) :: total
      total = total + probe("module"//c_null_char) ! MARK module
      call inside(total)
      total = total + turns
   contains
      subroutine inside(sum)
         integer, intent(in out) :: sum
         if (turns > 0) sum = sum + probe("inside"//c_null_char) ! MARK inside
         sum = sum + turns
      end subroutine
   end subroutine
end module

subroutine sum_up(total)
   use probes
   integer, intent(in out) :: total
   !$omp parallel num_threads(1) reduction(+:total)
   total = total + probe("team"//c_null_char) ! MARK team
   !$omp end parallel
end subroutine

subroutine external(total)
   use probes
   integer, intent(in out) :: total
   total = total + probe("external"//c_null_char) ! MARK external
   total = total + turns
end subroutine

program places
   use probes
   integer :: total = 0
   external :: external, sum_up
   call sweep(total)
   call external(total)
   call sum_up(total)
   total = total + probe("program"//c_null_char) ! MARK program
   if (total < 0) stop 1
end program
