// SPDX-License-Identifier: BSD-3-Clause
// Loads and attaches the kernel half; what the kernel can do is found out by trial.
#include "collector/source/kernel_half.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/abi_member.h"
#include "core/base/cleanup.h"

#define PIDFD_OF_THREAD 0200 /* O_EXCL; named PIDFD_THREAD in newer headers */
#define RING_BYTES_MAX (1u << 30)
#define REGISTERED_MAX 4096u
#define FIRST_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO in the kernel */

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* The next power of two. */
static uint32_t ring_bytes(uint64_t wanted, uint32_t most)
{
	uint32_t bytes = 4096;

	while (bytes < wanted && bytes < most)
		bytes <<= 1;
	return bytes;
}

/*
 * One more than the number of the last CPU that there is, on line or not.  Kernels may allow for
 * hundreds, as some virtual machines make them do; what one that is plugged in later does is lost.
 */
static uint32_t count_slots(void)
{
	const int possible = libbpf_num_possible_cpus();
	crit_autofclose FILE *in = fopen("/sys/devices/system/cpu/present", "re");
	crit_autofree char *line = NULL;
	size_t room = 0, first = 0;
	uint32_t last = UINT32_MAX;

	if (in && getline(&line, &room, in) > 0) { /* "0-3,8-11" */
		for (size_t i = 0; line[i]; i++)
			if (line[i] == '-' || line[i] == ',')
				first = i + 1;
		last = (uint32_t)strtoul(line + first, NULL, 10);
	}
	if (possible > 0 && last >= (uint32_t)possible)
		last = (uint32_t)possible - 1;
	return last == UINT32_MAX ? 1 : last + 1;
}

static uint32_t cpu_ring_bytes(uint64_t asked, uint32_t cpus)
{
	return asked ? ring_bytes(asked / cpus, CRIT_CPU_RING_BYTES) : CRIT_CPU_RING_BYTES;
}

static bool can_open_pidfd_of_thread(void)
{
	crit_autoclose int fd = (int)syscall(SYS_pidfd_open, getpid(), PIDFD_OF_THREAD);

	return fd >= 0;
}

/* The kernel's records have the host's numbers of tasks; elsewhere nobody is called so. */
static bool has_own_pid_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != FIRST_PID_NAMESPACE;
}

static void configure(struct crit_kernel_settings *ret_settings, struct crit_kernel *kernel,
		      const struct crit_source_options *options)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint32_t slot_count = count_slots();
	bool is_enrolling;

	kernel->has_task_storage = !options->is_storage_refused &&
				   libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) > 0;
	kernel->has_pidfd_thread = !options->is_pidfd_thread_refused && can_open_pidfd_of_thread();
	is_enrolling = kernel->has_task_storage && !kernel->has_pidfd_thread;
	*ret_settings = (struct crit_kernel_settings){
		.rodata.has_task_storage = kernel->has_task_storage,
		.rodata.has_task_registers = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
								     BPF_FUNC_task_pt_regs,
								     NULL) > 0,
		.rodata.cpu_count = cpus > 0 && cpus < UINT16_MAX ? (uint32_t)cpus : UINT16_MAX,
		.rodata.slot_count = slot_count,
		.rodata.served_uid = options->served_uid,
		.rodata.cpu_ring_bytes = cpu_ring_bytes(options->ring_bytes, slot_count),
		.ring_bytes = ring_bytes(options->ring_bytes ? options->ring_bytes
							     : crit_ring_wanted(0, slot_count) / 2,
					 RING_BYTES_MAX),
		.registered_count = is_enrolling ? REGISTERED_MAX : 1,
	};
}

static int open_rings(struct crit_kernel *kernel, const struct crit_kernel_settings *settings)
{
	const struct crit_kernel_rings_maps maps = {
		.records_fd = kernel->object.records_fd,
		.cpu_rings_fd = kernel->object.cpu_rings_fd,
		.record_bytes = settings->ring_bytes,
		.cpu_ring_bytes = settings->rodata.cpu_ring_bytes,
		.cpu_count = settings->rodata.slot_count,
	};

	return crit_kernel_rings_open(&kernel->rings, &maps);
}

int crit_kernel_open(struct crit_kernel *kernel, const struct crit_source_options *options,
		     struct crit_err *err)
{
	struct crit_kernel_settings settings;
	int rc;

	memset(kernel, 0, sizeof(*kernel));
	if (options->is_bpf_refused)
		return crit_err_set(err, -EPERM, "the kernel half is left out: --no-bpf");
	if (has_own_pid_namespace())
		return crit_err_set(err, -EXDEV,
				    "the kernel half is left out: this is not the host's pid "
				    "namespace; see CONTAINERS in critd(8)");
	libbpf_set_print(print_nothing);
	configure(&settings, kernel, options);
	rc = crit_kernel_object_load(&kernel->object, &settings);
	if (rc) {
		crit_err_set(err, rc, "cannot load the kernel half: %s; needs %s", strerror(-rc),
			     access("/sys/kernel/btf/vmlinux", F_OK) == 0
				     ? "CAP_BPF and CAP_PERFMON"
				     : "a kernel with CONFIG_DEBUG_INFO_BTF");
		goto fail;
	}
	rc = open_rings(kernel, &settings);
	if (rc) {
		crit_err_set(err, rc, "cannot map the kernel's rings: %s", strerror(-rc));
		goto fail;
	}
	rc = crit_kernel_object_attach(&kernel->object);
	if (rc) {
		crit_err_set(err, rc, "cannot attach to scheduler events: %s", strerror(-rc));
		goto fail;
	}
	return 0;
fail:
	crit_kernel_close(kernel);
	return rc;
}

void crit_kernel_close(struct crit_kernel *kernel)
{
	crit_kernel_rings_close(&kernel->rings);
	crit_kernel_object_close(&kernel->object);
	memset(kernel, 0, sizeof(*kernel));
}

struct crit_run_counters *crit_kernel_counters(const struct crit_kernel *kernel,
					       uint32_t run_number)
{
	return &kernel->object.bss->run_counters[run_number & (CRIT_RUN_SLOTS - 1)];
}

void crit_kernel_begin_run(struct crit_kernel *kernel, uint32_t run_number, bool is_sampled,
			   uint32_t stack_budget)
{
	struct crit_run_counters *counters = crit_kernel_counters(kernel, run_number);

	/* Members of ended runs are forgotten, unless BPF has to free their entries. */
	if (kernel->has_had_runs && kernel->has_task_storage && kernel->run_count == 0)
		memset(kernel->object.bss->member_tids, 0, sizeof(kernel->object.bss->member_tids));
	kernel->has_had_runs = true;
	kernel->run_count++;
	memset(counters, 0, sizeof(*counters));
	counters->is_sampled = is_sampled;
	counters->stack_budget = stack_budget;
	__atomic_store_n(&counters->run_number, run_number, __ATOMIC_RELEASE);
}

void crit_kernel_end_run(struct crit_kernel *kernel, uint32_t run_number)
{
	struct crit_run_counters *counters = crit_kernel_counters(kernel, run_number);

	if (__atomic_exchange_n(&counters->run_number, 0, __ATOMIC_RELEASE) != 0)
		kernel->run_count--;
}

/* The key of a thread in the members map: a pidfd, or its number. */
static int open_key(const struct crit_kernel *kernel, uint32_t tid)
{
	int fd;

	if (!kernel->has_task_storage)
		return (int)tid;
	fd = (int)syscall(SYS_pidfd_open, tid, kernel->has_pidfd_thread ? PIDFD_OF_THREAD : 0);
	return fd < 0 ? -errno : fd;
}

static void close_key(const struct crit_kernel *kernel, int key)
{
	if (kernel->has_task_storage)
		close(key);
}

int crit_kernel_member_get(const struct crit_kernel *kernel, uint32_t tid, struct crit_member *ret)
{
	struct crit_member member;
	int key = open_key(kernel, tid);
	int rc;

	if (key < 0)
		return key;
	rc = bpf_map_lookup_elem(kernel->object.members_fd, &key, &member);
	close_key(kernel, key);
	if (!rc)
		*ret = member;
	return rc;
}

bool crit_kernel_is_member(const struct crit_kernel *kernel, uint32_t tid, uint32_t run_number)
{
	struct crit_member member;
	int rc;

	if (!kernel->object.bss->member_tids[tid & (CRIT_MEMBER_TIDS - 1)])
		return false;
	rc = crit_kernel_member_get(kernel, tid, &member);
	if (rc)
		return rc != -ENOENT && rc != -ESRCH;
	return member.run_number == run_number && !(member.flags & CRIT_MF_EXITED);
}

/* flags: of bpf_map_update_elem. */
static int update_member(const struct crit_kernel *kernel, uint32_t tid,
			 const struct crit_member *member, uint64_t flags)
{
	int key = open_key(kernel, tid);
	int rc;

	if (key < 0)
		return key;
	__atomic_store_n(&kernel->object.bss->member_tids[tid & (CRIT_MEMBER_TIDS - 1)], 1,
			 __ATOMIC_RELEASE); /* first: without it BPF does not look */
	rc = bpf_map_update_elem(kernel->object.members_fd, &key, member, flags);
	close_key(kernel, key);
	return rc;
}

int crit_kernel_member_set(const struct crit_kernel *kernel, uint32_t tid,
			   const struct crit_member *member)
{
	return update_member(kernel, tid, member, BPF_ANY);
}

int crit_kernel_member_add(const struct crit_kernel *kernel, uint32_t tid,
			   const struct crit_member *member)
{
	return update_member(kernel, tid, member, BPF_NOEXIST);
}

int crit_kernel_try_maps(const struct crit_kernel *kernel)
{
	const struct crit_member nobody = { .run_number = 0 };
	const uint32_t no_tgid = ~0u; /* no task has it; 0 is the idle tasks' */
	struct crit_member member;
	int rc = crit_kernel_register_tgid(kernel, no_tgid, &nobody);

	if (rc)
		return rc;
	crit_kernel_forget_tgid(kernel, no_tgid);
	rc = crit_kernel_member_get(kernel, (uint32_t)getpid(), &member);
	return rc == -ENOENT ? 0 : rc;
}

int crit_kernel_register_tgid(const struct crit_kernel *kernel, uint32_t tgid,
			      const struct crit_member *member)
{
	int rc = bpf_map_update_elem(kernel->object.registered_fd, &tgid, member, BPF_NOEXIST);

	if (!rc)
		__atomic_add_fetch(&kernel->object.bss->registered_count, 1, __ATOMIC_RELEASE);
	return rc;
}

void crit_kernel_forget_tgid(const struct crit_kernel *kernel, uint32_t tgid)
{
	if (bpf_map_delete_elem(kernel->object.registered_fd, &tgid) == 0)
		__atomic_sub_fetch(&kernel->object.bss->registered_count, 1, __ATOMIC_RELEASE);
}
