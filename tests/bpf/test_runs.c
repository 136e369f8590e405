// SPDX-License-Identifier: BSD-3-Clause
// Runs side by side, a ring that is too small, a cap that is reached, and an end by signal.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_member.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define SWITCHES 4000

static void sleep_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* Two processes hand a byte to each other. */
static void ping_pong(int count)
{
	int there[2], back[2];
	char byte = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		_exit(3);
	child = fork();
	if (child == 0) /* else it waits for ever for a parent that was killed */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < count; i++) {
		if (child == 0) {
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(4);
		} else if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) {
			_exit(4);
		}
	}
	if (child == 0)
		_exit(0);
	(void)waitpid(child, NULL, 0);
}

/* A member process of its own; returns its number. */
static pid_t start_member(const struct crit_harness *harness, const char *key, __u64 max_bytes,
			  int count)
{
	pid_t member = fork();

	if (member == 0) {
		struct crit_harness_client client;

		if (crit_harness_join(harness, key, CRIT_ROLE_ROOT, max_bytes, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, -1))
			_exit(1);
		ping_pong(count);
		_exit(0);
	}
	return member;
}

static int wait_member(pid_t member)
{
	int status = -1;

	(void)waitpid(member, &status, 0);
	return status;
}

static bool read_key(const struct crit_harness *harness, const char *key,
		     struct crit_harness_recording *ret_recording)
{
	char file[192];

	(void)snprintf(file, sizeof(file), "%s/%s.crit", harness->directory, key);
	return CHECK(crit_harness_read(file, ret_recording)) && CHECK(ret_recording->is_whole);
}

static const struct crit_rec_foot *foot_of(const struct crit_harness_recording *recording)
{
	const struct crit_chunk_head *head = crit_harness_find(recording, CRIT_C_FOOT);

	return CHECK(head) ? (const void *)(head + 1) : NULL;
}

static __u64 lost_in_chunks(const struct crit_harness_recording *recording)
{
	const struct crit_chunk_head *head = NULL;
	__u64 lost = 0;

	while ((head = crit_harness_next(recording, head)))
		lost += head->kind == CRIT_C_KERNEL ? head->lost : 0;
	return lost;
}

/* Each run holds its own members' switches and none of the other's. */
static void check_own(const struct crit_harness *harness, const char *key, pid_t own, pid_t other)
{
	struct crit_harness_recording recording;

	CHECK_CASE("run %s of two", key);
	if (!read_key(harness, key, &recording))
		return;
	CHECK_INT_GE(crit_harness_count_kernel(&recording, CRIT_K_SWITCH, (__u32)own),
		     SWITCHES / 2);
	CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_SWITCH, (__u32)other), 0);
	CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_FORK, 0), 1);
	CHECK_UINT_EQ(lost_in_chunks(&recording), 0);
	crit_harness_free(&recording);
}

static void run_two(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness harness;
	pid_t one, two;

	crit_harness_start(&harness, arguments);
	one = start_member(&harness, "one", 0, SWITCHES);
	two = start_member(&harness, "two", 0, SWITCHES);
	CHECK_INT_EQ(wait_member(one), 0);
	CHECK_INT_EQ(wait_member(two), 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	check_own(&harness, "one", one, two);
	check_own(&harness, "two", two, one);
	crit_harness_clean(&harness);
}

/* While critd is stopped, a ring of a page overflows: all that is missing is counted. */
static void run_tiny_ring(void)
{
	const char *const arguments[] = { "--idle-exit", "1", "--ring-bytes", "4096", NULL };
	struct crit_harness_recording recording;
	const struct crit_rec_foot *foot;
	struct crit_harness harness;
	pid_t member;

	CHECK_CASE("tiny ring");
	crit_harness_start(&harness, arguments);
	member = start_member(&harness, "tiny", 0, 20 * SWITCHES);
	sleep_ms(100); /* else it is woken before the ring is full */
	(void)kill(harness.critd, SIGSTOP);
	sleep_ms(200);
	(void)kill(harness.critd, SIGCONT);
	CHECK_INT_EQ(wait_member(member), 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	if (!read_key(&harness, "tiny", &recording))
		return;
	foot = foot_of(&recording);
	if (foot) {
		CHECK_INT_GT(foot->kernel_lost, 0);
		CHECK_UINT_EQ(foot->kernel_lost, lost_in_chunks(&recording));
		/* every switch and wakeup is either there or counted */
		CHECK_INT_GT(foot->kernel_lost + foot->kernel_records, 40 * SWITCHES);
	}
	crit_harness_free(&recording);
	crit_harness_clean(&harness);
}

static int count_notes(const struct crit_harness_recording *recording, __u32 code)
{
	const struct crit_chunk_head *head = NULL;
	int count = 0;

	while ((head = crit_harness_next(recording, head))) {
		const struct crit_rec_note *note = (const void *)(head + 1);

		count += head->kind == CRIT_C_NOTE && note->code == code;
	}
	return count;
}

/* Bytes of the recording before its first note of this code. */
static size_t bytes_before_note(const struct crit_harness_recording *recording, __u32 code)
{
	const struct crit_chunk_head *head = NULL;

	while ((head = crit_harness_next(recording, head))) {
		const struct crit_rec_note *note = (const void *)(head + 1);

		if (head->kind == CRIT_C_NOTE && note->code == code)
			break;
	}
	return head ? (size_t)((const char *)head - recording->data) : 0;
}

/* Near the cap comes level profile, at the cap the end of recording, not of the run. */
static void run_cap(__u64 max_bytes, int switches, size_t near_bytes)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness_recording recording;
	struct crit_harness harness;
	pid_t member;

	CHECK_CASE("cap of %llu bytes", (unsigned long long)max_bytes);
	crit_harness_start(&harness, arguments);
	member = start_member(&harness, "cap", max_bytes, switches);
	CHECK_INT_EQ(wait_member(member), 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	if (!read_key(&harness, "cap", &recording))
		return;
	CHECK_INT_EQ(count_notes(&recording, CRIT_NOTE_LEVEL), 1);
	CHECK_INT_EQ(count_notes(&recording, CRIT_NOTE_CAP), 1);
	CHECK_INT_GE(bytes_before_note(&recording, CRIT_NOTE_LEVEL), near_bytes);
	CHECK_INT_LE(recording.bytes, max_bytes);
	CHECK(foot_of(&recording));
	crit_harness_free(&recording);
	crit_harness_clean(&harness);
}

/* SIGTERM while a member lives: the recording is complete all the same. */
static void run_signal(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness_recording recording;
	struct crit_harness harness;
	pid_t member;

	CHECK_CASE("signal");
	crit_harness_start(&harness, arguments);
	member = start_member(&harness, "signal", 0, 1 << 30);
	sleep_ms(800);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	(void)kill(member, SIGKILL);
	(void)wait_member(member);
	if (!read_key(&harness, "signal", &recording))
		return;
	CHECK(foot_of(&recording));
	CHECK_INT_GT(crit_harness_count_kernel(&recording, CRIT_K_SWITCH, (__u32)member), 100);
	crit_harness_free(&recording);
	crit_harness_clean(&harness);
}

/* Takes a run's slot and gives it back. */
static void take_slot(const struct crit_harness *harness, int number)
{
	struct crit_message_welcome welcome;
	char key[32];
	int fd;

	(void)snprintf(key, sizeof(key), "slot-%d", number);
	fd = crit_harness_hello(harness, key, CRIT_ROLE_ROOT);
	CHECK_INT_EQ(crit_harness_receive(fd, &welcome, sizeof(welcome)), (long)sizeof(welcome));
	close(fd);
}

/* What outlives its run is no member any more, not even of the run that has its slot next. */
static void run_left_over(const char *variant)
{
	const char *const arguments[] = { "--service", variant, NULL };
	struct crit_harness_recording recording;
	struct crit_harness_client old, next;
	struct crit_harness harness;
	pid_t member = fork();

	CHECK_CASE("left over, %s", variant ? variant : "defaults");
	if (member == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		ping_pong(1 << 30);
		_exit(0);
	}
	crit_harness_start(&harness, arguments);
	CHECK_INT_EQ(crit_harness_join(&harness, "old", CRIT_ROLE_RUNNER, 0, &old), 0);
	CHECK_INT_EQ(crit_harness_attach(&old, member), 0);
	sleep_ms(100);
	close(old.fd);
	close(old.finisher_fd);
	for (__u32 i = 1; i < CRIT_RUN_SLOTS; i++)
		take_slot(&harness, (int)i);
	CHECK_INT_EQ(crit_harness_join(&harness, "next", CRIT_ROLE_ROOT, 0, &next), 0);
	sleep_ms(100);
	close(next.fd);
	close(next.finisher_fd);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	(void)kill(member, SIGKILL);
	(void)wait_member(member);
	if (read_key(&harness, "old", &recording))
		CHECK_INT_GT(crit_harness_count_kernel(&recording, CRIT_K_SWITCH, (__u32)member),
			     50);
	crit_harness_free(&recording);
	if (read_key(&harness, "next", &recording))
		CHECK_UINT_EQ(crit_harness_count_kernel(&recording, CRIT_K_SWITCH, 0), 0);
	crit_harness_free(&recording);
	crit_harness_clean(&harness);
}

static int hello_again(int fd)
{
	const struct crit_message_hello message = {
		.head = { CRIT_M_HELLO, CRIT_SOCKET_VERSION, sizeof(message) },
		.role = CRIT_ROLE_SHIM,
		.flavour = CRIT_FLAVOUR_OPENMPI,
	};

	return crit_harness_send(fd, &message, sizeof(message), NULL, 0);
}

/*
 * A process in MPI_Init is not asked for output, and registers when there is some; after that it
 * is asked like others.
 */
static void run_in_init(void)
{
	const struct crit_message_register enter = {
		.head = { CRIT_M_REGISTER, CRIT_SOCKET_VERSION, sizeof(enter) },
		.tls_offset = CRIT_TLS_NONE,
		.ns_pid = (__u32)getpid(),
	};
	struct crit_message_welcome welcome = { .is_first = 1 };
	struct crit_message_registered registered = { .status = -1 };
	struct crit_harness harness;
	struct crit_harness_client other;
	char byte;
	int fd;

	CHECK_CASE("in MPI_Init");
	crit_harness_start(&harness, NULL);
	fd = crit_harness_hello(&harness, "init", CRIT_ROLE_IN_INIT);
	CHECK_INT_GE(fd, 0);
	CHECK_INT_EQ(crit_harness_send(fd, &enter, sizeof(enter), NULL, 0), 0);
	sleep_ms(100);
	CHECK_INT_LT(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
	CHECK_INT_EQ(crit_harness_join(&harness, "init", CRIT_ROLE_SHIM, 0, &other), 0);
	CHECK(other.is_first);
	CHECK_INT_EQ(crit_harness_receive(fd, &welcome, sizeof(welcome)), (long)sizeof(welcome));
	CHECK_UINT_EQ(welcome.is_first, 0);
	CHECK_INT_EQ(crit_harness_receive(fd, &registered, sizeof(registered)),
		     (long)sizeof(registered));
	CHECK_INT_EQ(registered.status, 0);
	CHECK_INT_EQ(hello_again(fd), 0);
	sleep_ms(100);
	CHECK_INT_LT(recv(fd, &byte, 1, MSG_DONTWAIT), 0); /* no second answer, and no end */
	close(fd);
	close(other.fd);
	close(other.finisher_fd);

	CHECK_CASE("after MPI_Init, alone");
	fd = crit_harness_hello(&harness, "alone", CRIT_ROLE_IN_INIT);
	CHECK_INT_EQ(hello_again(fd), 0);
	CHECK_INT_EQ(crit_harness_receive(fd, &welcome, sizeof(welcome)), (long)sizeof(welcome));
	CHECK_UINT_EQ(welcome.is_first, 1);
	close(fd);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0); /* we are a member */
	crit_harness_clean(&harness);
}

static bool is_silent(int fd)
{
	char byte;

	sleep_ms(100);
	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0;
}

/*
 * While the process that started critd is there, nobody else is asked for output, also those that
 * are out of MPI_Init before its OUTPUT comes.
 */
static void run_starter(bool is_killed)
{
	const char *const key = is_killed ? "killed" : "starter";
	struct crit_message_welcome welcome = { .is_first = 2 };
	struct crit_harness_client starter = { .finisher_fd = -1 };
	struct crit_harness harness;
	int fd;

	CHECK_CASE(is_killed ? "starter gone before OUTPUT" : "OUTPUT of the starter");
	crit_harness_start(&harness, NULL);
	starter.fd = crit_harness_hello(&harness, key, CRIT_ROLE_STARTER);
	CHECK_INT_GE(starter.fd, 0);
	fd = crit_harness_hello(&harness, key, CRIT_ROLE_SHIM);
	CHECK_INT_GE(fd, 0);
	CHECK(is_silent(fd));
	if (is_killed)
		close(starter.fd);
	else
		CHECK_INT_EQ(crit_harness_output(&harness, key, 0, &starter), 0);
	CHECK_INT_EQ(crit_harness_receive(fd, &welcome, sizeof(welcome)), (long)sizeof(welcome));
	CHECK_INT_EQ(welcome.status, 0);
	CHECK_UINT_EQ(welcome.is_first, is_killed);
	if (!is_killed) {
		CHECK_INT_EQ(crit_harness_receive(starter.fd, &welcome, sizeof(welcome)),
			     (long)sizeof(welcome));
		CHECK_UINT_EQ(welcome.is_first, 1);
		close(starter.fd);
		close(starter.finisher_fd);
	}
	close(fd);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
}

int main(void)
{
	crit_harness_keep_busy();
	run_two();
	run_in_init();
	run_starter(false);
	run_starter(true);
	run_tiny_ring();
	run_cap(1 << 20, 10 * SWITCHES, 0); /* the least there is: four batches */
	run_cap(4 << 20, 40 * SWITCHES, 5 << 19);
	run_signal();
	run_left_over(NULL);
	run_left_over("--no-task-storage");
	return check_done();
}
