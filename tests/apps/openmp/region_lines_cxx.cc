// SPDX-License-Identifier: BSD-3-Clause
// Parallel regions in methods, templates, lambdas and namespaces; comments as in region_lines.c.
#include <cstdio>

namespace
{
long sum;

void add(long summand)
{
#pragma omp atomic
	sum += summand;
}
} // namespace

namespace outer
{
template <typename T> struct Grid {
	T value;

	void smooth(int rounds)
	{
#pragma omp parallel num_threads(2) // parallel at smooth, 1 visits of each of 2
		{
			auto times = [&](int i) { return static_cast<long>(value) * i; };

			add(times(rounds));
		}
#pragma omp parallel for num_threads(2) // parallel at smooth, 1 visits of each of 2
		for (int i = 0; i < rounds; i++)
			add(static_cast<long>(value) + i);
	}
};

namespace
{
void hidden(int rounds)
{
#pragma omp parallel num_threads(2) // parallel at hidden, 1 visits
	add(rounds);
	auto lambda = [](int count) {
#pragma omp parallel for num_threads(2) // parallel at operator(), 1 visits
		for (int i = 0; i < count; i++)
			add(i);
	};

	lambda(rounds);
}
} // namespace
} // namespace outer

int main(int argc, char **)
{
	outer::Grid<double> doubles = { 1.5 * argc };
	outer::Grid<int> ints = { argc };

	doubles.smooth(10);
	ints.smooth(10);
	outer::hidden(10);
#pragma omp parallel num_threads(2) // parallel at main, 1 visits
	add(1);
	std::printf("%ld\n", sum);
	return 0;
}
