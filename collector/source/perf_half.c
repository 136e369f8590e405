// SPDX-License-Identifier: BSD-3-Clause
// Opens perf events and their rings, as an ordinary user may.
#include "collector/source/perf_half.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/source/perf_clocks.h"
#include "collector/source/ring.h"
#include "collector/system/procfs.h"

#define RING_BYTES_MAX (1u << 30)
#define RING_BYTES_MIN (16u << 10)
#define SAMPLE_RING_BYTES_MAX (256u << 10)
#define SAMPLE_RING_BYTES_MIN (64u << 10)
#define RING_COPIES 8u /* of stacks, that a ring of samples has room for */
#define BUDGET_WITHOUT_STACKS 10u /* as CRIT_SAMPLE_BUDGET's default */
#define COPY_NS_PER_KIB 250u /* measured: 0.16 to 0.24 us, see docs/architecture.md */
#define DESCRIPTORS_MAX (1u << 20)
#define TIDS (1u << 22) /* PID_MAX_LIMIT */

/* An ordinary user must leave out what happens in the kernel; switches are not meant by that. */
static int open_event(uint32_t tid, uint16_t cpu, bool is_ring)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = !is_ring,
		.context_switch = !is_ring,
		.task = !is_ring,
		.comm = !is_ring,
		.comm_exec = !is_ring,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool has_cpu(const struct crit_perf_means *means, uint32_t cpu)
{
	return means->cpus[cpu / 64] >> (cpu % 64) & 1;
}

/* The cpuset's CPUs: a binding is widened for a moment, to see what is granted. */
static void find_cpus(struct crit_perf_means *means)
{
	uint64_t bound[CRIT_PERF_CPUS / 64] = { 0 };
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(bound), bound);

	memset(means->cpus, 0xff, sizeof(means->cpus));
	(void)syscall(SYS_sched_setaffinity, 0, sizeof(means->cpus), means->cpus);
	memset(means->cpus, 0, sizeof(means->cpus));
	(void)syscall(SYS_sched_getaffinity, 0, sizeof(means->cpus), means->cpus);
	if (bytes > 0)
		(void)syscall(SYS_sched_setaffinity, 0, (size_t)bytes, bound);
}

/* Half of what there may be: clients need some, too. */
static uint32_t descriptors_max(void)
{
	struct rlimit limit = { 0, 0 };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < DESCRIPTORS_MAX ? (uint32_t)limit.rlim_cur / 2
						: DESCRIPTORS_MAX / 2;
}

void crit_perf_probe(struct crit_perf_means *ret_means, int proc_fd)
{
	char text[16] = "";
	int fd = -ENODEV;

	memset(ret_means, 0, sizeof(*ret_means));
	(void)crit_procfs_read_file(proc_fd, "sys/kernel/perf_event_paranoid", text,
				    sizeof(text) - 1);
	ret_means->paranoid = (int32_t)strtol(text, NULL, 10);
	ret_means->descriptors_max = descriptors_max();
	find_cpus(ret_means);
	for (uint32_t cpu = 0; cpu < CRIT_PERF_CPUS && fd == -ENODEV; cpu++) {
		if (has_cpu(ret_means, cpu))
			fd = open_event(0, (uint16_t)cpu, false);
	}
	ret_means->status = fd < 0 ? fd : 1;
	if (fd >= 0)
		close(fd);
}

static void close_ring(struct crit_perf_ring *ring)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ring->page)
		(void)munmap(ring->page, page + ring->bytes);
	close(ring->fd);
}

/* The ring belongs to an event of our own that never tells of anything. */
static int open_ring(struct crit_perf_ring *ring, uint16_t cpu, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;
	int fd = open_event(0, cpu, true);

	if (fd < 0)
		return fd;
	memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		int saved = errno;

		close(fd);
		return -saved;
	}
	*ring = (struct crit_perf_ring){ .page = memory,
					 .data = (const uint8_t *)memory + page,
					 .bytes = bytes,
					 .fd = fd,
					 .cpu = cpu };
	return 0;
}

static void close_sample_rings(struct crit_perf *perf, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		close_ring(&perf->rings[perf->ring_count + i]);
}

static void close_rings(struct crit_perf *perf)
{
	if (perf->clocks)
		close_sample_rings(perf, perf->ring_count);
	crit_perf_clocks_destroy(perf->clocks);
	for (uint32_t i = 0; i < perf->ring_count; i++)
		close_ring(&perf->rings[i]);
	perf->ring_count = 0;
	perf->clocks = NULL;
}

static int open_rings(struct crit_perf *perf, const struct crit_perf_means *means, size_t bytes)
{
	int rc = 0;

	for (uint32_t cpu = 0; cpu < CRIT_PERF_CPUS && !rc; cpu++) {
		if (!has_cpu(means, cpu))
			continue;
		rc = open_ring(&perf->rings[perf->ring_count], (uint16_t)cpu, bytes);
		if (rc == -ENODEV) /* off line by now */
			rc = 0;
		else if (!rc)
			perf->ring_count++;
	}
	if (rc)
		close_rings(perf);
	return rc ? rc : perf->ring_count ? 0 : -ENODEV;
}

/* As long as a copy is within the budget at that rate, and as the ring has room for. */
static uint32_t stack_bytes_of(const struct crit_perf_options *options, size_t ring_bytes)
{
	const uint64_t copy_ns = options->stack_budget * 1000000ull / options->sample_hz;
	uint64_t bytes = copy_ns * 1024 / COPY_NS_PER_KIB;

	if (bytes > ring_bytes / RING_COPIES)
		bytes = ring_bytes / RING_COPIES;
	if (bytes > CRIT_STACK_BYTES_MAX)
		bytes = CRIT_STACK_BYTES_MAX;
	return bytes < 1024 ? 0 : (uint32_t)bytes & ~7u;
}

/* One beside each ring of switches; then its CPU has clocks. */
static int open_sample_rings(struct crit_perf *perf, const struct crit_perf_means *means,
			     const struct crit_perf_options *options, size_t bytes)
{
	const struct crit_perf_clock_options of_clocks = {
		.hz = options->sample_hz,
		.stack_bytes = stack_bytes_of(options, bytes),
		.ring_count = perf->ring_count,
		.clocks_max = means->descriptors_max / 2,
		.budget = options->stack_budget ? options->stack_budget : BUDGET_WITHOUT_STACKS,
	};
	struct crit_perf_ring *rings = perf->rings + perf->ring_count;
	uint32_t count = 0;
	int rc = 0;

	while (!rc && count < perf->ring_count) {
		rc = open_ring(&rings[count], perf->rings[count].cpu, bytes);
		if (!rc)
			rings[count++].has_samples = true;
	}
	if (!rc)
		rc = crit_perf_clocks_create(&of_clocks, &perf->clocks);
	if (rc)
		close_sample_rings(perf, count);
	return rc;
}

/* Rings of both kinds; where there is no room for both, those of switches are smaller. */
static int open_all(struct crit_perf *perf, const struct crit_perf_means *means,
		    const struct crit_perf_options *options, size_t bytes)
{
	size_t sample_bytes = SAMPLE_RING_BYTES_MAX;
	int rc = open_rings(perf, means, bytes);

	if (rc || !options->sample_hz)
		return rc;
	do {
		rc = open_sample_rings(perf, means, options, sample_bytes);
		sample_bytes /= 2;
	} while (rc == -EPERM && sample_bytes >= SAMPLE_RING_BYTES_MIN);
	if (rc && bytes > RING_BYTES_MIN)
		close_rings(perf);
	else
		perf->clock_status = rc;
	return bytes > RING_BYTES_MIN ? rc : 0; /* the smallest: switches alone */
}

static uint32_t count_cpus(const struct crit_perf_means *means)
{
	uint32_t count = 0;

	for (size_t i = 0; i < CRIT_PERF_CPUS / 64; i++)
		count += (uint32_t)__builtin_popcountll(means->cpus[i]);
	return count;
}

/*
 * Of one ring.  perf_event_mlock_kb grants half a MiB per CPU, RLIMIT_MEMLOCK (8 MiB with systemd)
 * what is beyond: an ordinary user's critd may wait for a CPU for longer than half a MiB lasts.
 */
static size_t ring_bytes_of(size_t asked, uint32_t cpus)
{
	const uint64_t wanted = crit_ring_wanted(asked, cpus);
	size_t bytes = RING_BYTES_MAX;

	while (bytes > RING_BYTES_MIN && bytes * cpus > wanted)
		bytes /= 2;
	return bytes;
}

int crit_perf_create(const struct crit_perf_means *means, int proc_fd,
		     const struct crit_perf_options *options, struct crit_perf **ret_perf)
{
	const uint32_t cpus = count_cpus(means);
	struct crit_perf *perf = calloc(1, sizeof(*perf));
	size_t bytes = ring_bytes_of(options->ring_bytes, cpus);
	int rc = -ENOMEM;

	if (!perf)
		return -ENOMEM;
	perf->proc_fd = proc_fd;
	perf->random_state = (uint64_t)getpid() << 32 | 1;
	perf->rings = calloc(2 * (size_t)cpus, sizeof(*perf->rings));
	perf->heap = calloc(2 * (size_t)cpus, sizeof(struct crit_perf_ring *));
	perf->members = calloc(TIDS / 64, sizeof(*perf->members));
	if (!perf->rings || !perf->heap || !perf->members)
		goto fail;
	do {
		rc = open_all(perf, means, options, bytes);
		bytes /= 2;
	} while ((rc == -EPERM || rc == -ENOMEM) && bytes >= RING_BYTES_MIN);
	if (rc)
		goto fail;
	perf->threads_max = means->descriptors_max / (perf->clocks ? 2 : 1) / perf->ring_count;
	*ret_perf = perf;
	return 0;
fail:
	crit_perf_destroy(perf);
	return rc;
}

static void close_thread(const struct crit_perf *perf, const struct crit_perf_thread *thread)
{
	for (uint32_t i = 0; i < perf->ring_count; i++) {
		if (thread->fds[i] >= 0)
			close(thread->fds[i]);
	}
	free(thread->fds);
}

void crit_perf_destroy(struct crit_perf *perf)
{
	if (!perf)
		return;
	for (uint32_t i = 0; i < perf->thread_count; i++)
		close_thread(perf, &perf->threads[i]);
	if (perf->rings)
		close_rings(perf);
	free(perf->threads);
	free(perf->rings);
	free(perf->heap);
	free(perf->members);
	free(perf);
}

bool crit_perf_has(const struct crit_perf *perf, uint32_t tid)
{
	return tid < TIDS && (perf->members[tid / 64] >> (tid % 64) & 1);
}

void crit_perf_mark(struct crit_perf *perf, uint32_t tid, bool is_member)
{
	if (tid >= TIDS)
		return;
	if (is_member)
		perf->members[tid / 64] |= 1ull << (tid % 64);
	else
		perf->members[tid / 64] &= ~(1ull << (tid % 64));
}

void crit_perf_sample(struct crit_perf *perf, uint32_t tid, uint32_t ring, uint64_t now_ns)
{
	const struct crit_perf_ring *of_samples = &perf->rings[perf->ring_count + ring];
	int rc;

	if (!perf->clocks)
		return;
	rc = crit_perf_clocks_add(perf->clocks, tid, ring, of_samples->cpu, of_samples->fd, now_ns);
	if (rc && rc != -ESRCH)
		perf->clock_status = rc;
}

static int open_thread(const struct crit_perf *perf, struct crit_perf_thread *thread)
{
	int rc = 0;

	memset(thread->fds, 0xff, perf->ring_count * sizeof(*thread->fds)); /* -1 each */
	for (uint32_t i = 0; i < perf->ring_count && !rc; i++) {
		int fd = open_event(thread->tid, perf->rings[i].cpu, false);

		if (fd == -ENODEV) /* no thread runs on a CPU that is off line */
			continue;
		if (fd < 0)
			rc = fd;
		else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, perf->rings[i].fd))
			rc = -errno;
		if (fd >= 0)
			thread->fds[i] = fd;
	}
	return rc;
}

int crit_perf_add(struct crit_perf *perf, uint32_t tid)
{
	struct crit_perf_thread thread = { .tid = tid };
	int rc;

	if (perf->thread_count >= perf->threads_max)
		return -EMFILE;
	if (perf->thread_count == perf->thread_room) {
		const uint32_t room = perf->thread_room ? 2 * perf->thread_room : 16;
		void *threads = realloc(perf->threads, room * sizeof(*perf->threads));

		if (!threads)
			return -ENOMEM;
		perf->threads = threads;
		perf->thread_room = room;
	}
	thread.fds = malloc(perf->ring_count * sizeof(*thread.fds));
	if (!thread.fds)
		return -ENOMEM;
	rc = open_thread(perf, &thread);
	if (rc) {
		close_thread(perf, &thread);
		return rc;
	}
	perf->threads[perf->thread_count++] = thread;
	crit_perf_mark(perf, tid, true);
	return 0;
}

static void forget_thread(struct crit_perf *perf, uint32_t index)
{
	close_thread(perf, &perf->threads[index]);
	perf->threads[index] = perf->threads[--perf->thread_count];
}

void crit_perf_drop(struct crit_perf *perf, uint32_t tid)
{
	for (uint32_t i = 0; i < perf->thread_count; i++) {
		if (perf->threads[i].tid == tid) {
			forget_thread(perf, i);
			return;
		}
	}
}

/* The kernel hangs up an event once its thread and all that inherited it are gone. */
static bool is_over(const struct crit_perf *perf, const struct crit_perf_thread *thread)
{
	for (uint32_t i = 0; i < perf->ring_count; i++) {
		struct pollfd event = { .fd = thread->fds[i] };

		if (event.fd >= 0)
			return poll(&event, 1, 0) == 1 && event.revents & POLLHUP;
	}
	return true;
}

uint32_t crit_perf_reap(struct crit_perf *perf)
{
	for (uint32_t i = perf->thread_count; i > 0; i--) {
		if (is_over(perf, &perf->threads[i - 1]))
			forget_thread(perf, i - 1);
	}
	return perf->thread_count;
}
