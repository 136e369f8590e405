// SPDX-License-Identifier: BSD-3-Clause
// A small solver: heat spreads over a plate, row blocks per rank; the flame gives one more work.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 1024
#define ROWS 1024 /* of the whole plate */
#define FLAME_ROWS 64 /* the last rows of the plate burn */
#define FLAME_ITERATIONS 10

struct plate {
	int rows; /* of this rank, without its two halo rows */
	int first_row;
	int up, down; /* neighbours, or MPI_PROC_NULL */
	double *now, *next;
};

static double *row(double *grid, int r)
{
	return grid + (size_t)r * COLUMNS;
}

static void exchange_halo(struct plate *p)
{
	MPI_Sendrecv(row(p->now, 1), COLUMNS, MPI_DOUBLE, p->up, 0, row(p->now, p->rows + 1),
		     COLUMNS, MPI_DOUBLE, p->down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(row(p->now, p->rows), COLUMNS, MPI_DOUBLE, p->down, 1, row(p->now, 0), COLUMNS,
		     MPI_DOUBLE, p->up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One step of conduction; returns the sum of squared changes. */
static double conduct(struct plate *p)
{
	double change = 0;

	for (int r = 1; r <= p->rows; r++) {
		double *above = row(p->now, r - 1), *here = row(p->now, r),
		       *below = row(p->now, r + 1), *out = row(p->next, r);

		for (int c = 1; c < COLUMNS - 1; c++) {
			out[c] = 0.25 * (above[c] + below[c] + here[c - 1] + here[c + 1]);
			change += (out[c] - here[c]) * (out[c] - here[c]);
		}
	}
	return change;
}

/* The flame: the temperature at which burning and radiation balance, by Newton's method. */
static void burn(struct plate *p)
{
	for (int r = 1; r <= p->rows; r++) {
		if (p->first_row + r - 1 < ROWS - FLAME_ROWS)
			continue;
		for (int c = 1; c < COLUMNS - 1; c++) {
			double t = row(p->next, r)[c] + 1.0;

			for (int i = 0; i < FLAME_ITERATIONS; i++)
				t -= (t * t * t * t + t - 2.5) / (4 * t * t * t + 1);
			row(p->next, r)[c] = 0.5 * (row(p->next, r)[c] + t);
		}
	}
}

static double solve(struct plate *p, int steps)
{
	double residual = 0;

	for (int s = 0; s < steps; s++) {
		double change, *swap;

		exchange_halo(p);
		change = conduct(p);
		burn(p);
		MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		swap = p->now;
		p->now = p->next;
		p->next = swap;
	}
	return sqrt(residual);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 400;
	struct plate p = { 0 };
	int rank, size;
	double residual;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	p.rows = ROWS / size;
	p.first_row = rank * p.rows;
	p.up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	p.down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	p.now = calloc((size_t)(p.rows + 2) * COLUMNS, sizeof(double));
	p.next = calloc((size_t)(p.rows + 2) * COLUMNS, sizeof(double));
	if (!p.now || !p.next)
		MPI_Abort(MPI_COMM_WORLD, 1);
	residual = solve(&p, steps);
	if (rank == 0)
		printf("heat: %d steps on %d ranks, residual %.6g\n", steps, size, residual);
	free(p.now);
	free(p.next);
	MPI_Finalize();
	return 0;
}
