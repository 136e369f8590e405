// SPDX-License-Identifier: BSD-3-Clause
// A shared object whose constructor calls MPI, a second after the loader's lock was taken for it.
#include <mpi.h>
#include <time.h>

__attribute__((constructor)) static void ask(void)
{
	const struct timespec pause = { .tv_sec = 1 };
	int flag;

	nanosleep(&pause, NULL);
	MPI_Initialized(&flag);
}
