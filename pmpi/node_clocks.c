// SPDX-License-Identifier: BSD-3-Clause
// Measures offset and drift of node clocks by messages, without assuming symmetric latencies.
//
// The reference sends at a and has the answer at b, by its clock; the other stamps s in between, by
// its own.  So the reference's clock minus the other's lies in [a - s, b - s], whatever the network
// did.  All exchanges must agree: the largest lower and the smallest upper end are the interval,
// its middle the offset, half its width the bound (facts: 0.5 to 17 us over TCP, twenty exchanges).
// What an older exchange told is widened by what the clocks may have drifted since, so one quick
// exchange among many slow ones is enough, and there are more of them until there was one.
//
// Nobody waits without a deadline, since a rank may have died: requests that are not done by then
// are left to the library, so their buffers live for ever.  Where ranks queue for their CPUs an
// exchange takes long, and fewer have to do.
#include "pmpi/node_clocks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/shim/shim_process.h"
#include "pmpi/details.h"
#include "pmpi/presence.h"

#define EXCHANGES 20
#define EXCHANGES_MAX 200 /* where a network is never as quick as this: */
#define GOOD_BOUND_NS 100000
#define DEADLINE_NS 1000000000u
#define DRIFT_MAX_PPM 200 /* of two clocks meanwhile; crystals differ by 100 at most */
#define TAG_PING 1
#define TAG_ANSWER 2

/* What the reference sends: how far its clock is from the other's, as known by now. */
struct ping {
	int64_t low_ns;
	int64_t high_ns;
	int64_t is_last; /* wants no answer */
};

static struct {
	MPI_Comm all; /* ranks; kept */
	MPI_Comm leaders; /* one rank of each node; kept, for freeing it may wait */
	int rank, size; /* there */
	char reference[CRIT_WORLD_BYTES]; /* the first one's host */
	uint64_t deadline_ns;
	uint64_t stamp_ns; /* buffers */
	struct ping ping;
} clocks = { .all = MPI_COMM_NULL, .leaders = MPI_COMM_NULL };

static bool is_done_in_time(MPI_Request *request)
{
	if (crit_is_done_by(request, clocks.deadline_ns))
		return true;
	if (*request != MPI_REQUEST_NULL)
		(void)NATIVE(MPI_Request_free)(request);
	return false;
}

static bool send(const void *bytes, size_t size, int to, int tag)
{
	MPI_Request request = MPI_REQUEST_NULL;

	return NATIVE(MPI_Isend)(bytes, (int)size, MPI_BYTE, to, tag, clocks.leaders, &request) ==
		       MPI_SUCCESS &&
	       is_done_in_time(&request);
}

static bool receive(void *ret_bytes, size_t size, int from, int tag)
{
	MPI_Request request = MPI_REQUEST_NULL;

	return NATIVE(MPI_Irecv)(ret_bytes, (int)size, MPI_BYTE, from, tag, clocks.leaders,
				 &request) == MPI_SUCCESS &&
	       is_done_in_time(&request);
}

/* Narrows the interval by an exchange, passed_ns after the one before began. */
static void narrow(struct ping *ping, int64_t low_ns, int64_t high_ns, int64_t passed_ns)
{
	const int64_t drift_ns = passed_ns * DRIFT_MAX_PPM / 1000000 + 1;

	ping->low_ns = low_ns > ping->low_ns - drift_ns ? low_ns : ping->low_ns - drift_ns;
	ping->high_ns = high_ns < ping->high_ns + drift_ns ? high_ns : ping->high_ns + drift_ns;
}

static bool is_enough(const struct ping *ping, int count)
{
	if (count < EXCHANGES)
		return false;
	return count >= EXCHANGES_MAX || ping->high_ns - ping->low_ns <= 2 * GOOD_BOUND_NS;
}

/* When to be done with a node that is there: its share of half the time, or of what is left. */
static uint64_t share_of(int other, uint64_t now_ns)
{
	const uint64_t half_ns = clocks.deadline_ns - DEADLINE_NS / 2;
	const uint64_t least_ns = DEADLINE_NS / 2 / (unsigned int)clocks.size;
	const uint64_t left_ns =
		half_ns > now_ns ? (half_ns - now_ns) / (unsigned int)(clocks.size - other) : 0;

	return now_ns + (left_ns > least_ns ? left_ns : least_ns);
}

/* The reference's side.  False: the other did not answer. */
static bool measure(int other)
{
	struct ping *ping = &clocks.ping;
	uint64_t enough_ns = UINT64_MAX;
	int64_t before_ns = (int64_t)crit_shim_now_ns();

	ping->low_ns = INT64_MIN / 2;
	ping->high_ns = INT64_MAX / 2;
	ping->is_last = false;
	for (int i = 0; !ping->is_last; i++) {
		const int64_t begin_ns = (int64_t)crit_shim_now_ns();
		int64_t end_ns;

		if (!send(ping, sizeof(*ping), other, TAG_PING) ||
		    !receive(&clocks.stamp_ns, sizeof(clocks.stamp_ns), other, TAG_ANSWER))
			return false;
		end_ns = (int64_t)crit_shim_now_ns();
		narrow(ping, begin_ns - (int64_t)clocks.stamp_ns, end_ns - (int64_t)clocks.stamp_ns,
		       end_ns - before_ns);
		before_ns = begin_ns;
		if (i == 0)
			enough_ns = share_of(other, (uint64_t)end_ns);
		ping->is_last = is_enough(ping, i + 1) || (uint64_t)end_ns > enough_ns;
	}
	return send(ping, sizeof(*ping), other, TAG_PING);
}

/* The other's side.  False: the reference did not go on in time. */
static bool be_measured(void)
{
	struct crit_message_clock message = { .time_ns = 0 };
	const struct ping *ping = &clocks.ping;

	for (;;) {
		if (!receive(&clocks.ping, sizeof(clocks.ping), 0, TAG_PING))
			return false;
		if (ping->is_last)
			break;
		clocks.stamp_ns = crit_shim_now_ns();
		if (!send(&clocks.stamp_ns, sizeof(clocks.stamp_ns), 0, TAG_ANSWER))
			return false;
	}
	message.time_ns = clocks.stamp_ns;
	if (ping->high_ns < ping->low_ns)
		return true; /* a clock was set meanwhile */
	message.offset_ns = ping->low_ns + (ping->high_ns - ping->low_ns) / 2;
	message.bound_ns = (uint64_t)(ping->high_ns - ping->low_ns + 1) / 2;
	memcpy(message.reference, clocks.reference, sizeof(message.reference));
	crit_shim_tell_clock(&message);
	return true;
}

/* What is late once has its buffers for ever, so nothing is compared after it. */
static void compare(void)
{
	bool is_in_time = true;

	if (clocks.rank > 0)
		is_in_time = be_measured();
	for (int other = 1; clocks.rank == 0 && is_in_time && other < clocks.size; other++)
		is_in_time = measure(other);
	if (!is_in_time)
		clocks.size = 0;
}

/* Of equal names on one shared memory: a node has one recording, whatever MPI takes for a node. */
static int color_of_host(void)
{
	return (int)(crit_hash_text(crit_shim_host()) >> 33); /* not negative */
}

/* Is this the first recorded rank of its node? */
static bool is_leader(MPI_Comm own, int rank, bool is_recorded)
{
	MPI_Comm shared = MPI_COMM_NULL, node = MPI_COMM_NULL;
	int place = 1;

	if (NATIVE(MPI_Comm_split_type)(own, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared) !=
	    MPI_SUCCESS)
		return false;
	if (NATIVE(MPI_Comm_split)(shared, is_recorded ? color_of_host() : MPI_UNDEFINED, rank,
				   &node) == MPI_SUCCESS &&
	    node != MPI_COMM_NULL) {
		(void)NATIVE(MPI_Comm_rank)(node, &place);
		(void)NATIVE(MPI_Comm_free)(&node);
	}
	(void)NATIVE(MPI_Comm_free)(&shared);
	return place == 0;
}

/*
 * The first one's recording names them all, so that one that never comes home is missed; the
 * others' name the first one, which reports.
 */
static void name_nodes(void)
{
	const size_t count = clocks.rank ? 0 : (size_t)clocks.size;
	char *const first = clocks.reference;
	char(*hosts)[CRIT_WORLD_BYTES] = malloc(count * sizeof(*hosts) + 1);
	struct crit_message_nodes message = { .count = 0 };
	int error;

	(void)snprintf(first, CRIT_WORLD_BYTES, "%s", crit_shim_host());
	error = NATIVE(MPI_Gather)(first, CRIT_WORLD_BYTES, MPI_BYTE, hosts, CRIT_WORLD_BYTES,
				   MPI_BYTE, 0, clocks.leaders);
	for (size_t i = 0; hosts && error == MPI_SUCCESS && i < count; i++) {
		memcpy(message.hosts[message.count++], hosts[i], sizeof(*hosts));
		if (message.count < CRIT_NODES_MAX && i + 1 < count)
			continue;
		crit_shim_tell_nodes(&message);
		message.count = 0;
	}
	free(hosts);
	error = NATIVE(MPI_Bcast)(first, CRIT_WORLD_BYTES, MPI_BYTE, 0, clocks.leaders);
	if (clocks.rank > 0 && error == MPI_SUCCESS) {
		memcpy(message.hosts[message.count++], first, CRIT_WORLD_BYTES);
		crit_shim_tell_nodes(&message);
	}
}

void crit_node_clocks_begin(MPI_Comm own, int rank, bool is_recorded)
{
	const bool leads = is_leader(own, rank, is_recorded);

	clocks.all = own;
	if (NATIVE(MPI_Comm_split)(own, leads ? 0 : MPI_UNDEFINED, rank, &clocks.leaders) !=
		    MPI_SUCCESS ||
	    clocks.leaders == MPI_COMM_NULL)
		return;
	(void)NATIVE(MPI_Comm_set_errhandler)(clocks.leaders, MPI_ERRORS_RETURN);
	(void)NATIVE(MPI_Comm_rank)(clocks.leaders, &clocks.rank);
	(void)NATIVE(MPI_Comm_size)(clocks.leaders, &clocks.size);
	name_nodes();
	clocks.deadline_ns = crit_shim_now_ns() + DEADLINE_NS;
	compare();
}

void crit_node_clocks_end(void)
{
	clocks.deadline_ns = crit_shim_now_ns() + DEADLINE_NS;
	if (clocks.leaders != MPI_COMM_NULL && clocks.size > 1)
		compare();
}

/*
 * Between ranks of several nodes MPICH's MPI_Finalize on UCX over TCP waits for answers of ranks
 * that, once they have all of theirs, answer no more: who comes to it late waits for ever, if it
 * has answered the others before.  So nobody goes on while another may still be answering.
 */
void crit_node_clocks_window(void)
{
#ifndef OPEN_MPI
	MPI_Request request = MPI_REQUEST_NULL;

	if (clocks.all != MPI_COMM_NULL &&
	    NATIVE(MPI_Ibarrier)(clocks.all, &request) == MPI_SUCCESS &&
	    crit_is_done_by(&request, clocks.deadline_ns))
		crit_clock_pause_ns(20000000); /* all have left */
#endif
}
