// SPDX-License-Identifier: BSD-3-Clause
// Joins what a receive asked for with what its status says.
#include "analysis/mpi/receive_status.h"

#include "core/base/call.h"

/* MPICH 4.0 leaves in the status of MPI_Isendrecv what a request before it had, or zeros. */
static bool is_stale(uint32_t flavour, const struct crit_request *request)
{
	const bool is_exchange = request->call == CRIT_MPI_Isendrecv ||
				 request->call == CRIT_MPI_Isendrecv_c ||
				 request->call == CRIT_MPI_Isendrecv_replace ||
				 request->call == CRIT_MPI_Isendrecv_replace_c;

	return is_exchange && flavour == CRIT_FLAVOUR_MPICH;
}

/* Empty by the MPI standard: any source, any tag, no byte. */
static bool is_empty(const struct crit_slot_detail *status)
{
	return status->peer == CRIT_PEER_ANY && status->tag == CRIT_PEER_ANY && !status->bytes;
}

static bool is_other(int32_t posted, int32_t told)
{
	return posted >= 0 && told >= 0 && posted != told;
}

struct crit_slot_detail crit_receive_status(uint32_t flavour, const struct crit_request *request,
					    const struct crit_slot_detail *status,
					    struct crit_message_losses *losses)
{
	struct crit_slot_detail what = *status;

	what.comm = request->communicator;
	if (is_stale(flavour, request) || is_empty(status) ||
	    is_other(request->peer, status->peer) || is_other(request->tag, status->tag)) {
		losses->unusable_statuses++;
		what.peer = CRIT_PEER_ANY;
		what.tag = CRIT_PEER_ANY;
		what.bytes = CRIT_BYTES_UNKNOWN;
	}
	if (what.peer == CRIT_PEER_ANY)
		what.peer = request->peer;
	if (what.tag == CRIT_PEER_ANY)
		what.tag = request->tag;
	if (what.bytes == CRIT_BYTES_UNKNOWN && request->bytes != CRIT_BYTES_UNKNOWN) {
		what.bytes = request->bytes;
		losses->estimated++;
	}
	losses->unknown_sources += what.peer == CRIT_PEER_ANY;
	return what;
}
