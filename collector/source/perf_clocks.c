// SPDX-License-Identifier: BSD-3-Clause
// Keeps the clocks of each CPU in the order of their threads.
#include "collector/source/perf_clocks.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/source/sampler.h"
#include "core/base/array.h"

#if defined(__x86_64__)
#define REGISTERS (1u << PERF_REG_X86_BP | 1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_IP)
#elif defined(__aarch64__)
#define REGISTERS                                                                                  \
	(1ull << PERF_REG_ARM64_X29 | 1ull << PERF_REG_ARM64_LR | 1ull << PERF_REG_ARM64_SP |      \
	 1ull << PERF_REG_ARM64_PC)
#else
#error "this architecture: which registers tell a thread's place and its stack?"
#endif

#define SWITCH_NS 2700u /* measured on a virtual machine, where arming a timer leaves the guest */
#define SHARE_MIN 64u

struct thread_clock {
	uint32_t tid;
	uint32_t period_ns;
	int fd;
	uint64_t due_ns; /* for another period */
};

struct cpu_clocks { /* sorted by tid */
	uint32_t switches; /* since looked_ns */
	uint32_t share; /* of the time that they go, in 65536ths */
	bool is_still;
	struct thread_clock *clocks;
	size_t count, capacity;
};

struct crit_perf_clocks {
	struct crit_perf_clock_options options;
	uint32_t count;
	uint64_t looked_ns; /* 0: never */
	struct cpu_clocks cpus[]; /* ring_count */
};

int crit_perf_clocks_create(const struct crit_perf_clock_options *options,
			    struct crit_perf_clocks **ret_clocks)
{
	struct crit_perf_clocks *clocks =
		calloc(1, sizeof(*clocks) + options->ring_count * sizeof(clocks->cpus[0]));

	if (!clocks)
		return -ENOMEM;
	clocks->options = *options;
	for (uint32_t i = 0; i < options->ring_count; i++)
		clocks->cpus[i].share = 65536;
	*ret_clocks = clocks;
	return 0;
}

void crit_perf_clocks_destroy(struct crit_perf_clocks *clocks)
{
	if (!clocks)
		return;
	for (uint32_t i = 0; i < clocks->options.ring_count; i++) {
		for (size_t k = 0; k < clocks->cpus[i].count; k++)
			close(clocks->cpus[i].clocks[k].fd);
		free(clocks->cpus[i].clocks);
	}
	free(clocks);
}

/* Where the thread's clock is, or would be. */
static size_t place_of(const struct cpu_clocks *cpu, uint32_t tid)
{
	size_t low = 0, high = cpu->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (cpu->clocks[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_there(const struct cpu_clocks *cpu, size_t place, uint32_t tid)
{
	return place < cpu->count && cpu->clocks[place].tid == tid;
}

/* As an ordinary user may: of user mode alone. */
static int open_clock(const struct crit_perf_clock_options *options, uint32_t tid, uint16_t cpu,
		      int output_fd, uint32_t period_ns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       (options->stack_bytes ? PERF_SAMPLE_STACK_USER : 0),
		.sample_regs_user = REGISTERS,
		.sample_stack_user = options->stack_bytes,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int rc = fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output_fd) ? -errno : 0;

	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

int crit_perf_clocks_add(struct crit_perf_clocks *clocks, uint32_t tid, uint32_t ring, uint16_t cpu,
			 int fd, uint64_t now_ns)
{
	const uint32_t hz = clocks->options.hz;
	struct cpu_clocks *of_cpu = &clocks->cpus[ring];
	const size_t place = place_of(of_cpu, tid);
	struct thread_clock clock = { .tid = tid, .period_ns = crit_sampler_draw_ns(hz) };

	if (is_there(of_cpu, place, tid))
		return 0;
	if (clocks->count >= clocks->options.clocks_max)
		return -EMFILE;
	if (crit_array_grow(&of_cpu->clocks, &of_cpu->capacity, of_cpu->count + 1, sizeof(clock)))
		return -ENOMEM;
	clock.fd = open_clock(&clocks->options, tid, cpu, fd, clock.period_ns);
	if (clock.fd < 0)
		return clock.fd;
	clock.due_ns = now_ns + crit_sampler_kept_ns(hz);
	if (!of_cpu->is_still)
		(void)ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0);
	memmove(&of_cpu->clocks[place + 1], &of_cpu->clocks[place],
		(of_cpu->count - place) * sizeof(clock));
	of_cpu->clocks[place] = clock;
	of_cpu->count++;
	clocks->count++;
	return 0;
}

void crit_perf_clocks_drop(struct crit_perf_clocks *clocks, uint32_t tid)
{
	for (uint32_t i = 0; i < clocks->options.ring_count; i++) {
		struct cpu_clocks *cpu = &clocks->cpus[i];
		const size_t place = place_of(cpu, tid);

		if (!is_there(cpu, place, tid))
			continue;
		close(cpu->clocks[place].fd);
		cpu->count--;
		clocks->count--;
		memmove(&cpu->clocks[place], &cpu->clocks[place + 1],
			(cpu->count - place) * sizeof(cpu->clocks[0]));
	}
}

uint32_t crit_perf_clocks_period_ns(const struct crit_perf_clocks *clocks, uint32_t tid,
				    uint32_t ring)
{
	const struct cpu_clocks *cpu = &clocks->cpus[ring];
	const size_t place = place_of(cpu, tid);

	return is_there(cpu, place, tid) ? cpu->clocks[place].period_ns : 0;
}

void crit_perf_clocks_count(struct crit_perf_clocks *clocks, uint32_t ring, uint32_t switches)
{
	clocks->cpus[ring].switches += switches;
}

uint32_t crit_perf_clocks_share(const struct crit_perf_clocks *clocks, uint32_t ring)
{
	return clocks->cpus[ring].share;
}

/* As if the CPU went on to switch as often as it did. */
static void draw_stillness(const struct crit_perf_clocks *clocks, struct cpu_clocks *cpu,
			   uint64_t passed_ns)
{
	const uint64_t granted_ns = passed_ns / 1000 * clocks->options.budget;
	const uint64_t cost_ns = (uint64_t)cpu->switches * SWITCH_NS;
	uint32_t random = 0;
	bool is_still;

	cpu->switches = 0;
	cpu->share = cost_ns > granted_ns ? (uint32_t)(65536 * granted_ns / cost_ns) : 65536;
	if (cpu->share < SHARE_MIN)
		cpu->share = SHARE_MIN;
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	is_still = (random & 65535) >= cpu->share;
	for (size_t k = 0; is_still != cpu->is_still && k < cpu->count; k++)
		(void)ioctl(cpu->clocks[k].fd,
			    is_still ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	cpu->is_still = is_still;
}

void crit_perf_clocks_look(struct crit_perf_clocks *clocks, uint64_t now_ns)
{
	const uint32_t hz = clocks->options.hz;
	const uint64_t passed_ns = clocks->looked_ns ? now_ns - clocks->looked_ns : 0;

	clocks->looked_ns = now_ns;
	for (uint32_t i = 0; i < clocks->options.ring_count; i++) {
		if (passed_ns)
			draw_stillness(clocks, &clocks->cpus[i], passed_ns);
		for (size_t k = 0; k < clocks->cpus[i].count; k++) {
			struct thread_clock *clock = &clocks->cpus[i].clocks[k];
			uint64_t period_ns;

			if (now_ns < clock->due_ns)
				continue;
			clock->period_ns = crit_sampler_draw_ns(hz);
			clock->due_ns = now_ns + crit_sampler_kept_ns(hz);
			period_ns = clock->period_ns;
			(void)ioctl(clock->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
		}
	}
}
