// SPDX-License-Identifier: BSD-3-Clause
// The memfd a process shares with critd: sparse, sealed, mapped without reserving anything.
//
// A program may lock its memory (mlockall), which makes every accessible page of it real, so a
// thread buffer stays inaccessible until a thread claims it.
#include "core/shim/shim_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/shim/shim_state.h"

#define RING_SLOTS_LEAST 4096u
#define ADDRESS_SHARE 16 /* of a limited address space we take at most this part */

static uint32_t count_buffers(void)
{
	long wanted = 4l * get_nprocs_conf();

	if (wanted < (long)CRIT_THREAD_BUFFERS_MIN)
		return CRIT_THREAD_BUFFERS_MIN;
	return wanted > (long)CRIT_THREAD_BUFFERS_MAX ? CRIT_THREAD_BUFFERS_MAX : (uint32_t)wanted;
}

/* What the limits allow; past the file size limit ftruncate would raise SIGXFSZ. */
static uint64_t allowed_bytes(void)
{
	struct rlimit file = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t allowed = UINT64_MAX;

	(void)getrlimit(RLIMIT_FSIZE, &file); /* on failure: no limit */
	(void)getrlimit(RLIMIT_AS, &space);
	if (file.rlim_cur != RLIM_INFINITY)
		allowed = file.rlim_cur;
	if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur / ADDRESS_SHARE < allowed)
		allowed = space.rlim_cur / ADDRESS_SHARE;
	return allowed;
}

static uint64_t bytes_for(uint32_t buffers, uint32_t slots)
{
	return CRIT_SHM_HEAD_BYTES +
	       buffers * (CRIT_THREAD_BUFFER_RING_OFFSET + (uint64_t)slots * CRIT_SLOT_BYTES);
}

/* The pages that hold these bytes; a page may be larger than the head. */
static bool make_accessible(void *start, size_t bytes)
{
	const size_t before = (uintptr_t)start % (size_t)sysconf(_SC_PAGESIZE);

	return mprotect((char *)start - before, before + bytes, PROT_READ | PROT_WRITE) == 0;
}

static int map_memory(int fd, uint64_t bytes)
{
	void *memory;

	if (ftruncate(fd, (off_t)bytes) < 0)
		return -errno;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	memory = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	if (!make_accessible(memory, CRIT_SHM_HEAD_BYTES)) {
		(void)munmap(memory, bytes); /* it was mapped */
		return -ENOMEM;
	}
	(void)madvise(memory, bytes, MADV_DONTDUMP); /* else core files grow, no more */
	crit_process.head = memory;
	crit_process.shm_bytes = bytes;
	return 0;
}

int crit_memory_create(int *ret_fd)
{
	crit_autoclose int fd = -1;
	uint32_t buffers = count_buffers();
	uint32_t slots = CRIT_RING_SLOTS;
	const uint64_t allowed = allowed_bytes();
	int error;

	while (slots > RING_SLOTS_LEAST && bytes_for(buffers, slots) > allowed)
		slots /= 2;
	if (bytes_for(buffers, slots) > allowed)
		return -EFBIG;
	fd = memfd_create("crit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	error = map_memory(fd, bytes_for(buffers, slots));
	if (error < 0)
		return error;
	crit_process.lap_slots = slots / CRIT_RING_LAPS;
	*crit_process.head = (struct crit_shm_head){
		.magic = CRIT_SHM_MAGIC,
		.version = CRIT_SHM_VERSION,
		.head_bytes = CRIT_SHM_HEAD_BYTES,
		.buffer_count = buffers,
		.buffer_bytes = CRIT_THREAD_BUFFER_RING_OFFSET + slots * CRIT_SLOT_BYTES,
		.ring_slots = slots,
		.counter_count = CRIT_COUNTERS,
		.clock_offset_ns = crit_process.clock_offset_ns,
		.level = crit_process.env.level,
		.tau_ns = crit_process.env.level == CRIT_LEVEL_PROFILE ? CRIT_TAU_NS : 0,
	};
	*ret_fd = fd;
	fd = -1;
	return 0;
}

void crit_memory_unmap(void)
{
	if (crit_process.head)
		(void)munmap(crit_process.head, crit_process.shm_bytes); /* it was mapped */
	crit_process.head = NULL;
}

struct crit_thread_buffer_head *crit_memory_buffer(uint32_t number)
{
	char *first = (char *)crit_process.head + CRIT_SHM_HEAD_BYTES;

	return (struct crit_thread_buffer_head *)(void *)(first +
							  (size_t)number *
								  crit_process.head->buffer_bytes);
}

bool crit_memory_open_buffer(uint32_t number)
{
	return make_accessible(crit_memory_buffer(number), crit_process.head->buffer_bytes);
}
