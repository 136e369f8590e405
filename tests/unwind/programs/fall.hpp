/* SPDX-License-Identifier: BSD-3-Clause */
/* C++: an exception that falls through frames with destructors. */
#ifndef CRIT_TESTS_FALL_HPP
#define CRIT_TESTS_FALL_HPP

#include <stdexcept>
#include <string>

#define APART __attribute__((noinline))

static volatile unsigned sink;

struct Guard {
	unsigned number;
	APART ~Guard()
	{
		sink = sink + number;
	}
};

struct InlinedGuard {
	unsigned number;
	~InlinedGuard()
	{
		sink = sink + number;
	}
};

APART static unsigned fall(unsigned level)
{
	Guard guard{ level };
	InlinedGuard inlined{ level };

	if (!level)
		throw std::runtime_error("fallen");
	return fall(level - 1) + sink;
}

APART static unsigned caught(unsigned level)
{
	try {
		return fall(level);
	} catch (const std::exception &error) {
		return static_cast<unsigned>(std::string(error.what()).size());
	}
}

#endif
