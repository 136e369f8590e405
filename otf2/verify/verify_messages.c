// SPDX-License-Identifier: BSD-3-Clause
// Checks sends against receives, and collectives of all members.
#include "otf2/verify/verify_messages.h"

#include <errno.h>

#include "otf2/verify/comm_members.h"
#include "otf2/verify/faults.h"

#define SHOWN_MAX 20u

/* The group of a communicator that a peer's rank counts in, seen from the stream's rank. */
static const struct crit_otf2_seen_group *peers_of(struct crit_otf2_verifier *verifier,
						   const struct crit_otf2_seen_communicator *comm)
{
	uint32_t index = comm->group;

	if (comm->group_b != CRIT_NONE &&
	    crit_otf2_verify_is_member(verifier, index, verifier->stream.rank))
		index = comm->group_b;
	return &verifier->groups[index];
}

void crit_otf2_verify_message(struct crit_otf2_verifier *verifier, bool is_send, uint32_t peer,
			      uint32_t communicator, uint32_t tag, uint64_t bytes)
{
	const struct crit_otf2_seen_communicator *comm =
		crit_otf2_verify_find(verifier, communicator);
	uint32_t rank = verifier->stream.rank, other = rank;
	struct crit_otf2_tally_row key = { .communicator = communicator, .tag = tag };
	struct crit_otf2_tally_row *row;

	verifier->message_count += is_send;
	if (!comm)
		return;
	if (comm->group != CRIT_NONE) {
		const struct crit_otf2_seen_group *transport = peers_of(verifier, comm);

		if (peer >= transport->member_count) {
			crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_PEER,
					       "rank %u of a message is out of range; communicator "
					       "%u has %u",
					       peer, communicator, transport->member_count);
			return;
		}
		other = (uint32_t)transport->members[peer];
	}
	key.sender = is_send ? rank : other;
	key.receiver = is_send ? other : rank;
	row = crit_otf2_tally_get(&verifier->messages, &key);
	if (!row) {
		verifier->error = -ENOMEM;
		return;
	}
	*(is_send ? &row->sends : &row->receives) += 1;
	*(is_send ? &row->sent_bytes : &row->received_bytes) += bytes;
}

void crit_otf2_verify_collective(struct crit_otf2_verifier *verifier, uint32_t communicator)
{
	const struct crit_otf2_seen_communicator *comm =
		crit_otf2_verify_find(verifier, communicator);
	struct crit_otf2_tally_row key = { .communicator = communicator,
					   .sender = verifier->stream.rank };
	struct crit_otf2_tally_row *row;

	if (!comm || comm->group == CRIT_NONE)
		return;
	row = crit_otf2_tally_get(&verifier->collectives, &key);
	if (row)
		row->sends++;
	else
		verifier->error = -ENOMEM;
}

/* Two members of a communicator that take part in different numbers of collectives. */
static void tell_uneven(struct crit_otf2_verifier *verifier, const struct crit_otf2_tally_row *row)
{
	const struct crit_otf2_seen_communicator *comm =
		crit_otf2_verify_find(verifier, row->communicator);
	const struct crit_otf2_seen_group *group = &verifier->groups[comm->group];
	struct crit_otf2_tally_row key = { .communicator = row->communicator };
	uint64_t sends = row->sends;
	uint32_t sender = row->sender;

	for (uint32_t i = 0; i < group->member_count; i++) {
		const struct crit_otf2_tally_row *other;

		key.sender = (uint32_t)group->members[i];
		other = crit_otf2_tally_get(&verifier->collectives, &key);
		if (!other || other->sends != sends)
			break;
	}
	crit_otf2_fault(verifier,
			"communicator %u: rank %u takes part in %llu collectives, rank %u in "
			"another number",
			key.communicator, sender, (unsigned long long)sends, key.sender);
}

/* Every member must be there, and as often as the first one seen.  Cost: O(1) per member. */
static void check_collectives(struct crit_otf2_verifier *verifier)
{
	const struct crit_otf2_tally *all = &verifier->collectives;

	for (size_t i = 0; i < all->count; i++) {
		const struct crit_otf2_tally_row *row = &all->rows[i];
		struct crit_otf2_seen_communicator *comm =
			crit_otf2_verify_find(verifier, row->communicator);

		if (comm->group_b != CRIT_NONE)
			continue;
		if (!comm->members_seen++)
			comm->first_row = (uint32_t)i;
		if (row->sends != all->rows[comm->first_row].sends) {
			tell_uneven(verifier, &all->rows[comm->first_row]);
			return; /* one says enough */
		}
	}
	for (size_t i = 0; i < verifier->communicator_count; i++) {
		const struct crit_otf2_seen_communicator *comm = &verifier->communicators[i];

		if (comm->members_seen &&
		    comm->members_seen != verifier->groups[comm->group].member_count) {
			tell_uneven(verifier, &all->rows[comm->first_row]);
			return;
		}
	}
}

void crit_otf2_verify_matches(struct crit_otf2_verifier *verifier)
{
	uint64_t unmatched = 0;

	/* what was not read cannot match; what is not claimed need not */
	if (!verifier->is_complete || verifier->has_unread)
		return;
	for (size_t i = 0; i < verifier->messages.count; i++) {
		const struct crit_otf2_tally_row *row = &verifier->messages.rows[i];

		if (row->sends == row->receives && row->sent_bytes == row->received_bytes)
			continue;
		if (unmatched++ < SHOWN_MAX)
			crit_otf2_fault(verifier,
					"communicator %u, tag %u: rank %u sent %llu messages (%llu "
					"bytes) to rank %u, which received %llu (%llu bytes)",
					row->communicator, row->tag, row->sender,
					(unsigned long long)row->sends,
					(unsigned long long)row->sent_bytes, row->receiver,
					(unsigned long long)row->receives,
					(unsigned long long)row->received_bytes);
	}
	if (unmatched > SHOWN_MAX)
		crit_otf2_fault(verifier,
				"and %llu more pairs of ranks whose messages do not match",
				(unsigned long long)(unmatched - SHOWN_MAX));
	check_collectives(verifier);
}
