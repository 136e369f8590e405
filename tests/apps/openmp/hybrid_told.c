// SPDX-License-Identifier: BSD-3-Clause
// hybrid.h for programs in Fortran.
#include "tests/apps/openmp/hybrid.h"

void hybrid_begin(int rank, int ranks, int rounds);
void hybrid_name(int part, const char *name, int line);
void hybrid_do(int part, int thread, double units);
void hybrid_tell(void);

static struct hybrid hybrid = { .threads = 2,
				.outer = 1,
				.has_pin = 1,
				.unit_ns = 10000000,
				.factor_count = 1,
				.factors = { 1 } };

void hybrid_begin(int rank, int ranks, int rounds)
{
	hybrid.rank = rank;
	hybrid.ranks = ranks;
	hybrid.rounds = rounds;
}

void hybrid_name(int part, const char *name, int line)
{
	hybrid.parts[part].name = name;
	hybrid.parts[part].line = line;
}

void hybrid_do(int part, int thread, double units)
{
	hybrid_work(&hybrid, part, thread, units);
}

void hybrid_tell(void)
{
	hybrid_print(&hybrid);
}
