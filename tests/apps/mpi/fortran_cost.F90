! SPDX-License-Identifier: BSD-3-Clause
! What a call from Fortran takes: to be run with a shim and without, for the difference.
!
! usage: fortran_cost [CHUNKS]      prints one line per call: NAME ns
! Each figure is the first percentile of chunk means, as in call_cost.c.
program fortran_cost
	use iso_c_binding
#include "../dialect.inc"
	integer, parameter :: chunk = 500, warm_up = 50
	interface
		subroutine work_not(pause_ns) bind(c)
			import :: c_int64_t
			integer(c_int64_t), value :: pause_ns
		end subroutine
	end interface
	integer :: chunks, ierror
	character(len=16) :: text

	chunks = 1000
	call get_command_argument(1, text)
	if (len_trim(text) > 0) read (text, *) chunks
	call MPI_Init(ierror)
	call measure('Comm_rank', 1)
	call measure('Iprobe', 2)
	call measure('Allreduce', 3)
	call MPI_Finalize(ierror)

contains

	subroutine measure(name, which)
		character(len=*), intent(in) :: name
		integer, intent(in) :: which
		real(8) :: means(chunks)
		integer(8) :: start_ns, end_ns
		integer :: i, low

		do i = 1, chunks
			call repeat_call(which, warm_up)
			call system_clock(start_ns)
			call repeat_call(which, chunk)
			call system_clock(end_ns)
			means(i) = real(end_ns - start_ns, 8) / chunk
			call work_not(1000000_c_int64_t)
		end do
		do i = 1, max(1, chunks / 100)
			low = minloc(means, 1)
			if (i < chunks / 100) means(low) = huge(1d0)
		end do
		print '(a, " ", f0.1)', name, means(low)
	end subroutine

	subroutine repeat_call(which, times)
		integer, intent(in) :: which, times
		integer :: answer, i
		logical :: is_there

		do i = 1, times
			if (which == 1) then
				call MPI_Comm_rank(MPI_COMM_WORLD, answer, ierror)
			else if (which == 2) then
				call MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, is_there, MPI_STATUS_IGNORE, ierror)
			else
				call MPI_Allreduce(times, answer, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierror)
			end if
		end do
	end subroutine
end program
