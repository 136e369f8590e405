// SPDX-License-Identifier: BSD-3-Clause
// The kernel counts what a real-time thread takes at a stretch, and sends a signal beyond a limit.
#include "cli/results/brief_priority.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

static void step_back(int signal)
{
	const struct sched_param none = { 0 };
	const int saved = errno;

	(void)signal;
	(void)sched_setscheduler(0, SCHED_OTHER, &none); /* with the nice value */
	errno = saved;
}

void crit_brief_priority_take(int nice_value, unsigned int unbroken_us)
{
	const struct sched_param lowest = { .sched_priority = 1 };
	struct sigaction action = { .sa_handler = step_back, .sa_flags = SA_RESTART };
	struct rlimit limit;

	(void)nice(nice_value); /* without it all the same */
	if (getrlimit(RLIMIT_RTTIME, &limit) || limit.rlim_max < unbroken_us)
		return;
	limit.rlim_cur = unbroken_us;
	(void)sigemptyset(&action.sa_mask);
	if (!sigaction(SIGXCPU, &action, NULL) && !setrlimit(RLIMIT_RTTIME, &limit))
		(void)sched_setscheduler(0, SCHED_RR, &lowest);
}
