// SPDX-License-Identifier: BSD-3-Clause
// Four threads of each rank make calls at once, under MPI_THREAD_MULTIPLE, each on a communicator
// of its own.
//
// usage: thread_calls [OUTPUT]      two ranks; with OUTPUT they write to OUTPUT.0 and OUTPUT.1
#include "tests/shim/counted.h"

#define THREADS 4
#define ROUNDS 5
#define LOCAL_CALLS 2000

static struct worker {
	pthread_t thread;
	MPI_Comm comm;
	int number;
	int sum;
	int wrong;
} workers[THREADS];

static void exchange(struct worker *worker, int round)
{
	int out = 100 * worker->number + 10 * round + rank, in = -1, all = 0;
	MPI_Request requests[2];
	MPI_Status statuses[2];

	C(Sendrecv, &out, 1, MPI_INT, peer, round, &in, 1, MPI_INT, peer, round, worker->comm,
	  MPI_STATUS_IGNORE);
	worker->sum += in;
	C(Irecv, &in, 1, MPI_INT, peer, 99, worker->comm, &requests[0]);
	C(Isend, &out, 1, MPI_INT, peer, 99, worker->comm, &requests[1]);
	C(Waitall, 2, requests, statuses);
	worker->sum += in;
	C(Allreduce, &out, &all, 1, MPI_INT, MPI_SUM, worker->comm);
	worker->sum += all;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	int answer = -1, flag;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < LOCAL_CALLS; i++) {
			C(Comm_rank, worker->comm, &answer);
			worker->wrong += answer != rank;
		}
		for (int i = 0; i < LOCAL_CALLS; i++) {
			C(Iprobe, MPI_ANY_SOURCE, 4711, worker->comm, &flag, MPI_STATUS_IGNORE);
			worker->wrong += flag;
		}
		exchange(worker, round);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;

	C(Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (open_pair(argc > 1 ? argv[1] : NULL) < 0)
		return 1;
	if (provided != MPI_THREAD_MULTIPLE) {
		fprintf(stderr, "thread_calls: this MPI has no MPI_THREAD_MULTIPLE\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		C(Comm_dup, MPI_COMM_WORLD, &workers[i].comm);
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		say("thread", (int[]){ i, workers[i].sum, workers[i].wrong }, 3);
	}
	for (int i = 0; i < THREADS; i++)
		C(Comm_free, &workers[i].comm);
	C(Finalize);
	say_counts();
	return 0;
}
