// SPDX-License-Identifier: BSD-3-Clause
// Stacks come with samples, to the finisher and nowhere else; what it answers is recorded.
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_stacks.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define USER 65533
#define USER_TEXT "65533"
#define MAP_BYTES (CRIT_STACKS_HEAD_BYTES + CRIT_STACKS_RING_BYTES)
#define WAIT_MS 5000
#define CODE_BYTES 1024 /* more than any function here has */

struct scenario {
	const char *name;
	const char *variant; /* of critd */
	__u32 budget;
	__u32 hz;
	bool is_child; /* the program forks, and its child is looked at */
	bool is_thread; /* a thread of it works */
	bool is_user; /* all but critd is an ordinary user's, who at last closes his memory */
	bool is_silent; /* the finisher never says that it is done */
};

/* What the program tells of itself. */
struct told {
	void *caller; /* of spin, where it goes on */
	__u64 thread_pointer; /* of the thread that works, behind all of its stack */
	__u32 tid;
};

static struct told *told;

static void sleep_ms(long ms)
{
	const struct timespec pause = { 0, ms * 1000000 };

	(void)nanosleep(&pause, NULL);
}

static long cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static __attribute__((noinline)) void spin(long until_ms)
{
	told->caller = __builtin_return_address(0);
	while (cpu_ms() < until_ms) {
		for (volatile int i = 0; i < 2000000; i++)
			;
	}
}

/* The text is nowhere but on the stack. */
static __attribute__((noinline)) void mark(char letter, long until_ms)
{
	char text[32];

	for (int i = 0; i < (int)sizeof(text); i++)
		text[i] = (char)(letter + i % 7);
	__asm__ volatile("" : : "r"(text) : "memory");
	spin(until_ms);
	__asm__ volatile("" : : "r"(text) : "memory");
}

static const void *find_mark(const void *bytes, size_t count, char letter)
{
	char text[32];

	for (int i = 0; i < (int)sizeof(text); i++)
		text[i] = (char)(letter + i % 7);
	return memmem(bytes, count, text, sizeof(text));
}

static void *work(void *until_ms)
{
	told->thread_pointer = (__u64)__builtin_thread_pointer();
	told->tid = (__u32)gettid();
	mark('a', *(const long *)until_ms);
	return NULL;
}

static void work_in_thread(long until_ms)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, &until_ms) || pthread_join(thread, NULL))
		_exit(1);
}

static void program_main(int go_fd, const struct scenario *scenario)
{
	char byte;

	if (read(go_fd, &byte, 1) != 1)
		_exit(1);
	if (scenario->is_child && fork())
		_exit(wait(NULL) < 0 ? 1 : 0);
	if (scenario->budget == 1) /* or others' time would be its credit */
		(void)setpriority(PRIO_PROCESS, 0, -20);
	if (scenario->is_thread)
		work_in_thread(600);
	else
		mark('a', scenario->budget == 1 ? 1000 : 600);
	if (scenario->is_user) {
		(void)prctl(PR_SET_DUMPABLE, 0);
		mark('q', 1200);
	}
	_exit(0);
}

/* The ring that critd sends, or NULL when it sends none. */
static const struct crit_stacks_head *receive_ring(int finisher_fd)
{
	struct crit_message_head head = { 0 };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { &head, sizeof(head) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	void *ring;
	int fd;

	if (recvmsg(finisher_fd, &message, MSG_DONTWAIT) != sizeof(head))
		return NULL;
	CHECK_UINT_EQ(head.kind, CRIT_M_STACKS);
	CHECK_UINT_EQ(head.size, sizeof(head));
	if (!CHECK(CMSG_FIRSTHDR(&message) != NULL))
		return NULL;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	ring = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ring == MAP_FAILED);
	ring = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (!CHECK(ring != MAP_FAILED))
		return NULL;
	return ring;
}

static void send_paths(int fd, __u32 kind, __u32 body_bytes)
{
	struct {
		struct crit_message_paths head;
		struct crit_rec_path body[2];
	} message = { .head = { .head = { CRIT_M_PATHS, CRIT_SOCKET_VERSION,
					  (__u32)sizeof(message.head) + body_bytes },
				.chunk_kind = kind,
				.bytes = body_bytes } };

	message.body[0].path = CRIT_PATH_FIRST;
	CHECK_INT_EQ(crit_harness_send(fd, &message, message.head.head.size, NULL, 0), 0);
}

static void say_done(int fd)
{
	const struct crit_message_head head = { CRIT_M_PATHS_END, CRIT_SOCKET_VERSION,
						sizeof(head) };

	CHECK_INT_EQ(crit_harness_send(fd, &head, sizeof(head), NULL, 0), 0);
}

/* Waits until the recording is complete. */
static void wait_end(int finisher_fd)
{
	char bytes[256];
	long got;

	while ((got = crit_harness_receive(finisher_fd, bytes, sizeof(bytes))) > 0)
		;
	CHECK_INT_EQ(got, 0);
}

/* The stack that was taken with a sample, and the bytes behind it; NULL: none. */
static const struct crit_stacks_copy *find_copy(const struct crit_stacks_head *ring, __u32 request)
{
	const char *data = (const char *)ring + CRIT_STACKS_HEAD_BYTES;

	for (__u64 at = 0; at < ring->written;) {
		const struct crit_stacks_entry *entry = (const void *)(data + at);

		if (entry->kind == CRIT_STACKS_COPY &&
		    ((const struct crit_stacks_copy *)entry)->request == request)
			return (const void *)entry;
		at += entry->bytes;
	}
	return NULL;
}

static bool has_word(const struct crit_stacks_copy *copy, const void *word)
{
	const char *bytes = (const char *)(copy + 1);

	for (__u32 at = 0; at + sizeof(word) <= copy->stack_bytes; at += sizeof(word)) {
		if (memcmp(bytes + at, &word, sizeof(word)) == 0)
			return true;
	}
	return false;
}

static void check_maps(const struct crit_stacks_head *ring, __u32 pid)
{
	const char *data = (const char *)ring + CRIT_STACKS_HEAD_BYTES;
	int count = 0;

	for (__u64 at = 0; at < ring->written;) {
		const struct crit_stacks_entry *entry = (const void *)(data + at);
		const struct crit_rec_maps *maps = (const void *)(entry + 1);

		if (entry->kind == CRIT_STACKS_MAPS && maps->pid == pid)
			count += memmem(maps + 1, entry->bytes - sizeof(*entry) - sizeof(*maps),
					"test-stacks", 11) != NULL;
		at += entry->bytes;
	}
	CHECK_INT_GE(count, 1);
}

struct counted {
	int samples, with_stack, in_spin, with_caller, with_mark;
};

static void count_sample(const struct crit_kernel_sample *sample,
			 const struct crit_stacks_head *ring, struct counted *ret_counted)
{
	const struct crit_stacks_copy *copy;

	ret_counted->samples++;
	if (!sample->request)
		return;
	ret_counted->with_stack++;
	if (ring && ring->written > ring->ring_bytes)
		return;
	copy = ring ? find_copy(ring, sample->request) : NULL;
	if (!CHECK(copy != NULL))
		return;
	CHECK_UINT_EQ(copy->tid, sample->tid);
	if (sample->tid == told->tid)
		CHECK(copy->sp + copy->stack_bytes <= told->thread_pointer);
	else
		CHECK_UINT_EQ(copy->pid, sample->tid);
	CHECK_UINT_EQ(copy->ip, sample->ip);
	CHECK(copy->stack_bytes <= CRIT_STACK_BYTES_MAX);
	CHECK(!find_mark(copy + 1, copy->stack_bytes, 'q'));
	if (copy->ip - (__u64)spin >= CODE_BYTES)
		return;
	ret_counted->in_spin++;
	ret_counted->with_caller += has_word(copy, told->caller);
	ret_counted->with_mark += find_mark(copy + 1, copy->stack_bytes, 'a') != NULL;
}

static __s32 note_of(const struct crit_harness_recording *recording, __u32 code)
{
	const struct crit_chunk_head *head = NULL;

	while ((head = crit_harness_next(recording, head))) {
		const struct crit_rec_note *note = (const void *)(head + 1);

		if (head->kind == CRIT_C_NOTE && note->code == code)
			return note->value;
	}
	return 0;
}

static void check_recording(const char *file, const struct scenario *scenario,
			    const struct crit_stacks_head *ring)
{
	struct crit_harness_recording recording;
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	struct counted counted = { 0 };
	int refused;

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	CHECK(recording.is_whole);
	CHECK(crit_harness_find(&recording, CRIT_C_FOOT) != NULL);
	while ((record = crit_harness_next_kernel(&recording, &chunk, record))) {
		CHECK(record->kind != CRIT_K_STACK);
		if (record->kind == CRIT_K_SAMPLE)
			count_sample((const void *)record, ring, &counted);
	}
	CHECK_INT_GE(counted.samples, 50);
	CHECK(!ring || scenario->budget == 1 || ring->written <= ring->ring_bytes);
	CHECK(!find_mark(recording.data, recording.bytes, 'a'));
	refused = note_of(&recording, CRIT_NOTE_STACKS);
	if (scenario->budget == 1)
		CHECK_INT_GE(refused, 100);
	if (!scenario->is_user)
		CHECK_INT_EQ(counted.samples - counted.with_stack,
			     ring ? refused : counted.samples);
	if (scenario->budget > 1) {
		CHECK_INT_GE(counted.in_spin, 30);
		CHECK_INT_GE(counted.with_caller, counted.in_spin * 95 / 100);
		CHECK_INT_GE(counted.with_mark, counted.in_spin * 95 / 100);
	}
	CHECK_INT_EQ(crit_harness_find(&recording, CRIT_C_PATHS) != NULL, ring != NULL);
	CHECK_INT_EQ(crit_harness_find(&recording, CRIT_C_SAMPLES) != NULL,
		     ring && !scenario->is_silent);
	CHECK_INT_EQ(note_of(&recording, CRIT_NOTE_PATHS),
		     ring ? 25 + (int)sizeof(struct crit_message_paths) : 0);
	crit_harness_free(&recording);
}

/* The program has ended: now the run does. */
static void end_run(const struct scenario *scenario, struct crit_harness_client *client,
		    const struct crit_stacks_head *ring)
{
	send_paths(client->finisher_fd, CRIT_C_PATHS, 48);
	send_paths(client->finisher_fd, CRIT_C_PATHS, 25); /* no whole number of them */
	close(client->fd);
	for (int i = 0; ring && !__atomic_load_n(&ring->is_over, __ATOMIC_ACQUIRE); i++) {
		if (!CHECK(i < WAIT_MS))
			break;
		sleep_ms(1);
	}
	if (!scenario->is_silent) { /* the foot waits for these */
		send_paths(client->finisher_fd, CRIT_C_SAMPLES, 8);
		say_done(client->finisher_fd);
	}
	wait_end(client->finisher_fd);
}

static void run(const struct crit_harness *harness, const struct scenario *scenario)
{
	const struct crit_stacks_head *ring;
	struct crit_harness_client client;
	int go[2];
	pid_t program;

	if (pipe(go))
		_exit(1);
	program = fork();
	if (program == 0) {
		close(go[1]);
		program_main(go[0], scenario);
	}
	CHECK_INT_EQ(crit_harness_join(harness, "stacks", CRIT_ROLE_RUNNER, 0, &client), 0);
	CHECK_INT_EQ(crit_harness_attach(&client, program), 0);
	ring = receive_ring(client.finisher_fd);
	CHECK_INT_EQ(ring != NULL, scenario->budget > 0);
	if (ring) {
		CHECK_UINT_EQ(ring->magic, CRIT_STACKS_MAGIC);
		CHECK_UINT_EQ(ring->ring_bytes, CRIT_STACKS_RING_BYTES);
	}
	(void)!write(go[1], "g", 1);
	(void)waitpid(program, NULL, 0);
	end_run(scenario, &client, ring);
	if (scenario->budget > 1 && !scenario->is_user && !scenario->is_child)
		check_maps(ring, (__u32)program);
	check_recording(client.file, scenario, ring);
}

/* In a process of its own, which may become somebody else. */
static void run_scenario(const struct scenario *scenario)
{
	const char *const arguments[] = { "--idle-exit", "1",
					  scenario->is_user ? "--uid" : "--service",
					  scenario->is_user ? USER_TEXT : scenario->variant, NULL };
	struct crit_harness harness;
	int status = -1;
	pid_t child;

	CHECK_CASE("%s", scenario->name);
	crit_harness_start(&harness, arguments);
	harness.sample_hz = scenario->hz;
	harness.sample_budget = scenario->budget;
	child = fork();
	if (child == 0) {
		if (scenario->is_user && (setgroups(0, NULL) || setresgid(USER, USER, USER) ||
					  setresuid(USER, USER, USER)))
			_exit(9);
		(void)prctl(PR_SET_DUMPABLE, 1);
		run(&harness, scenario);
		_exit(check_done());
	}
	(void)waitpid(child, &status, 0);
	CHECK_INT_EQ(status, 0);
	(void)crit_harness_stop(&harness, true);
	crit_harness_clean(&harness);
}

int main(void)
{
	static const struct scenario scenarios[] = {
		{ .name = "defaults", .budget = 10, .hz = 199 },
		{ .name = "no task storage",
		  .variant = "--no-task-storage",
		  .budget = 10,
		  .hz = 199 },
		{ .name = "a child", .budget = 10, .hz = 199, .is_child = true },
		{ .name = "a thread", .budget = 10, .hz = 199, .is_thread = true },
		{ .name = "no answer", .budget = 10, .hz = 199, .is_silent = true },
		{ .name = "a user who closes his memory",
		  .budget = 10,
		  .hz = 199,
		  .is_user = true },
		{ .name = "not wanted", .hz = 199 },
		{ .name = "small budget", .budget = 1, .hz = 9999 },
	};

	if (geteuid() != 0) {
		puts("skip: needs root");
		return CHECK_SKIP_EXIT;
	}
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(told != MAP_FAILED))
		return check_done();
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		run_scenario(&scenarios[i]);
	return check_done();
}
