// SPDX-License-Identifier: BSD-3-Clause
// How soon critd gets a CPU when programs spin on all of them.
#include "collector/scheduling.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE (-20)
#define NICE_TEXT "-20"
#define SLICE_NS 100000u /* the shortest there is */

struct schedule { /* struct sched_attr; its header and the C library's exclude each other */
	__u32 bytes;
	__u32 policy;
	__u64 flags;
	__s32 nice;
	__u32 priority;
	__u64 runtime_ns;
	__u64 deadline_ns;
	__u64 period_ns;
};

static int set_schedule(int nice)
{
	const struct schedule wanted = { .bytes = sizeof(wanted),
					 .policy = SCHED_NORMAL,
					 .nice = nice,
					 .runtime_ns = SLICE_NS };

	return (int)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

/*
 * A slice of our own needs no privilege: from Linux 6.12 on who asks for little at a time waits no
 * full slice of those who run, at the same share of the CPU.  Older kernels ignore it.
 *
 * With autogroups a nice value counts only inside the session, unless the session's group has one
 * too; one we only share is not ours to hurry.
 */
void crit_scheduling_go_first(void)
{
	int fd;

	if (set_schedule(NICE))
		(void)set_schedule(getpriority(PRIO_PROCESS, 0)); /* then as we were */
	if (getsid(0) != getpid())
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, NICE_TEXT, sizeof(NICE_TEXT) - 1);
	(void)close(fd);
}
