// SPDX-License-Identifier: BSD-3-Clause
// Templates, algorithms that call back, exceptions through frames with destructors.
#include "tests/unwind/programs/marks.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/unwind/programs/fall.hpp"

template <typename T> APART T sum(const std::vector<T> &values)
{
	T total{};

	std::for_each(values.begin(), values.end(), [&](T value) { total += value; });
	return total;
}

int main()
{
	STEPPER_MARK();
	std::vector<double> values{ 4, 2, 8, 1, 9, 3 };
	std::function<bool(double, double)> less = [](double a, double b) { return a < b; };

	std::sort(values.begin(), values.end(), less);
	sink = sink + static_cast<unsigned>(sum(values)) + caught(3);
	STEPPER_MARK();
	return 0;
}
