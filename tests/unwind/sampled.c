// SPDX-License-Identifier: BSD-3-Clause
// One inherited cpu-clock event per CPU; the rings are read every few milliseconds, and with them
// the maps of processes that are new or were found to have changed.
#include "tests/unwind/sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "tests/lib/check.h"

#define CPUS_MAX 64
#define RING_BYTES (256u << 10) /* what perf_event_mlock_kb leaves to users, by default */
#define MAPS_BYTES (1u << 19)
#define PROCESSES_MAX 256
#if defined(__aarch64__)
#define REGISTERS (1ull << 29 | 1ull << 30 | 1ull << 31 | 1ull << 32) /* x29, x30, sp, pc */
#else
#define REGISTERS (1u << 6 | 1u << 7 | 1u << 8) /* of x86: bp, sp, ip */
#endif

struct ring {
	int fd;
	struct perf_event_mmap_page *head;
	const unsigned char *data;
};

struct process {
	uint32_t pid;
	bool is_marked;
	bool is_mapped;
	struct crit_unwind_maps maps;
};

struct sampling {
	struct ring rings[CPUS_MAX];
	size_t ring_count;
	struct process processes[PROCESSES_MAX];
	size_t process_count;
	struct crit_mapped_files *files;
	sampled_told *told;
	void *user;
	struct sampled_counts counts;
};

static int open_event(pid_t pid, int cpu, unsigned int hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000u / hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTERS,
		.sample_stack_user = CRIT_UNWIND_STACK_BYTES_MAX,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.comm = 1,
		.exclude_kernel = geteuid() != 0,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool sampled_is_permitted(void)
{
	crit_autoclose int fd = open_event(0, -1, 1);

	return fd >= 0;
}

static bool open_rings(struct sampling *sampling, pid_t pid, unsigned int hz)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		struct ring *ring = &sampling->rings[sampling->ring_count];
		char *memory;

		ring->fd = open_event(pid, cpu, hz);
		if (ring->fd < 0)
			return false;
		sampling->ring_count++;
		memory = mmap(NULL, 4096 + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			      0);
		if (memory == MAP_FAILED)
			return false;
		ring->head = (struct perf_event_mmap_page *)memory;
		ring->data = (unsigned char *)memory + 4096;
	}
	return sampling->ring_count > 0;
}

static void close_rings(struct sampling *sampling)
{
	for (size_t i = 0; i < sampling->ring_count; i++) {
		if (sampling->rings[i].head)
			(void)munmap(sampling->rings[i].head, 4096 + RING_BYTES);
		close(sampling->rings[i].fd);
	}
	for (size_t i = 0; i < sampling->process_count; i++)
		crit_unwind_maps_fini(&sampling->processes[i].maps);
}

static struct process *process_of(struct sampling *sampling, uint32_t pid)
{
	struct process *process = sampling->processes;
	struct process *const end = process + sampling->process_count;

	while (process < end && process->pid != pid)
		process++;
	if (process == end) {
		if (!CHECK(sampling->process_count < PROCESSES_MAX))
			return NULL;
		sampling->process_count++;
		process->pid = pid;
	}
	return process;
}

static bool read_maps(struct sampling *sampling, struct process *process)
{
	static char text[MAPS_BYTES];
	char path[64];
	size_t used = 0;
	ssize_t count = 1;
	crit_autoclose int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && count > 0) {
		count = read(fd, text + used, sizeof(text) - used);
		used += count > 0 ? (size_t)count : 0;
	}
	if (!used)
		return false;
	crit_unwind_maps_fini(&process->maps);
	process->is_mapped = true;
	return CHECK_INT_EQ(crit_unwind_maps_add(&process->maps, sampling->files, text, used), 0);
}

struct taken { /* a record's body: what is asked for, in the order of the bits */
	uint32_t pid;
	uint32_t tid;
	uint64_t abi;
	uint64_t bp;
#if defined(__aarch64__)
	uint64_t lr;
#endif
	uint64_t sp;
	uint64_t pc;
	uint64_t stack_bytes; /* then those, then how many of them were copied */
};

static void take_sample(struct sampling *sampling, const unsigned char *body, size_t bytes)
{
	struct taken taken;
	struct sampled_copy sample;
	struct process *process;
	uint64_t copied = 0;

	if (bytes < sizeof(taken))
		return;
	memcpy(&taken, body, sizeof(taken));
	if (taken.abi == 0 || bytes < sizeof(taken) + taken.stack_bytes + sizeof(copied))
		return;
	memcpy(&copied, body + sizeof(taken) + taken.stack_bytes, sizeof(copied));
	process = process_of(sampling, taken.pid);
	if (!process || (!process->is_mapped && !read_maps(sampling, process))) {
		sampling->counts.unmapped++;
		return;
	}
	sample = (struct sampled_copy){
		.pid = taken.pid,
		.tid = taken.tid,
		.is_marked = process->is_marked,
		.copy = { .pc = taken.pc,
			  .sp = taken.sp,
			  .bp = taken.bp,
			  .stack = body + sizeof(taken),
			  .stack_bytes = copied },
		.maps = &process->maps,
	};
#if defined(__aarch64__)
	sample.copy.lr = taken.lr;
#endif
	if (!sampling->told(&sample, sampling->user) && read_maps(sampling, process))
		(void)sampling->told(&sample, sampling->user);
}

static void take_name(struct sampling *sampling, const unsigned char *body)
{
	struct {
		uint32_t pid;
		uint32_t tid;
		char name[16];
	} named;
	struct process *process;

	memcpy(&named, body, sizeof(named));
	process = process_of(sampling, named.pid);
	if (!process)
		return;
	process->is_mapped = false; /* after an exec, or as good as new */
	process->is_marked = strncmp(named.name, "marked", sizeof(named.name)) == 0;
}

static void drain(struct sampling *sampling, const struct ring *ring)
{
	static unsigned char record[1 << 16];
	const uint64_t end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->head->data_tail;

	while (at < end) {
		struct perf_event_header header;
		const size_t first = at % RING_BYTES;
		size_t part;

		memcpy(&header, ring->data + first, sizeof(header)); /* never split: 8 bytes */
		part = header.size < RING_BYTES - first ? header.size : RING_BYTES - first;
		memcpy(record, ring->data + first, part);
		memcpy(record + part, ring->data, header.size - part);
		if (header.type == PERF_RECORD_SAMPLE)
			take_sample(sampling, record + sizeof(header),
				    header.size - sizeof(header));
		else if (header.type == PERF_RECORD_COMM)
			take_name(sampling, record + sizeof(header));
		else if (header.type == PERF_RECORD_LOST)
			sampling->counts.lost++;
		at += header.size;
	}
	__atomic_store_n(&ring->head->data_tail, at, __ATOMIC_RELEASE);
}

static pid_t start(char *const *command, int *ret_go)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(ends[0]);
	*ret_go = ends[1];
	return pid;
}

int sampled_run(char *const *command, unsigned int hz, struct crit_mapped_files *files,
		sampled_told *told, void *user, struct sampled_counts *ret_counts)
{
	static struct sampling sampling;
	crit_autoclose int go = -1;
	pid_t pid = start(command, &go);
	pid_t ended = 0;
	int status = 0;

	memset(&sampling, 0, sizeof(sampling));
	sampling.files = files;
	sampling.told = told;
	sampling.user = user;
	if (pid < 0 || !open_rings(&sampling, pid, hz) || write(go, "", 1) != 1)
		return -errno;
	while (!ended) {
		(void)poll(NULL, 0, 3);
		ended = waitpid(pid, &status, WNOHANG);
		for (size_t i = 0; i < sampling.ring_count; i++)
			drain(&sampling, &sampling.rings[i]);
	}
	close_rings(&sampling);
	*ret_counts = sampling.counts;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
