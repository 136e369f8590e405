! SPDX-License-Identifier: BSD-3-Clause
!
! The module crit: names the phases of a program in crit's tables and traces.
!
!   use crit
!   call crit_region_begin("assembly")
!   ...
!   call crit_region_end()
!
! Compile this file with the program, as compilers understand only their own module files.  There is
! nothing to link, and nothing of crit has to be installed where the program runs: without crit
! preloaded both calls do nothing.  See crit_region(3).
module crit
	use, intrinsic :: iso_c_binding
	implicit none
	private
	public :: crit_region_begin, crit_region_end

	abstract interface
		subroutine begin_function(name) bind(c)
			import :: c_char
			character(kind=c_char), intent(in) :: name(*)
		end subroutine
		subroutine end_function() bind(c)
		end subroutine
	end interface

	interface
		function find_symbol(handle, name) bind(c, name="dlsym")
			import :: c_char, c_funptr, c_ptr
			type(c_ptr), value :: handle
			character(kind=c_char), intent(in) :: name(*)
			type(c_funptr) :: find_symbol
		end function
	end interface

contains

	! Begins a phase; name: at most 120 characters, blanks at its end do not count.
	subroutine crit_region_begin(name)
		character(len=*), intent(in) :: name
		procedure(begin_function), pointer, save :: found => null()
		logical, save :: is_looked_for = .false.

		if (.not. is_looked_for) call look("crit_region_begin", found)
		is_looked_for = .true.
		if (associated(found)) call found(trim(name)//c_null_char)
	end subroutine

	! Ends the innermost phase that the calling thread has begun.
	subroutine crit_region_end()
		procedure(end_function), pointer, save :: found => null()
		logical, save :: is_looked_for = .false.
		type(c_funptr) :: symbol

		if (.not. is_looked_for) then
			symbol = find_symbol(c_null_ptr, "crit_region_end"//c_null_char)
			if (c_associated(symbol)) call c_f_procpointer(symbol, found)
		end if
		is_looked_for = .true.
		if (associated(found)) call found()
	end subroutine

	subroutine look(name, found)
		character(len=*), intent(in) :: name
		procedure(begin_function), pointer, intent(out) :: found
		type(c_funptr) :: symbol

		symbol = find_symbol(c_null_ptr, name//c_null_char)
		if (c_associated(symbol)) call c_f_procpointer(symbol, found)
	end subroutine
end module
