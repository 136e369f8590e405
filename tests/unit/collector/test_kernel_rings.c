// SPDX-License-Identifier: BSD-3-Clause
// Rings of CPUs and the ring of all, in files of memory: one order of stamps, whoever is slow.
#include "collector/source/kernel_rings.h"

#include <linux/bpf.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/record/run.h"
#include "collector/source/kernel_stream.h"
#include "collector/system/now.h"
#include "core/abi/abi_blocked.h"
#include "tests/lib/check.h"

#define CPUS_MAX 64u
#define CPU_BYTES 4096u
#define SHARED_BYTES (1u << 20)
#define ROUNDS 200
#define STEPS 20000u
#define SLOW_NS 900000u
#define ALL_NS 3600000000000ull

static struct crit_kernel_rings rings;
static int records_fd, cpu_rings_fd;
static uint8_t *shared; /* its file: consumer, producer, data */
static uint64_t seed = 1;

_Static_assert(sizeof(struct crit_kernel_blocked_taken) <= CRIT_CPU_RING_RECORD, "the largest");

static uint32_t below(uint32_t bound)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % bound;
}

static int memory_of(size_t bytes)
{
	const int fd = memfd_create("ring", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		exit(1);
	return fd;
}

static void begin(uint32_t cpu_count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 2 * page + 2 * SHARED_BYTES;
	struct crit_kernel_rings_maps maps = { .record_bytes = SHARED_BYTES,
					       .cpu_ring_bytes = CPU_BYTES,
					       .cpu_count = cpu_count };

	records_fd = maps.records_fd = memory_of(bytes);
	cpu_rings_fd = maps.cpu_rings_fd = memory_of(cpu_count * sizeof(struct crit_cpu_ring));
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, records_fd, 0);
	if (shared == MAP_FAILED || crit_kernel_rings_open(&rings, &maps))
		exit(1);
}

static void end(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	crit_kernel_rings_close(&rings);
	(void)munmap(shared, 2 * page + 2 * SHARED_BYTES);
	close(records_fd);
	close(cpu_rings_fd);
}

/* As bpf/cpu_ring.bpf.h does it. */
static bool put(struct crit_cpu_ring *ring, uint16_t kind, uint16_t run_slot, uint32_t bytes,
		uint64_t time_ns)
{
	struct crit_kernel_head *head = (void *)(ring->bytes + (ring->end & (CPU_BYTES - 8)));

	if (ring->end + bytes - __atomic_load_n(&ring->begin, __ATOMIC_ACQUIRE) > CPU_BYTES)
		return false;
	memset(head, 0x5a, bytes);
	*head = (struct crit_kernel_head){ .kind = (uint16_t)(kind | CRIT_CPU_RING_SIZE(bytes)),
					   .run_slot = run_slot,
					   .time_ns = time_ns };
	__atomic_store_n(&ring->end, ring->end + bytes, __ATOMIC_RELEASE);
	return true;
}

/* As the kernel lays it out.  Never more than its size in all: the file is not there twice. */
static uint32_t *put_shared(uint16_t kind, uint64_t time_ns)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long *position = (void *)(shared + page);
	uint32_t *ring_head = (void *)(shared + 2 * page + *position);
	struct crit_kernel_head *head = (void *)(ring_head + 2);

	*ring_head = sizeof(*head);
	*head = (struct crit_kernel_head){ .kind = kind, .time_ns = time_ns };
	__atomic_store_n(position, *position + BPF_RINGBUF_HDR_SZ + sizeof(*head),
			 __ATOMIC_RELEASE);
	return ring_head;
}

struct tally {
	uint32_t of_cpus, of_all;
	uint64_t last_ns;
	uint32_t late;
};

static void note(struct tally *tally, uint64_t time_ns)
{
	tally->late += time_ns < tally->last_ns;
	tally->last_ns = time_ns;
}

static void take_all(struct tally *tally)
{
	struct crit_kernel_next next;

	crit_kernel_rings_look(&rings);
	while (crit_kernel_rings_next(&rings, &next)) {
		if (next.shared) {
			tally->of_all++;
			if (next.shared->kind != CRIT_K_STACK)
				note(tally, next.time_ns);
			continue;
		}
		do {
			note(tally, next.cursor->time_ns);
			tally->of_cpus++;
			next.cursor->position += crit_cpu_cursor_front_bytes(next.cursor);
		} while (crit_cpu_cursor_has(next.cursor, next.until_ns));
	}
	(void)crit_kernel_rings_release(&rings);
}

/* Random rings, often full, with equal stamps among them. */
static void try_order(uint32_t cpu_count)
{
	static const uint32_t sizes[] = { 24, 32, 48, 56, 72 };
	uint64_t time_ns = crit_now_ns() - ALL_NS;
	struct tally tally = { 0 };
	uint32_t of_cpus = 0, of_all = 0;

	CHECK_CASE("%u CPUs", cpu_count);
	begin(cpu_count);
	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t i = below(200 * (cpu_count < 8 ? cpu_count : 8)); i > 0; i--) {
			time_ns += below(3);
			of_cpus += put(&rings.mapped[below(cpu_count)], CRIT_K_SWITCH, 1,
				       sizes[below(5)], time_ns);
			if (below(50) == 0) {
				put_shared(CRIT_K_EXIT, time_ns);
				of_all++;
			}
		}
		take_all(&tally);
	}
	CHECK_UINT_EQ(tally.late, 0);
	CHECK_UINT_EQ(tally.of_cpus, of_cpus);
	CHECK_UINT_EQ(tally.of_all, of_all);
	for (uint32_t i = 0; i < cpu_count; i++)
		CHECK_UINT_EQ(rings.mapped[i].begin, rings.mapped[i].end);
	end();
}

static void check_next(uint16_t kind)
{
	struct crit_kernel_next next;

	if (!CHECK(crit_kernel_rings_next(&rings, &next)))
		return;
	CHECK_INT_EQ((next.shared ? next.shared : next.cursor->front)->kind & CRIT_CPU_RING_KIND,
		     kind);
	if (!next.shared)
		next.cursor->position += crit_cpu_cursor_front_bytes(next.cursor);
}

static void try_ties(void)
{
	const uint64_t past_ns = crit_now_ns() - 1000;
	struct crit_kernel_next next;

	CHECK_CASE("ties, stacks, what is too new");
	begin(2);
	put_shared(CRIT_K_STACK, past_ns + ALL_NS); /* stamped before what it goes with: at once */
	put_shared(CRIT_K_CAPTURE, past_ns);
	(void)put(&rings.mapped[1], CRIT_K_SWITCH, 1, 32, past_ns);
	(void)put(&rings.mapped[1], CRIT_K_WAKING, 1, 24, past_ns + ALL_NS);
	put_shared(CRIT_K_EXIT, past_ns + ALL_NS);
	crit_kernel_rings_look(&rings);
	check_next(CRIT_K_STACK);
	check_next(CRIT_K_CAPTURE);
	check_next(CRIT_K_SWITCH);
	CHECK(!crit_kernel_rings_next(&rings, &next));
	CHECK(!crit_kernel_rings_release(&rings));
	CHECK_UINT_EQ(rings.mapped[1].begin, 32);
	end();
}

/* It comes first, and is not there yet; or a CPU never says that it has told all. */
static void try_slow_ones(void)
{
	const uint64_t past_ns = crit_now_ns() - 1000;
	struct crit_kernel_next next;
	uint32_t *shared_head;

	CHECK_CASE("slow ones");
	begin(2);
	shared_head = put_shared(CRIT_K_FORK, past_ns);
	*shared_head |= BPF_RINGBUF_BUSY_BIT;
	(void)put(&rings.mapped[1], CRIT_K_SWITCH, 1, 32, past_ns + 1);
	crit_kernel_rings_look(&rings);
	CHECK(!crit_kernel_rings_next(&rings, &next));
	*shared_head &= ~BPF_RINGBUF_BUSY_BIT;
	crit_kernel_rings_look(&rings);
	check_next(CRIT_K_FORK);
	check_next(CRIT_K_SWITCH);
	rings.mapped[0].is_telling = 1; /* for ever */
	(void)put(&rings.mapped[0], CRIT_K_SWITCH, 1, 32, past_ns);
	crit_kernel_rings_look(&rings);
	check_next(CRIT_K_SWITCH);
	end();
}

struct producer {
	uint32_t put, slow;
};

static void tell(struct producer *producer, struct crit_cpu_ring *ring, uint64_t time_ns)
{
	producer->put += put(ring, CRIT_K_SWITCH, 1, 32, time_ns);
}

/* One CPU is slow between a stamp and its record; meanwhile the other makes some. */
static void *produce(void *state)
{
	struct crit_cpu_ring *slow = &rings.mapped[0], *quick = &rings.mapped[1];
	struct producer *producer = state;

	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t time_ns;

		__atomic_store_n(&slow->is_telling, 1, __ATOMIC_SEQ_CST);
		time_ns = crit_now_ns();
		for (uint32_t k = 0; k < 5; k++)
			tell(producer, quick, crit_now_ns());
		for (volatile uint32_t pause = i * 7919u % 3000; pause > 0; pause--)
			;
		tell(producer, slow, time_ns);
		/* the scheduler took the CPU: nobody waits that long */
		producer->slow += crit_now_ns() - time_ns > SLOW_NS;
		__atomic_store_n(&slow->is_telling, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void try_threads(void)
{
	struct producer producer = { 0 };
	struct tally tally = { 0 };
	pthread_t thread;

	CHECK_CASE("at work");
	begin(2);
	CHECK_INT_EQ(pthread_create(&thread, NULL, produce, &producer), 0);
	while (pthread_tryjoin_np(thread, NULL))
		take_all(&tally);
	take_all(&tally);
	CHECK_UINT_EQ(tally.of_cpus, producer.put);
	CHECK_INT_GT(tally.of_cpus, 2 * CPU_BYTES / 32); /* full, and emptied */
	CHECK_INT_LE(tally.late, producer.slow);
	end();
}

/* Records of two runs, and of one that is over, follow each other in one ring. */
static void try_copies(void)
{
	static struct crit_run runs[2];
	const uint64_t past_ns = crit_now_ns() - 1000;
	struct crit_kernel_next next;
	uint32_t counts[2] = { 0 };

	CHECK_CASE("copies");
	begin(1);
	for (uint32_t i = 0; i < 2; i++)
		crit_batch_init(&runs[i].kernel, CRIT_C_KERNEL, 0);
	for (uint32_t i = 0; i < 60; i++) {
		const uint16_t slot = (uint16_t)below(3);

		CHECK(put(&rings.mapped[0], CRIT_K_OUTSIDE, slot, 56, past_ns + i));
		if (slot < 2)
			counts[slot]++;
	}
	crit_kernel_rings_look(&rings);
	while (crit_kernel_rings_next(&rings, &next)) {
		const uint16_t slot = next.cursor->front->run_slot;

		crit_kernel_stream_copy(slot < 2 ? &runs[slot] : NULL, next.cursor, next.until_ns,
					past_ns);
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct crit_buffer *buffer = runs[i].kernel.buffer;
		struct crit_kernel_head head;

		CHECK_UINT_EQ(runs[i].kernel_records, counts[i]);
		CHECK_UINT_EQ(buffer->record_count, counts[i]);
		CHECK_UINT_EQ(buffer->head.length, 56 * counts[i]);
		for (uint32_t at = 0; at < buffer->head.length; at += head.size) {
			memcpy(&head, buffer->payload + at, sizeof(head));
			CHECK(head.kind == CRIT_K_OUTSIDE && head.size == 56);
			CHECK(buffer->payload[at + 55] == 0x5a);
			CHECK(head.time_ns >= buffer->head.first_ns &&
			      head.time_ns <= buffer->head.last_ns);
			if (head.size != 56)
				break;
		}
		crit_batch_fini(&runs[i].kernel);
	}
	end();
}

int main(void)
{
	crit_now_init();
	try_order(1);
	try_order(2);
	try_order(7);
	try_order(CPUS_MAX);
	try_ties();
	try_slow_ones();
	try_threads();
	try_copies();
	return check_done();
}
