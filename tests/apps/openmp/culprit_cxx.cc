// SPDX-License-Identifier: BSD-3-Clause
// culprit.c in C++: f and g are methods of two instances of a template.
#include <cstdlib>
#include <mpi.h>

#include "tests/apps/clocked.h"

namespace
{

clocked f_clock, g_clock;

template <class Number> struct solver {
	Number ms;

	__attribute__((noinline)) void f()
	{
		CLOCKED_WORK(&f_clock, static_cast<int64_t>(ms * 1000000));
	}
	__attribute__((noinline)) void g()
	{
		CLOCKED_WORK(&g_clock, static_cast<int64_t>(ms * 1000000));
	}
};

} // namespace

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
	solver<double> slow = { 7 };
	solver<int> fast = { 3 };
	int rank, size, ball = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (long round = 0; round < rounds; round++) {
		if (rank != 0) {
			MPI_Recv(&ball, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		slow.f();
		fast.g();
		for (int i = 1; i < size; i++)
			MPI_Send(&ball, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	if (rank == 0) {
		clocked_tell("f", &f_clock, nullptr, nullptr, 1);
		clocked_tell("g", &g_clock, nullptr, nullptr, 1);
	}
	return 0;
}
