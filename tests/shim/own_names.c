// SPDX-License-Identifier: BSD-3-Clause
// A plug-in without MPI, for plugin_host, with functions named as some compiler would name MPI's.
double mpi_bcast(double value);
void mpi_init(int *counter);
int plugin_run(void);

__attribute__((noinline)) double mpi_bcast(double value)
{
	return 2 * value;
}

__attribute__((noinline)) void mpi_init(int *counter)
{
	++*counter;
}

int plugin_run(void)
{
	int counter = 0;

	mpi_init(&counter);
	mpi_init(&counter);
	return (int)mpi_bcast(20.0) + counter;
}
