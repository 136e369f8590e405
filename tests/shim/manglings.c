// SPDX-License-Identifier: BSD-3-Clause
// Calls MPI_Comm_rank by every name a Fortran compiler may give it, looked up as a program would
// have it: in all that is loaded, else in the library itself.
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

static const char *const libraries[] = { "libmpi_mpifh.so.40", "libmpichfort.so.12",
					 "libmpifort.so.12" };
static const char *const names[] = { "mpi_comm_rank_", "mpi_comm_rank", "mpi_comm_rank__",
				     "MPI_COMM_RANK" };

static void *load(void)
{
	const unsigned int count = sizeof(libraries) / sizeof(*libraries);
	const bool is_openmpi = sizeof(MPI_Comm) == sizeof(void *);

	for (unsigned int i = is_openmpi ? 0 : 1; i < count; i++) {
		void *handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);

		if (handle)
			return handle;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	MPI_Fint world, rank, error;
	void *handle;

	MPI_Init(&argc, &argv);
	world = MPI_Comm_c2f(MPI_COMM_WORLD);
	handle = load();
	for (unsigned int i = 0; handle && i < sizeof(names) / sizeof(*names); i++) {
		void (*call)(const MPI_Fint *, MPI_Fint *, MPI_Fint *) = NULL;

		*(void **)&call = dlsym(RTLD_DEFAULT, names[i]);
		if (!call)
			*(void **)&call = dlsym(handle, names[i]);
		rank = error = -1;
		if (call)
			call(&world, &rank, &error);
		printf("rank %d by %s, error %d\n", rank, names[i], error);
	}
	MPI_Finalize();
	return 0;
}
