// SPDX-License-Identifier: BSD-3-Clause
// Begins the recording of a run in the file that its first client passes.
#include "collector/loop/run_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/loop/unwinding.h"
#include "collector/system/now.h"
#include "collector/system/procfs.h"
#include "core/base/clock.h"

static void fill_file(const struct crit_server *server, const struct crit_run *run,
		      const struct crit_message_output *output,
		      const struct crit_source_status *status, struct crit_rec_file *ret_file)
{
	struct utsname name;
	long bytes;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(ret_file, 0, sizeof(*ret_file));
	ret_file->cpu_count = cpus > 0 ? (uint32_t)cpus : 1;
	ret_file->uid = server->options.served_uid;
	ret_file->level = output->level == CRIT_LEVEL_PROFILE ? CRIT_LEVEL_PROFILE
							      : CRIT_LEVEL_TRACE;
	ret_file->kernel_status = status->kernel;
	ret_file->perf_status = status->perf;
	ret_file->perf_paranoid = status->perf_paranoid;
	ret_file->start_mono_ns = crit_now_ns();
	ret_file->start_real_ns = crit_clock_ns(CLOCK_REALTIME);
	ret_file->run_id = run->run_id;
	ret_file->max_bytes = output->max_bytes;
	bytes = crit_procfs_read_file(server->proc_fd, "sys/kernel/random/boot_id", ret_file->boot,
				      sizeof(ret_file->boot) - 1);
	if (bytes > 0)
		ret_file->boot[strcspn(ret_file->boot, "\n")] = '\0';
	memcpy(ret_file->host, run->host, sizeof(ret_file->host));
	memcpy(ret_file->run_key, run->key, sizeof(ret_file->run_key));
	memcpy(ret_file->exe, run->exe, sizeof(ret_file->exe));
	(void)uname(&name); /* cannot fail with a valid pointer */
	(void)snprintf(ret_file->kernel_release, sizeof(ret_file->kernel_release), "%.63s",
		       name.release);
	(void)snprintf(ret_file->critd_version, sizeof(ret_file->critd_version), "%s",
		       CRIT_VERSION);
}

int crit_run_output_take(struct crit_server *server, struct crit_run *run,
			 const struct crit_message_output *output, struct crit_message_in *in,
			 struct crit_err *err)
{
	struct crit_source_status status = *crit_sources_status(server->sources);
	struct crit_rec_file file;
	int rc;

	if (in->fd_count != 2)
		return crit_err_set(err, -EINVAL, "OUTPUT came with %d descriptors, not 2",
				    in->fd_count);
	if (in->found.status) {
		*err = in->found.err;
		return in->found.status;
	}
	memcpy(run->directory, output->directory, sizeof(run->directory));
	memcpy(run->host, output->host, sizeof(run->host));
	run->sample_hz = output->sample_hz < CRIT_SAMPLE_HZ_MAX ? output->sample_hz
								: CRIT_SAMPLE_HZ_MAX;
	crit_unwinding_begin(server, run, in->fds[1], output->sample_budget);
	crit_sources_begin(server->sources, run, &status);
	fill_file(server, run, output, &status, &file);
	rc = crit_run_open(run, in->fds[0], &file);
	if (rc) {
		crit_sources_stop(server->sources, run);
		crit_sources_end(server->sources, run);
		return crit_err_set(err, rc,
				    "cannot start the thread that writes the recording: %s",
				    strerror(-rc));
	}
	run->finisher_fd = in->fds[1];
	in->fds[0] = in->fds[1] = -1;
	run->state = CRIT_RUN_RECORDING;
	return crit_watch_add(server->epoll_fd, run->finisher_fd, CRIT_WATCH_FINISHER, run->slot);
}
