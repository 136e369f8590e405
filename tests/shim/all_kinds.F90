! SPDX-License-Identifier: BSD-3-Clause
! Calls of every kind from Fortran, as all_kinds.c makes them from C: "result ..." lines must not
! depend on a shim, "RANK count NAME N" lines tell what it should have seen.
!
! usage: all_kinds OUTPUT      two ranks; they write OUTPUT.0 and OUTPUT.1, and share OUTPUT.data
!
! DIALECT as in ../apps/dialect.inc; the optional ierror of mpi_f08 is left out.
#if DIALECT == 3
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define WIN type(MPI_Win)
#define FILE type(MPI_File)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status) :: statuses(n)
#define TAG_OF(s) s%MPI_TAG
#define SOURCE_OF(s) s%MPI_SOURCE
#define IERR )
#define IERR_ONLY
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define WIN integer
#define FILE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer :: statuses(MPI_STATUS_SIZE, n)
#define TAG_OF(s) s(MPI_TAG)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define IERR , ierror)
#define IERR_ONLY ierror
#endif
#if DIALECT == 1
#define ADDRESS integer(kind=MPI_ADDRESS_KIND)
#else
#define ADDRESS type(c_ptr)
#endif
! C(Send)(...) counts and calls MPI_Send(...).
#define C(name) call count_call('name'); call MPI_/**/name

program all_kinds
	use iso_c_binding
#include "../apps/dialect.inc"
	integer, parameter :: calls_max = 96
	character(len=32) :: names(calls_max) = ''
	integer :: counts(calls_max) = 0
	character(len=512) :: output
	character(len=8) :: suffix
	integer :: ierror, i, rank, ranks, peer
	COMM :: world

	call get_command_argument(1, output)
	C(Init)(IERR_ONLY)
	C(Comm_dup)(MPI_COMM_WORLD, world IERR
	C(Comm_rank)(world, rank IERR
	C(Comm_size)(world, ranks IERR
	if (ranks /= 2) call MPI_Abort(world, 2 IERR
	peer = 1 - rank
	write (suffix, '(".", i0)') rank
	open (unit=7, file=trim(output)//suffix, status='replace', action='write')
	call ask()
	call exchange()
	call repeat_persistent()
	call poll()
	call collect()
	call pass_bottom()
	call share_window()
	call write_file()
	C(Comm_free)(world IERR
	C(Finalize)(IERR_ONLY)
	do i = 1, calls_max
		if (counts(i) > 0) write (7, '(i0, " count ", a, " ", i0)') rank, trim(names(i)), counts(i)
	end do
	close (7)

contains

	subroutine count_call(name)
		character(len=*), intent(in) :: name
		integer :: at

		do at = 1, calls_max
			if (counts(at) == 0) names(at) = name
			if (names(at) == name) then
				counts(at) = counts(at) + 1
				return
			end if
		end do
	end subroutine

	subroutine say(what, values)
		character(len=*), intent(in) :: what
		integer, intent(in) :: values(:)

		write (7, '("result ", i0, " ", a, 16(" ", i0))') rank, what, values
	end subroutine

	! Strings and logicals.
	subroutine ask()
		character(len=MPI_MAX_PROCESSOR_NAME) :: host
		character(len=MPI_MAX_OBJECT_NAME) :: label
		integer :: length
		logical :: is_initialized, is_finalized

		C(Get_processor_name)(host, length IERR
		write (7, '("result ", i0, " host ", a, " ", i0)') rank, trim(host), length
		C(Comm_set_name)(world, 'all kinds' IERR
		C(Comm_get_name)(world, label, length IERR
		write (7, '("result ", i0, " label ", a, " ", i0)') rank, trim(label), length
		C(Initialized)(is_initialized IERR
		C(Finalized)(is_finalized IERR
		call say('state', [merge(1, 0, is_initialized), merge(1, 0, is_finalized)])
	end subroutine

	! ANY_SOURCE, STATUS_IGNORE, Waitall, Waitsome, and the longest argument lists.
	subroutine exchange()
		integer :: out(4), in(4), left, done, indices(4), n
		REQUEST :: requests(8)
		STATUS :: status
		STATUSES(8)

		out = [1, 2, 3, 4] + 10 * rank
		in = -1
		if (rank == 0) then
			C(Send)(out, 1, MPI_INTEGER, peer, 5, world IERR
			C(Recv)(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, world, status IERR
			call say('any', [in(1), SOURCE_OF(status), TAG_OF(status)])
		else
			C(Recv)(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, world, MPI_STATUS_IGNORE IERR
			C(Ssend)(out, 1, MPI_INTEGER, peer, 6, world IERR
			call say('any', in(1:1))
		end if
		C(Sendrecv)(out(1), 2, MPI_INTEGER, peer, 7, in(2), 2, MPI_INTEGER, peer, 7, world, status IERR
		call say('sendrecv', [in(2:3), TAG_OF(status)])
		do n = 1, 4
			C(Irecv)(in(n), 1, MPI_INTEGER, peer, 20 + n, world, requests(n) IERR
			C(Isend)(out(n), 1, MPI_INTEGER, peer, 20 + n, world, requests(4 + n) IERR
		end do
		C(Waitall)(4, requests(5:8), MPI_STATUSES_IGNORE IERR
		left = 4
		do while (left > 0)
			C(Waitsome)(4, requests(1:4), done, indices, statuses IERR
			left = left - done
		end do
		call say('requests', in)
	end subroutine

	subroutine repeat_persistent()
		integer :: out(2), in(2), round, total
		REQUEST :: requests(2)

		total = 0
		C(Recv_init)(in, 2, MPI_INTEGER, peer, 40, world, requests(1) IERR
		C(Send_init)(out, 2, MPI_INTEGER, peer, 40, world, requests(2) IERR
		do round = 1, 3
			out = [round, rank]
			C(Startall)(2, requests IERR
			C(Waitall)(2, requests, MPI_STATUSES_IGNORE IERR
			total = total + 10 * in(1) + in(2)
		end do
		C(Request_free)(requests(1) IERR
		C(Request_free)(requests(2) IERR
		call say('persistent', [total])
	end subroutine

	! Loops of polls, told apart by another call, so that every poll span has one name.
	subroutine poll()
		integer :: in, out
		logical :: is_there
		REQUEST :: request
		STATUS :: status

		C(Ibarrier)(world, request IERR
		is_there = .false.
		do while (.not. is_there)
			C(Test)(request, is_there, MPI_STATUS_IGNORE IERR
		end do
		out = 60 + rank
		C(Isend)(out, 1, MPI_INTEGER, peer, 50, world, request IERR
		is_there = .false.
		do while (.not. is_there)
			C(Iprobe)(MPI_ANY_SOURCE, 50, world, is_there, status IERR
		end do
		C(Recv)(in, 1, MPI_INTEGER, SOURCE_OF(status), 50, world, MPI_STATUS_IGNORE IERR
		C(Wait)(request, MPI_STATUS_IGNORE IERR
		call say('polled', [in, TAG_OF(status)])
	end subroutine

	! IN_PLACE, and calls with an array for everything.
	subroutine collect()
		integer :: in(4), out(2), ones(2), places(2), bytes(2)
		DATATYPE :: types(2)

		in = [1, 2, 3, 4] + rank
		C(Allreduce)(MPI_IN_PLACE, in, 4, MPI_INTEGER, MPI_SUM, world IERR
		C(Bcast)(in(4), 1, MPI_INTEGER, 1, world IERR
		C(Barrier)(world IERR
		call say('reduced', in)
		ones = 1
		places = [1, 0]
		out = [30, 40] + rank
		in = 0
		C(Allgatherv)(out, 1, MPI_INTEGER, in, ones, places, MPI_INTEGER, world IERR
		C(Alltoall)(out, 1, MPI_INTEGER, in(3), 1, MPI_INTEGER, world IERR
		call say('gathered', in)
		types = MPI_INTEGER
		bytes = [4, 0]
		in = 0
		C(Alltoallw)(out, ones, bytes, types, in, ones, bytes, types, world IERR
		call say('alltoallw', in(1:2))
	end subroutine

	! BOTTOM: a type of absolute addresses.
	subroutine pass_bottom()
		integer :: lengths(2)
		integer, save, asynchronous, target :: first, second
		integer(kind=MPI_ADDRESS_KIND) :: addresses(2)
		DATATYPE :: types(2), pair

		first = 70 + rank
		second = 80 + rank
		lengths = 1
		types = MPI_INTEGER
		C(Get_address)(first, addresses(1) IERR
		C(Get_address)(second, addresses(2) IERR
		C(Type_create_struct)(2, lengths, addresses, types, pair IERR
		C(Type_commit)(pair IERR
		C(Bcast)(MPI_BOTTOM, 1, pair, 1, world IERR
		C(Type_free)(pair IERR
		call say('bottom', [first, second])
	end subroutine

	! Windows, fourteen arguments, memory that MPI gives.
	subroutine share_window()
		integer, save, asynchronous, target :: shared(4)
		integer :: mine(2), before(2)
		integer(kind=MPI_ADDRESS_KIND) :: bytes
		WIN :: window
		REQUEST :: request
		ADDRESS :: memory

		shared = 0
		before = -1
		mine = [90, 91] + 2 * rank
		bytes = 16
		C(Win_create)(shared, bytes, 4, MPI_INFO_NULL, world, window IERR
		C(Win_fence)(0, window IERR
		bytes = 0
		C(Put)(mine, 2, MPI_INTEGER, peer, bytes, 2, MPI_INTEGER, window IERR
		C(Win_fence)(0, window IERR
		C(Win_lock)(MPI_LOCK_EXCLUSIVE, peer, 0, window IERR
		C(Rget_accumulate)(mine, 2, MPI_INTEGER, before, 2, MPI_INTEGER, peer, bytes, 2, MPI_INTEGER, MPI_SUM, window, request IERR
		C(Wait)(request, MPI_STATUS_IGNORE IERR
		C(Win_unlock)(peer, window IERR
		C(Win_free)(window IERR
		call say('window', [shared, before])
		bytes = 64
		C(Alloc_mem)(bytes, MPI_INFO_NULL, memory IERR
		call release(memory)
	end subroutine

	subroutine release(memory)
		ADDRESS, intent(in) :: memory
		integer, pointer :: values(:)

#if DIALECT == 1
		type(c_ptr) :: place
		place = transfer(memory, place)
		call c_f_pointer(place, values, [16])
#else
		call c_f_pointer(memory, values, [16])
#endif
		values = 7
		call say('memory', [sum(values)])
		C(Free_mem)(values IERR
	end subroutine

	subroutine write_file()
		integer :: out(2), in(4)
		integer(kind=MPI_OFFSET_KIND) :: place
		FILE :: file

		out = [100, 101] + 2 * rank
		in = 0
		C(File_open)(world, trim(output)//'.data', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file IERR
		place = 8 * rank
		C(File_set_view)(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL IERR
		C(File_write_all)(file, out, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR
		place = 0
		C(File_set_view)(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL IERR
		C(File_sync)(file IERR
		C(Barrier)(world IERR
		C(File_read_at_all)(file, place, in, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERR
		C(File_close)(file IERR
		call say('file', in)
	end subroutine
end program
