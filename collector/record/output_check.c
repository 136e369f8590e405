// SPDX-License-Identifier: BSD-3-Clause
// Checks descriptors that clients hand over as outputs.
#include "collector/record/output_check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Those that linux/magic.h does not name, or not everywhere. */
#define CONFIGFS_MAGIC 0x62656570
#define FUSECTL_MAGIC 0x65735543
#define MQUEUE_MAGIC 0x19800202
#define RPC_PIPEFS_MAGIC 0x67596969
#ifndef HUGETLBFS_MAGIC
#define HUGETLBFS_MAGIC 0x958458f6
#endif
#ifndef XENFS_SUPER_MAGIC
#define XENFS_SUPER_MAGIC 0xabba1974
#endif

/*
 * Whose files are not what was written to them: a write there gives the kernel or a process an
 * order, in critd's name.  All others are taken for disks; parallel file systems have numbers that
 * nobody lists.
 */
static bool is_interface(uint32_t type)
{
	static const uint32_t types[] = {
		PROC_SUPER_MAGIC,     SYSFS_MAGIC,        CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		RDTGROUP_SUPER_MAGIC, DEBUGFS_MAGIC,      TRACEFS_MAGIC,      BPF_FS_MAGIC,
		SECURITYFS_MAGIC,     SELINUX_MAGIC,      SMACK_MAGIC,        AAFS_MAGIC,
		EFIVARFS_MAGIC,       PSTOREFS_MAGIC,     BINFMTFS_MAGIC,     CONFIGFS_MAGIC,
		FUSECTL_MAGIC,        HUGETLBFS_MAGIC,    MQUEUE_MAGIC,       RPC_PIPEFS_MAGIC,
		XENFS_SUPER_MAGIC,    DEVPTS_SUPER_MAGIC, SOCKFS_MAGIC,       PIPEFS_MAGIC,
		ANON_INODE_FS_MAGIC,  NSFS_MAGIC,
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i] == type)
			return true;
	}
	return false;
}

int crit_output_check(int fd, uint32_t uid, struct crit_err *err)
{
	struct statfs fs;
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (fstat(fd, &st) || flags < 0)
		return crit_err_set(err, -EINVAL, "the output cannot be examined");
	if (!S_ISREG(st.st_mode))
		return crit_err_set(err, -EINVAL, "the output is no regular file");
	if (st.st_uid != uid)
		return crit_err_set(err, -EINVAL, "the output belongs to another user");
	if (st.st_nlink != 1)
		return crit_err_set(err, -EINVAL, "the output has %lu links, not one",
				    (unsigned long)st.st_nlink);
	if (!(flags & O_APPEND) || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
		return crit_err_set(err, -EINVAL, "the output is not open for appending");
	if (fstatfs(fd, &fs))
		return crit_err_set(err, -EINVAL, "the output's file system cannot be examined");
	if (is_interface((uint32_t)fs.f_type))
		return crit_err_set(err, -EINVAL,
				    "the output is no file on a disk (file system 0x%08x)",
				    (uint32_t)fs.f_type);
	return 0;
}

int crit_output_check_finisher(int fd, struct crit_err *err)
{
	int domain = 0, type = 0;
	socklen_t length = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) || domain != AF_UNIX)
		return crit_err_set(err, -EINVAL, "the finisher's descriptor is no Unix socket");
	length = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_SEQPACKET)
		return crit_err_set(err, -EINVAL, "the finisher's socket keeps no messages apart");
	return 0;
}
