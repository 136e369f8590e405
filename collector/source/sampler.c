// SPDX-License-Identifier: BSD-3-Clause
// Opens the sampling clocks of all CPUs, and sets their periods.
#include "collector/source/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crit.skel.h"

/*
 * A period is drawn from [1/2, 3/2] of their mean, over which the mean of 1/x is ln 3: with ln 3
 * seconds for the mean of one tick a second the average rate is the one that is wanted.
 */
#define MEAN_NS_AT_1_HZ 1098612289ull
#define KEPT_NS 900000000ull /* how long a clock keeps its period, */
#define KEPT_TICKS 20u /* or longer: a new period loses what had passed of the old one */

struct clock {
	int fd; /* -1: the CPU is offline */
	uint64_t due_ns; /* for another period */
};

struct crit_sampler {
	uint32_t *periods_ns; /* of each CPU, for the kernel half */
	uint32_t hz; /* 0: the clocks stand still */
	uint32_t cpu_count;
	struct clock clocks[]; /* cpu_count */
};

static int open_clock(int program_fd, uint32_t cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = MEAN_NS_AT_1_HZ,
					.disabled = 1,
					.exclude_idle = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int rc = fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) ? -errno : 0;

	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_clocks(struct crit_sampler *sampler, int program_fd)
{
	for (uint32_t cpu = 0; cpu < sampler->cpu_count; cpu++) {
		const int fd = open_clock(program_fd, cpu);

		if (fd < 0 && fd != -ENODEV)
			return fd;
		sampler->clocks[cpu].fd = fd < 0 ? -1 : fd;
	}
	return 0;
}

int crit_sampler_create(const struct crit_kernel *kernel, const struct crit_source_options *options,
			struct crit_sampler **ret_sampler, struct crit_err *err)
{
	const int possible = libbpf_num_possible_cpus();
	const uint32_t cpu_count = possible < 1                        ? 1
				   : possible < (int)CRIT_WATCHED_CPUS ? (uint32_t)possible
								       : CRIT_WATCHED_CPUS;
	struct crit_sampler *sampler;
	int rc = options->is_sampling_refused       ? -EPERM
		 : kernel->object.cpu_clock_fd >= 0 ? 0
						    : -EOPNOTSUPP;

	if (rc)
		return crit_err_set(err, rc, "no samples: %s", strerror(-rc));
	sampler = calloc(1, sizeof(*sampler) + cpu_count * sizeof(sampler->clocks[0]));
	if (!sampler)
		return crit_err_set(err, -ENOMEM, "no samples: no memory");
	sampler->periods_ns = kernel->object.bss->sample_periods_ns;
	sampler->cpu_count = cpu_count;
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
		sampler->clocks[cpu].fd = -1;
	rc = open_clocks(sampler, kernel->object.cpu_clock_fd);
	if (rc) {
		crit_sampler_destroy(sampler);
		return crit_err_set(err, rc, "no samples: no perf events of whole CPUs: %s",
				    strerror(-rc));
	}
	*ret_sampler = sampler;
	return 0;
}

void crit_sampler_destroy(struct crit_sampler *sampler)
{
	if (!sampler)
		return;
	for (uint32_t cpu = 0; cpu < sampler->cpu_count; cpu++) {
		if (sampler->clocks[cpu].fd >= 0)
			close(sampler->clocks[cpu].fd);
	}
	free(sampler);
}

uint32_t crit_sampler_draw_ns(uint32_t hz)
{
	const uint64_t mean_ns = MEAN_NS_AT_1_HZ / hz;
	uint32_t random = 1u << 31;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK); /* early at boot: the mean */
	return (uint32_t)(mean_ns / 2 + (mean_ns * random >> 32));
}

uint64_t crit_sampler_kept_ns(uint32_t hz)
{
	const uint64_t ticks_ns = KEPT_TICKS * (MEAN_NS_AT_1_HZ / hz);

	return ticks_ns > KEPT_NS ? ticks_ns : KEPT_NS;
}

static void draw_period(struct crit_sampler *sampler, uint32_t cpu)
{
	const uint64_t period_ns = crit_sampler_draw_ns(sampler->hz);

	sampler->periods_ns[cpu] = (uint32_t)period_ns;
	(void)ioctl(sampler->clocks[cpu].fd, PERF_EVENT_IOC_PERIOD, &period_ns); /* if online */
}

void crit_sampler_set(struct crit_sampler *sampler, uint32_t hz, uint64_t now_ns)
{
	const bool was_on = sampler->hz != 0;

	if (hz == sampler->hz)
		return;
	sampler->hz = hz;
	for (uint32_t cpu = 0; cpu < sampler->cpu_count; cpu++) {
		struct clock *clock = &sampler->clocks[cpu];

		if (clock->fd < 0)
			continue;
		if (hz == 0) {
			(void)ioctl(clock->fd, PERF_EVENT_IOC_DISABLE, 0);
			continue;
		}
		draw_period(sampler, cpu);
		clock->due_ns = now_ns + crit_sampler_kept_ns(hz) * (cpu + 1) / sampler->cpu_count;
		if (!was_on)
			(void)ioctl(clock->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

void crit_sampler_look(struct crit_sampler *sampler, uint64_t now_ns)
{
	for (uint32_t cpu = 0; sampler->hz && cpu < sampler->cpu_count; cpu++) {
		struct clock *clock = &sampler->clocks[cpu];

		if (clock->fd < 0 || now_ns < clock->due_ns)
			continue;
		draw_period(sampler, cpu);
		clock->due_ns = now_ns + crit_sampler_kept_ns(sampler->hz);
	}
}
