// SPDX-License-Identifier: BSD-3-Clause
// Makes the calls of everyday MPI, counts them, and prints what they computed and how often each
// was made: "result ..." lines must not depend on a shim, "RANK count NAME N" lines tell what it
// should have seen.
//
// usage: every_call [OUTPUT]      two ranks; with OUTPUT they write to OUTPUT.0 and OUTPUT.1
#include "tests/shim/counted.h"

static MPI_Status statuses[8];

static void exchange_blocking(MPI_Comm comm)
{
	int in[4] = { -1, -1, -1, -1 }, out = 100 + rank;
	MPI_Status status;

	for (int i = 0; i < 3; i++) {
		if (rank == 0)
			C(Send, &out, 1, MPI_INT, peer, i, comm);
		C(Recv, &in[0], 1, MPI_INT, peer, i, comm, MPI_STATUS_IGNORE);
		if (rank == 1)
			C(Ssend, &out, 1, MPI_INT, peer, i, comm);
	}
	C(Sendrecv, &out, 1, MPI_INT, peer, 7, &in[1], 1, MPI_INT, peer, 7, comm, &status);
	in[2] = out;
	C(Sendrecv_replace, &in[2], 1, MPI_INT, peer, 8, peer, 8, comm, &status);
	in[3] = status.MPI_TAG;
	say("blocking", in, 4);
}

static void exchange_requests(MPI_Comm comm)
{
	int in[4] = { 0 }, out[4] = { 1 + rank, 2 + rank, 3 + rank, 4 + rank }, index, done;
	MPI_Request requests[8];

	for (int i = 0; i < 4; i++) {
		C(Irecv, &in[i], 1, MPI_INT, peer, 20 + i, comm, &requests[i]);
		C(Isend, &out[i], 1, MPI_INT, peer, 20 + i, comm, &requests[4 + i]);
	}
	C(Wait, &requests[0], MPI_STATUS_IGNORE);
	C(Waitany, 1, &requests[1], &index, MPI_STATUS_IGNORE);
	C(Waitsome, 1, &requests[2], &done, &index, statuses);
	C(Waitall, 5, &requests[3], statuses);
	say("requests", in, 4);
}

/* Loops of each polling call, told apart by another call, so that every poll span has one name. */
static void exchange_polling(MPI_Comm comm)
{
	int in[4] = { 0 }, out = 40 + rank, flag = 0, index, done = 0, answer;
	MPI_Request requests[2];

	for (int round = 0; round < 4; round++) {
		C(Irecv, &in[round], 1, MPI_INT, peer, 30 + round, comm, &requests[0]);
		C(Barrier, comm);
		C(Isend, &out, 1, MPI_INT, peer, 30 + round, comm, &requests[1]);
		flag = done = 0;
		while (round == 0 && !flag)
			C(Test, &requests[0], &flag, MPI_STATUS_IGNORE);
		while (round == 1 && !flag)
			C(Testall, 1, &requests[0], &flag, statuses);
		while (round == 2 && !flag)
			C(Testany, 1, &requests[0], &index, &flag, MPI_STATUS_IGNORE);
		while (round == 3 && !done)
			C(Testsome, 1, &requests[0], &done, &index, statuses);
		C(Wait, &requests[1], MPI_STATUS_IGNORE);
	}
	C(Barrier, comm);
	C(Isend, &out, 1, MPI_INT, peer, 50, comm, &requests[0]);
	C(Probe, peer, 50, comm, MPI_STATUS_IGNORE);
	for (flag = 0; !flag;)
		C(Iprobe, MPI_ANY_SOURCE, 50, comm, &flag, MPI_STATUS_IGNORE);
	C(Recv, &answer, 1, MPI_INT, peer, 50, comm, MPI_STATUS_IGNORE);
	C(Wait, &requests[0], MPI_STATUS_IGNORE);
	say("polling", in, 4);
	say("probed", &answer, 1);
}

static void collect(MPI_Comm comm)
{
	int in[8] = { 0 }, out[8] = { 10 + rank, 20 + rank, 30 + rank, 40 + rank };
	const int ones[2] = { 1, 1 }, places[2] = { 1, 0 };

	C(Barrier, comm);
	in[0] = 5 * (rank + 1);
	C(Bcast, &in[0], 1, MPI_INT, 1, comm);
	C(Reduce, &out[0], &in[1], 1, MPI_INT, MPI_SUM, 0, comm);
	C(Allreduce, &out[1], &in[2], 2, MPI_INT, MPI_MAX, comm);
	C(Scan, &out[0], &in[4], 1, MPI_INT, MPI_SUM, comm);
	say("reduced", in, 5);
	memset(in, 0, sizeof(in));
	C(Gather, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
	C(Gatherv, out, 1, MPI_INT, in + 2, ones, places, MPI_INT, 1, comm);
	C(Allgather, out, 1, MPI_INT, in + 4, 1, MPI_INT, comm);
	C(Allgatherv, out, 1, MPI_INT, in + 6, ones, places, MPI_INT, comm);
	say("gathered", in, 8);
	memset(in, 0, sizeof(in));
	C(Scatter, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
	C(Scatterv, out, ones, places, MPI_INT, in + 1, 1, MPI_INT, 1, comm);
	C(Alltoall, out, 1, MPI_INT, in + 2, 1, MPI_INT, comm);
	C(Alltoallv, out, ones, places, MPI_INT, in + 4, ones, places, MPI_INT, comm);
	say("scattered", in, 6);
}

int main(int argc, char **argv)
{
	MPI_Comm copy, half;
	int half_size;

	C(Init, &argc, &argv);
	if (open_pair(argc > 1 ? argv[1] : NULL) != 0)
		return 1;
	C(Comm_dup, MPI_COMM_WORLD, &copy);
	C(Comm_split, copy, rank, 0, &half);
	C(Comm_size, half, &half_size);
	say("half", &half_size, 1);
	exchange_blocking(copy);
	exchange_requests(copy);
	exchange_polling(copy);
	collect(copy);
	C(Comm_free, &half);
	C(Comm_free, &copy);
	C(Finalize);
	say_counts();
	return 0;
}
