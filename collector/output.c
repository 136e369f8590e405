// SPDX-License-Identifier: BSD-3-Clause
// Checks descriptors that clients hand over as outputs.
#include "collector/output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

int crit_output_check(int fd, __u32 uid, struct crit_err *err)
{
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
