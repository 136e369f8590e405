// SPDX-License-Identifier: BSD-3-Clause
// Parses critd's command line.
#include "collector/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/setting.h"

const char crit_options_help[] =
	"usage: critd [options]\n"
	"Records scheduler events and the events of registered ranks; crit(1) starts it.\n"
	"\n"
	"  --listen-fd N        serve this listening SOCK_SEQPACKET socket\n"
	"  --socket-path PATH   where it is bound; made when --listen-fd is missing, removed at "
	"the end\n"
	"  --beside-cpu N       start on other CPUs than this one, if any may be had\n"
	"  --runs PATH          append the directory of each run to this file, ended by a NUL\n"
	"  --uid U              serve this user, and become it after attaching (root only)\n"
	"  --idle-exit S        end after S seconds without client and member (default 2)\n"
	"  --service            never end by itself\n"
	"  --ring-bytes N       size of the kernel's ring (default $CRIT_RING_BYTES, else by the\n"
	"                       number of CPUs)\n"
	"  --no-kernel          record ranks only\n"
	"  --no-bpf             as without privileges, for tests\n"
	"  --no-task-storage    as on kernels before 5.11, for tests\n"
	"  --no-sampling        as without perf events of whole CPUs, for tests\n"
	"  --no-pidfd-thread    as on kernels before 6.9, for tests\n"
	"  --version, --help\n";

#define RING_BYTES_MAX (1u << 30)

enum option_code {
	OPT_LISTEN_FD = 1,
	OPT_BESIDE_CPU,
	OPT_SOCKET_PATH,
	OPT_RUNS,
	OPT_UID,
	OPT_IDLE_EXIT,
	OPT_SERVICE,
	OPT_RING_BYTES,
	OPT_NO_KERNEL,
	OPT_NO_BPF,
	OPT_NO_TASK_STORAGE,
	OPT_NO_PIDFD_THREAD,
	OPT_NO_SAMPLING,
	OPT_VERSION,
	OPT_HELP
};

static const struct option long_options[] = {
	{ "listen-fd", required_argument, NULL, OPT_LISTEN_FD },
	{ "beside-cpu", required_argument, NULL, OPT_BESIDE_CPU },
	{ "socket-path", required_argument, NULL, OPT_SOCKET_PATH },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "uid", required_argument, NULL, OPT_UID },
	{ "idle-exit", required_argument, NULL, OPT_IDLE_EXIT },
	{ "service", no_argument, NULL, OPT_SERVICE },
	{ "ring-bytes", required_argument, NULL, OPT_RING_BYTES },
	{ "no-kernel", no_argument, NULL, OPT_NO_KERNEL },
	{ "no-bpf", no_argument, NULL, OPT_NO_BPF },
	{ "no-task-storage", no_argument, NULL, OPT_NO_TASK_STORAGE },
	{ "no-pidfd-thread", no_argument, NULL, OPT_NO_PIDFD_THREAD },
	{ "no-sampling", no_argument, NULL, OPT_NO_SAMPLING },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || number > max)
		return -EINVAL;
	*ret_number = number;
	return 0;
}

static int set_number(struct crit_options *options, int code, const char *text)
{
	uint64_t number;

	switch (code) {
	case OPT_LISTEN_FD:
		if (parse_number(text, 1 << 20, &number))
			return -EINVAL;
		options->listen_fd = (int)number;
		return 0;
	case OPT_BESIDE_CPU:
		if (parse_number(text, INT_MAX, &number))
			return -EINVAL;
		options->beside_cpu = (int)number;
		return 0;
	case OPT_UID:
		if (parse_number(text, 0xfffffffeu, &number))
			return -EINVAL;
		options->served_uid = (uint32_t)number;
		options->has_uid = true;
		return 0;
	case OPT_IDLE_EXIT:
		if (parse_number(text, 1000000, &number))
			return -EINVAL;
		options->idle_exit_s = (uint32_t)number;
		return 0;
	default: /* OPT_RING_BYTES */
		return parse_number(text, RING_BYTES_MAX, &options->sources.ring_bytes);
	}
}

static int set_option(struct crit_options *options, int code, struct crit_err *err)
{
	switch (code) {
	case OPT_SOCKET_PATH:
		options->socket_path = optarg;
		return 0;
	case OPT_RUNS:
		options->runs_path = optarg;
		return 0;
	case OPT_SERVICE:
		options->is_service = true;
		return 0;
	case OPT_NO_KERNEL:
		options->has_no_kernel = true;
		return 0;
	case OPT_NO_BPF:
		options->sources.is_bpf_refused = true;
		return 0;
	case OPT_NO_TASK_STORAGE:
		options->sources.is_storage_refused = true;
		return 0;
	case OPT_NO_PIDFD_THREAD:
		options->sources.is_pidfd_thread_refused = true;
		return 0;
	case OPT_NO_SAMPLING:
		options->sources.is_sampling_refused = true;
		return 0;
	case OPT_VERSION:
		options->is_version = true;
		return 0;
	case OPT_HELP:
		options->is_help = true;
		return 0;
	case '?':
	case ':':
		return crit_err_set(err, -EINVAL, "unknown or incomplete option; see critd --help");
	default:
		if (set_number(options, code, optarg))
			return crit_err_set(err, -EINVAL, "'%s' is no number for this option",
					    optarg);
		return 0;
	}
}

int crit_options_parse(int argc, char *const *argv, struct crit_options *ret_options,
		       struct crit_err *err)
{
	struct crit_options options = {
		.listen_fd = -1, .beside_cpu = -1, .idle_exit_s = 2, .served_uid = getuid()
	};
	int code;

	/* critd is started by others; an option wins */
	options.sources.ring_bytes = crit_setting_number(CRIT_SETTING_RING_BYTES);
	opterr = 0;
	while ((code = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (set_option(&options, code, err))
			return -EINVAL;
	}
	if (optind < argc)
		return crit_err_set(err, -EINVAL, "'%s': critd takes no arguments", argv[optind]);
	if (options.listen_fd < 0 && !options.socket_path && !options.is_help &&
	    !options.is_version)
		return crit_err_set(err, -EINVAL, "neither --listen-fd nor --socket-path is given");
	if (options.has_uid && geteuid() != 0)
		return crit_err_set(err, -EPERM,
				    "--uid %u needs root; without it critd serves the user "
				    "who starts it",
				    options.served_uid);
	options.sources.served_uid = options.served_uid;
	*ret_options = options;
	return 0;
}
