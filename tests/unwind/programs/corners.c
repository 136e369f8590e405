// SPDX-License-Identifier: BSD-3-Clause
// Functions that are hard to leave: recursion, callbacks of a library, a signal handler, frames
// with a frame pointer, aligned ones, large ones, tails.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unwind/programs/marks.h"

#define APART __attribute__((noinline))

static volatile unsigned int sink;
static jmp_buf back;

APART static void leaf(unsigned int number)
{
	sink += number;
}

APART static unsigned int recurse(unsigned int level)
{
	unsigned int below = level ? recurse(level - 1) : 1;

	leaf(below);
	return below + sink;
}

APART static int by_value(const void *left, const void *right)
{
	int difference = *(const int *)left - *(const int *)right;

	leaf((unsigned int)difference);
	return difference;
}

APART static void sort(void)
{
	int values[] = { 5, 3, 9, 1 };

	qsort(values, 4, sizeof(values[0]), by_value);
}

static void on_signal(int number)
{
	leaf((unsigned int)number);
}

APART static void interrupt(void)
{
	(void)signal(SIGUSR1, on_signal);
	(void)raise(SIGUSR1);
	leaf(3);
}

APART static unsigned int with_frame_pointer(size_t count)
{
	char bytes[count];

	memset(bytes, 1, count);
	leaf((unsigned int)bytes[count / 2]);
	return (unsigned int)bytes[count - 1];
}

/* Where the stack is aligned the caller's stack pointer is remembered (DRAP). */
APART static unsigned int aligned(size_t count)
{
	_Alignas(64) volatile char line[64];
	char bytes[count];

	memset(bytes, 2, count);
	line[count % 64] = bytes[0];
	leaf((unsigned int)line[0]);
	return (unsigned int)line[count % 64];
}

APART static unsigned int large(void)
{
	char bytes[48 << 10];

	bytes[0] = 1;
	__asm__ volatile("" : : "r"(bytes) : "memory");
	leaf((unsigned int)bytes[0]);
	return (unsigned int)bytes[sizeof(bytes) - 1];
}

APART static unsigned int tail(unsigned int level)
{
	return level ? recurse(level - 1) : 0;
}

APART static void jump(unsigned int level)
{
	if (!level)
		longjmp(back, 1);
	jump(level - 1);
	leaf(level);
}

int main(int argc, char **argv)
{
	char text[64];

	STEPPER_MARK();
	sink += recurse(5);
	sort();
	interrupt();
	sink += with_frame_pointer(100) + aligned(40) + tail(3);
	if (!setjmp(back))
		jump(4);
	(void)snprintf(text, sizeof(text), "%g", strtod(argc > 1 ? argv[1] : "1.25", NULL) * sink);
	sink += large();
	STEPPER_MARK();
	return 0;
}
