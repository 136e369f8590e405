// SPDX-License-Identifier: BSD-3-Clause
// As many barriers from one place as from 20,000: many_places 1|20000 ROUNDS.
#include <mpi.h>
#include <stdlib.h>

#define PLACES 20000
#define TEN(statement)                                                                             \
	statement statement statement statement statement statement statement statement statement  \
		statement

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
	const int rounds = count == 3 ? atoi(words[2]) : 0;

	if (rounds <= 0)
		return 2;
	if (MPI_Init(&count, &words))
		return 1;
	for (int i = 0; i < rounds; i++)
		atoi(words[1]) == PLACES ? meet_in_many() : meet_in_one();
	return MPI_Finalize();
}
