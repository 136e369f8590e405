// SPDX-License-Identifier: BSD-3-Clause
// Simulates regions, locks and barriers rank by rank, and messages between them.
#include "tests/sim/handoffs.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/call.h"
#include "tests/maker/acts.h"

#define BEGIN_NS 1000000000ull
#define ROUNDS 3u
#define LOCKS 3u
#define SEND_HANDLE 0x20u
#define RECEIVE_HANDLE 0x10u

struct hand_lock {
	uint64_t free_ns; /* when it was released */
	uint64_t told_ns; /* the stamp of that */
	uint32_t owner; /* task that had it last, 0 none */
};

struct hand_rank {
	struct sim_handoffs *w;
	struct crit_random random;
	struct crit_maker *m;
	uint32_t pid;
	uint32_t streams[SIM_HANDOFFS_THREADS];
	uint64_t now_ns[SIM_HANDOFFS_THREADS];
	uint32_t instance;
	struct hand_lock locks[LOCKS];
	uint64_t send_ns, wait_ns, enter_ns; /* of the present exchange */
};

/* No two threads of a rank have one stamp. */
static uint64_t after(uint64_t time_ns, uint32_t thread)
{
	return (time_ns | 15u) + 1 + thread;
}

static uint64_t step(struct hand_rank *r, uint32_t thread, uint64_t most_ns)
{
	r->now_ns[thread] =
		after(r->now_ns[thread] + crit_random_below(&r->random, most_ns), thread);
	return r->now_ns[thread];
}

static void enter(const struct hand_rank *r, uint32_t thread, uint32_t call, uint64_t arg)
{
	uint32_t region = call == CRIT_CONSTRUCT_PARALLEL;

	crit_maker_construct(r->m, r->streams[thread], r->now_ns[thread],
			     (struct crit_maker_construct){ call, region, 0x77, arg });
}

static void leave(const struct hand_rank *r, uint32_t thread, uint32_t call)
{
	crit_maker_leave(r->m, r->streams[thread], r->now_ns[thread], call);
}

static void begin_region(struct hand_rank *r)
{
	uint64_t team = (uint64_t)r->w->threads << CRIT_INSTANCE_TEAM_SHIFT;

	r->instance++;
	(void)step(r, 0, 100);
	enter(r, 0, CRIT_CONSTRUCT_PARALLEL, CRIT_INSTANCE_PRIMARY | team | r->instance);
	for (uint32_t i = 1; i < r->w->threads; i++) {
		if (r->now_ns[i] < r->now_ns[0])
			r->now_ns[i] = r->now_ns[0];
		(void)step(r, i, 3000);
		enter(r, i, CRIT_CONSTRUCT_PARALLEL, team | r->instance);
	}
}

/* A thread waits for a lock until it is free, has it for a while, and gives it back. */
static void hold(struct hand_rank *r, uint32_t thread, uint32_t kind, uint64_t asked_ns)
{
	static const uint32_t waits[LOCKS] = { CRIT_CONSTRUCT_LOCK_WAIT,
					       CRIT_CONSTRUCT_CRITICAL_WAIT,
					       CRIT_CONSTRUCT_CRITICAL_WAIT };
	struct hand_lock *lock = &r->locks[kind];
	uint64_t address = 0x5000 + kind, *now_ns = &r->now_ns[thread];

	*now_ns = asked_ns;
	enter(r, thread, waits[kind], address);
	if (*now_ns < lock->free_ns)
		*now_ns = lock->free_ns;
	(void)step(r, thread, 30);
	leave(r, thread, waits[kind]);
	if (lock->owner && lock->owner != r->pid + thread)
		sim_edges_add(&r->w->edges, &(struct sim_edge){ .begin_ns = asked_ns,
								.end_ns = *now_ns,
								.cause_ns = lock->told_ns,
								.object = address,
								.waiter = r->pid + thread,
								.cause = lock->owner,
								.kind = CRIT_EDGE_LOCK,
								.call = waits[kind] });
	if (kind)
		enter(r, thread, CRIT_CONSTRUCT_CRITICAL, kind == 1 ? address : 0);
	*now_ns += 200 + crit_random_below(&r->random, 500);
	lock->free_ns = *now_ns;
	*now_ns = after(*now_ns + (r->w->is_late ? 100 : 0), thread);
	if (!r->w->is_late)
		lock->free_ns = *now_ns;
	if (kind)
		leave(r, thread, CRIT_CONSTRUCT_CRITICAL);
	if (kind != 1)
		crit_maker_release(r->m, r->streams[thread], *now_ns, waits[kind], address);
	lock->told_ns = *now_ns;
	lock->owner = r->pid + thread;
}

/* All threads want the same lock, and get it in the order in which they come. */
static void pass_lock(struct hand_rank *r, uint32_t kind)
{
	uint64_t asked_ns[SIM_HANDOFFS_THREADS];

	for (uint32_t i = 0; i < r->w->threads; i++)
		asked_ns[i] = step(r, i, 2000);
	for (uint32_t i = 0; i < r->w->threads; i++) {
		uint32_t next = 0;

		for (uint32_t k = 1; k < r->w->threads; k++)
			if (asked_ns[k] < asked_ns[next])
				next = k;
		hold(r, next, kind, asked_ns[next]);
		asked_ns[next] = UINT64_MAX;
	}
}

/* Some execute a task in the barrier, and have arrived once that is done. */
static void arrive(struct hand_rank *r, uint32_t thread, uint32_t call)
{
	(void)step(r, thread, 1000);
	enter(r, thread, call, 0);
	if (crit_random_below(&r->random, 4))
		return;
	(void)step(r, thread, 300);
	enter(r, thread, CRIT_CONSTRUCT_TASK, 1);
	(void)step(r, thread, 3000);
	leave(r, thread, CRIT_CONSTRUCT_TASK);
}

static void add_barrier_edge(const struct hand_rank *r, uint32_t thread, uint32_t last,
			     const uint64_t *arrived_ns, uint64_t end_ns, uint32_t call)
{
	if (thread != last)
		sim_edges_add(&r->w->edges, &(struct sim_edge){ .begin_ns = arrived_ns[thread],
								.end_ns = end_ns,
								.cause_ns = arrived_ns[last],
								.object = r->instance,
								.waiter = r->pid + thread,
								.cause = r->pid + last,
								.kind = CRIT_EDGE_BARRIER,
								.call = call });
}

/*
 * A barrier; the last one of a region is over for all once the primary has left the region, and
 * some threads tell only later that they have left it.
 */
static void meet(struct hand_rank *r, bool is_end)
{
	uint32_t call = is_end ? CRIT_CONSTRUCT_IMPLICIT_BARRIER : CRIT_CONSTRUCT_BARRIER, last = 0;
	uint64_t arrived_ns[SIM_HANDOFFS_THREADS], over_ns = UINT64_MAX;

	for (uint32_t i = 0; i < r->w->threads; i++) {
		arrive(r, i, call);
		arrived_ns[i] = r->now_ns[i];
		if (arrived_ns[i] > arrived_ns[last])
			last = i;
	}
	for (uint32_t i = 0; i < r->w->threads; i++) {
		uint64_t end_ns;

		r->now_ns[i] = arrived_ns[last];
		if (i && is_end && crit_random_below(&r->random, 2))
			r->now_ns[i] = over_ns; /* dismissed */
		end_ns = step(r, i, 200);
		leave(r, i, call);
		add_barrier_edge(r, i, last, arrived_ns, end_ns < over_ns ? end_ns : over_ns, call);
		if (!is_end)
			continue;
		(void)step(r, i, 100);
		leave(r, i, CRIT_CONSTRUCT_PARALLEL);
		if (!i)
			over_ns = r->now_ns[0];
	}
}

static void run_region(struct hand_rank *r)
{
	begin_region(r);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		pass_lock(r, (uint32_t)crit_random_below(&r->random, LOCKS));
		meet(r, round + 1 == ROUNDS);
	}
}

static void put(const struct hand_rank *r, uint32_t detail, uint32_t peer, uint64_t request)
{
	crit_maker_detail(r->m, r->streams[0],
			  (struct crit_slot_detail){ .detail = (uint16_t)detail,
						     .comm = CRIT_COMM_WORLD,
						     .peer = (int32_t)peer,
						     .tag = 7,
						     .bytes = 10,
						     .request = request });
}

static void begin_call(struct hand_rank *r, uint32_t call)
{
	crit_maker_enter(r->m, r->streams[0], step(r, 0, 100), call);
}

static void end_call(struct hand_rank *r, uint32_t call)
{
	crit_maker_leave(r->m, r->streams[0], step(r, 0, 100), call);
}

/* Posts a receive from any source, starts a send to the next rank, and waits for both. */
static void start_exchange(struct hand_rank *r, uint32_t next)
{
	begin_call(r, CRIT_MPI_Irecv);
	put(r, CRIT_D_IRECV, (uint32_t)CRIT_PEER_ANY, RECEIVE_HANDLE);
	end_call(r, CRIT_MPI_Irecv);
	begin_call(r, CRIT_MPI_Isend);
	r->send_ns = r->now_ns[0];
	put(r, CRIT_D_ISEND, next, SEND_HANDLE);
	end_call(r, CRIT_MPI_Isend);
	begin_call(r, CRIT_MPI_Waitall);
	r->wait_ns = r->now_ns[0];
}

static void end_exchange(struct hand_rank *r, const struct hand_rank *from, uint32_t rank,
			 uint32_t number)
{
	if (r->now_ns[0] < from->send_ns)
		r->now_ns[0] = from->send_ns;
	put(r, CRIT_D_DONE, 0, SEND_HANDLE);
	put(r, CRIT_D_DONE, rank, RECEIVE_HANDLE);
	end_call(r, CRIT_MPI_Waitall);
	sim_edges_add(&r->w->edges, &(struct sim_edge){ .begin_ns = r->wait_ns,
							.end_ns = r->now_ns[0],
							.cause_ns = from->send_ns,
							.number = number,
							.waiter = r->pid,
							.cause = from->pid,
							.kind = CRIT_EDGE_MESSAGE,
							.call = CRIT_MPI_Waitall });
}

static void exchange(struct hand_rank *ranks, uint32_t count, uint32_t number)
{
	for (uint32_t i = 0; i < count; i++)
		start_exchange(&ranks[i], (i + 1) % count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = (i + count - 1) % count;

		end_exchange(&ranks[i], &ranks[from], from, number);
	}
}

/* No two ranks enter at once.  Of some calls on a communicator nobody waits for the others. */
static void come_together(struct hand_rank *ranks, uint32_t count, uint32_t number)
{
	const uint16_t call = number % 3 ? CRIT_MPI_Allreduce : CRIT_MPI_Comm_dup;
	const bool is_loose = call == CRIT_MPI_Comm_dup && number % 2;
	uint32_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct hand_rank *r = &ranks[i];

		(void)step(r, 0, 5000);
		r->now_ns[0] += 16 * ((count + i - r->now_ns[0] / 16 % count) % count);
		r->enter_ns = r->now_ns[0];
		crit_maker_enter(r->m, r->streams[0], r->enter_ns, call);
		if (r->enter_ns > ranks[last].enter_ns)
			last = i;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct hand_rank *r = &ranks[i];

		crit_maker_detail(r->m, r->streams[0],
				  (struct crit_slot_detail){ .detail = CRIT_D_COLL,
							     .comm = CRIT_COMM_WORLD,
							     .peer = CRIT_PEER_ANY,
							     .tag = (int32_t)number });
		if (!is_loose)
			r->now_ns[0] = ranks[last].enter_ns;
		end_call(r, call);
		if (i != last && r->now_ns[0] >= ranks[last].enter_ns)
			sim_edges_add(&r->w->edges,
				      &(struct sim_edge){ .begin_ns = r->enter_ns,
							  .end_ns = r->now_ns[0],
							  .cause_ns = ranks[last].enter_ns,
							  .waiter = r->pid,
							  .cause = ranks[last].pid,
							  .kind = CRIT_EDGE_COLLECTIVE,
							  .call = call });
	}
}

static struct crit_maker *begin_node(uint32_t node, uint8_t level)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_rec_file file = { .cpu_count = 4,
				      .level = level,
				      .kernel_status = -1,
				      .start_mono_ns = BEGIN_NS,
				      .start_real_ns = BEGIN_NS,
				      .boot = "one machine" };

	(void)snprintf(file.host, sizeof(file.host), "node%u", node);
	crit_maker_file(m, file);
	return m;
}

static void open_rank(struct sim_handoffs *w, struct hand_rank *r, uint32_t rank, uint32_t count)
{
	*r = (struct hand_rank){ .w = w,
				 .random = { w->seed * 4096 + rank },
				 .m = w->makers[rank / w->ranks],
				 .pid = 100 * (rank + 1) };
	r->streams[0] =
		crit_act_open(r->m, (struct crit_act_rank){ r->pid, rank, count, 0, BEGIN_NS, 0 });
	for (uint32_t i = 0; i < w->threads; i++) {
		r->now_ns[i] = BEGIN_NS;
		if (i)
			r->streams[i] = crit_act_claim(r->m, r->pid, r->pid + i, BEGIN_NS);
	}
}

static void close_rank(struct hand_rank *r)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < r->w->threads; i++)
		end_ns = r->now_ns[i] > end_ns ? r->now_ns[i] : end_ns;
	for (uint32_t i = 1; i < r->w->threads; i++)
		crit_maker_stream_end(r->m, r->streams[i],
				      (struct crit_rec_stream_end){ .release_ns = end_ns + 1 });
	crit_act_shut(r->m, r->pid, r->streams[0], end_ns + 1, end_ns + 1);
}

void sim_handoffs_make(struct sim_handoffs *w)
{
	uint32_t count = w->nodes * w->ranks;
	struct hand_rank *ranks = calloc(count, sizeof(*ranks));

	if (!ranks)
		crit_maker_fail("get memory");
	w->edges = (struct sim_edges){ 0 };
	for (uint32_t node = 0; node < w->nodes; node++)
		w->makers[node] =
			begin_node(node, w->is_profile ? CRIT_LEVEL_PROFILE : CRIT_LEVEL_TRACE);
	for (uint32_t i = 0; i < count; i++)
		open_rank(w, &ranks[i], i, count);
	for (uint32_t number = 0; number < w->regions; number++) {
		for (uint32_t i = 0; i < count; i++)
			run_region(&ranks[i]);
		exchange(ranks, count, number);
		come_together(ranks, count, number);
	}
	for (uint32_t i = 0; i < count; i++)
		close_rank(&ranks[i]);
	free(ranks);
}
