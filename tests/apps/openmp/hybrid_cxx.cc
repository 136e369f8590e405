// SPDX-License-Identifier: BSD-3-Clause
// Ranks and threads with known work, in C++: parallel regions in templates, methods and lambdas.
#include <mpi.h>
#include <omp.h>

#include "core/crit.h"
#include "tests/apps/openmp/hybrid.h"

namespace
{

enum part { PART_SWEEP, PART_LAMBDA };

/* A phase as long as a scope. */
struct phase {
	explicit phase(const char *name)
	{
		crit_region_begin(name);
	}
	~phase()
	{
		crit_region_end();
	}
};

template <class Number> struct solver {
	struct hybrid *h;

	Number sweep()
	{
		Number sum = 0;
		const phase named("sweep");

		h->parts[PART_SWEEP].line = __LINE__ + 1;
#pragma omp parallel for schedule(static, 1) num_threads(h->threads) reduction(+ : sum)
		for (int i = 0; i < h->threads; i++) {
			hybrid_work(h, PART_SWEEP, omp_get_thread_num(), hybrid_weight(h, i));
			sum += Number(i);
		}
		return sum;
	}
};

void work_in_lambda(struct hybrid *h)
{
	const phase named("lambda");
	const auto work = [h] {
		h->parts[PART_LAMBDA].line = __LINE__ + 1;
#pragma omp parallel num_threads(h->threads)
		hybrid_work(h, PART_LAMBDA, omp_get_thread_num(), 1);
	};

	work();
}

} // namespace

int main(int argc, char **argv)
{
	static struct hybrid h;
	solver<double> solve = { &h };
	int provided;

	h.rounds = argc > 1 ? static_cast<int>(strtol(argv[1], nullptr, 10)) : 5;
	h.threads = 2;
	h.outer = 1;
	h.unit_ns = 10000000;
	h.has_pin = 1;
	h.weight_count = 2;
	h.weights[0] = 2;
	h.weights[1] = 1;
	h.factor_count = 1;
	h.factors[0] = 1;
	h.parts[PART_SWEEP].name = "sweep";
	h.parts[PART_LAMBDA].name = "lambda";
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &h.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &h.ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int round = 0; round < h.rounds; round++) {
		solve.sweep();
		work_in_lambda(&h);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	hybrid_print(&h);
	return 0;
}
