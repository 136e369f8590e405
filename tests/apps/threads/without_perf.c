// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a program to which perf events are refused, as kernels of Debian and Ubuntu do from
// kernel.perf_event_paranoid 3 on; others take any value above 2 for 2.
//
//   without_perf PROGRAM [ARGUMENT...]
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(steps) / sizeof(steps[0]), steps };

	if (argc < 2)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		fprintf(stderr, "without_perf: cannot filter: %s\n", strerror(errno));
		return 1;
	}
	(void)execvp(argv[1], argv + 1);
	fprintf(stderr, "without_perf: cannot start %s: %s\n", argv[1], strerror(errno));
	return 127;
}
