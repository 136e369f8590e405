// SPDX-License-Identifier: BSD-3-Clause
// Follows the rules of capabilities(7) for an execve, in the order in which the kernel asks.
#include "cli/install/grant.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base/cleanup.h"

#define WANTED (1ull << CAP_BPF | 1ull << CAP_PERFMON)
#define ADMIN (1ull << CAP_SYS_ADMIN) /* stands for both */
#define FIRST_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO in the kernel */
#define CONTAINER                                                                                  \
	"start the container with CAP_BPF and CAP_PERFMON (Docker, Podman: --cap-add BPF "         \
	"--cap-add PERFMON), or " HOST
#define HOST "serve it from the host: see CONTAINERS in critd(8)"

static void refuse(struct crit_grant *grant, const char *fix, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct crit_grant *grant, const char *fix, const char *format, ...)
{
	va_list arguments;

	grant->is_given = false;
	(void)snprintf(grant->fix, sizeof(grant->fix), "%s", fix);
	va_start(arguments, format);
	(void)vsnprintf(grant->reason, sizeof(grant->reason), format, arguments);
	va_end(arguments);
}

static bool has_enough(uint64_t capabilities)
{
	return (capabilities & WANTED) == WANTED || (capabilities & ADMIN);
}

static uint64_t own_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &head, data))
		return 0;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

/* The permitted capabilities of the file, as a mask; 0 when it has none. */
static uint64_t file_capabilities(const char *path, bool *ret_is_effective)
{
	struct vfs_ns_cap_data data = { 0 };
	ssize_t size = getxattr(path, "security.capability", &data, sizeof(data));

	*ret_is_effective = false;
	if (size < (ssize_t)XATTR_CAPS_SZ_2)
		return 0;
	*ret_is_effective = (data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) != 0;
	return (uint64_t)data.data[1].permitted << 32 | data.data[0].permitted;
}

/* Capabilities count in the first user namespace only; there, all numbers are mapped. */
static bool is_user_namespace(void)
{
	crit_autofclose FILE *in = fopen("/proc/self/uid_map", "re");
	unsigned int inside, outside, count;

	return in && fscanf(in, "%u %u %u", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != UINT32_MAX);
}

/* The kernel half tells tasks by the host's numbers. */
static bool is_pid_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != FIRST_PID_NAMESPACE;
}

static bool is_bounded(void)
{
	return prctl(PR_CAPBSET_READ, CAP_BPF, 0, 0, 0) != 1 ||
	       prctl(PR_CAPBSET_READ, CAP_PERFMON, 0, 0, 0) != 1;
}

static void find_for_root(struct crit_grant *grant)
{
	if (!has_enough(own_capabilities()))
		refuse(grant, CONTAINER, "you are root, but without CAP_BPF and CAP_PERFMON");
	else
		(void)snprintf(grant->reason, sizeof(grant->reason), "you are root");
}

/* What file capabilities that are enough come to, for an ordinary user. */
static void find_for_user(bool is_nosuid, struct crit_grant *grant)
{
	if (is_nosuid)
		refuse(grant, "install crit where file systems are mounted without nosuid",
		       "critd's file capabilities are ignored: its file system is mounted nosuid");
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		refuse(grant, "start the container or shell without no_new_privs, or " HOST,
		       "critd's file capabilities are ignored: no_new_privs is set here");
	else if (is_bounded())
		refuse(grant, CONTAINER,
		       "critd's file capabilities are not in this container's bounding set");
	else
		(void)snprintf(grant->reason, sizeof(grant->reason),
			       "critd has the file capabilities it needs");
}

void crit_grant_find(const char *critd_path, struct crit_grant *ret_grant)
{
	bool is_effective, is_nosuid;
	char fix[PATH_MAX + 64];
	struct statvfs mount;
	const uint64_t capabilities = file_capabilities(critd_path, &is_effective);

	memset(ret_grant, 0, sizeof(*ret_grant));
	ret_grant->is_given = true;
	is_nosuid = statvfs(critd_path, &mount) == 0 && (mount.f_flag & ST_NOSUID);
	(void)snprintf(fix, sizeof(fix), "sudo setcap cap_bpf,cap_perfmon+p %s", critd_path);
	if (is_user_namespace()) {
		refuse(ret_grant, HOST,
		       "this is a user namespace: the kernel counts no capability that it gives");
	} else if (is_effective && (capabilities & WANTED) && is_bounded() && !is_nosuid) {
		ret_grant->is_refused = true;
		refuse(ret_grant, fix,
		       "the kernel does not execute critd: it is to have at once (+ep) what is not "
		       "in this container's bounding set");
	} else if (is_pid_namespace()) {
		refuse(ret_grant,
		       "share the host's pid namespace (Docker, Podman: --pid=host), or " HOST,
		       "this is not the host's pid namespace: critd leaves its kernel half out");
	} else if (geteuid() == 0) {
		find_for_root(ret_grant);
	} else if (!has_enough(capabilities)) {
		refuse(ret_grant, fix, "critd has none: the kernel half is approximate at best");
	} else {
		find_for_user(is_nosuid, ret_grant);
	}
}
