// SPDX-License-Identifier: BSD-3-Clause
// Has a mark on its stack, 32 bytes made of a number, while it works and sleeps by turns.
// usage: marked NUMBER MS
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#define MARK_BYTES 32

__attribute__((noinline)) static void work(void)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	work_for_ns(8000000);
	(void)nanosleep(&nap, NULL);
}

/* At every depth once more. */
__attribute__((noinline)) static void go_down(int number, int depth)
{
	volatile unsigned char mark[MARK_BYTES];

	for (int i = 0; i < MARK_BYTES; i++)
		mark[i] = (unsigned char)(number + 7 * i * i);
	if (depth > 0)
		go_down(number, depth - 1);
	else
		work();
	mark[0] = mark[1];
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (long left = strtol(argv[2], NULL, 10); left > 0; left -= 10)
		go_down((int)strtol(argv[1], NULL, 10), 8);
	return 0;
}
