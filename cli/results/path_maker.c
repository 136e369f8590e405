// SPDX-License-Identifier: BSD-3-Clause
// The process holds copies of stacks, which are the user's data: it leaves no core file.
#include "cli/results/path_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/unwind/stack_reader.h"
#include "cli/results/brief_priority.h"
#include "core/abi/abi_comm.h"
#include "core/abi/abi_socket.h"
#include "core/abi/abi_stacks.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/close_from.h"
#include "core/base/setting.h"

#define MS 1000000ull
#define NICE 19
#define UNBROKEN_US 20000 /* of CPU time before it is as nice as that */
#define LOOK_MS 100
#define BUSY_LOOK_MS 10 /* where the ring fills quickly */
#define PART 8 /* of the ring that may fill between two looks */
#define FLUSH_MS 1000
#define END_MS 400 /* critd waits for 500 */
#define SOCKET_FD 3 /* in the process */
#define RING_FD 4
#define FILE_S 5 /* for one question about a program or library */

struct path_maker {
	int socket_fd;
	const struct crit_stacks_head *head; /* the ring */
	size_t memory_bytes;
	struct crit_stack_reader *reader;
	uint64_t maps_count, written, looked_ns; /* at the last look */
	uint64_t end_ns; /* nobody waits beyond it; 0: more stacks may come */
};

/* From when critd says so, the end is near. */
static bool is_over(struct path_maker *maker)
{
	if (!maker->end_ns && __atomic_load_n(&maker->head->is_over, __ATOMIC_ACQUIRE))
		maker->end_ns = crit_clock_ns(CLOCK_MONOTONIC) + END_MS * MS;
	return maker->end_ns != 0;
}

static bool has_hung_up(const struct path_maker *maker)
{
	struct pollfd peer = { .fd = maker->socket_fd, .events = POLLRDHUP };

	return poll(&peer, 1, 0) != 0;
}

/* Waits until critd takes messages. */
static int wait_room(struct path_maker *maker)
{
	struct pollfd peer = { .fd = maker->socket_fd, .events = POLLOUT | POLLRDHUP };

	while (poll(&peer, 1, BUSY_LOOK_MS) == 0)
		if (is_over(maker) && crit_clock_ns(CLOCK_MONOTONIC) > maker->end_ns)
			return -ETIMEDOUT;
	return peer.revents == POLLOUT ? 0 : -EPIPE;
}

static int send_message(struct path_maker *maker, struct iovec *parts, size_t part_count)
{
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = part_count };
	int rc = 0;

	while (!rc && sendmsg(maker->socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		rc = errno == EAGAIN || errno == EINTR ? wait_room(maker) : -errno;
	return rc;
}

static int put(enum crit_chunk_kind kind, const void *body, size_t byte_count, void *user)
{
	struct crit_message_paths message = {
		.head = { .kind = CRIT_M_PATHS,
			  .version = CRIT_SOCKET_VERSION,
			  .size = (uint32_t)(sizeof(message) + byte_count) },
		.chunk_kind = kind,
		.bytes = (uint32_t)byte_count,
	};
	struct iovec parts[] = { { &message, sizeof(message) }, { (void *)body, byte_count } };

	return send_message(user, parts, sizeof(parts) / sizeof(parts[0]));
}

/*
 * How long to wait for the next look: as long as the ring takes to fill in part, at the rate of the
 * time since the last one.
 */
static uint64_t pause_ms(struct path_maker *maker)
{
	const uint64_t maps_count = crit_stack_reader_counts(maker->reader)->maps_count;
	const bool has_maps = maps_count != maker->maps_count;
	const uint64_t now_ns = crit_clock_ns(CLOCK_MONOTONIC);
	const uint64_t written = __atomic_load_n(&maker->head->written, __ATOMIC_RELAXED);
	const uint64_t bytes = written - maker->written + 1;
	const uint64_t passed_ms = (now_ns - maker->looked_ns) / MS + 1;
	const uint64_t ms = maker->head->ring_bytes / PART * passed_ms / bytes;

	maker->maps_count = maps_count; /* many ranks' maps may come, which come once */
	maker->written = written;
	maker->looked_ns = now_ns;
	if (has_maps || ms < BUSY_LOOK_MS)
		return BUSY_LOOK_MS;
	return ms < LOOK_MS ? ms : LOOK_MS;
}

/* Until the next look is due, or critd wakes those who wait at the end. */
static void pause_looking(struct path_maker *maker)
{
	const struct timespec pause = { .tv_nsec = (long)(pause_ms(maker) * MS) };

	/* the low half of the word, on x86-64 */
	(void)syscall(SYS_futex, &maker->head->is_over, FUTEX_WAIT, 0, &pause, NULL, 0);
}

/* Looks and puts until the end; -errno: nobody listens, or it cannot go on. */
static int make_paths(struct path_maker *maker)
{
	uint64_t flushed_ns = crit_clock_ns(CLOCK_MONOTONIC);
	int rc = 0;

	while (rc == 0 && !has_hung_up(maker)) {
		uint64_t now_ns;

		if (!is_over(maker))
			pause_looking(maker);
		(void)is_over(maker);
		rc = crit_stack_reader_look(maker->reader, maker->end_ns);
		now_ns = crit_clock_ns(CLOCK_MONOTONIC);
		if (rc == 0 && maker->end_ns && now_ns >= maker->end_ns)
			rc = 1;
		if (rc > 0 || now_ns - flushed_ns >= FLUSH_MS * MS) {
			const int put_rc = crit_stack_reader_flush(maker->reader);

			rc = put_rc ? put_rc : rc;
			flushed_ns = now_ns;
		}
	}
	return rc;
}

/* critd does without it, after a while. */
static void tell_end(int socket_fd)
{
	const struct crit_message_head message = { .kind = CRIT_M_PATHS_END,
						   .version = CRIT_SOCKET_VERSION,
						   .size = sizeof(message) };

	(void)send(socket_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* NULL: it is no ring, or could be cut while it is read. */
static const void *map_ring(size_t *ret_bytes)
{
	const int seals = fcntl(RING_FD, F_GET_SEALS);
	struct stat status;
	void *memory;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(RING_FD, &status) ||
	    status.st_size < (off_t)CRIT_STACKS_HEAD_BYTES)
		return NULL;
	memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, RING_FD, 0);
	*ret_bytes = (size_t)status.st_size;
	return memory == MAP_FAILED ? NULL : memory;
}

static void work(struct path_maker *maker)
{
	const struct crit_elf_reader_options elf_options = {
		.debug_directories = crit_setting_text(CRIT_SETTING_DEBUG_PATH, NULL),
		.wait_s = FILE_S,
	};
	struct crit_stack_reader_options options = {
		.memory = maker->head,
		.memory_bytes = maker->memory_bytes,
		.put = put,
		.user = maker,
	};

	(void)crit_elf_reader_create(&elf_options, &options.elf_reader); /* else all are cut */
	if (crit_stack_reader_create(&options, &maker->reader) == 0)
		(void)make_paths(maker);
}

/* Leaves everything else to the caller, whose lock and pipes end with the caller. */
static int keep_only(int socket_fd, int ring_fd)
{
	const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	socket_fd = fcntl(socket_fd, F_DUPFD_CLOEXEC, RING_FD + 1);
	ring_fd = fcntl(ring_fd, F_DUPFD_CLOEXEC, RING_FD + 1);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		(void)dup2(null_fd, fd);
	if (dup3(socket_fd, SOCKET_FD, O_CLOEXEC) < 0 || dup3(ring_fd, RING_FD, O_CLOEXEC) < 0)
		return -errno;
	crit_close_from(RING_FD + 1);
	return 0;
}

static void live(int socket_fd, int ring_fd, pid_t parent_pid)
{
	const struct rlimit none = { 0 };
	struct path_maker maker = { .socket_fd = SOCKET_FD };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_NAME, CRIT_PATHS_COMM, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (getppid() != parent_pid || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    keep_only(socket_fd, ring_fd))
		return;
	/* its ring, too, comes round while it waits for a CPU; so are the readers that it makes */
	crit_brief_priority_take(NICE, UNBROKEN_US);
	maker.head = map_ring(&maker.memory_bytes);
	if (maker.head)
		work(&maker);
	tell_end(SOCKET_FD);
}

/* The message with the ring's descriptor, or -1, off the socket. */
static int take_ring(int socket_fd)
{
	struct crit_message_head head;
	struct iovec part = { &head, sizeof(head) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	const struct cmsghdr *first;
	int fd;

	if (recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0) {
		(void)recv(socket_fd, &head, sizeof(head), MSG_DONTWAIT); /* or it comes for ever */
		return -1;
	}
	first = CMSG_FIRSTHDR(&message);
	if (!first || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_RIGHTS ||
	    first->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(first), sizeof(fd));
	return fd;
}

void crit_path_maker_start(int socket_fd)
{
	crit_autoclose int ring_fd = take_ring(socket_fd);
	const pid_t parent_pid = getpid();
	const pid_t pid = ring_fd >= 0 ? fork() : -1;

	if (pid == 0) {
		live(socket_fd, ring_fd, parent_pid);
		_exit(0);
	}
	if (pid < 0)
		tell_end(socket_fd);
}
