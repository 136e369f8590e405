// SPDX-License-Identifier: BSD-3-Clause
// Messages of hand-made runs of two to four ranks, with figures worked out on paper.
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "tests/unit/messages/message_run.h"

static const struct crit_collective_row *collective(const struct crit_results *r, const char *name,
						    uint32_t call)
{
	static const struct crit_collective_row none;

	for (size_t i = 0; i < r->messages.collective_count; i++) {
		const struct crit_collective_row *row = &r->messages.collectives[i];

		if (row->call == call &&
		    !strcmp(r->messages.communicators[row->communicator].name, name))
			return row;
	}
	return &none;
}

static void check_blocking(size_t chunk_bytes)
{
	struct crit_maker_options options = { .chunk_bytes = chunk_bytes };
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("blocking, chunks of %zu", chunk_bytes);
	begin(&run, &options);
	for (uint64_t i = 0; i < 3; i++) {
		act(&run, 0, 10 * i, CRIT_MPI_Send,
		    (struct crit_slot_detail){
			    .detail = CRIT_D_SEND, .comm = 1, .peer = 1, .tag = 7, .bytes = i });
		act(&run, 1, 10 * i + 1, CRIT_MPI_Recv,
		    (struct crit_slot_detail){
			    .detail = CRIT_D_RECV, .comm = 1, .peer = 0, .tag = 7, .bytes = i });
	}
	act(&run, 1, 50, CRIT_MPI_Send,
	    (struct crit_slot_detail){
		    .detail = CRIT_D_SEND, .comm = 1, .peer = CRIT_PEER_NULL, .bytes = 99 });
	r = finish(&run);
	check_no_losses(r);
	check_pair(r, 0, 1, 3, 3);
	CHECK_UINT_EQ(r->messages.pair_count, 1);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Send)->sent.count, 3);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Send)->sent.bytes, 3);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Send)->sent.sizes[0], 1);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Send)->sent.sizes[1], 1);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Send)->sent.sizes[2], 1);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Recv)->received.count, 3);
	CHECK_UINT_EQ(r->messages.until_ns, r->window_begin_ns + r->window_ns);
	CHECK_UINT_EQ(r->threads[1].life_ns, END - T0);
	crit_results_destroy(r);
}

/* Waitall of as many requests as make several buffers and chunks, any source, handles again. */
static void check_requests(uint32_t count)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("%u requests", count);
	begin(&run, NULL);
	for (uint64_t round = 0; round < 2; round++) {
		uint64_t at = 1000 * round;

		enter(&run, 0, at, CRIT_MPI_Irecv);
		for (uint32_t i = 0; i < count; i++)
			detail(&run, 0,
			       (struct crit_slot_detail){ .detail = CRIT_D_IRECV,
							  .comm = 1,
							  .peer = CRIT_PEER_ANY,
							  .tag = CRIT_PEER_ANY,
							  .bytes = 4096,
							  .request = 0x7000 + 64ull * i });
		leave(&run, 0, at + 1, CRIT_MPI_Irecv);
		enter(&run, 0, at + 2, CRIT_MPI_Waitall);
		for (uint32_t i = 0; i < count; i++)
			detail(&run, 0,
			       (struct crit_slot_detail){ .detail = CRIT_D_DONE,
							  .peer = (int32_t)(i % 2),
							  .tag = 5,
							  .bytes = 8,
							  .request = 0x7000 + 64ull * i });
		leave(&run, 0, at + 900, CRIT_MPI_Waitall);
	}
	r = finish(&run);
	check_no_losses(r);
	CHECK_UINT_EQ(pair(r, 0, 0)->received_count, count);
	CHECK_UINT_EQ(pair(r, 1, 0)->received_count, count);
	CHECK_UINT_EQ(pair(r, 1, 0)->received_bytes, 8ull * count);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Irecv)->received.count, 2ull * count);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Irecv)->received.sizes[4], 2ull * count);
	crit_results_destroy(r);
}

/* All sends that are complete at once may have one handle. */
static void check_shared_handle(void)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("one handle for many sends");
	begin(&run, NULL);
	for (uint32_t i = 0; i < 3; i++)
		act(&run, 0, 10 * i, CRIT_MPI_Isend,
		    (struct crit_slot_detail){ .detail = CRIT_D_ISEND,
					       .comm = 1,
					       .peer = 1,
					       .bytes = 100,
					       .request = 0x2c000000 });
	enter(&run, 0, 50, CRIT_MPI_Waitall);
	for (uint32_t i = 0; i < 3; i++)
		detail(&run, 0,
		       (struct crit_slot_detail){ .detail = CRIT_D_DONE, .request = 0x2c000000 });
	leave(&run, 0, 51, CRIT_MPI_Waitall);
	r = finish(&run);
	check_no_losses(r);
	CHECK_UINT_EQ(pair(r, 0, 1)->sent_count, 3);
	crit_results_destroy(r);
}

/* Two rounds of a persistent request, polled for; one wait for it in vain; a cancelled send. */
static void check_persistent(void)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_slot_detail init = { .comm = 1, .peer = 1, .bytes = 1000, .request = 1 };
	struct crit_slot_detail same = { .request = 1 };
	struct crit_results *r;

	CHECK_CASE("persistent");
	begin(&run, NULL);
	init.detail = CRIT_D_SEND_INIT;
	act(&run, 0, 0, CRIT_MPI_Send_init, init);
	for (uint64_t i = 0; i < 2; i++) {
		same.detail = CRIT_D_START;
		act(&run, 0, 100 * i + 10, CRIT_MPI_Start, same);
		same.detail = CRIT_D_DONE;
		detail(&run, 0, same);
		crit_maker_poll(run.m, run.streams[0],
				(struct crit_maker_poll){ .first_ns = T0 + (100 * i + 20) * US,
							  .last_ns = T0 + (100 * i + 60) * US,
							  .call = CRIT_MPI_Test,
							  .count = 9 });
	}
	act(&run, 0, 290, CRIT_MPI_Wait, same); /* in vain */
	same.detail = CRIT_D_FREED;
	act(&run, 0, 300, CRIT_MPI_Request_free, same);
	init.detail = CRIT_D_ISEND;
	act(&run, 0, 310, CRIT_MPI_Isend, init);
	same.detail = CRIT_D_CANCELLED;
	act(&run, 0, 320, CRIT_MPI_Wait, same);
	r = finish(&run);
	check_no_losses(r);
	CHECK_UINT_EQ(pair(r, 0, 1)->sent_count, 2);
	CHECK_UINT_EQ(pair(r, 0, 1)->sent_bytes, 2000);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Start)->sent.count, 2);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Isend)->sent.count, 0);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Isend)->sent.sizes[10], 0);
	CHECK_UINT_EQ(r->threads[0].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_MPI_POLL], 80 * US);
	crit_results_destroy(r);
}

/* Ranks 3 and 1, in that order, make a communicator twice; 1 hears of it after a message. */
static void check_communicators(void)
{
	struct crit_slot_comm comm = { .hash = 0xabc, .comm = 9, .parent = 1, .size = 2 };
	struct run run = { .ranks = 4, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("communicators");
	begin(&run, NULL);
	for (uint32_t nth = 0; nth < 2; nth++) {
		comm.nth = nth;
		comm.comm = 9 + nth;
		comm.rank = 0;
		enter(&run, 3, 100 * nth + 10, CRIT_MPI_Comm_split);
		crit_maker_comm(run.m, run.streams[3], comm);
		leave(&run, 3, 100 * nth + 12, CRIT_MPI_Comm_split);
		comm.comm = 20 - nth; /* its own number */
		comm.rank = 1;
		enter(&run, 1, 100 * nth + 10, CRIT_MPI_Comm_split);
		crit_maker_comm(run.m, run.streams[1], comm);
		leave(&run, 1, 100 * nth + 40, CRIT_MPI_Comm_split);
	}
	act(&run, 3, 20, CRIT_MPI_Send,
	    (struct crit_slot_detail){ .detail = CRIT_D_SEND, .comm = 9, .peer = 1, .bytes = 10 });
	act(&run, 1, 60, CRIT_MPI_Recv,
	    (struct crit_slot_detail){ .detail = CRIT_D_RECV, .comm = 20, .peer = 0, .bytes = 10 });
	act(&run, 1, 70, CRIT_MPI_Send,
	    (struct crit_slot_detail){ .detail = CRIT_D_SEND, .comm = 2, .peer = 0, .bytes = 1 });
	r = finish(&run);
	check_no_losses(r);
	check_pair(r, 3, 1, 1, 10);
	CHECK_UINT_EQ(pair(r, 1, 1)->sent_count, 1);
	CHECK_UINT_EQ(r->messages.communicator_count, 4);
	CHECK_STR_EQ(r->messages.communicators[0].name, "MPI_COMM_SELF");
	CHECK_STR_EQ(r->messages.communicators[1].name, "MPI_COMM_WORLD");
	CHECK_STR_EQ(r->messages.communicators[2].name, "comm 2 of 2 ranks");
	CHECK_UINT_EQ(r->messages.communicators[2].known_members, 2);
	CHECK_UINT_EQ(r->messages.communicators[3].known_members, 2);
	CHECK_UINT_EQ(r->messages.communicators[3].parent, 1);
	crit_results_destroy(r);
}

/* Ranks 0 and 1 on one side, 2 on the other; peers are of the other side. */
static void check_intercommunicator(void)
{
	struct run run = { .ranks = 3, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("intercommunicator");
	begin(&run, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		enter(&run, i, 10, CRIT_MPI_Intercomm_create);
		crit_maker_comm(run.m, run.streams[i],
				(struct crit_slot_comm){ .hash = 0xdef,
							 .flags =
								 CRIT_COMM_IS_INTER |
								 (i == 2 ? CRIT_COMM_IS_SECOND : 0),
							 .comm = 3,
							 .rank = i % 2,
							 .size = i == 2 ? 1 : 2 });
		leave(&run, i, 20, CRIT_MPI_Intercomm_create);
		act(&run, i, 30 + i, CRIT_MPI_Barrier,
		    (struct crit_slot_detail){ .detail = CRIT_D_COLL, .comm = 3, .peer = -1 });
	}
	act(&run, 1, 40, CRIT_MPI_Send,
	    (struct crit_slot_detail){ .detail = CRIT_D_SEND, .comm = 3, .peer = 0, .bytes = 5 });
	act(&run, 2, 45, CRIT_MPI_Recv,
	    (struct crit_slot_detail){ .detail = CRIT_D_RECV, .comm = 3, .peer = 1, .bytes = 5 });
	r = finish(&run);
	check_no_losses(r);
	check_pair(r, 1, 2, 1, 5);
	CHECK_STR_EQ(r->messages.communicators[2].name, "intercomm 2 of 2 + 1 ranks");
	CHECK_UINT_EQ(collective(r, "intercomm 2 of 2 + 1 ranks", CRIT_MPI_Barrier)->instances, 1);
	crit_results_destroy(r);
}

/*
 * 10 barriers of 4 ranks, from 1000 us on every 100 us: rank i enters at 10 i us, but in every
 * fifth one rank 0 comes at 60 us.  A missing rank is left out where skip says so.
 */
static void barriers(struct run *run, int skip_rank, uint64_t skip_below)
{
	for (uint64_t n = 0; n < 10; n++) {
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t at = 1000 + 100 * n + (n % 5 == 4 && !i ? 60 : 10 * i);

			if ((int)i == skip_rank && n < skip_below)
				continue;
			enter(run, i, at, CRIT_MPI_Barrier);
			detail(run, i,
			       (struct crit_slot_detail){ .detail = CRIT_D_COLL,
							  .comm = 1,
							  .peer = -1,
							  .tag = (int32_t)n });
			leave(run, i, 1000 + 100 * n + 70, CRIT_MPI_Barrier);
		}
	}
}

static void check_last_arrivals(void)
{
	struct run run = { .ranks = 4, .level = CRIT_LEVEL_TRACE };
	const struct crit_collective_row *row;
	const struct crit_last_row *last;
	struct crit_results *r;

	CHECK_CASE("last arrivals");
	begin(&run, NULL);
	barriers(&run, -1, 0);
	r = finish(&run);
	check_no_losses(r);
	row = collective(r, "MPI_COMM_WORLD", CRIT_MPI_Barrier);
	CHECK_UINT_EQ(row->visits, 40);
	CHECK_UINT_EQ(row->instances, 10);
	CHECK_UINT_EQ(row->inferred, 0);
	CHECK_UINT_EQ(row->spread_sum_ns, (8 * 30 + 2 * 50) * US);
	CHECK_UINT_EQ(row->spread_max_ns, 50 * US);
	CHECK_UINT_EQ(row->late_sum_ns, (8 * 15 + 2 * 30) * US); /* means 15 and (60+10+20+30)/4 */
	CHECK_UINT_EQ(row->last_count, 2);
	last = &r->messages.lasts[row->first_last];
	CHECK_UINT_EQ(last[0].rank_row, 3);
	CHECK_UINT_EQ(last[0].count, 8);
	CHECK_UINT_EQ(last[0].late_sum_ns, 8 * 15 * US);
	CHECK_UINT_EQ(last[1].rank_row, 0);
	CHECK_UINT_EQ(last[1].count, 2);
	CHECK_UINT_EQ(last[1].late_max_ns, 30 * US);
	crit_results_destroy(r);
}

/* Level trace: nobody knows when the missing rank came.  Level profile: it was last. */
static void check_missing_arrivals(uint32_t level)
{
	struct run run = { .ranks = 4, .level = level };
	const struct crit_collective_row *row;
	struct crit_results *r;

	CHECK_CASE("missing arrivals, level %u", level);
	begin(&run, NULL);
	barriers(&run, 3, 7);
	r = finish(&run);
	row = collective(r, "MPI_COMM_WORLD", CRIT_MPI_Barrier);
	CHECK_UINT_EQ(row->visits, 33);
	if (level == CRIT_LEVEL_TRACE) {
		CHECK_UINT_EQ(row->instances, 3);
		CHECK_UINT_EQ(row->incomplete, 7);
	} else {
		CHECK_UINT_EQ(row->instances, 10);
		CHECK_UINT_EQ(row->inferred, 7);
		CHECK_UINT_EQ(row->spread_max_ns, 70 * US); /* until the others left */
		CHECK_UINT_EQ(r->messages.lasts[row->first_last].rank_row, 3);
		CHECK_UINT_EQ(r->messages.lasts[row->first_last].count, 9);
		CHECK_UINT_EQ(r->messages.until_ns, r->window_begin_ns);
	}
	crit_results_destroy(r);
}

/* Far more instances than may be open: a rank that is never seen holds up none of them. */
static void check_many_open(void)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	const struct crit_collective_row *row;
	struct crit_results *r;

	CHECK_CASE("many open");
	begin(&run, NULL);
	for (int32_t n = 0; n < 10000; n++)
		act(&run, 0, 3 * (uint64_t)n, CRIT_MPI_Bcast,
		    (struct crit_slot_detail){
			    .detail = CRIT_D_COLL, .comm = 1, .tag = n, .bytes = 4 });
	r = finish(&run);
	row = collective(r, "MPI_COMM_WORLD", CRIT_MPI_Bcast);
	CHECK_UINT_EQ(row->incomplete, 10000);
	CHECK_UINT_EQ(row->sent_bytes, 40000);
	crit_results_destroy(r);
}

/* More communicators than are kept: the rest is counted, and what happens on them unresolved. */
static void check_many_communicators(void)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("many communicators");
	begin(&run, NULL);
	enter(&run, 0, 0, CRIT_MPI_Comm_dup);
	for (uint32_t i = 0; i < 70000; i++)
		crit_maker_comm(
			run.m, run.streams[0],
			(struct crit_slot_comm){
				.hash = 5, .comm = 3 + i, .nth = i, .parent = 1, .size = 2 });
	leave(&run, 0, 1, CRIT_MPI_Comm_dup);
	for (uint32_t i = 0; i < 2; i++)
		act(&run, 0, 10 + 10 * i, CRIT_MPI_Send,
		    (struct crit_slot_detail){
			    .detail = CRIT_D_SEND, .comm = i ? 70002 : 3, .peer = 0, .bytes = 1 });
	r = finish(&run);
	CHECK_UINT_EQ(r->messages.communicator_count, 65536);
	CHECK_UINT_EQ(r->messages.losses.communicators, 70000 + 2 - 65536);
	CHECK_UINT_EQ(r->messages.losses.unresolved, 1);
	CHECK_UINT_EQ(r->messages.losses.missing_members, 65536 - 2);
	CHECK_UINT_EQ(pair(r, 0, 0)->sent_count, 1);
	crit_results_destroy(r);
}

/* Requests that are no messages are followed as well, but are in no pair. */
static void check_other_requests(void)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_slot_detail done = { .detail = CRIT_D_DONE, .request = 9 };
	struct crit_results *r;

	CHECK_CASE("other requests");
	begin(&run, NULL);
	act(&run, 0, 0, CRIT_MPI_Rput,
	    (struct crit_slot_detail){
		    .detail = CRIT_D_PUT, .peer = 1, .bytes = 50, .request = 9 });
	act(&run, 0, 10, CRIT_MPI_Wait, done);
	act(&run, 0, 20, CRIT_MPI_File_iread,
	    (struct crit_slot_detail){ .detail = CRIT_D_READ, .bytes = 70, .request = 9 });
	act(&run, 0, 30, CRIT_MPI_Wait, done);
	r = finish(&run);
	check_no_losses(r);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_Rput)->sent.bytes, 50);
	CHECK_UINT_EQ(traffic(r, CRIT_MPI_File_iread)->received.bytes, 70);
	CHECK_UINT_EQ(r->messages.pair_count, 0);
	crit_results_destroy(r);
}

/* The trace ends in the middle: only then are short waits taken to be last. */
static void check_fallback(void)
{
	struct run run = { .ranks = 4, .level = CRIT_LEVEL_TRACE };
	const struct crit_collective_row *row;
	struct crit_results *r;

	CHECK_CASE("fallback");
	begin(&run, NULL);
	crit_maker_note(
		run.m, (struct crit_rec_note){ .time_ns = T0 + 1350 * US, .code = CRIT_NOTE_LEVEL },
		"profile");
	barriers(&run, 3, 7);
	r = finish(&run);
	row = collective(r, "MPI_COMM_WORLD", CRIT_MPI_Barrier);
	CHECK_UINT_EQ(r->messages.until_ns, T0 + 1350 * US);
	CHECK_UINT_EQ(row->incomplete, 3); /* those that ended before */
	CHECK_UINT_EQ(row->inferred, 4);
	CHECK_UINT_EQ(row->instances, 7);
	crit_results_destroy(r);
}

/* Everything that can be wrong is counted. */
static void check_losses(void)
{
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_slot_detail done = { .detail = CRIT_D_DONE, .request = 77 };
	struct crit_slot_detail receive = {
		.detail = CRIT_D_IRECV, .comm = 1, .peer = 1, .bytes = 64, .request = 5
	};
	struct crit_results *r;

	CHECK_CASE("losses");
	begin(&run, NULL);
	act(&run, 0, 0, CRIT_MPI_Wait, done); /* stray */
	act(&run, 0, 10, CRIT_MPI_Irecv, receive);
	act(&run, 0, 20, CRIT_MPI_Irecv, receive); /* the first never ends */
	done.request = 5;
	done.peer = CRIT_PEER_ANY;
	done.bytes = CRIT_BYTES_UNKNOWN;
	act(&run, 0, 30, CRIT_MPI_Wait, done); /* as posted */
	receive.request = 6;
	act(&run, 0, 40, CRIT_MPI_Irecv, receive); /* never ends */
	act(&run, 0, 50, CRIT_MPI_Send,
	    (struct crit_slot_detail){ .detail = CRIT_D_SEND, .comm = 44, .bytes = 1 });
	enter(&run, 0, 60, CRIT_MPI_Waitall);
	crit_maker_slot(run.m, run.streams[0],
			(struct crit_slot){ .time_ns = T0 + 70 * US,
					    .kind = CRIT_S_LEAVE,
					    .slots = 1,
					    .call = CRIT_MPI_Waitall,
					    .arg = 12 });
	r = finish(&run);
	CHECK_UINT_EQ(r->messages.losses.stray, 1);
	CHECK_UINT_EQ(r->messages.losses.unfinished, 2);
	CHECK_UINT_EQ(r->messages.losses.estimated, 1);
	CHECK_UINT_EQ(r->messages.losses.unresolved, 1);
	CHECK_UINT_EQ(r->messages.losses.details, 12);
	CHECK(!r->messages.is_whole);
	CHECK_UINT_EQ(pair(r, 1, 0)->received_bytes, 64);
	crit_results_destroy(r);
}

int main(void)
{
	check_blocking(0);
	check_blocking(32); /* each slot a chunk of its own */
	check_requests(2);
	check_requests(60000);
	check_shared_handle();
	check_persistent();
	check_communicators();
	check_intercommunicator();
	check_last_arrivals();
	check_missing_arrivals(CRIT_LEVEL_TRACE);
	check_missing_arrivals(CRIT_LEVEL_PROFILE);
	check_many_open();
	check_many_communicators();
	check_other_requests();
	check_fallback();
	check_losses();
	return check_done();
}
