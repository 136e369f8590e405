// SPDX-License-Identifier: BSD-3-Clause
// Receives whose status tells little, calls that fail, names: with figures worked out on paper.
#include "core/base/call.h"
#include "tests/unit/messages/message_run.h"

struct receive { /* on rank 1 of three; 40 bytes with tag 7 come from rank 2 */
	const char *name;
	uint32_t flavour;
	uint32_t call;
	int32_t peer, tag; /* posted */
	struct {
		int32_t peer, tag;
		uint64_t bytes;
	} status;
	uint32_t from; /* expected row of the matrix; CRIT_NONE: unknown */
	uint64_t bytes, unusable, unknown_sources, estimated;
};

#define ANY CRIT_PEER_ANY
#define UNTOLD CRIT_BYTES_UNKNOWN
#define NOBODY UINT32_MAX

#define MPICH CRIT_FLAVOUR_MPICH
#define OTHER CRIT_FLAVOUR_OPENMPI

static const struct receive receives[] = {
	{ "status", OTHER, CRIT_MPI_Isendrecv, 2, 7, { 2, 7, 40 }, 2, 40, 0, 0, 0 },
	{ "wildcards", OTHER, CRIT_MPI_Isendrecv, ANY, ANY, { 2, 7, 40 }, 2, 40, 0, 0, 0 },
	{ "not filled in", OTHER, CRIT_MPI_Isendrecv, 2, 7, { 0, 0, 0 }, 2, 64, 1, 0, 1 },
	/* zeros, or what a request before had, whatever was received */
	{ "zero", MPICH, CRIT_MPI_Isendrecv, 2, 7, { 0, 0, 0 }, 2, 64, 1, 0, 1 },
	{ "zero of 0", MPICH, CRIT_MPI_Isendrecv, 0, 0, { 0, 0, 0 }, 0, 64, 1, 0, 1 },
	{ "any tag", MPICH, CRIT_MPI_Isendrecv_replace, 2, ANY, { 0, 0, 0 }, 2, 64, 1, 0, 1 },
	{ "any source", MPICH, CRIT_MPI_Isendrecv_c, ANY, 7, { 0, 0, 0 }, NOBODY, 64, 1, 1, 1 },
	{ "any", MPICH, CRIT_MPI_Isendrecv_replace_c, ANY, ANY, { 0, 0, 0 }, NOBODY, 64, 1, 1, 1 },
	{ "stale", MPICH, CRIT_MPI_Isendrecv, ANY, ANY, { 0, 7, 1 }, NOBODY, 64, 1, 1, 1 },
	{ "stale, definite", MPICH, CRIT_MPI_Isendrecv, 2, 7, { 2, 7, 1 }, 2, 64, 1, 0, 1 },
	/* a message without bytes, as barriers are made of */
	{ "nothing", MPICH, CRIT_MPI_Irecv, ANY, ANY, { 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "nothing of 0", MPICH, CRIT_MPI_Irecv, 0, 0, { 0, 0, 0 }, 0, 0, 0, 0, 0 },
	/* empty as the MPI standard has it */
	{ "empty", OTHER, CRIT_MPI_Isendrecv, 2, 7, { ANY, ANY, 0 }, 2, 64, 1, 0, 1 },
	{ "empty, any", MPICH, CRIT_MPI_Irecv, ANY, ANY, { ANY, ANY, 0 }, NOBODY, 64, 1, 1, 1 },
	{ "untold", MPICH, CRIT_MPI_Irecv, 2, 7, { ANY, ANY, UNTOLD }, 2, 64, 0, 0, 1 },
	{ "other source", MPICH, CRIT_MPI_Irecv, 2, 7, { 0, 7, 8 }, 2, 64, 1, 0, 1 },
	{ "other tag", MPICH, CRIT_MPI_Irecv, 2, 7, { 2, 0, 8 }, 2, 64, 1, 0, 1 },
};

static void check_receive(const struct receive *receive)
{
	struct run run = { .ranks = 3, .level = CRIT_LEVEL_TRACE, .flavour = receive->flavour };
	const bool is_known = receive->from != NOBODY;
	struct crit_results *r;

	CHECK_CASE("%s", receive->name);
	begin(&run, NULL);
	act(&run, 2, 0, CRIT_MPI_Send,
	    (struct crit_slot_detail){
		    .detail = CRIT_D_SEND, .comm = 1, .peer = 1, .tag = 7, .bytes = 40 });
	act(&run, 1, 10, receive->call,
	    (struct crit_slot_detail){ .detail = CRIT_D_IRECV,
				       .comm = 1,
				       .peer = receive->peer,
				       .tag = receive->tag,
				       .bytes = 64,
				       .request = 9 });
	act(&run, 1, 20, CRIT_MPI_Wait,
	    (struct crit_slot_detail){ .detail = CRIT_D_DONE,
				       .peer = receive->status.peer,
				       .tag = receive->status.tag,
				       .bytes = receive->status.bytes,
				       .request = 9 });
	r = finish(&run);
	CHECK_UINT_EQ(traffic(r, receive->call)->received.count, 1);
	CHECK_UINT_EQ(traffic(r, receive->call)->received.bytes, receive->bytes);
	for (uint32_t from = 0; from < 3; from++) {
		CHECK_UINT_EQ(pair(r, from, 1)->received_count, is_known && from == receive->from);
		CHECK_UINT_EQ(pair(r, from, 1)->received_bytes,
			      is_known && from == receive->from ? receive->bytes : 0);
	}
	CHECK_UINT_EQ(r->messages.losses.unusable_statuses, receive->unusable);
	CHECK_UINT_EQ(r->messages.losses.unknown_sources, receive->unknown_sources);
	CHECK_UINT_EQ(r->messages.losses.unresolved, receive->unknown_sources);
	CHECK_UINT_EQ(r->messages.losses.estimated, receive->estimated);
	CHECK_INT_EQ(r->messages.is_whole, is_known);
	CHECK_UINT_EQ(r->messages.losses.early, 0);
	crit_results_destroy(r);
}

static uint64_t failed(const struct crit_results *r, uint32_t call)
{
	for (size_t i = 0; i < r->messages.failed_count; i++)
		if (r->messages.failed[i].call == call)
			return r->messages.failed[i].count;
	return 0;
}

/* One error of a call counts once, however many wrappers tell of it. */
static void check_errors(void)
{
	const struct crit_slot_detail error = { .detail = CRIT_D_FAILED, .tag = 15 };
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("errors");
	begin(&run, NULL);
	for (uint64_t i = 0; i < 3; i++)
		act(&run, 0, 10 * i, CRIT_MPI_Recv, error);
	enter(&run, 1, 50, CRIT_MPI_Wait);
	detail(&run, 1, error);
	detail(&run, 1, error);
	leave(&run, 1, 51, CRIT_MPI_Wait);
	r = finish(&run);
	check_no_losses(r);
	CHECK_UINT_EQ(failed(r, CRIT_MPI_Recv), 3);
	CHECK_UINT_EQ(failed(r, CRIT_MPI_Wait), 1);
	CHECK_UINT_EQ(r->messages.failed_count, 2);
	CHECK_UINT_EQ(r->messages.traffic_count, 0);
	crit_results_destroy(r);
}

/* 24 bytes of a name, as a detail has them. */
static struct crit_slot_detail name_part(uint16_t kind, const char *text)
{
	char part[24] = "";
	struct crit_slot_detail what = { .detail = kind, .comm = 7 };

	memcpy(part, text, strnlen(text, sizeof(part)));
	memcpy(&what.bytes, part, 8);
	memcpy(&what.peer, part + 8, 4);
	memcpy(&what.tag, part + 12, 4);
	memcpy(&what.request, part + 16, 8);
	return what;
}

/* The first member's name holds, and what it gives later; quotes would break tables. */
static void check_names(void)
{
	struct crit_slot_comm comm = { .hash = 0xabc, .comm = 7, .parent = 1, .size = 2 };
	struct run run = { .ranks = 2, .level = CRIT_LEVEL_TRACE };
	struct crit_results *r;

	CHECK_CASE("names of communicators");
	begin(&run, NULL);
	for (uint32_t rank = 0; rank < 2; rank++) {
		comm.rank = rank;
		enter(&run, rank, 10 * rank, CRIT_MPI_Comm_dup);
		crit_maker_comm(run.m, run.streams[rank], comm);
		leave(&run, rank, 10 * rank + 1, CRIT_MPI_Comm_dup);
	}
	act(&run, 0, 30, CRIT_MPI_Comm_set_name, name_part(CRIT_D_COMM_NAME, "before"));
	enter(&run, 0, 40, CRIT_MPI_Comm_set_name);
	detail(&run, 0, name_part(CRIT_D_COMM_NAME, "the first \"24\" bytes\177and"));
	detail(&run, 0, name_part(CRIT_D_COMM_NAME_MORE, " more"));
	leave(&run, 0, 41, CRIT_MPI_Comm_set_name);
	act(&run, 1, 50, CRIT_MPI_Comm_set_name, name_part(CRIT_D_COMM_NAME, "another"));
	r = finish(&run);
	CHECK_UINT_EQ(r->messages.communicator_count, 3);
	CHECK_STR_EQ(r->messages.communicators[2].name, "the first _24_ bytes_and more");
	crit_results_destroy(r);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(receives) / sizeof(receives[0]); i++)
		check_receive(&receives[i]);
	check_errors();
	check_names();
	return check_done();
}
