// SPDX-License-Identifier: BSD-3-Clause
// As many barriers from one place as from 20,000: many_places 1|20000 ROUNDS.
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#define PLACES 20000
#define TEN(statement)                                                                             \
	statement statement statement statement statement statement statement statement statement  \
		statement

// NOLINTNEXTLINE(readability-function-size): its size is what it is for
static void meet_in_many(void)
{
	TEN(TEN(TEN(TEN((void)MPI_Barrier(MPI_COMM_WORLD); (void)MPI_Barrier(MPI_COMM_WORLD);))))
}

static void meet_in_one(void)
{
	for (int i = 0; i < PLACES; i++)
		(void)MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **words)
{
	const bool is_many = count == 3 && strtol(words[1], NULL, 10) == PLACES;
	const long rounds = count == 3 ? strtol(words[2], NULL, 10) : 0;

	if (rounds <= 0)
		return 2;
	if (MPI_Init(&count, &words))
		return 1;
	for (long i = 0; i < rounds; i++)
		is_many ? meet_in_many() : meet_in_one();
	return MPI_Finalize();
}
