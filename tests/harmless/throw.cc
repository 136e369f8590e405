// SPDX-License-Identifier: BSD-3-Clause
// Exceptions of C++ thrown out of calls of MPI, by error handlers and by an operator: later calls
// are made and counted all the same.  Prints lines that must not depend on a shim.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

static int rank, destroyed;

namespace
{
struct witness { // of unwinding through the frames in between
	~witness()
	{
		destroyed++;
	}
};

void on_error(MPI_Comm *, int *code, ...)
{
	const witness here;
	char text[MPI_MAX_ERROR_STRING];
	int length;

	MPI_Error_string(*code, text, &length);
	throw std::runtime_error("of a communicator");
}

void on_window_error(MPI_Win *, int *, ...)
{
	throw std::logic_error("of a window");
}

void add_or_throw(void *in, void *in_out, int *, MPI_Datatype *)
{
	if (*static_cast<int *>(in) < 0)
		throw std::domain_error("of an operator");
	*static_cast<int *>(in_out) += *static_cast<int *>(in);
}

int send_to_nobody()
{
	try {
		const witness here;
		MPI_Send(nullptr, 0, MPI_BYTE, 4711, 0, MPI_COMM_WORLD);
	} catch (const std::runtime_error &) {
		return 1;
	}
	return 0;
}

int put_to_nobody(MPI_Win window)
{
	try {
		MPI_Put(&rank, 1, MPI_INT, 4711, 0, 1, MPI_INT, window);
	} catch (const std::logic_error &) {
		return 1;
	}
	return 0;
}

int reduce_locally(MPI_Op op, int value)
{
	int sum = 1;

	try {
		MPI_Reduce_local(&value, &sum, 1, MPI_INT, op);
	} catch (const std::domain_error &) {
		return -1;
	}
	return sum;
}
} // namespace

int main(int argc, char **argv)
{
	MPI_Errhandler handler, window_handler;
	int caught = 0, memory = 0, sum = 0;
	MPI_Win window;
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (int i = 0; i < 7; i++)
		caught += send_to_nobody();
	MPI_Win_create(&memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
		       &window);
	MPI_Win_create_errhandler(on_window_error, &window_handler);
	MPI_Win_set_errhandler(window, window_handler);
	MPI_Win_fence(0, window);
	caught += put_to_nobody(window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
	MPI_Op_create(add_or_throw, 1, &op);
	sum = reduce_locally(op, 4) + 100 * reduce_locally(op, -4);
	MPI_Op_free(&op);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	std::printf("%d caught: %d, destroyed %d, sum %d\n", rank, caught, destroyed, sum);
	return 0;
}
