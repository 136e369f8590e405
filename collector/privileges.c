// SPDX-License-Identifier: BSD-3-Clause
// Raises capabilities; drops user, capabilities and system calls, in this order.
#include "collector/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITY(number) (1ull << (number))

/* Sets the thread's effective and permitted capabilities; nothing is inheritable. */
static int set_capabilities(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)permitted },
		{ .effective = (uint32_t)(effective >> 32),
		  .permitted = (uint32_t)(permitted >> 32) },
	};

	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static uint64_t permitted_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

int crit_privileges_raise(struct crit_err *err)
{
	const uint64_t permitted = permitted_capabilities();
	int rc = set_capabilities(permitted, permitted);

	return rc ? crit_err_set(err, rc, "cannot raise capabilities: %s", strerror(-rc)) : 0;
}

static int become(uint32_t uid, struct crit_err *err)
{
	struct passwd entry, *user = NULL;
	char text[4096];
	gid_t gid;

	(void)getpwuid_r(uid, &entry, text, sizeof(text), &user);
	gid = user ? user->pw_gid : uid;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return crit_err_set(err, -errno, "cannot become user %u: %s", uid, strerror(errno));
	return 0;
}

static int drop_capabilities(uint32_t uid, const struct crit_sources *sources, struct crit_err *err)
{
	const uint64_t permitted = permitted_capabilities();
	uint64_t kept = uid == 0 ? CAPABILITY(CAP_SYS_PTRACE) & permitted : 0;
	int rc = set_capabilities(kept, permitted);

	/* kernels before 5.19 ask for CAP_BPF even to update a map that is open */
	if (!rc && crit_sources_check(sources)) {
		kept |= CAPABILITY(CAP_BPF) & permitted;
		rc = set_capabilities(kept, permitted);
		if (!rc)
			rc = crit_sources_check(sources);
	}
	if (!rc)
		rc = set_capabilities(kept, kept);
	if (rc)
		return crit_err_set(err, rc, "cannot drop capabilities: %s", strerror(-rc));
	return 0;
}

int crit_privileges_drop(uint32_t uid, bool is_root_to_user, const struct crit_sources *sources,
			 struct crit_err *err)
{
	int rc = is_root_to_user ? become(uid, err) : 0;

	if (!rc)
		rc = drop_capabilities(uid, sources, err);
	if (rc)
		return rc;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return crit_err_set(err, -errno, "cannot give up privileges: %s", strerror(errno));
	return 0;
}

static const int allowed_calls[] = {
	/* recordings, shared memory, /proc, sockets */
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(close),
	SCMP_SYS(openat),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(fcntl),
	SCMP_SYS(lseek),
	SCMP_SYS(getdents64),
	SCMP_SYS(ftruncate),
	SCMP_SYS(memfd_create), /* stacks for finishers */
	SCMP_SYS(flock),
	SCMP_SYS(fallocate), /* frees pages of shared memory */
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(accept4),
	SCMP_SYS(recvmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(getsockopt),
	SCMP_SYS(shutdown),
	SCMP_SYS(pidfd_open),
	/* the loop */
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigprocmask),
	/* the C library */
	SCMP_SYS(mmap),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(mprotect),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(getrandom),
	SCMP_SYS(uname),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(tgkill),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_setattr), /* a priority is given up */
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(set_robust_list), /* threads */
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(rseq),
};

/*
 * Threads may be made, for the recordings of runs; processes and namespaces may not.  The flags of
 * clone3 lie in memory, where no filter sees them: it is said not to exist, and the C library calls
 * clone.
 */
static int add_thread_rules(scmp_filter_ctx filter)
{
	static const scmp_datum_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
					  CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
					  CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	const struct scmp_arg_cmp is_thread = { .arg = 0, .op = SCMP_CMP_EQ, .datum_a = flags };
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	return rc ? rc
		  : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &is_thread);
}

/* The clocks of samples are open by now: they are started, stopped, and get new periods. */
static int add_sampling_rules(scmp_filter_ctx filter)
{
	static const scmp_datum_t requests[] = { PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
						 PERF_EVENT_IOC_PERIOD };
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(requests) / sizeof(requests[0]); i++) {
		const struct scmp_arg_cmp is_request = { .arg = 1,
							 .op = SCMP_CMP_EQ,
							 .datum_a = requests[i] };

		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
					    &is_request);
	}
	return rc;
}

/* The kernel asks of each event whether we may; ioctl is let through for one request. */
static int add_perf_rules(scmp_filter_ctx filter)
{
	static const int calls[] = { SCMP_SYS(perf_event_open), SCMP_SYS(poll), SCMP_SYS(ppoll) };
	const struct scmp_arg_cmp is_set_output = { .arg = 1,
						    .op = SCMP_CMP_EQ,
						    .datum_a = PERF_EVENT_IOC_SET_OUTPUT };
	int rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, &is_set_output);

	for (size_t i = 0; !rc && i < sizeof(calls) / sizeof(calls[0]); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

static int add_rules(scmp_filter_ctx filter)
{
	static const int map_commands[] = { BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM,
					    BPF_MAP_DELETE_ELEM };
	static const struct scmp_arg_cmp is_passcred[] = {
		{ .arg = 1, .op = SCMP_CMP_EQ, .datum_a = SOL_SOCKET },
		{ .arg = 2, .op = SCMP_CMP_EQ, .datum_a = SO_PASSCRED },
	};
	int rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2,
					is_passcred);

	for (size_t i = 0; !rc && i < sizeof(allowed_calls) / sizeof(allowed_calls[0]); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
	for (size_t i = 0; !rc && i < sizeof(map_commands) / sizeof(map_commands[0]); i++) {
		const struct scmp_arg_cmp is_command = { .arg = 0,
							 .op = SCMP_CMP_EQ,
							 .datum_a = (scmp_datum_t)map_commands[i] };

		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1, &is_command);
	}
	return rc;
}

int crit_privileges_confine(bool has_perf, struct crit_err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc;

	if (!filter)
		return crit_err_set(err, -ENOMEM, "no memory for the system call filter");
	rc = add_rules(filter);
	if (!rc)
		rc = add_thread_rules(filter);
	if (!rc)
		rc = add_sampling_rules(filter);
	if (!rc && has_perf)
		rc = add_perf_rules(filter);
	if (!rc)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc)
		return crit_err_set(err, rc, "cannot filter system calls: %s", strerror(-rc));
	return 0;
}
