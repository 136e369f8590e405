! SPDX-License-Identifier: BSD-3-Clause
! Half a second of recursion with automatic arrays, mathematics and formatted numbers.
program formats
  implicit none
  integer :: i, number
  real(8) :: begin_s, now_s, value
  character(len=64) :: text

  call cpu_time(begin_s)
  now_s = begin_s
  do while (now_s - begin_s < 0.5d0)
    do i = 1, 100
      write (text, '(f20.10, i8)') summed(i, 6), i
      read (text, '(f20.10, i8)') value, number
    end do
    call cpu_time(now_s)
  end do
contains
  recursive function summed(count, level) result(total)
    integer, intent(in) :: count, level
    real(8) :: total, values(count)
    integer :: j

    do j = 1, count
      values(j) = sin(real(j, 8))
    end do
    total = sum(values)
    if (level > 0) total = total + summed(count, level - 1) / 2
  end function summed
end program formats
