// SPDX-License-Identifier: BSD-3-Clause
// How soon critd gets a CPU when programs spin on all of them.
#include "collector/system/scheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE (-20)
#define NICE_TEXT "-20"
#define SLICE_NS 100000u /* the shortest there is */
#define CPU_BYTES 1024 /* a bit for each of as many CPUs as Linux may have */
#define LOADING_MS 100 /* with no more than our share */
#define UNBROKEN_US 1000000u /* of CPU time, without waiting for anything */

struct schedule { /* struct sched_attr; its header and the C library's exclude each other */
	uint32_t bytes;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns;
	uint64_t deadline_ns;
	uint64_t period_ns;
};

static volatile sig_atomic_t has_stepped_back;
static volatile sig_atomic_t is_bound_met; /* for good */
static volatile sig_atomic_t is_first;
static unsigned char allowed_cpus[CPU_BYTES];
static size_t allowed_bytes; /* 0: we left none */
static pthread_t bounder;
static int loaded_fd = -1; /* while it runs */

static int set_schedule(pid_t tid, uint32_t policy, int nice, uint32_t priority)
{
	const struct schedule wanted = { .bytes = sizeof(wanted),
					 .policy = policy,
					 .nice = nice,
					 .priority = priority,
					 .runtime_ns = policy == SCHED_NORMAL ? SLICE_NS : 0 };

	return (int)syscall(SYS_sched_setattr, tid, &wanted, 0);
}

/*
 * A slice of our own needs no privilege.  From Linux 6.12 on who asks for little at a time waits no
 * full slice of those who run, at the same share of the CPU.  Older kernels ignore it.
 */
static void hurry_thread(pid_t tid)
{
	if (set_schedule(tid, SCHED_NORMAL, NICE, 0)) /* then as it was */
		(void)set_schedule(tid, SCHED_NORMAL, getpriority(PRIO_PROCESS, (id_t)tid), 0);
}

/*
 * With autogroups a nice value counts only inside the session, unless the session's group has one
 * too; one we only share is not ours to hurry.
 */
static void hurry_session(void)
{
	int fd;

	if (getsid(0) != getpid())
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, NICE_TEXT, sizeof(NICE_TEXT) - 1);
	close(fd);
}

static void leave_cpu(unsigned int cpu)
{
	unsigned char others[CPU_BYTES];
	const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(allowed_cpus), allowed_cpus);

	if (bytes <= 0 || cpu / 8 >= (unsigned long)bytes)
		return;
	memcpy(others, allowed_cpus, (size_t)bytes);
	others[cpu / 8] &= (unsigned char)~(1u << (cpu % 8));
	if (syscall(SYS_sched_setaffinity, 0, (size_t)bytes, others) == 0) /* else there is none */
		allowed_bytes = (size_t)bytes;
}

static void hurry(pid_t tid)
{
	if (allowed_bytes)
		(void)syscall(SYS_sched_setaffinity, tid, allowed_bytes, allowed_cpus);
	hurry_thread(tid);
	hurry_session();
}

/* The thread that waits while the other one loads. */
static void *bound_loading(void *loader)
{
	struct pollfd loaded = { .fd = loaded_fd, .events = POLLIN };

	hurry_thread(0);
	if (poll(&loaded, 1, LOADING_MS) == 0)
		hurry(*(const pid_t *)loader);
	return NULL;
}

void crit_scheduling_begin(int cpu)
{
	static pid_t loader;

	loader = (pid_t)syscall(SYS_gettid);
	loaded_fd = eventfd(0, EFD_CLOEXEC);
	if (loaded_fd >= 0 && cpu >= 0)
		leave_cpu((unsigned int)cpu);
	if (loaded_fd < 0 || !pthread_create(&bounder, NULL, bound_loading, &loader))
		return;
	close(loaded_fd);
	loaded_fd = -1;
	hurry(0);
}

void crit_scheduling_drain(void)
{
	if (loaded_fd >= 0) {
		(void)eventfd_write(loaded_fd, 1);
		(void)pthread_join(bounder, NULL);
		close(loaded_fd);
		loaded_fd = -1;
	}
	hurry(0);
	allowed_bytes = 0;
}

/*
 * The lowest real-time priority.  The fair scheduler of Linux 6.18 lets a thread of nice -20 wait
 * for up to 160 ms, and one of nice 0 for seconds, where two others of its CPU do nothing but wake
 * each other: a ring of 8 MiB is full by then.  What critd needs of a CPU stays the same, and the
 * kernel keeps 5 % of every second for the others (sched_rt_runtime_us).
 */
void crit_scheduling_go_first(void)
{
	is_first = set_schedule(0, SCHED_RR, 0, 1) == 0;
}

/* For the main loop, in any thread.  A priority may be given up without privileges. */
static void step_back(int signal)
{
	const int saved = errno;

	(void)signal;
	(void)set_schedule(getpid(), SCHED_NORMAL, 0, 0);
	is_first = 0;
	has_stepped_back = 1;
	is_bound_met = 1;
	errno = saved;
}

void crit_scheduling_bound(void)
{
	const struct rlimit limit = { UNBROKEN_US, RLIM_INFINITY };
	struct sigaction action = { .sa_handler = step_back, .sa_flags = SA_RESTART };

	(void)sigemptyset(&action.sa_mask);
	if (sigaction(SIGXCPU, &action, NULL) == 0)
		(void)setrlimit(RLIMIT_RTTIME, &limit);
}

bool crit_scheduling_step_back(void)
{
	if (!is_first)
		return false;
	step_back(SIGXCPU);
	has_stepped_back = 0; /* the caller says it */
	return true;
}

void crit_scheduling_follow(void)
{
	static _Thread_local bool has_followed;

	if (has_followed || !is_bound_met)
		return;
	(void)set_schedule(0, SCHED_NORMAL, 0, 0);
	has_followed = true;
}

bool crit_scheduling_ask_stepped_back(void)
{
	const bool has = has_stepped_back;

	has_stepped_back = 0;
	return has;
}
