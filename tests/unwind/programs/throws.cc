// SPDX-License-Identifier: BSD-3-Clause
// Half a second of templates, algorithms and exceptions.
#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "tests/unwind/programs/fall.hpp"

template <typename T> APART static T total(std::vector<T> values)
{
	T sum{};

	std::sort(values.begin(), values.end(), [](T a, T b) { return a > b; });
	std::for_each(values.begin(), values.end(), [&](T value) { sum += value; });
	return sum;
}

APART static unsigned look_up()
{
	std::map<std::string, unsigned> numbers;

	for (unsigned i = 0; i < 50; i++)
		numbers[std::to_string(i * 7919 % 50) + " in a text that is long"] = i;
	return numbers.begin()->second;
}

int main()
{
	std::vector<double> values;

	for (int i = 0; i < 500; i++)
		values.push_back(i * 7919 % 500);
	while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < 0.5)
		sink = sink + static_cast<unsigned>(total(values)) + caught(20) + look_up();
	return 0;
}
