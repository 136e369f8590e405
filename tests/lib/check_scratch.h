/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory in /tmp that a test works in. */
#ifndef CRIT_TESTS_CHECK_SCRATCH_H
#define CRIT_TESTS_CHECK_SCRATCH_H

#include <unistd.h>

#include "tests/lib/check.h"

static char check_scratch[32]; /* its path */

static bool check_enter_scratch(void)
{
	(void)snprintf(check_scratch, sizeof(check_scratch), "/tmp/crit-test-XXXXXX");
	return CHECK(mkdtemp(check_scratch)) && CHECK_INT_EQ(chdir(check_scratch), 0);
}

/* Removes it, with all that is in it. */
static void check_leave_scratch(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s", check_scratch);
	CHECK_INT_EQ(system(command), 0);
}

#endif
