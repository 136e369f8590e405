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

static int set_schedule(__u32 policy, int nice, __u32 priority)
{
	const struct schedule wanted = { .bytes = sizeof(wanted),
					 .policy = policy,
					 .nice = nice,
					 .priority = priority,
					 .runtime_ns = policy == SCHED_NORMAL ? SLICE_NS : 0 };

	return (int)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

/*
 * First by a real-time priority, the lowest one.  The fair scheduler of Linux 6.18 lets a thread of
 * nice -20 wait for up to 160 ms, and one of nice 0 for seconds, where two others of its CPU do
 * nothing but wake each other: a ring of 8 MiB is full by then.  What critd needs of a CPU stays
 * the same, and the kernel keeps 5 % of every second for the others (sched_rt_runtime_us).
 *
 * Where that is refused: a slice of our own needs no privilege.  From Linux 6.12 on who asks for
 * little at a time waits no full slice of those who run, at the same share of the CPU.  Older
 * kernels ignore it.
 *
 * With autogroups a nice value counts only inside the session, unless the session's group has one
 * too; one we only share is not ours to hurry.
 */
void crit_scheduling_go_first(void)
{
	int fd;

	if (set_schedule(SCHED_RR, 0, 1) == 0)
		return;
	if (set_schedule(SCHED_NORMAL, NICE, 0)) /* then as we were */
		(void)set_schedule(SCHED_NORMAL, getpriority(PRIO_PROCESS, 0), 0);
	if (getsid(0) != getpid())
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, NICE_TEXT, sizeof(NICE_TEXT) - 1);
	(void)close(fd);
}
