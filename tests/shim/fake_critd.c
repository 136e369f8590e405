// SPDX-License-Identifier: BSD-3-Clause
// A thread that plays critd for the processes of one test.
#include "tests/shim/fake_critd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/cleanup.h"

#define CLIENTS_MAX 16
#define IDLE_MS 10

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static void answer(int fd, void *message, enum crit_message_kind kind, unsigned int size)
{
	struct crit_message_head *head = message;

	*head = (struct crit_message_head){ (__u16)kind, CRIT_SOCKET_VERSION, size };
	(void)send(fd, message, size, MSG_NOSIGNAL); /* a client may be gone */
}

static void take(struct fake_critd *fake, int fd, const char *bytes, int passed_fd)
{
	const struct crit_message_head *head = (const void *)bytes;
	struct crit_message_welcome welcome = { .status = fake->welcome_status,
						.kernel_status = -EPERM };
	struct crit_message_registered registered = { .level = CRIT_LEVEL_TRACE };
	struct crit_message_status written = { .status = 0 };

	if (head->kind == CRIT_M_REGISTER) {
		memcpy(&fake->registered, bytes, sizeof(fake->registered));
		atomic_store(&fake->memfd, passed_fd);
		(void)snprintf(registered.directory, sizeof(registered.directory), "%s",
			       fake->directory);
	}
	if (head->kind == CRIT_M_RANK)
		memcpy(&fake->rank, bytes, sizeof(fake->rank));
	if (head->kind == CRIT_M_CLOSE)
		memcpy(&fake->close, bytes, sizeof(fake->close));
	if (fake->message_count < FAKE_MESSAGES_MAX)
		fake->kinds[fake->message_count] = head->kind;
	atomic_fetch_add(&fake->message_count, 1);
	if (fake->is_mute)
		return;
	if (head->kind == CRIT_M_HELLO)
		answer(fd, &welcome, CRIT_M_WELCOME, sizeof(welcome));
	else if (head->kind == CRIT_M_REGISTER)
		answer(fd, &registered, CRIT_M_REGISTERED, sizeof(registered));
	else if (head->kind == CRIT_M_CLOSE)
		answer(fd, &written, CRIT_M_WRITTEN, sizeof(written));
}

/* False: the client is gone. */
static bool serve(struct fake_critd *fake, int fd)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char bytes[CRIT_MESSAGE_MAX] = "";
	struct iovec part = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control) };
	int passed_fd = -1;
	ssize_t length = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);

	if (length < (ssize_t)sizeof(struct crit_message_head))
		return false;
	if (header.msg_controllen > 0)
		memcpy(&passed_fd, CMSG_DATA(&control.align), sizeof(passed_fd));
	take(fake, fd, bytes, passed_fd);
	return true;
}

static void *run(void *argument)
{
	struct fake_critd *fake = argument;
	struct pollfd fds[CLIENTS_MAX + 1] = { { .fd = fake->listen_fd, .events = POLLIN } };
	nfds_t count = 1;

	while (!fake->is_over) {
		if (poll(fds, count, IDLE_MS) <= 0) {
			atomic_fetch_add(&fake->idle_count, 1);
			continue;
		}
		for (nfds_t i = count; i-- > 1;)
			if (fds[i].revents && !serve(fake, fds[i].fd)) {
				close(fds[i].fd);
				fds[i] = fds[--count];
			}
		if (fds[0].revents && count <= CLIENTS_MAX)
			fds[count++] = (struct pollfd){ .fd = accept(fake->listen_fd, NULL, NULL),
							.events = POLLIN };
	}
	for (nfds_t i = 1; i < count; i++)
		close(fds[i].fd);
	return NULL;
}

void fake_critd_start(struct fake_critd *fake)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(fake->directory, sizeof(fake->directory), "/tmp/crit-test-XXXXXX");
	must(mkdtemp(fake->directory) != NULL, "mkdtemp");
	(void)snprintf(fake->path, sizeof(fake->path), "%s/critd.sock", fake->directory);
	memcpy(address.sun_path, fake->path, sizeof(fake->path));
	fake->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	must(fake->listen_fd >= 0, "socket");
	must(bind(fake->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	must(listen(fake->listen_fd, CLIENTS_MAX) == 0, "listen");
	must(setenv("CRIT_SOCKET", fake->path, 1) == 0, "setenv");
	must(setenv("CRIT_RUN", "test", 1) == 0, "setenv");
	must(setenv("XDG_RUNTIME_DIR", fake->directory, 1) == 0, "setenv");
	atomic_init(&fake->memfd, -1);
	atomic_init(&fake->is_over, false);
	atomic_init(&fake->idle_count, 0);
	atomic_init(&fake->message_count, 0);
	must(pthread_create(&fake->thread, NULL, run, fake) == 0, "pthread_create");
}

void fake_critd_stop(struct fake_critd *fake)
{
	char command[96];

	atomic_store(&fake->is_over, true);
	(void)pthread_join(fake->thread, NULL);
	close(fake->listen_fd);
	if (fake->memfd >= 0)
		close(fake->memfd);
	(void)snprintf(command, sizeof(command), "rm -r %s", fake->directory);
	must(system(command) == 0, command);
}

void fake_critd_catch_up(const struct fake_critd *fake)
{
	/* it may have found nothing, and not counted that yet, before the last message was sent */
	const unsigned int until = atomic_load(&fake->idle_count) + 2;

	while (atomic_load(&fake->idle_count) < until)
		(void)usleep(1000);
}

int fake_critd_count(const struct fake_critd *fake, enum crit_message_kind kind)
{
	int count = 0;

	for (int i = 0; i < fake->message_count && i < FAKE_MESSAGES_MAX; i++)
		count += fake->kinds[i] == (int)kind;
	return count;
}

struct crit_shm_head *fake_critd_map(const struct fake_critd *fake)
{
	struct stat status;
	void *memory;

	if (fake->memfd < 0 || fstat(fake->memfd, &status) < 0)
		return NULL;
	memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_NORESERVE, fake->memfd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

struct crit_thread_buffer_head *fake_critd_buffer(struct crit_shm_head *head, unsigned int number)
{
	return (void *)((char *)head + CRIT_SHM_HEAD_BYTES + (size_t)number * head->buffer_bytes);
}

struct crit_slot *fake_critd_slot(struct crit_shm_head *head, unsigned int buffer,
				  unsigned long long position)
{
	const struct crit_thread_buffer_head *owner = fake_critd_buffer(head, buffer);
	const unsigned int lap_slots = head->ring_slots / CRIT_RING_LAPS;
	const size_t place = crit_ring_place(owner->lap_places, position / lap_slots);
	char *ring = (char *)fake_critd_buffer(head, buffer) + CRIT_THREAD_BUFFER_RING_OFFSET;

	return (void *)(ring + (place * lap_slots + position % lap_slots) * CRIT_SLOT_BYTES);
}

unsigned long long fake_critd_counter(struct crit_shm_head *head, unsigned int buffer,
				      unsigned int call, size_t field)
{
	char *table = (char *)fake_critd_buffer(head, buffer) + CRIT_THREAD_BUFFER_HEAD_BYTES;
	unsigned long long sum = 0;

	for (unsigned int i = 0; i < CRIT_COUNTERS; i++) {
		const struct crit_counter *counter =
			(const void *)(table + i * sizeof(struct crit_counter));

		if (counter->call == call)
			sum += *(const __u64 *)(const void *)((const char *)counter + field);
	}
	return sum;
}
