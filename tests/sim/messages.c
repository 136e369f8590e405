// SPDX-License-Identifier: BSD-3-Clause
// Ranks that exchange messages at random, which are counted as they are recorded.
#include "tests/sim/messages.h"

#include "core/base/call.h"
#include "tests/maker/acts.h"

static uint64_t below(struct sim_messages *w, uint64_t bound)
{
	return crit_random_below(&w->random, bound);
}

static void enter(struct sim_messages *w, uint32_t rank, uint32_t call)
{
	w->rank = rank;
	w->thread = (uint32_t)below(w, SIM_THREADS);
	w->now_ns[rank] += 1 + below(w, 500);
	w->now_ns[rank] += (8 + rank - w->now_ns[rank] % 8) % 8; /* no two ranks enter at once */
	w->begin_ns = w->now_ns[rank];
	w->left_count = 0;
	w->completes = 0;
	crit_maker_enter(w->m, w->streams[rank][w->thread], w->now_ns[rank], call);
}

static uint32_t tid_now(const struct sim_messages *w)
{
	return 100 * (w->rank + 1) + w->thread;
}

/* The thread that is in a call now waits there for something. */
static void stay(struct sim_messages *w, struct sim_stay *ret_stay, uint32_t call)
{
	*ret_stay = (struct sim_stay){ .begin_ns = w->begin_ns, .tid = tid_now(w), .call = call };
	w->left[w->left_count++] = ret_stay;
}

static void leave(struct sim_messages *w, uint32_t call)
{
	w->now_ns[w->rank] += 1 + below(w, 500);
	for (uint32_t i = 0; i < w->left_count; i++) {
		w->left[i]->end_ns = w->now_ns[w->rank];
		w->left[i]->completes = w->completes;
	}
	crit_maker_leave(w->m, w->streams[w->rank][w->thread], w->now_ns[w->rank], call);
}

static void put(struct sim_messages *w, struct crit_slot_detail what)
{
	if (++w->details != w->left_out)
		crit_maker_detail(w->m, w->streams[w->rank][w->thread], what);
}

static void count(struct sim_volume *volume, uint64_t bytes)
{
	unsigned int bin = 0;

	while (bytes >> bin)
		bin++;
	volume->count++;
	volume->bytes += bytes;
	volume->sizes[bin]++;
}

static void count_send(struct sim_messages *w, uint32_t call, const struct sim_request *r)
{
	count(&w->sent[call], r->bytes);
	w->sent_count[r->from][r->to]++;
	w->sent_bytes[r->from][r->to] += r->bytes;
	if (w->send_count == SIM_ENDS)
		crit_maker_fail("keep so many messages");
	w->sends[w->send_count] = (struct sim_end){
		.comm = r->comm, .from = r->from, .to = r->to, .bytes = r->bytes
	};
	stay(w, &w->sends[w->send_count++].stay, call);
}

/* stay_call: where it is waited for. */
static void count_receive(struct sim_messages *w, uint32_t call, uint32_t stay_call,
			  const struct sim_request *r)
{
	count(&w->received[call], r->bytes);
	w->received_count[r->from][r->to]++;
	w->received_bytes[r->from][r->to] += r->bytes;
	if (w->receive_count == SIM_ENDS)
		crit_maker_fail("keep so many messages");
	w->receives[w->receive_count] = (struct sim_end){ .comm = r->comm,
							  .from = r->from,
							  .to = r->to,
							  .posted = r->posted,
							  .posted_ns = r->posted_ns };
	stay(w, &w->receives[w->receive_count++].stay, stay_call);
}

static uint32_t number_in(const struct sim_comm *comm, uint32_t rank)
{
	uint32_t number = 0;

	while (comm->members[number] != rank)
		number++;
	return number;
}

static struct crit_slot_detail say(const struct sim_messages *w, unsigned int detail,
				   const struct sim_request *r, uint32_t peer, uint64_t handle)
{
	const struct sim_comm *comm = &w->comms[r->comm];

	return (struct crit_slot_detail){
		.detail = (uint16_t)detail,
		.comm = comm->numbers[w->rank],
		.peer = r->comm == 1 ? 0 : (int32_t)number_in(comm, peer),
		.tag = 3,
		.bytes = r->bytes,
		.request = handle,
	};
}

static void block(struct sim_messages *w, const struct sim_request *r, bool is_send)
{
	uint32_t call = is_send ? CRIT_MPI_Send : CRIT_MPI_Recv;
	struct sim_request posted = *r;

	posted.posted = ++w->posted;
	enter(w, is_send ? r->from : r->to, call);
	posted.posted_ns = w->begin_ns;
	w->completes++;
	put(w, say(w, is_send ? CRIT_D_SEND : CRIT_D_RECV, r, is_send ? r->to : r->from, 0));
	if (is_send)
		count_send(w, call, r);
	else
		count_receive(w, call, call, &posted);
	leave(w, call);
}

static struct sim_request *free_request(struct sim_messages *w, uint32_t rank, uint64_t *ret_handle)
{
	for (uint32_t i = 0; i < SIM_HANDLES; i++) {
		if (!w->requests[rank][i].is_live) {
			*ret_handle = 0x100 + i;
			return &w->requests[rank][i];
		}
	}
	return NULL;
}

/* Posts a request, or makes one to be started later. */
static void post(struct sim_messages *w, const struct sim_request *like, bool is_send)
{
	static const uint32_t calls[2][2] = { { CRIT_MPI_Irecv, CRIT_MPI_Isend },
					      { CRIT_MPI_Recv_init, CRIT_MPI_Send_init } };
	static const uint32_t details[2][2] = { { CRIT_D_IRECV, CRIT_D_ISEND },
						{ CRIT_D_RECV_INIT, CRIT_D_SEND_INIT } };
	uint32_t rank = is_send ? like->from : like->to;
	struct crit_slot_detail what;
	uint64_t handle;
	struct sim_request *r = free_request(w, rank, &handle);

	if (!r) {
		block(w, like, is_send);
		return;
	}
	*r = *like;
	r->is_live = true;
	r->is_send = is_send;
	r->is_persistent = below(w, 3) == 0;
	r->is_active = !r->is_persistent;
	r->call = (uint16_t)calls[r->is_persistent][is_send];
	r->is_any = !is_send && below(w, 2);
	enter(w, rank, r->call);
	what = say(w, details[r->is_persistent][is_send], r, is_send ? r->to : r->from, handle);
	if (r->is_any)
		what.peer = CRIT_PEER_ANY;
	if (!is_send)
		what.bytes += 100; /* the buffer may be larger */
	put(w, what);
	r->posted = ++w->posted;
	r->posted_ns = w->begin_ns;
	r->send = w->send_count;
	if (is_send && r->is_active)
		count_send(w, r->call, r);
	leave(w, r->call);
}

static void message(struct sim_messages *w)
{
	struct sim_request like = { .comm = (uint32_t)below(w, w->comm_count) };
	const struct sim_comm *comm = &w->comms[like.comm];
	uint64_t shift = below(w, 40);

	like.from = comm->members[below(w, comm->size)];
	like.to = comm->members[below(w, comm->size)];
	if (like.comm == 1) {
		like.from = (uint32_t)below(w, w->ranks);
		like.to = like.from;
	}
	like.bytes = below(w, 1ull << shift);
	if (below(w, 2))
		block(w, &like, true);
	else
		post(w, &like, true);
	if (below(w, 2))
		block(w, &like, false);
	else
		post(w, &like, false);
}

static void start(struct sim_messages *w, uint32_t rank)
{
	enter(w, rank, CRIT_MPI_Startall);
	for (uint32_t i = 0; i < SIM_HANDLES; i++) {
		struct sim_request *r = &w->requests[rank][i];

		if (!r->is_live || r->is_active || below(w, 2))
			continue;
		put(w, (struct crit_slot_detail){ .detail = CRIT_D_START, .request = 0x100 + i });
		r->is_active = true;
		r->posted = ++w->posted;
		r->posted_ns = w->begin_ns;
		r->call = CRIT_MPI_Startall;
		r->send = w->send_count;
		if (r->is_send)
			count_send(w, r->call, r);
	}
	leave(w, CRIT_MPI_Startall);
}

/* Some or all active requests of a rank end, in a span of whatever thread. */
static void end(struct sim_messages *w, uint32_t rank, bool is_all)
{
	enter(w, rank, CRIT_MPI_Waitsome);
	for (uint32_t i = 0; i < SIM_HANDLES; i++) {
		struct sim_request *r = &w->requests[rank][i];

		if (!r->is_live || !r->is_active || (!is_all && below(w, 2)))
			continue;
		put(w, r->is_send || r->is_collective
			       ? (struct crit_slot_detail){ .detail = CRIT_D_DONE,
							    .request = 0x100 + i }
			       : say(w, CRIT_D_DONE, r, r->from, 0x100 + i));
		w->completes++;
		r->is_active = false;
		r->is_live = r->is_persistent;
		if (r->is_collective)
			stay(w, &w->instances[r->instance].stays[r->member], CRIT_MPI_Waitsome);
		else if (r->is_send)
			stay(w, &w->sends[r->send].done, CRIT_MPI_Waitsome);
		else
			count_receive(w, r->call, CRIT_MPI_Waitsome, r);
	}
	leave(w, CRIT_MPI_Waitsome);
}

static void release(struct sim_messages *w, uint32_t rank)
{
	enter(w, rank, CRIT_MPI_Request_free);
	for (uint32_t i = 0; i < SIM_HANDLES; i++) {
		struct sim_request *r = &w->requests[rank][i];

		if (!r->is_live || r->is_active)
			continue;
		put(w, (struct crit_slot_detail){ .detail = CRIT_D_FREED, .request = 0x100 + i });
		r->is_live = false;
	}
	leave(w, CRIT_MPI_Request_free);
}

/* A member begins a collective operation: it waits there, or later where it has a request. */
static void take_part(struct sim_messages *w, struct sim_instance *instance, uint32_t member)
{
	const struct sim_comm *comm = &w->comms[instance->comm];
	uint32_t rank = comm->members[member];
	bool is_request = instance->call == CRIT_MPI_Ibarrier;
	uint64_t handle = 0;
	struct sim_request *r = is_request ? free_request(w, rank, &handle) : NULL;

	enter(w, rank, instance->call);
	instance->at_ns[member] = w->now_ns[rank];
	instance->tids[member] = tid_now(w);
	put(w, (struct crit_slot_detail){ .detail = is_request ? CRIT_D_ICOLL : CRIT_D_COLL,
					  .comm = comm->numbers[rank],
					  .peer = instance->root,
					  .tag = comm->sequence,
					  .bytes = 8,
					  .request = is_request ? handle : 16 });
	if (is_request) /* always recorded */
		crit_maker_detail(w->m, w->streams[rank][w->thread],
				  (struct crit_slot_detail){ .detail = CRIT_D_RECEIVED,
							     .bytes = 16 });
	if (r)
		*r = (struct sim_request){ .is_live = true,
					   .is_active = true,
					   .is_collective = true,
					   .instance = (uint32_t)(instance - w->instances),
					   .member = member,
					   .call = (uint16_t)instance->call };
	else
		stay(w, &instance->stays[member], instance->call);
	w->now_ns[rank] += below(w, 10000);
	leave(w, instance->call);
	count(&w->sent[instance->call], 8);
	count(&w->received[instance->call], 16);
}

static bool has_room(struct sim_messages *w, const struct sim_comm *comm)
{
	uint64_t handle;

	for (uint32_t i = 0; i < comm->size; i++)
		if (!free_request(w, comm->members[i], &handle))
			return false;
	return true;
}

static void collective(struct sim_messages *w)
{
	static const uint32_t calls[] = { CRIT_MPI_Allreduce, CRIT_MPI_Barrier, CRIT_MPI_Bcast,
					  CRIT_MPI_Gatherv,   CRIT_MPI_Exscan,  CRIT_MPI_Ibarrier };
	uint32_t which = (uint32_t)below(w, w->comm_count);
	struct sim_comm *comm = &w->comms[which];
	struct sim_instance *instance = &w->instances[w->instance_count];

	if (which == 1 || w->instance_count == SIM_INSTANCES)
		return;
	w->instance_count++;
	*instance = (struct sim_instance){ .comm = which,
					   .call = calls[below(w, has_room(w, comm) ? 6 : 5)],
					   .root = CRIT_PEER_ANY };
	if (instance->call == CRIT_MPI_Bcast || instance->call == CRIT_MPI_Gatherv)
		instance->root = (int32_t)below(w, comm->size);
	for (uint32_t i = 0; i < comm->size; i++)
		take_part(w, instance, i);
	comm->sequence++;
}

/* Some ranks, in random order, make a communicator, before anybody makes the next one. */
static void split(struct sim_messages *w)
{
	struct sim_comm *comm = &w->comms[w->comm_count];
	uint64_t now_ns = 0;
	uint32_t order[SIM_RANKS];

	if (w->comm_count == SIM_COMMS)
		return;
	for (uint32_t i = 0; i < w->ranks; i++)
		now_ns = w->now_ns[i] > now_ns ? w->now_ns[i] : now_ns;
	for (uint32_t i = 0; i < w->ranks; i++)
		w->now_ns[i] = now_ns;
	*comm = (struct sim_comm){ .size = 2 + (uint32_t)below(w, w->ranks - 1) };
	for (uint32_t i = 0; i < w->ranks; i++) {
		uint32_t at = (uint32_t)below(w, i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	for (uint32_t i = 0; i < comm->size; i++) {
		uint32_t rank = order[i];

		comm->members[i] = rank;
		comm->numbers[rank] = 3 + w->comm_count * 10 + rank;
		enter(w, rank, CRIT_MPI_Comm_split);
		if (++w->details != w->left_out)
			crit_maker_comm(w->m, w->streams[rank][w->thread],
					(struct crit_slot_comm){ .hash = 1000 + w->comm_count,
								 .comm = comm->numbers[rank],
								 .parent = 1,
								 .rank = i,
								 .size = comm->size });
		leave(w, CRIT_MPI_Comm_split);
	}
	w->comm_count++;
}

static void begin(struct sim_messages *w, uint64_t seed, uint32_t left_out)
{
	struct crit_maker_options options = { .chunk_bytes = 64u << seed % 7 };

	*w = (struct sim_messages){ .random = { .state = seed }, .left_out = left_out };
	w->ranks = 2 + (uint32_t)below(w, SIM_RANKS - 1);
	w->m = crit_maker_create(&options);
	crit_maker_file(w->m, (struct crit_rec_file){ .host = "node0",
						      .cpu_count = 4,
						      .level = CRIT_LEVEL_TRACE,
						      .kernel_status = -1,
						      .start_mono_ns = SIM_T0,
						      .start_real_ns = SIM_T0 });
	w->comm_count = 2;
	w->comms[0].size = w->ranks;
	w->comms[1].size = 1;
	for (uint32_t i = 0; i < w->ranks; i++) {
		uint32_t pid = 100 * (i + 1);

		w->now_ns[i] = SIM_T0;
		w->comms[0].members[i] = i;
		w->comms[0].numbers[i] = CRIT_COMM_WORLD;
		w->comms[1].numbers[i] = CRIT_COMM_SELF;
		w->streams[i][0] = crit_act_open(w->m, (struct crit_act_rank){ pid, i, w->ranks, 0,
									       SIM_T0, 0 });
		for (uint32_t k = 1; k < SIM_THREADS; k++)
			w->streams[i][k] = crit_act_claim(w->m, pid, pid + k, SIM_T0);
	}
}

/* Ends all requests and the run. */
static void finish(struct sim_messages *w)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < w->ranks; i++) {
		end(w, i, true);
		release(w, i);
		if (w->now_ns[i] > end_ns)
			end_ns = w->now_ns[i];
	}
	for (uint32_t i = 0; i < w->ranks; i++) {
		for (uint32_t k = 1; k < SIM_THREADS; k++)
			crit_maker_stream_end(w->m, w->streams[i][k],
					      (struct crit_rec_stream_end){ .release_ns =
										    end_ns + 1 });
		crit_act_shut(w->m, 100 * (i + 1), w->streams[i][0], end_ns + 1, end_ns + 1);
	}
	if (below(w, 2))
		crit_maker_interleave(w->m, w->random.state);
}

static bool is_of_way(const struct sim_end *a, const struct sim_end *b)
{
	return a->comm == b->comm && a->from == b->from && a->to == b->to;
}

static void add_wait(struct sim_messages *w, enum crit_edge_kind kind, const struct sim_stay *wait,
		     const struct sim_stay *cause, uint64_t cause_ns, const struct sim_end *send)
{
	sim_edges_add(&w->edges, &(struct sim_edge){ .begin_ns = wait->begin_ns,
						     .end_ns = wait->end_ns,
						     .cause_ns = cause_ns,
						     .object = send->comm,
						     .bytes = send->bytes,
						     .waiter = wait->tid,
						     .cause = cause->tid,
						     .kind = kind,
						     .call = wait->call });
}

/*
 * The receiver's act is its call, unless the send is over by then: the receive was posted before.
 * A send that was all its call was for has waited for it, if it came within; others may have.
 */
static void add_rendezvous(struct sim_messages *w, const struct sim_end *send,
			   const struct sim_end *receive)
{
	const bool is_blocking = send->stay.call == CRIT_MPI_Send;
	const struct sim_stay *wait = is_blocking ? &send->stay : &send->done;
	const bool is_over = receive->stay.begin_ns >= wait->end_ns;
	const uint64_t cause_ns = is_over ? receive->posted_ns : receive->stay.begin_ns;
	const bool has_waited = wait->completes == 1 && cause_ns > wait->begin_ns &&
				cause_ns < wait->end_ns;

	add_wait(w, has_waited ? CRIT_EDGE_RECEIVER : CRIT_EDGE_RENDEZVOUS, wait, &receive->stay,
		 cause_ns, send);
	if (!is_blocking && wait->begin_ns > receive->stay.begin_ns &&
	    wait->begin_ns < receive->stay.end_ns)
		add_wait(w, CRIT_EDGE_RENDEZVOUS, &receive->stay, wait, wait->begin_ns, send);
}

/* The k-th send of each way with the k-th receive; MPI_COMM_SELF is left out. */
static void pair_messages(struct sim_messages *w)
{
	for (uint32_t i = 0; i < w->receive_count; i++) {
		const struct sim_end *receive = &w->receives[i], *send = w->sends;
		uint32_t number = 0, before = 0;

		for (uint32_t k = 0; k < i; k++)
			number += is_of_way(receive, &w->receives[k]);
		for (; send < &w->sends[w->send_count]; send++)
			if (is_of_way(receive, send) && before++ == number)
				break;
		if (send == &w->sends[w->send_count] || receive->comm == 1)
			continue;
		sim_edges_add(&w->edges, &(struct sim_edge){ .begin_ns = receive->stay.begin_ns,
							     .end_ns = receive->stay.end_ns,
							     .cause_ns = send->stay.begin_ns,
							     .object = receive->comm,
							     .number = number,
							     .posted = receive->posted,
							     .waiter = receive->stay.tid,
							     .cause = send->stay.tid,
							     .kind = CRIT_EDGE_MESSAGE,
							     .call = receive->stay.call });
		add_rendezvous(w, send, receive);
	}
}

/* Does a member need the other one's data? */
static bool needs(const struct sim_instance *instance, uint32_t member, uint32_t other)
{
	const uint32_t root = (uint32_t)instance->root;

	switch (instance->call) {
	case CRIT_MPI_Bcast:
		return other == root;
	case CRIT_MPI_Gatherv:
		return member == root;
	case CRIT_MPI_Exscan:
		return other < member;
	default:
		return true;
	}
}

/* Who waits for all has nobody to wait for that came last. */
static void find_needed(struct sim_messages *w, const struct sim_instance *instance,
			uint32_t member)
{
	const uint32_t size = w->comms[instance->comm].size;
	const bool needs_all = instance->root < 0 && instance->call != CRIT_MPI_Exscan;
	const struct sim_stay *stay = &instance->stays[member];
	uint32_t last = size;

	for (uint32_t i = 0; i < size; i++) {
		if ((i != member || needs_all) && needs(instance, member, i) &&
		    (last == size || instance->at_ns[i] > instance->at_ns[last]))
			last = i;
	}
	if (last == size || last == member)
		return;
	sim_edges_add(&w->edges, &(struct sim_edge){ .begin_ns = stay->begin_ns,
						     .end_ns = stay->end_ns,
						     .cause_ns = instance->at_ns[last],
						     .object = instance->comm,
						     .waiter = stay->tid,
						     .cause = instance->tids[last],
						     .kind = CRIT_EDGE_COLLECTIVE,
						     .call = stay->call });
}

void sim_messages_make(struct sim_messages *w, uint64_t seed, uint32_t left_out)
{
	uint64_t acts;

	begin(w, seed, left_out);
	acts = below(w, 300);
	for (uint64_t i = 0; i < acts; i++) {
		uint64_t what = below(w, 20);

		if (what < 10)
			message(w);
		else if (what < 13)
			collective(w);
		else if (what < 15)
			start(w, (uint32_t)below(w, w->ranks));
		else if (what < 18)
			end(w, (uint32_t)below(w, w->ranks), below(w, 2));
		else if (what < 19)
			release(w, (uint32_t)below(w, w->ranks));
		else
			split(w);
	}
	finish(w);
	pair_messages(w);
	for (uint32_t i = 0; i < w->instance_count; i++)
		for (uint32_t k = 0; k < w->comms[w->instances[i].comm].size; k++)
			find_needed(w, &w->instances[i], k);
}
