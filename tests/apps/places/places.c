// SPDX-License-Identifier: BSD-3-Clause
// Calls from marked lines, as C and as C++; tells where main was loaded.
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 20

#ifdef __cplusplus
namespace solver
{
template <typename Value> struct Grid {
	Value sum;
	Value step;
	MPI_Comm comm;

	void exchange()
	{
		MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); // MARK Grid::exchange
		sum += step;
	}
	__attribute__((noinline)) void reduce()
	{
		Value all = 0;

		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, comm); // MARK Grid::reduce
		sum = all / 2;
	}
};
} // namespace solver

static double solve(double step)
{
	solver::Grid<double> grid = { 1.0, step, MPI_COMM_WORLD };

	for (int i = 0; i < ROUNDS; i++) {
		grid.exchange();
		grid.reduce();
	}
	return grid.sum;
}
#else
static void exchange(double *sum, double step)
{
	MPI_Bcast(sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); // MARK exchange
	*sum += step;
}

__attribute__((noinline)) static void reduce(double *sum)
{
	double all = 0;

	MPI_Allreduce(sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // MARK reduce
	*sum = all / 2;
}

static double solve(double step)
{
	double sum = 1.0;

	for (int i = 0; i < ROUNDS; i++) {
		exchange(&sum, step);
		reduce(&sum);
	}
	return sum;
}
#endif

int main(int argc, char **argv)
{
	int rank;
	double sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank); // MARK main
	sum = solve(rank);
	MPI_Barrier(MPI_COMM_WORLD); // MARK main
	printf("main %p %g\n", (void *)&main, sum);
	MPI_Finalize();
	return 0;
}
