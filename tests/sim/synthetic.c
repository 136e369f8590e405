// SPDX-License-Identifier: BSD-3-Clause
// Writes periods of work and barrier waits, and says what they amount to.
#include "tests/sim/synthetic.h"

#include <stdlib.h>

#include "core/base/call.h"
#include "tests/maker/maker.h"

#define BEGIN_NS 1000000000ull
#define OPEN_NS (BEGIN_NS + 1000000)
#define SEND_HANDLE 0x10u /* and one per peer behind it */
#define RECEIVE_HANDLE 0x100000010u
#define SITE (0x400000u + CRIT_MPI_Barrier) /* as crit_maker_enter has it */

struct synthesis {
	const struct crit_synthetic *spec;
	struct crit_maker *m;
	uint32_t *streams; /* by CPU: every thread has its own */
	uint32_t first_rank; /* of this node */
	uint64_t period; /* the one being written */
};

static uint32_t all_ranks(const struct crit_synthetic *spec)
{
	return spec->nodes * spec->ranks;
}

static uint64_t work_ns(const struct crit_synthetic *spec, uint32_t rank)
{
	return spec->period_ns * (rank + 1) / (all_ranks(spec) + 1);
}

static uint32_t cpu_of(const struct crit_synthetic *spec, uint32_t local, uint32_t thread)
{
	return local * spec->threads + thread;
}

static uint32_t tid_of(const struct crit_synthetic *spec, uint32_t local, uint32_t thread)
{
	return 1000 + cpu_of(spec, local, thread);
}

static void open_thread(struct synthesis *y, uint32_t local, uint32_t thread)
{
	uint32_t pid = tid_of(y->spec, local, 0);
	uint32_t tid = tid_of(y->spec, local, thread);
	uint16_t cpu = (uint16_t)cpu_of(y->spec, local, thread);
	struct crit_kernel_head head = { .cpu = cpu, .time_ns = BEGIN_NS + 2000 };

	if (!thread) {
		head.time_ns = BEGIN_NS + 1000;
		head.flags = CRIT_KF_RUNNING;
		crit_maker_enrol(y->m, (struct crit_kernel_enrol){ .head = head,
								   .tid = tid,
								   .tgid = pid,
								   .ns_tid = tid,
								   .comm = "synthetic" });
	} else {
		crit_maker_fork(y->m, (struct crit_kernel_fork){ .head = head,
								 .parent_tid = pid,
								 .parent_tgid = pid,
								 .tid = tid,
								 .tgid = pid,
								 .ns_tid = tid,
								 .comm = "synthetic" });
		crit_maker_wake_new(y->m, (struct crit_kernel_wake){ .head = head, .tid = tid });
		crit_maker_switch(y->m,
				  (struct crit_kernel_switch){ .head = head, .next_tid = tid });
	}
}

static void open_rank(struct synthesis *y, uint32_t local)
{
	uint32_t pid = tid_of(y->spec, local, 0);

	crit_maker_process(y->m, (struct crit_rec_process){ .pid = pid,
							    .ns_pid = pid,
							    .flavour = CRIT_FLAVOUR_OPENMPI,
							    .has_memfd = 1,
							    .time_ns = BEGIN_NS + 3000,
							    .exe = "/bin/synthetic",
							    .arguments = "synthetic" });
	crit_maker_rank(y->m, (struct crit_rec_rank){ .pid = pid,
						      .rank = y->first_rank + local,
						      .size = all_ranks(y->spec),
						      .open_ns = OPEN_NS,
						      .world = "world",
						      .library = "Synthetic MPI" });
	for (uint32_t thread = 0; thread < y->spec->threads; thread++)
		y->streams[cpu_of(y->spec, local, thread)] = crit_maker_stream(
			y->m, (struct crit_rec_stream){ .pid = pid,
							.ns_tid = tid_of(y->spec, local, thread),
							.buffer = thread,
							.claim_ns = OPEN_NS });
}

/*
 * The records of a wait at its begin, and at its end; each CPU has one thread, so nobody else
 * comes.
 */
static void begin_wait(struct synthesis *y, uint32_t local, uint32_t thread, uint64_t at_ns)
{
	uint32_t cpu = cpu_of(y->spec, local, thread);

	crit_maker_enter_at(y->m, y->streams[cpu], at_ns, CRIT_MPI_Barrier,
			    SITE + 16 * (y->spec->sites ? y->period % y->spec->sites : 0));
	if (!y->spec->is_spinning)
		crit_maker_switch(
			y->m,
			(struct crit_kernel_switch){
				.head = { .cpu = (uint16_t)cpu, .state = 1, .time_ns = at_ns + 1 },
				.prev_tid = tid_of(y->spec, local, thread),
				.prev_tag = crit_maker_tag(y->m, y->streams[cpu]) });
}

static void put_detail(struct synthesis *y, uint32_t stream, uint32_t detail, uint32_t peer,
		       uint64_t request)
{
	crit_maker_detail(y->m, stream,
			  (struct crit_slot_detail){ .bytes = 100,
						     .detail = (uint16_t)detail,
						     .comm = CRIT_COMM_WORLD,
						     .peer = (int32_t)peer,
						     .request = request });
}

/* What a rank exchanges with the one `distance` behind it and the one as far before it. */
static void put_exchange(struct synthesis *y, uint32_t stream, uint32_t rank, uint32_t distance)
{
	uint32_t all = all_ranks(y->spec);
	uint32_t next = (rank + distance) % all, previous = (rank + all - distance) % all;

	if (y->period) {
		put_detail(y, stream, CRIT_D_DONE, previous, SEND_HANDLE + distance);
		put_detail(y, stream, CRIT_D_DONE, previous, RECEIVE_HANDLE + distance);
	}
	if (y->period + 1 < y->spec->periods) {
		put_detail(y, stream, CRIT_D_ISEND, next, SEND_HANDLE + distance);
		put_detail(y, stream, CRIT_D_IRECV, previous, RECEIVE_HANDLE + distance);
	}
}

/* A first thread's part in the barrier, and what it exchanges with its neighbours. */
static void put_messages(struct synthesis *y, uint32_t local)
{
	uint32_t stream = y->streams[cpu_of(y->spec, local, 0)];

	for (uint32_t distance = 1; distance <= y->spec->peers; distance++)
		put_exchange(y, stream, y->first_rank + local, distance);
	crit_maker_detail(y->m, stream,
			  (struct crit_slot_detail){ .detail = CRIT_D_COLL,
						     .comm = CRIT_COMM_WORLD,
						     .peer = CRIT_PEER_ANY,
						     .tag = (int32_t)y->period });
}

static void end_wait(struct synthesis *y, uint32_t local, uint32_t thread, uint64_t at_ns)
{
	uint32_t cpu = cpu_of(y->spec, local, thread);
	uint32_t tid = tid_of(y->spec, local, thread);

	if (!y->spec->is_spinning) {
		struct crit_kernel_head head = { .cpu = (uint16_t)cpu, .time_ns = at_ns - 2 };

		crit_maker_wake(y->m, (struct crit_kernel_wake){ .head = head, .tid = tid });
		head.time_ns = at_ns - 1;
		crit_maker_switch(y->m,
				  (struct crit_kernel_switch){ .head = head, .next_tid = tid });
	}
	if (y->spec->peers && !thread)
		put_messages(y, local);
	crit_maker_leave(y->m, y->streams[cpu], at_ns, CRIT_MPI_Barrier);
}

static void close_thread(struct synthesis *y, uint32_t local, uint32_t thread, uint64_t at_ns)
{
	uint32_t cpu = cpu_of(y->spec, local, thread);
	struct crit_kernel_head head = { .cpu = (uint16_t)cpu, .time_ns = at_ns };

	crit_maker_stream_end(y->m, y->streams[cpu],
			      (struct crit_rec_stream_end){ .release_ns = at_ns });
	crit_maker_exit(y->m, (struct crit_kernel_exit){ .head = head,
							 .tid = tid_of(y->spec, local, thread),
							 .tgid = tid_of(y->spec, local, 0),
							 .comm = "synthetic" });
	head.state = 0x80;
	head.flags = CRIT_KF_TAG_STALE;
	crit_maker_switch(y->m, (struct crit_kernel_switch){
					.head = head, .prev_tid = tid_of(y->spec, local, thread) });
}

static void for_each_thread(struct synthesis *y, uint64_t at_ns,
			    void (*step)(struct synthesis *y, uint32_t local, uint32_t thread,
					 uint64_t at_ns))
{
	for (uint32_t local = 0; local < y->spec->ranks; local++)
		for (uint32_t thread = 0; thread < y->spec->threads; thread++)
			step(y, local, thread, at_ns);
}

static void begin_phase(struct synthesis *y, uint32_t local, uint32_t thread, uint64_t at_ns)
{
	uint32_t stream = y->streams[cpu_of(y->spec, local, thread)];
	struct crit_maker_construct phase = {
		.call = CRIT_CONSTRUCT_PHASE,
		.region = 1 + (uint32_t)(y->period % y->spec->phases),
	};
	char name[24];

	(void)snprintf(name, sizeof(name), "phase %u", phase.region);
	if (!thread && y->period < y->spec->phases)
		crit_maker_region(y->m, stream,
				  (struct crit_slot_region){ .call = CRIT_CONSTRUCT_PHASE,
							     .region = phase.region },
				  name);
	crit_maker_construct(y->m, stream, at_ns, phase);
}

static void end_phase(struct synthesis *y, uint32_t local, uint32_t thread, uint64_t at_ns)
{
	crit_maker_leave(y->m, y->streams[cpu_of(y->spec, local, thread)], at_ns,
			 CRIT_CONSTRUCT_PHASE);
}

static void write_period(struct synthesis *y, uint64_t period)
{
	uint64_t begin_ns = OPEN_NS + period * y->spec->period_ns;

	y->period = period;
	if (y->spec->phases)
		for_each_thread(y, begin_ns, begin_phase);
	for (uint32_t local = 0; local < y->spec->ranks; local++)
		for (uint32_t thread = 0; thread < y->spec->threads; thread++)
			begin_wait(y, local, thread,
				   begin_ns + work_ns(y->spec, y->first_rank + local));
	for_each_thread(y, begin_ns + y->spec->period_ns, end_wait);
	if (y->spec->phases)
		for_each_thread(y, begin_ns + y->spec->period_ns, end_phase);
}

static void write_file(struct synthesis *y, uint32_t node)
{
	struct crit_rec_file file = {
		.cpu_count = y->spec->ranks * y->spec->threads,
		.level = CRIT_LEVEL_TRACE,
		.start_mono_ns = BEGIN_NS,
		.start_real_ns = 1700000000000000000ull,
		.run_id = 1,
		.boot = "synthetic",
		.run_key = "synthetic",
		.kernel_release = "none",
		.critd_version = "none",
		.exe = "/bin/synthetic",
	};

	(void)snprintf(file.host, sizeof(file.host), "node%u", node);
	crit_maker_file(y->m, file);
}

static void compare_clocks(struct synthesis *y, uint32_t node, uint64_t at_ns, int64_t error_ns)
{
	struct crit_rec_clock clock = { .time_ns = at_ns,
					.offset_ns = node % 2 ? error_ns : -error_ns,
					.bound_ns = y->spec->skew_ns,
					.reference = "node0" };

	if (node && y->spec->skew_ns)
		crit_maker_clock(y->m, clock);
}

void crit_synthetic_write(const struct crit_synthetic *spec, uint32_t node, struct crit_maker *m)
{
	struct synthesis y = { .spec = spec, .m = m, .first_rank = node * spec->ranks };
	uint64_t end_ns = OPEN_NS + spec->periods * spec->period_ns;

	y.streams = calloc((size_t)spec->ranks * spec->threads, sizeof(*y.streams));
	if (!y.streams)
		crit_maker_fail("get memory");
	write_file(&y, node);
	for (uint32_t local = 0; local < spec->ranks; local++)
		open_thread(&y, local, 0);
	for (uint32_t local = 0; local < spec->ranks; local++)
		for (uint32_t thread = 1; thread < spec->threads; thread++)
			open_thread(&y, local, thread);
	for (uint32_t local = 0; local < spec->ranks; local++)
		open_rank(&y, local);
	compare_clocks(&y, node, OPEN_NS, (int64_t)spec->skew_ns);
	for (uint64_t i = 0; i < spec->periods; i++)
		write_period(&y, i);
	compare_clocks(&y, node, end_ns, -(int64_t)(spec->skew_ns / 2));
	for (uint32_t local = 0; local < spec->ranks; local++)
		crit_maker_close(m, (struct crit_rec_close){ .pid = tid_of(spec, local, 0),
							     .close_ns = end_ns });
	for_each_thread(&y, end_ns + 1000, close_thread);
	crit_maker_window(m, end_ns + 2000);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = end_ns + 3000,
						   .kernel_records = crit_maker_kernel_count(m),
						   .shim_slots = crit_maker_slot_count(m) });
	free(y.streams);
}

double crit_synthetic_cmetric_ns(const struct crit_synthetic *spec, uint32_t rank)
{
	double sum = 0;

	for (uint32_t k = 0; k <= rank; k++)
		sum += (double)(work_ns(spec, k) - (k ? work_ns(spec, k - 1) : 0)) /
		       (all_ranks(spec) - k);
	return sum * (double)spec->periods;
}

double crit_synthetic_all_waiting_ns(const struct crit_synthetic *spec)
{
	uint64_t idle_ns = spec->period_ns - work_ns(spec, all_ranks(spec) - 1);

	return (double)idle_ns / all_ranks(spec) * (double)spec->periods;
}

uint64_t crit_synthetic_events(const struct crit_synthetic *spec)
{
	return (uint64_t)all_ranks(spec) * spec->threads * spec->periods *
	       ((spec->is_spinning ? 2 : 5) + (spec->phases ? 2 : 0));
}
