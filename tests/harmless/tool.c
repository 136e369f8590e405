// SPDX-License-Identifier: BSD-3-Clause
// Another tool on MPI's profiling interface: counts a few calls, writes them at MPI_Finalize to
// TOOL_OUTPUT.RANK as lines "RANK count NAME N".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* W(Send, (int a, …), (a, …)): a function that counts and forwards. */
#define W(name, parameters, arguments)                                                             \
	int MPI_##name parameters                                                                  \
	{                                                                                          \
		counts[AT_##name]++;                                                               \
		return PMPI_##name arguments;                                                      \
	}

enum {
	AT_Init,
	AT_Send,
	AT_Recv,
	AT_Sendrecv,
	AT_Wait,
	AT_Iprobe,
	AT_Barrier,
	AT_Allreduce,
	AT_Comm_size,
	AT_COUNT
};

static const char *const names[AT_COUNT] = { "Init",   "Send",    "Recv",      "Sendrecv", "Wait",
					     "Iprobe", "Barrier", "Allreduce", "Comm_size" };
static long counts[AT_COUNT];

// NOLINTBEGIN(readability-function-size): the signatures are the standard's
W(Init, (int *argc, char ***argv), (argc, argv))
W(Send, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
  (data, n, type, to, tag, comm))
W(Recv,
  (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
  (data, n, type, from, tag, comm, status))
W(Sendrecv,
  (const void *out, int n, MPI_Datatype out_type, int to, int tag, void *in, int m,
   MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status),
  (out, n, out_type, to, tag, in, m, in_type, from, in_tag, comm, status))
W(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
W(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
  (from, tag, comm, flag, status))
W(Barrier, (MPI_Comm comm), (comm))
W(Allreduce, (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
  (out, in, n, type, op, comm))
W(Comm_size, (MPI_Comm comm, int *ret_size), (comm, ret_size))
// NOLINTEND(readability-function-size)

int MPI_Finalize(void)
{
	const char *output = getenv("TOOL_OUTPUT");
	char path[512];
	FILE *file;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank); /* one call of the tool's own */
	(void)snprintf(path, sizeof(path), "%s.%d", output ? output : "tool", rank);
	file = fopen(path, "w");
	for (int i = 0; file && i < AT_COUNT; i++)
		if (counts[i])
			fprintf(file, "%d count %s %ld\n", rank, names[i], counts[i]);
	if (file)
		(void)fclose(file);
	return PMPI_Finalize();
}
