// SPDX-License-Identifier: BSD-3-Clause
// A hybrid solver: waves on a membrane, row blocks per rank, rows per thread.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 512
#define ROWS 512 /* of the whole membrane */

struct membrane {
	int rows; /* of this rank, without its two halo rows */
	int up, down; /* neighbours, or MPI_PROC_NULL */
	int32_t *past, *now, *next;
};

static int32_t *row(int32_t *grid, int r)
{
	return grid + (size_t)r * COLUMNS;
}

static void exchange_halo(struct membrane *m)
{
	MPI_Sendrecv(row(m->now, 1), COLUMNS, MPI_INT32_T, m->up, 0, row(m->now, m->rows + 1),
		     COLUMNS, MPI_INT32_T, m->down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(row(m->now, m->rows), COLUMNS, MPI_INT32_T, m->down, 1, row(m->now, 0),
		     COLUMNS, MPI_INT32_T, m->up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Whole numbers, so that no order of sums changes anything; the energy of a step. */
static int64_t swing(struct membrane *m)
{
	int64_t energy = 0;

#pragma omp parallel for reduction(+ : energy) schedule(static)
	for (int r = 1; r <= m->rows; r++) {
		const int32_t *above = row(m->now, r - 1), *here = row(m->now, r),
			      *below = row(m->now, r + 1), *before = row(m->past, r);
		int32_t *out = row(m->next, r);

		for (int c = 1; c < COLUMNS - 1; c++) {
			const int32_t pull =
				above[c] + below[c] + here[c - 1] + here[c + 1] - 4 * here[c];

			out[c] = 2 * here[c] - before[c] + pull / 4 - here[c] / 64;
			energy += (int64_t)(out[c] - here[c]) * (out[c] - here[c]);
		}
	}
	return energy;
}

static int64_t run(struct membrane *m, int steps)
{
	int64_t total = 0;

	for (int s = 0; s < steps; s++) {
		int64_t energy, all;
		int32_t *oldest = m->past;

		exchange_halo(m);
		energy = swing(m);
		MPI_Allreduce(&energy, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		total += all;
		m->past = m->now;
		m->now = m->next;
		m->next = oldest;
	}
	return total;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 400;
	struct membrane m = { 0 };
	int rank, size;
	size_t cells;
	int64_t total;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){ 0 });
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	m.rows = ROWS / size;
	m.up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	m.down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	cells = (size_t)(m.rows + 2) * COLUMNS;
	m.past = calloc(cells, sizeof(int32_t));
	m.now = calloc(cells, sizeof(int32_t));
	m.next = calloc(cells, sizeof(int32_t));
	if (!m.past || !m.now || !m.next)
		MPI_Abort(MPI_COMM_WORLD, 1);
	row(m.now, 1 + m.rows / 2)[COLUMNS / 3] = 1000000;
	total = run(&m, steps);
	if (rank == 0)
		printf("stencil: %d steps on %d ranks, energy %lld\n", steps, size,
		       (long long)total);
	free(m.past);
	free(m.now);
	free(m.next);
	MPI_Finalize();
	return 0;
}
