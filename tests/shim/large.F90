! SPDX-License-Identifier: BSD-3-Clause
! Calls with large counts, which mpi_f08 has; the other dialects make the same with plain ones.
!
! usage: large OUTPUT      two ranks; they write OUTPUT.0 and OUTPUT.1      DIALECT as in ../apps/dialect.inc
#if DIALECT == 3
#define COUNT integer(MPI_COUNT_KIND)
#define C(name) write (7, '(i0, a)') rank, ' count ' // 'name' // '_c 1'; call MPI_/**/name
#define DATATYPE type(MPI_Datatype)
#define STATUS type(MPI_Status)
#else
#define COUNT integer
#define C(name) write (7, '(i0, a)') rank, ' count name 1'; call MPI_/**/name
#define DATATYPE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif
program large
#include "../apps/dialect.inc"
	integer :: ierror, rank, out(2), in(2)
	COUNT :: two, bytes, got
	DATATYPE :: pair
	STATUS :: status
	character(len=512) :: output
	character(len=8) :: suffix

	call get_command_argument(1, output)
	call MPI_Init(ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	write (suffix, '(".", i0)') rank
	open (unit=7, file=trim(output)//suffix, status='replace', action='write')
	two = 2
	out = [10, 11]
	C(Type_contiguous)(two, MPI_INTEGER, pair, ierror)
	C(Type_size)(pair, bytes, ierror)
	C(Sendrecv)(out, two, MPI_INTEGER, 1 - rank, 3, in, two, MPI_INTEGER, 1 - rank, 3, MPI_COMM_WORLD, status, ierror)
	C(Get_count)(status, MPI_INTEGER, got, ierror)
	call MPI_Type_free(pair, ierror)
	write (7, '("result ", i0, " large", 4(" ", i0))') rank, bytes, in, got
	write (7, '(4(i0, a, /), i0, a)') rank, ' count Init 1', rank, ' count Comm_rank 1', rank, ' count Type_free 1', &
		rank, ' count Finalize 1'
	call MPI_Finalize(ierror)
	close (7)
end program
