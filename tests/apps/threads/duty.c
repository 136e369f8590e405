// SPDX-License-Identifier: BSD-3-Clause
// Uses a share of one CPU until it is killed: works so long of each period, then sleeps.
// usage: duty NAME CPU PERCENT
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "tests/apps/work.h"

#define PERIOD_NS 20000000

int main(int argc, char **argv)
{
	int64_t now_ns, next_ns = work_clock_ns(CLOCK_MONOTONIC);
	int percent;

	if (argc != 4) {
		fprintf(stderr, "usage: duty NAME CPU PERCENT\n");
		return 2;
	}
	percent = (int)strtol(argv[3], NULL, 10);
	(void)prctl(PR_SET_NAME, argv[1]);
	work_pin((int)strtol(argv[2], NULL, 10));
	for (;;) {
		work_for_ns((int64_t)PERIOD_NS * percent / 100);
		next_ns += PERIOD_NS;
		now_ns = work_clock_ns(CLOCK_MONOTONIC);
		if (now_ns > next_ns) /* late: nothing is made up for */
			next_ns = now_ns;
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
				      &(struct timespec){ .tv_sec = next_ns / 1000000000,
							  .tv_nsec = next_ns % 1000000000 },
				      NULL);
	}
}
