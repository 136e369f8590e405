// SPDX-License-Identifier: BSD-3-Clause
// A rank that a signal kills inside MPI_Init: an alarm, while the others are not there yet.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *const rank_variables[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK" };

static long find_rank(void)
{
	for (size_t i = 0; i < sizeof(rank_variables) / sizeof(rank_variables[0]); i++)
		if (getenv(rank_variables[i]))
			return strtol(getenv(rank_variables[i]), NULL, 10);
	return -1;
}

int main(int argc, char **argv)
{
	const struct timespec late = { .tv_sec = 2 };

	if (find_rank() == 0)
		nanosleep(&late, NULL); /* the others wait for it in MPI_Init */
	else
		alarm(1);
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return 0;
}
