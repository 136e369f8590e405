// SPDX-License-Identifier: BSD-3-Clause
// A rank's memory becomes streams, its window closes, and the finisher's word reaches it.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define BUFFERS CRIT_THREAD_BUFFERS_MIN
#define SLOTS 1024u
#define WRITTEN 5000u /* slots, several times around the ring */
#define STORM_SLOTS 65536u
#define LAPS_ELSEWHERE 21 /* each lap in a place that is not its own */

struct rank {
	__u32 slots; /* of a ring */
	int memfd;
	char *memory;
	struct crit_harness_client client;
};

static size_t buffer_bytes(const struct rank *rank)
{
	return CRIT_THREAD_BUFFER_RING_OFFSET + (size_t)rank->slots * CRIT_SLOT_BYTES;
}

static struct crit_thread_buffer_head *buffer_of(const struct rank *rank, unsigned int number)
{
	return (void *)(rank->memory + CRIT_SHM_HEAD_BYTES + number * buffer_bytes(rank));
}

static struct crit_slot *ring_of(struct crit_thread_buffer_head *buffer)
{
	return (void *)((char *)buffer + CRIT_THREAD_BUFFER_RING_OFFSET);
}

static struct crit_slot *slot_at(const struct rank *rank, struct crit_thread_buffer_head *buffer,
				 __u64 position)
{
	const __u32 lap_slots = rank->slots / CRIT_RING_LAPS;
	const __u32 place = crit_ring_place(buffer->lap_places, position / lap_slots);

	return &ring_of(buffer)[place * lap_slots + position % lap_slots];
}

static struct crit_shm_head *head_of(const struct rank *rank)
{
	return (void *)rank->memory;
}

static void open_memory(struct rank *rank, __u32 slots)
{
	size_t bytes;

	rank->slots = slots;
	bytes = CRIT_SHM_HEAD_BYTES + BUFFERS * buffer_bytes(rank);
	rank->memfd = memfd_create("rank", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(rank->memfd, (off_t)bytes) ||
	    fcntl(rank->memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		exit(1);
	rank->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rank->memfd, 0);
	if (rank->memory == MAP_FAILED)
		exit(1);
	*head_of(rank) = (struct crit_shm_head){
		.magic = CRIT_SHM_MAGIC,
		.version = CRIT_SHM_VERSION,
		.head_bytes = CRIT_SHM_HEAD_BYTES,
		.buffer_count = BUFFERS,
		.buffer_bytes = (__u32)buffer_bytes(rank),
		.ring_slots = slots,
		.counter_count = CRIT_COUNTERS,
	};
}

static void sleep_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* Waits for a value critd or nobody writes; true when it came within 5 s. */
static bool await_u64(const __u64 *at, __u64 wanted)
{
	for (int i = 0; i < 5000; i++) {
		if (__atomic_load_n(at, __ATOMIC_ACQUIRE) == wanted)
			return true;
		sleep_ms(1);
	}
	return false;
}

static bool await_u32(const __u32 *at, __u32 wanted)
{
	for (int i = 0; i < 5000; i++) {
		if (__atomic_load_n(at, __ATOMIC_ACQUIRE) == wanted)
			return true;
		sleep_ms(1);
	}
	return false;
}

static void claim(struct rank *rank, unsigned int number, __u32 ns_tid, __u64 claim_ns)
{
	struct crit_thread_buffer_head *buffer = buffer_of(rank, number);

	if (head_of(rank)->buffers_used <= number)
		head_of(rank)->buffers_used = number + 1;
	__atomic_store_n(&buffer->state, CRIT_THREAD_BUFFER_OWNED, __ATOMIC_RELEASE);
	buffer->ns_tid = ns_tid;
	buffer->claim_pos = buffer->write_pos;
	buffer->release_ns = 0;
	memset(buffer->lap_places, LAPS_ELSEWHERE, sizeof(buffer->lap_places));
	__atomic_store_n(&buffer->claim_ns, claim_ns, __ATOMIC_RELEASE);
}

/* Writes slots stamped by their own number, never past what was read. */
static void write_slots(struct rank *rank, unsigned int number, unsigned int count)
{
	struct crit_thread_buffer_head *buffer = buffer_of(rank, number);

	for (unsigned int i = 0; i < count; i++) {
		__u64 at = buffer->write_pos;
		struct crit_slot *slot = slot_at(rank, buffer, at);

		while (at - __atomic_load_n(&buffer->read_pos, __ATOMIC_ACQUIRE) >= rank->slots)
			sleep_ms(1);
		*slot = (struct crit_slot){ .time_ns = at + 1000,
					    .kind = at & 1 ? CRIT_S_LEAVE : CRIT_S_ENTER,
					    .slots = 1,
					    .call = 7 };
		__atomic_store_n(&buffer->write_pos, at + 1, __ATOMIC_RELEASE);
	}
}

static void send_rank(const struct rank *rank)
{
	const struct crit_message_rank message = {
		.head = { CRIT_M_RANK, CRIT_SOCKET_VERSION, sizeof(message) },
		.size = 1,
		.open_ns = 500,
		.world = "world",
	};

	CHECK_INT_EQ(crit_harness_send(rank->client.fd, &message, sizeof(message), NULL, 0), 0);
}

static void send_close(const struct rank *rank)
{
	const struct crit_message_close message = {
		.head = { CRIT_M_CLOSE, CRIT_SOCKET_VERSION, sizeof(message) },
		.close_ns = 900000,
	};

	CHECK_INT_EQ(crit_harness_send(rank->client.fd, &message, sizeof(message), NULL, 0), 0);
}

static void expect_status(int fd, __u16 kind, int rc)
{
	struct crit_message_status message = { .status = 1 };

	if (!CHECK_INT_EQ(crit_harness_receive(fd, &message, sizeof(message)),
			  (long)sizeof(message)))
		return;
	CHECK_INT_EQ(message.head.kind, kind);
	CHECK_INT_EQ(message.status, rc);
}

/* A process that only asked MPI something: it registers, never becomes a rank, and lives on. */
static void start_guest(const struct crit_harness *harness)
{
	int ready[2];
	char byte = 0;

	if (pipe(ready))
		exit(1);
	if (fork() == 0) {
		struct crit_harness_client client;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (crit_harness_join(harness, "streams", CRIT_ROLE_SHIM, 0, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, -1) ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	close(ready[1]);
	CHECK_INT_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

/* In a process of its own, so that the test sees the end of the run. */
static void rank_main(const struct crit_harness *harness)
{
	const struct crit_message_status written = {
		.head = { CRIT_M_WRITTEN, CRIT_SOCKET_VERSION, sizeof(written) },
		.status = -ENOSPC,
	};
	struct crit_thread_buffer_head *buffer;
	struct rank rank;

	open_memory(&rank, SLOTS);
	buffer = buffer_of(&rank, 0);
	CHECK_INT_EQ(crit_harness_join(harness, "streams", CRIT_ROLE_SHIM, 0, &rank.client), 0);
	CHECK_INT_EQ(crit_harness_register(&rank.client, CRIT_TLS_NONE, rank.memfd), 0);
	CHECK_INT_EQ(head_of(&rank)->level, CRIT_LEVEL_TRACE);
	start_guest(harness);
	send_rank(&rank);
	claim(&rank, 0, 11, 1000);
	write_slots(&rank, 0, WRITTEN);
	CHECK(await_u64(&buffer->read_pos, WRITTEN));
	buffer->lost_spans = 3;
	head_of(&rank)->no_buffer = 2;
	buffer->release_ns = 7000;
	__atomic_store_n(&buffer->state, CRIT_THREAD_BUFFER_RELEASED, __ATOMIC_RELEASE);
	CHECK(await_u32(&buffer->state, CRIT_THREAD_BUFFER_FREE));
	claim(&rank, 0, 12, 8000); /* the same thread buffer, another thread */
	write_slots(&rank, 0, 10);
	claim(&rank, 5, 13, 9000);
	((struct crit_counter *)(void *)((char *)buffer_of(&rank, 5) +
					 CRIT_THREAD_BUFFER_HEAD_BYTES))[2] =
		(struct crit_counter){ .call = 7, .count = 99 };
	sleep_ms(50);
	send_close(&rank);
	expect_status(rank.client.finisher_fd, CRIT_M_CLOSED, 0);
	CHECK_INT_EQ(crit_harness_send(rank.client.finisher_fd, &written, sizeof(written), NULL, 0),
		     0);
	expect_status(rank.client.fd, CRIT_M_WRITTEN, -ENOSPC);
	buffer->open_call = 7; /* dies within a poll */
	buffer->open_count = 5;
	_exit(check_done());
}

struct seen {
	unsigned int streams, ends, slots, position_breaks, lost, counters;
	bool has_open_span, has_window, has_rank, has_close;
	struct crit_rec_foot foot;
};

static void look_at(const struct crit_chunk_head *head, struct seen *seen)
{
	const struct crit_rec_stream_end *end = (const void *)(head + 1);
	const struct crit_slot *slots = (const void *)(head + 1);
	const struct crit_counter *counter = (const void *)(head + 1);

	switch (head->kind) {
	case CRIT_C_STREAM:
		seen->streams++;
		break;
	case CRIT_C_STREAM_END:
		seen->ends++;
		seen->has_open_span |= end->open_call == 7 && end->open_count == 5;
		break;
	case CRIT_C_SHIM:
		for (__u32 i = 0; i < head->length / sizeof(*slots); i++)
			seen->position_breaks += slots[i].time_ns != head->position + i + 1000;
		seen->slots += head->length / (__u32)sizeof(*slots);
		seen->lost += (unsigned int)head->lost;
		break;
	case CRIT_C_COUNTERS:
		seen->counters += counter->call == 7 && counter->count == 99;
		break;
	default:
		seen->has_window |= head->kind == CRIT_C_WINDOW;
		seen->has_rank |= head->kind == CRIT_C_RANK;
		seen->has_close |= head->kind == CRIT_C_CLOSE;
		if (head->kind == CRIT_C_FOOT)
			memcpy(&seen->foot, head + 1, sizeof(seen->foot));
	}
}

static void check_recording(const char *file)
{
	struct crit_harness_recording recording;
	const struct crit_chunk_head *head = NULL;
	struct seen seen = { 0 };

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	CHECK(recording.is_whole);
	while ((head = crit_harness_next(&recording, head)))
		look_at(head, &seen);
	CHECK_INT_EQ(seen.streams, 3);
	CHECK_INT_EQ(seen.ends, 3);
	CHECK_INT_EQ(seen.slots, WRITTEN + 10);
	CHECK_INT_EQ(seen.position_breaks, 0);
	CHECK_INT_EQ(seen.lost, 3);
	CHECK_INT_GE(seen.counters, 1);
	CHECK(seen.has_open_span && seen.has_window && seen.has_rank && seen.has_close);
	CHECK_UINT_EQ(seen.foot.shim_lost, 3);
	CHECK_UINT_EQ(seen.foot.no_buffer, 2); /* threads, which are not spans */
	crit_harness_free(&recording);
}

static void run_case(const char *variant)
{
	const char *const arguments[] = { "--idle-exit", "1", variant, NULL };
	struct crit_harness harness;
	char file[192];
	int status = -1;
	pid_t rank;

	CHECK_CASE("%s", variant ? variant : "defaults");
	crit_harness_start(&harness, arguments);
	rank = fork();
	if (rank == 0)
		rank_main(&harness);
	(void)waitpid(rank, &status, 0);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/streams.crit", harness.directory);
	check_recording(file);
	crit_harness_clean(&harness);
}

/* Groups without real time of their own (RT_GROUP_SCHED) refuse it even to root. */
static bool may_be_first(void)
{
	const struct sched_param first = { .sched_priority = 1 }, none = { 0 };

	if (sched_setscheduler(0, SCHED_RR, &first))
		return false;
	CHECK_INT_EQ(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	return true;
}

/* Who spins or wakes others without end keeps its CPU: critd goes before them all, if it may. */
static void check_schedule(pid_t critd)
{
	struct { /* struct sched_attr */
		__u32 bytes, policy;
		__u64 flags;
		__s32 nice;
		__u32 priority;
		__u64 runtime_ns, deadline_ns, period_ns;
	} ours = { 0 }, its = { 0 };

	CHECK_INT_EQ(syscall(SYS_sched_getattr, 0, &ours, sizeof(ours), 0), 0);
	CHECK_INT_EQ(syscall(SYS_sched_getattr, critd, &its, sizeof(its), 0), 0);
	if (may_be_first()) {
		CHECK_UINT_EQ(its.policy, SCHED_RR);
		CHECK_UINT_EQ(its.priority, 1);
		return;
	}
	CHECK_INT_LT(its.nice, ours.nice);
	if (ours.runtime_ns) /* since Linux 6.12 */
		CHECK_UINT_EQ(its.runtime_ns, 100000);
}

/* Two threads whose rings are full when critd first looks. */
static void storm_main(const struct crit_harness *harness)
{
	struct rank rank;

	open_memory(&rank, STORM_SLOTS);
	for (unsigned int i = 0; i < 2; i++) {
		claim(&rank, i, 11 + i, 1000);
		write_slots(&rank, i, STORM_SLOTS);
	}
	CHECK_INT_EQ(crit_harness_join(harness, "streams", CRIT_ROLE_SHIM, 0, &rank.client), 0);
	CHECK_INT_EQ(crit_harness_register(&rank.client, CRIT_TLS_NONE, rank.memfd), 0);
	check_schedule(harness->critd);
	for (unsigned int i = 0; i < 2; i++)
		CHECK(await_u64(&buffer_of(&rank, i)->read_pos, STORM_SLOTS));
	_exit(check_done());
}

/* No thread buffer waits until all of another is read: it fills meanwhile. */
static void check_turns(const char *file)
{
	struct crit_harness_recording recording;
	const struct crit_chunk_head *head = NULL;
	unsigned int turns = 0, slots = 0;
	__u32 source = 0;

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	while ((head = crit_harness_next(&recording, head))) {
		if (head->kind != CRIT_C_SHIM)
			continue;
		slots += head->length / CRIT_SLOT_BYTES;
		turns += head->source != source;
		source = head->source;
	}
	CHECK_INT_EQ(slots, 2 * STORM_SLOTS);
	CHECK_INT_GE(turns, 6); /* one after the other: 4, as the last of each comes at the end */
	crit_harness_free(&recording);
}

static void run_storm(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness harness;
	char file[192];
	int status = -1;
	pid_t rank;

	CHECK_CASE("two rings are full");
	crit_harness_start(&harness, arguments);
	rank = fork();
	if (rank == 0)
		storm_main(&harness);
	(void)waitpid(rank, &status, 0);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/streams.crit", harness.directory);
	check_turns(file);
	crit_harness_clean(&harness);
}

int main(void)
{
	run_case(NULL);
	run_case("--no-kernel");
	run_storm();
	return check_done();
}
