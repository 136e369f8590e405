// SPDX-License-Identifier: BSD-3-Clause
// Checks and reads the memory a rank shares.
#include "collector/member/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NEEDED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020 /* the kernel adds it where vm.memfd_noexec is set */
#endif
#define HARMLESS_SEALS (F_SEAL_FUTURE_WRITE | F_SEAL_EXEC)
#define RING_SLOTS_LEAST 128u /* a page: no two thread buffers share one */
#define BUFFER_READ_BYTES 256u /* lines written at run time */

static int read_at(int fd, void *ret, size_t bytes, off_t offset)
{
	ssize_t done;

	do {
		done = pread(fd, ret, bytes, offset);
	} while (done < 0 && errno == EINTR);
	return done == (ssize_t)bytes ? 0 : -EIO;
}

static int write_at(int fd, const void *data, size_t bytes, off_t offset)
{
	ssize_t done;

	do {
		done = pwrite(fd, data, bytes, offset);
	} while (done < 0 && errno == EINTR);
	return done == (ssize_t)bytes ? 0 : -EIO;
}

static off_t buffer_offset(const struct crit_shm *shm, uint32_t buffer)
{
	return (off_t)CRIT_SHM_HEAD_BYTES + (off_t)buffer * shm->buffer_bytes;
}

static int check_file(int fd, struct stat *ret_st, struct crit_err *err)
{
	struct statfs fs;
	int seals = fcntl(fd, F_GET_SEALS);
	int flags = fcntl(fd, F_GETFL);

	/* only a memfd has seals: nothing else is asked anything */
	if (seals < 0 || fstat(fd, ret_st) || !S_ISREG(ret_st->st_mode))
		return crit_err_set(err, -EINVAL, "the shared memory is no memfd");
	if ((seals & NEEDED_SEALS) != NEEDED_SEALS || (seals & ~(NEEDED_SEALS | HARMLESS_SEALS)))
		return crit_err_set(err, -EINVAL, "the shared memory is not sealed as agreed");
	if (fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
		return crit_err_set(err, -EINVAL, "the shared memory has no ordinary pages");
	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || (flags & O_PATH))
		return crit_err_set(err, -EINVAL, "the shared memory cannot be written");
	return 0;
}

static int is_power_of_two(uint32_t number)
{
	return number && (number & (number - 1)) == 0;
}

int crit_shm_check(int fd, struct crit_shm *ret_shm, struct crit_err *err)
{
	struct crit_shm_head head;
	struct stat st;
	int rc = check_file(fd, &st, err);

	if (rc)
		return rc;
	if (read_at(fd, &head, sizeof(head), 0) || head.magic != CRIT_SHM_MAGIC ||
	    head.version != CRIT_SHM_VERSION || head.head_bytes != CRIT_SHM_HEAD_BYTES)
		return crit_err_set(err, -EINVAL, "the shared memory has a foreign head");
	if (head.buffer_count < CRIT_THREAD_BUFFERS_MIN ||
	    head.buffer_count > CRIT_THREAD_BUFFERS_MAX || !is_power_of_two(head.ring_slots) ||
	    head.ring_slots < RING_SLOTS_LEAST || head.ring_slots > CRIT_RING_SLOTS ||
	    head.counter_count > CRIT_COUNTERS ||
	    head.buffer_bytes !=
		    CRIT_THREAD_BUFFER_RING_OFFSET + head.ring_slots * CRIT_SLOT_BYTES ||
	    st.st_size != (off_t)CRIT_SHM_HEAD_BYTES + (off_t)head.buffer_count * head.buffer_bytes)
		return crit_err_set(err, -EINVAL, "the shared memory's size and head disagree");
	ret_shm->fd = fd;
	ret_shm->buffer_count = head.buffer_count;
	ret_shm->buffer_bytes = head.buffer_bytes;
	ret_shm->ring_slots = head.ring_slots;
	ret_shm->counter_count = head.counter_count;
	return 0;
}

int crit_shm_buffers_used(const struct crit_shm *shm, uint32_t *ret_used, uint64_t *ret_no_buffer)
{
	const off_t at = offsetof(struct crit_shm_head, buffers_used);
	struct {
		uint32_t buffers_used;
		uint32_t reserved;
		uint64_t no_buffer;
	} line;

	if (read_at(shm->fd, &line, sizeof(line), at))
		return -EIO;
	*ret_used = line.buffers_used < shm->buffer_count ? line.buffers_used : shm->buffer_count;
	*ret_no_buffer = line.no_buffer;
	return 0;
}

int crit_shm_read_buffer(const struct crit_shm *shm, uint32_t buffer,
			 struct crit_thread_buffer_head *ret_head)
{
	memset(ret_head, 0, sizeof(*ret_head));
	return read_at(shm->fd, ret_head, BUFFER_READ_BYTES, buffer_offset(shm, buffer));
}

int crit_shm_read_slots(const struct crit_shm *shm, uint32_t buffer, uint64_t position,
			uint32_t count, struct crit_slot *ret_slots)
{
	const off_t head = buffer_offset(shm, buffer);
	const uint32_t lap_slots = shm->ring_slots / CRIT_RING_LAPS;
	uint8_t lap_places[CRIT_RING_LAPS];

	/* by itself, behind the position: these laps have their places since before it */
	if (read_at(shm->fd, lap_places, sizeof(lap_places),
		    head + (off_t)offsetof(struct crit_thread_buffer_head, lap_places)))
		return -EIO;
	for (uint32_t done = 0, part; done < count; done += part) {
		const uint64_t lap = (position + done) / lap_slots;
		const uint32_t from = (uint32_t)((position + done) % lap_slots);
		const off_t slot = (off_t)crit_ring_place(lap_places, lap) * lap_slots + from;

		part = lap_slots - from < count - done ? lap_slots - from : count - done;
		if (read_at(shm->fd, ret_slots + done, (size_t)part * CRIT_SLOT_BYTES,
			    head + CRIT_THREAD_BUFFER_RING_OFFSET + slot * CRIT_SLOT_BYTES))
			return -EIO;
	}
	return 0;
}

int crit_shm_read_counters(const struct crit_shm *shm, uint32_t buffer,
			   struct crit_counter *ret_used)
{
	size_t bytes = (size_t)shm->counter_count * sizeof(struct crit_counter);
	int used = 0;

	if (bytes == 0)
		return 0;
	if (read_at(shm->fd, ret_used, bytes,
		    buffer_offset(shm, buffer) + CRIT_THREAD_BUFFER_HEAD_BYTES))
		return -EIO;
	for (uint32_t i = 0; i < shm->counter_count; i++) {
		if (ret_used[i].call)
			ret_used[used++] = ret_used[i];
	}
	return used;
}

int crit_shm_clear_counters(const struct crit_shm *shm, uint32_t buffer)
{
	/* pages that are written where there were none are charged to the writer; a hole is not */
	return fallocate(shm->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 buffer_offset(shm, buffer) + CRIT_THREAD_BUFFER_HEAD_BYTES,
			 (off_t)(CRIT_THREAD_BUFFER_RING_OFFSET - CRIT_THREAD_BUFFER_HEAD_BYTES))
		       ? -errno
		       : 0;
}

/*
 * A rank may take the page of a head away between our reading and writing it, and what we write is
 * then charged to us.  The owner of a thread buffer has set claim_ns: if that is gone, so was the
 * page.
 */
static int write_head(const struct crit_shm *shm, uint32_t buffer, const void *data, size_t bytes,
		      off_t offset)
{
	const off_t head = buffer_offset(shm, buffer);
	uint64_t claim_ns;

	if (write_at(shm->fd, data, bytes, head + offset) ||
	    read_at(shm->fd, &claim_ns, sizeof(claim_ns),
		    head + (off_t)offsetof(struct crit_thread_buffer_head, claim_ns)))
		return -EIO;
	return claim_ns ? 0 : -ENODATA;
}

int crit_shm_write_read_pos(const struct crit_shm *shm, uint32_t buffer, uint64_t position)
{
	return write_head(shm, buffer, &position, sizeof(position),
			  (off_t)offsetof(struct crit_thread_buffer_head, read_pos));
}

int crit_shm_write_free(const struct crit_shm *shm, uint32_t buffer)
{
	const uint32_t state = CRIT_THREAD_BUFFER_FREE;

	return write_head(shm, buffer, &state, sizeof(state),
			  (off_t)offsetof(struct crit_thread_buffer_head, state));
}

int crit_shm_write_level(const struct crit_shm *shm, uint32_t level, uint32_t tau_ns,
			 uint32_t is_stopped)
{
	const uint32_t line[3] = { level, tau_ns, is_stopped };

	return write_at(shm->fd, line, sizeof(line), (off_t)offsetof(struct crit_shm_head, level));
}
