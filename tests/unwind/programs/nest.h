/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that call each other in one order only, so that a frame left out shows. */
#ifndef CRIT_TESTS_NEST_H
#define CRIT_TESTS_NEST_H

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline))

static volatile unsigned int sink;

APART static void spin(unsigned int count)
{
	while (count--)
		sink = sink + count;
}

APART static int by_value(const void *left, const void *right)
{
	const int a = *(const int *)left;
	const int b = *(const int *)right;

	spin(60);
	return (a > b) - (a < b);
}

APART static void sort(void)
{
	int values[32];

	for (int i = 0; i < 32; i++)
		values[i] = i * 37 % 32;
	qsort(values, 32, sizeof(values[0]), by_value);
	sink = sink + (unsigned int)values[0];
}

APART static void convert(void)
{
	char text[64];

	for (int i = 1; i < 20; i++) {
		(void)snprintf(text, sizeof(text), "%.17g", sqrt(i + sink % 7) * pow(1.1, i));
		sink = sink + (unsigned int)strtod(text, NULL);
	}
}

APART static void copy(void)
{
	static char from[1 << 16], to[1 << 16];

	memset(from, (int)sink, sizeof(from));
	memcpy(to, from, sizeof(to));
	sink = sink + (unsigned int)to[sink % sizeof(to)];
}

static void on_signal(int number)
{
	spin((unsigned int)number * 200);
}

APART static void interrupt(void)
{
	(void)signal(SIGUSR1, on_signal);
	(void)raise(SIGUSR1);
	spin(100);
}

APART static void with_frame_pointer(unsigned int count)
{
	char bytes[count];

	memset(bytes, 1, count);
	spin(1000);
	sink = sink + (unsigned int)bytes[count / 2];
}

APART static void aligned(unsigned int count)
{
	_Alignas(64) volatile char line[64];

	line[count % 64] = 1;
	with_frame_pointer(count);
	spin(1000);
	sink = sink + (unsigned int)line[count % 64];
}

#define LEVEL(name, below)                                                                         \
	APART static void name(void)                                                               \
	{                                                                                          \
		spin(300);                                                                         \
		below();                                                                           \
		spin(300);                                                                         \
	}

APART static void level8(void)
{
	sort();
	convert();
	copy();
	interrupt();
	aligned(100);
}
LEVEL(level7, level8)
LEVEL(level6, level7)
LEVEL(level5, level6)
LEVEL(level4, level5)
LEVEL(level3, level4)
LEVEL(level2, level3)
LEVEL(level1, level2)

/* Of CPU time, so that as many samples are taken on a busy machine. */
static int is_time_left(double seconds)
{
	return (double)clock() / CLOCKS_PER_SEC < seconds;
}

#endif
