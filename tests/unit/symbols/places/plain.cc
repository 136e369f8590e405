// SPDX-License-Identifier: BSD-3-Clause
// Calls from C++: a template's member, a function, one from what may become a team's work.
#include "tests/unit/symbols/places/probe.h"

volatile int turns = 1;

namespace solver
{
template <typename Cell> struct Grid {
	__attribute__((noinline)) int exchange(Cell factor)
	{
		int count = probe("member"); // MARK member

		return count + static_cast<int>(factor) + turns;
	}
};

__attribute__((noinline)) int sweep(int depth)
{
	int count = probe("free"); // MARK free

	return count + depth + turns;
}

__attribute__((noinline)) int sum_up(int start)
{
	int count = start;

#pragma omp parallel num_threads(1) reduction(+ : count)
	count += probe("team") + turns; // MARK team
	return count;
}

namespace
{
struct Local {
	__attribute__((noinline)) int step(int start)
	{
		int count = probe("local"); // MARK local

		return count + start + turns;
	}
};
} // namespace
} // namespace solver

int main()
{
	solver::Grid<double> grid;
	solver::Local local;

	int count = grid.exchange(1.0) + solver::sweep(2) + solver::sum_up(1) + local.step(2);

	return count + probe_library() > 0 ? 0 : 1;
}
