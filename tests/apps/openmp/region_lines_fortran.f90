! SPDX-License-Identifier: BSD-3-Clause
! Parallel regions of a module's procedure and of a program; comments as in region_lines.c.
module smoothing
  implicit none
contains
  subroutine smooth(field, length)
    integer, intent(in) :: length
    real, intent(inout) :: field(length)
    integer :: i

    !$omp parallel do num_threads(2) ! parallel at smooth, 1 visits
    do i = 1, length
      field(i) = 2 * field(i) + 1
    end do
    !$omp end parallel do
    !$omp parallel num_threads(2) ! parallel at smooth, 1 visits
    !$omp atomic
    field(1) = field(1) + 1
    !$omp end parallel
  end subroutine smooth
end module smoothing

program region_lines
  use smoothing
  implicit none
  real :: field(100)

  field = 0
  call smooth(field, size(field))
  !$omp parallel num_threads(2) ! parallel at region_lines, 1 visits
  !$omp atomic
  field(2) = field(2) + 1
  !$omp end parallel
  print *, field(1), field(2)
end program region_lines
