// SPDX-License-Identifier: BSD-3-Clause
// CRIT_TEST_CLOCK=offset_ns,ppm: what test builds make of the host's clock.
#include "core/base/clock.h"

#include <pthread.h>
#include <stdlib.h>

static int64_t offset_ns;
static int64_t drift_ppm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
	const char *text = getenv("CRIT_TEST_CLOCK");
	char *end;

	if (!text)
		return;
	offset_ns = strtoll(text, &end, 10);
	if (*end == ',')
		drift_ppm = strtoll(end + 1, NULL, 10);
}

uint64_t crit_clock_bend(uint64_t host_ns)
{
	(void)pthread_once(&once, read_environment);
	return host_ns + (uint64_t)offset_ns + (uint64_t)((__int128)host_ns * drift_ppm / 1000000);
}
