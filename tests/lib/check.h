/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks for plain test programs: a failed check is printed and counted, the test goes on.
 *
 *   int main(void)
 *   {
 *           CHECK_INT_EQ(count_ranks(path), 2);
 *           return check_done();
 *   }
 *
 * The program exits 0 when all held, 1 when one failed or none ran, 77 when it skipped.
 */
#ifndef CRIT_TESTS_CHECK_H
#define CRIT_TESTS_CHECK_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_SKIP_EXIT 77
#define CHECK_SHOWN_MAX 50u /* failures printed in full; all are counted */

static unsigned long check_made;
static unsigned long check_failed;
static char check_context[256]; /* printed with every failure: the case, its seed */

__attribute__((format(printf, 4, 5), unused)) static bool
check_note(bool holds, const char *file, int line, const char *format, ...)
{
	va_list args;

	check_made++;
	if (holds)
		return true;
	if (check_failed++ >= CHECK_SHOWN_MAX)
		return false;
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "%s%s\n", check_context[0] ? "   in: " : "", check_context);
	return false;
}

__attribute__((unused)) static bool check_str_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* True when |a - b| is at most bound times the larger of |a|, |b| and floor. */
__attribute__((unused)) static bool check_is_near(double a, double b, double bound, double floor)
{
	return fabs(a - b) <= bound * fmax(floor, fmax(fabs(a), fabs(b)));
}

/* Names the case that runs now, for the messages of later failures; "" ends it. */
#define CHECK_CASE(...) ((void)snprintf(check_context, sizeof(check_context), __VA_ARGS__))

/* Each yields true when it held, so that a test can stop where going on makes no sense. */
#define CHECK(condition) check_note((condition), __FILE__, __LINE__, "%s", "false: " #condition)
#define CHECK_MSG(condition, ...) check_note((condition), __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_INT_OP(a, op, b)                                                                     \
	__extension__({                                                                            \
		long long check_a = (long long)(a), check_b = (long long)(b);                      \
		check_note(check_a op check_b, __FILE__, __LINE__, "%s: %lld, %lld",               \
			   "false: " #a " " #op " " #b, check_a, check_b);                         \
	})
#define CHECK_INT_EQ(a, b) CHECK_INT_OP(a, ==, b)
#define CHECK_INT_NE(a, b) CHECK_INT_OP(a, !=, b)
#define CHECK_INT_LT(a, b) CHECK_INT_OP(a, <, b)
#define CHECK_INT_LE(a, b) CHECK_INT_OP(a, <=, b)
#define CHECK_INT_GT(a, b) CHECK_INT_OP(a, >, b)
#define CHECK_INT_GE(a, b) CHECK_INT_OP(a, >=, b)
#define CHECK_UINT_EQ(a, b)                                                                        \
	__extension__({                                                                            \
		unsigned long long check_a = (a), check_b = (b);                                   \
		check_note(check_a == check_b, __FILE__, __LINE__, "%s: %llu, %llu",               \
			   "false: " #a " == " #b, check_a, check_b);                              \
	})
#define CHECK_STR_EQ(a, b)                                                                         \
	__extension__({                                                                            \
		const char *check_a = (a), *check_b = (b);                                         \
		check_note(check_str_same(check_a, check_b), __FILE__, __LINE__,                   \
			   "%s: \"%s\", \"%s\"", "false: " #a " == " #b,                           \
			   check_a ? check_a : "(null)", check_b ? check_b : "(null)");            \
	})
/* Absolute error. */
#define CHECK_NEAR(a, b, bound)                                                                    \
	__extension__({                                                                            \
		double check_a = (a), check_b = (b);                                               \
		check_note(fabs(check_a - check_b) <= (bound), __FILE__, __LINE__,                 \
			   "%s: %.12g, %.12g", "apart: " #a ", " #b, check_a, check_b);            \
	})
/* Error relative to the larger of the two and floor. */
#define CHECK_REL(a, b, bound, floor)                                                              \
	__extension__({                                                                            \
		double check_a = (a), check_b = (b);                                               \
		check_note(check_is_near(check_a, check_b, (bound), (floor)), __FILE__, __LINE__,  \
			   "%s: %.15g, %.15g", "apart: " #a ", " #b, check_a, check_b);            \
	})

/* Ends the test here, saying why it cannot run. */
__attribute__((format(printf, 1, 2), noreturn, unused)) static void check_skip(const char *format,
									       ...)
{
	va_list args;

	va_start(args, format);
	fputs("skipped: ", stdout);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(check_failed ? 1 : CHECK_SKIP_EXIT);
}

/* The exit status of main(). */
__attribute__((unused)) static int check_done(void)
{
	if (check_failed > CHECK_SHOWN_MAX)
		fprintf(stderr, "... and %lu more\n", check_failed - CHECK_SHOWN_MAX);
	fprintf(stderr, "%lu checks, %lu failed\n", check_made, check_failed);
	if (!check_made)
		fprintf(stderr, "a test that checks nothing fails\n");
	return check_failed || !check_made ? 1 : 0;
}

#endif
