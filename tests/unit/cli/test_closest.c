// SPDX-License-Identifier: BSD-3-Clause
// Misspelt names, and the one that was meant, if any is close enough.
#include "cli/console/closest.h"

#include <stdint.h>

#include "tests/lib/check.h"

static void test_distance(void)
{
	static const struct {
		const char *left, *right;
		size_t distance;
	} rows[] = {
		{ "", "", 0 },         { "", "top", 3 },          { "top", "", 3 },
		{ "json", "json", 0 }, { "jsn", "json", 1 },      { "jsson", "json", 1 },
		{ "jsom", "json", 1 }, { "rpeort", "report", 1 }, { "diff", "export", 6 },
		{ "ab", "ba", 1 },     { "abc", "cab", 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_CASE("%s %s", rows[i].left, rows[i].right);
		CHECK_UINT_EQ(crit_closest_distance(rows[i].left, rows[i].right), rows[i].distance);
	}
	CHECK(crit_closest_distance("json", "a name that is longer than any option is") ==
	      SIZE_MAX);
}

static void test_closest(void)
{
	static const char *const names[] = { "run", "report", "diff", "export", "env" };
	static const struct {
		const char *wanted, *closest; /* "" none */
	} rows[] = {
		{ "rpeort", "report" }, { "repo", "" },   { "epxort", "export" },
		{ "dif", "diff" },      { "evn", "env" }, { "x", "" },
		{ "rn", "" },           { "help", "" },   { "", "" },
		{ "rum", "run" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crit_closest closest;

		crit_closest_init(&closest, rows[i].wanted);
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			crit_closest_try(&closest, names[j]);
		CHECK_CASE("%s", rows[i].wanted);
		CHECK_STR_EQ(closest.name ? closest.name : "", rows[i].closest);
	}
}

int main(void)
{
	test_distance();
	test_closest();
	return check_done();
}
