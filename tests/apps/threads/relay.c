// SPDX-License-Identifier: BSD-3-Clause
// A slow wire: carries Ethernet frames between a tap device here and one in another network
// namespace, each way with a delay of its own.  Ends when it is killed, and the devices with it.
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define FRAME_BYTES 2048
#define FRAMES 4096 /* under way at a time, more are lost, as on a wire */

struct frame {
	int64_t due_ns;
	size_t length;
	char bytes[FRAME_BYTES];
};

struct way {
	int from;
	int to;
	int64_t delay_ns;
	unsigned int first, count; /* of frames, a ring */
	struct frame *frames;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_tap(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request)) {
		fprintf(stderr, "relay: cannot make %s: %s\n", name, strerror(errno));
		exit(1);
	}
	return fd;
}

static void enter_network_of(const char *pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		fprintf(stderr, "relay: cannot enter %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
}

static void take(struct way *way)
{
	while (way->count < FRAMES) {
		struct frame *frame = &way->frames[(way->first + way->count) % FRAMES];
		ssize_t length = read(way->from, frame->bytes, sizeof(frame->bytes));

		if (length <= 0)
			return;
		frame->length = (size_t)length;
		frame->due_ns = now_ns() + way->delay_ns;
		way->count++;
	}
}

/* Sends what is due; the time the next one will be, or never. */
static int64_t give(struct way *way)
{
	while (way->count) {
		struct frame *frame = &way->frames[way->first];

		if (frame->due_ns > now_ns())
			return frame->due_ns;
		(void)!write(way->to, frame->bytes, frame->length); /* a device that is down */
		way->first = (way->first + 1) % FRAMES;
		way->count--;
	}
	return INT64_MAX;
}

int main(int argc, char **argv)
{
	struct way ways[2] = { { .first = 0 }, { .first = 0 } };
	int here, there;

	if (argc != 6) {
		fprintf(stderr, "usage: %s TAP PID TAP-THERE US-FROM-THERE US-TO-THERE\n", argv[0]);
		return 2;
	}
	here = open_tap(argv[1]);
	enter_network_of(argv[2]);
	there = open_tap(argv[3]);
	for (int i = 0; i < 2; i++) {
		ways[i].from = i ? here : there;
		ways[i].to = i ? there : here;
		ways[i].delay_ns = strtoll(argv[4 + i], NULL, 10) * 1000;
		ways[i].frames = malloc(FRAMES * sizeof(*ways[i].frames));
		if (!ways[i].frames)
			return 1;
	}
	for (;;) {
		struct pollfd fds[2] = { { .fd = here, .events = POLLIN },
					 { .fd = there, .events = POLLIN } };
		int64_t next_ns = give(&ways[0]), other_ns = give(&ways[1]), left_ns;
		struct timespec left;

		if (other_ns < next_ns)
			next_ns = other_ns;
		left_ns = next_ns - now_ns();
		if (left_ns < 0)
			left_ns = 0;
		left = (struct timespec){ .tv_sec = left_ns / 1000000000,
					  .tv_nsec = left_ns % 1000000000 };
		(void)ppoll(fds, 2, next_ns == INT64_MAX ? NULL : &left, NULL);
		take(&ways[0]);
		take(&ways[1]);
	}
}
