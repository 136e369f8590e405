// SPDX-License-Identifier: BSD-3-Clause
// What peers have found in their nodes goes to peer 0, and the numbers it gives come back.
#include "otf2/together.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct share_head {
	uint64_t first_ns, last_ns;
	uint64_t forks, acquisitions, lost_teams, lost_tasks, lost_locks;
	uint64_t location_count, text_count, construct_count, team_count;
	bool has_call[CRIT_OTF2_CALLS];
	bool has_losses, has_constructs, has_joined;
	uint8_t reserved[5];
};

struct shared_location {
	uint64_t row, event_count;
};

struct shared_construct {
	uint64_t site;
	uint32_t number, group, call, is_fork_wait;
};

struct shared_team { /* and its members' rows behind it */
	uint32_t group, size, member_count, reserved;
};

struct share { /* a parcel that is read */
	const struct crit_parcel *parcel;
	size_t at;
	struct share_head head;
};

int crit_otf2_agree(const struct crit_otf2_writer *writer, int rc)
{
	return writer->options->peers ? crit_peers_agree(writer->options->peers, 0, rc) : rc;
}

static struct share_head head_of(const struct crit_otf2_writer *writer)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	struct share_head head = { .first_ns = writer->first_ns,
				   .last_ns = writer->last_ns,
				   .forks = openmp->forks,
				   .acquisitions = openmp->acquisitions,
				   .lost_teams = openmp->lost_teams,
				   .lost_tasks = openmp->lost_tasks,
				   .lost_locks = openmp->lost_locks,
				   .text_count = writer->site_texts.count,
				   .construct_count = openmp->construct_count,
				   .team_count = openmp->team_count,
				   .has_losses = writer->has_losses,
				   .has_constructs = openmp->has_constructs,
				   .has_joined = openmp->has_joined };
	size_t i;

	memcpy(head.has_call, writer->has_call, sizeof(head.has_call));
	for (i = 0; i < writer->location_count; i++)
		head.location_count += writer->locations[i].is_closed;
	return head;
}

static int pack_teams(const struct crit_otf2_openmp *openmp, struct crit_parcel *parcel)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < openmp->team_count && !rc; i++) {
		const struct crit_otf2_team *team = &openmp->teams[i];
		struct shared_team row = { team->group, team->size, (uint32_t)team->count, 0 };

		rc = crit_parcel_put(parcel, &row, sizeof(row));
		if (!rc)
			rc = crit_parcel_put(parcel, team->members,
					     team->count * sizeof(*team->members));
	}
	return rc;
}

static int pack(const struct crit_otf2_writer *writer, struct crit_parcel *parcel)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	struct share_head head = head_of(writer);
	int rc = crit_parcel_put(parcel, &head, sizeof(head));
	size_t i;

	for (i = 0; i < writer->location_count && !rc; i++) {
		struct shared_location row = { i, writer->locations[i].event_count };

		if (writer->locations[i].is_closed)
			rc = crit_parcel_put(parcel, &row, sizeof(row));
	}
	for (i = 0; i < writer->site_texts.count && !rc; i++) {
		const char *text = writer->site_texts.texts[i];
		uint64_t size = strlen(text) + 1;

		rc = crit_parcel_put(parcel, &size, sizeof(size));
		if (!rc)
			rc = crit_parcel_put(parcel, text, size);
	}
	for (i = 0; i < openmp->construct_count && !rc; i++) {
		const struct crit_otf2_construct *construct = &openmp->constructs[i];
		struct shared_construct row = { construct->site, construct->number,
						construct->group, construct->call,
						construct->is_fork_wait };

		rc = crit_parcel_put(parcel, &row, sizeof(row));
	}
	return rc ? rc : pack_teams(openmp, parcel);
}

static bool take(struct share *share, void *ret_row, size_t size)
{
	return crit_parcel_take(share->parcel, &share->at, ret_row, size);
}

static int take_location(struct crit_otf2_writer *writer, struct share *share)
{
	struct shared_location row;

	if (!take(share, &row, sizeof(row)) || row.row >= writer->location_count)
		return -EPROTO;
	writer->locations[row.row].event_count = row.event_count;
	writer->event_count += row.event_count;
	return 0;
}

/* A text's number among all, or -errno. */
static int64_t take_text(struct crit_otf2_writer *writer, struct share *share)
{
	uint64_t size;
	const char *text;
	uint32_t number;

	if (!take(share, &size, sizeof(size)) || !size || size > share->parcel->size - share->at)
		return -EPROTO;
	text = (const char *)share->parcel->bytes + share->at;
	if (text[size - 1])
		return -EPROTO;
	share->at += size;
	number = crit_otf2_string(&writer->site_texts, text);
	return number == CRIT_NONE ? -ENOMEM : (int64_t)number;
}

static int take_construct(struct crit_otf2_writer *writer, struct share *share)
{
	struct shared_construct row;

	if (!take(share, &row, sizeof(row)) || row.group >= writer->group_count ||
	    row.call >= CRIT_OTF2_CALLS)
		return -EPROTO;
	return crit_otf2_add_construct(writer,
				       &(struct crit_otf2_construct){ .site = row.site,
								      .number = row.number,
								      .group = row.group,
								      .call = (uint16_t)row.call });
}

static int take_team(struct crit_otf2_writer *writer, struct share *share)
{
	struct shared_team row;
	uint32_t *members;
	size_t bytes, i;
	int rc = 0;

	if (!take(share, &row, sizeof(row)) || row.group >= writer->group_count)
		return -EPROTO;
	bytes = row.member_count * sizeof(*members);
	members = bytes <= share->parcel->size ? malloc(bytes + 1) : NULL;
	if (!members)
		return -ENOMEM;
	if (!row.member_count || !take(share, members, bytes))
		rc = -EPROTO;
	for (i = 0; i < row.member_count && !rc; i++)
		rc = members[i] < writer->location_count ? 0 : -EPROTO;
	if (!rc)
		rc = crit_otf2_add_team(writer, row.group, row.size, members, row.member_count);
	free(members);
	return rc;
}

static int unpack(struct crit_otf2_writer *writer, struct share *share)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	const struct share_head *head = &share->head;
	uint64_t i;
	int rc = take(share, &share->head, sizeof(share->head)) ? 0 : -EPROTO;

	if (rc)
		return rc;
	if (head->first_ns < writer->first_ns)
		writer->first_ns = head->first_ns;
	if (head->last_ns > writer->last_ns)
		writer->last_ns = head->last_ns;
	openmp->forks += head->forks;
	openmp->acquisitions += head->acquisitions;
	openmp->lost_teams += head->lost_teams;
	openmp->lost_tasks += head->lost_tasks;
	openmp->lost_locks += head->lost_locks;
	openmp->has_constructs |= head->has_constructs;
	openmp->has_joined |= head->has_joined;
	writer->has_losses |= head->has_losses;
	for (i = 0; i < CRIT_OTF2_CALLS; i++)
		writer->has_call[i] |= head->has_call[i];
	for (i = 0; i < head->location_count && !rc; i++)
		rc = take_location(writer, share);
	for (i = 0; i < head->text_count && !rc; i++) {
		int64_t number = take_text(writer, share);

		rc = number < 0 ? (int)number : 0;
	}
	for (i = 0; i < head->construct_count && !rc; i++)
		rc = take_construct(writer, share);
	for (i = 0; i < head->team_count && !rc; i++)
		rc = take_team(writer, share);
	return rc;
}

int crit_otf2_gather_shares(struct crit_otf2_writer *writer, struct crit_otf2_shares *shares)
{
	const struct crit_peers *peers = writer->options->peers;
	uint32_t i;
	int rc, transport;

	shares->to = crit_parcels_create(peers->count);
	shares->from = crit_parcels_create(peers->count);
	rc = crit_peers_agree(peers, 0, shares->to && shares->from ? 0 : -ENOMEM);
	if (rc)
		return rc;
	if (peers->rank)
		rc = pack(writer, &shares->to[0]);
	transport = peers->exchange(peers->user, shares->to, shares->from);
	if (transport)
		return transport;
	for (i = 1; i < peers->count && !peers->rank && !rc; i++) {
		struct share share = { .parcel = &shares->from[i] };

		rc = unpack(writer, &share);
	}
	return rc;
}

/* The numbers of what a peer has told, in its order; its constructs and teams came in a row. */
static int answer(struct crit_otf2_writer *writer, struct share *share, struct crit_parcel *parcel,
		  size_t *construct, size_t *team)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	uint64_t i;
	int rc = crit_parcel_put(parcel, writer->call_regions, sizeof(writer->call_regions));

	if (!rc)
		rc = crit_parcel_put(parcel, writer->has_call, sizeof(writer->has_call));
	if (!take(share, &share->head, sizeof(share->head)))
		return -EPROTO;
	share->at += share->head.location_count * sizeof(struct shared_location);
	for (i = 0; i < share->head.text_count && !rc; i++) {
		int64_t number = take_text(writer, share);

		rc = number < 0 ? (int)number
				: crit_parcel_put(parcel, &writer->site_strings[number],
						  sizeof(*writer->site_strings));
	}
	for (i = 0; i < share->head.construct_count && !rc; i++)
		rc = crit_parcel_put(parcel, &openmp->constructs[(*construct)++].region,
				     sizeof(uint32_t));
	for (i = 0; i < share->head.team_count && !rc; i++)
		rc = crit_parcel_put(parcel, &openmp->teams[(*team)++].communicator,
				     sizeof(uint32_t));
	return rc;
}

static int take_numbers(struct crit_otf2_writer *writer, const struct crit_parcel *parcel)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	size_t at = 0, texts = writer->site_texts.count, i;
	bool is_whole;

	writer->site_strings = calloc(texts + 1, sizeof(*writer->site_strings));
	if (!writer->site_strings)
		return -ENOMEM;
	is_whole =
		crit_parcel_take(parcel, &at, writer->call_regions, sizeof(writer->call_regions)) &&
		crit_parcel_take(parcel, &at, writer->has_call, sizeof(writer->has_call)) &&
		crit_parcel_take(parcel, &at, writer->site_strings,
				 texts * sizeof(*writer->site_strings));
	for (i = 0; i < openmp->construct_count && is_whole; i++)
		is_whole = crit_parcel_take(parcel, &at, &openmp->constructs[i].region,
					    sizeof(uint32_t));
	for (i = 0; i < openmp->team_count && is_whole; i++)
		is_whole = crit_parcel_take(parcel, &at, &openmp->teams[i].communicator,
					    sizeof(uint32_t));
	return is_whole ? 0 : -EPROTO;
}

int crit_otf2_spread_numbers(struct crit_otf2_writer *writer, struct crit_otf2_shares *shares)
{
	const struct crit_peers *peers = writer->options->peers;
	size_t construct = writer->openmp.construct_count, team = writer->openmp.team_count;
	uint32_t i;
	int rc = 0, transport;

	for (i = 1; i < peers->count && !peers->rank; i++) {
		struct share share = { .parcel = &shares->from[i] };

		if (take(&share, &share.head, sizeof(share.head))) {
			construct -= share.head.construct_count;
			team -= share.head.team_count;
		}
	}
	for (i = 1; i < peers->count && !peers->rank && !rc; i++) {
		struct share share = { .parcel = &shares->from[i] };

		rc = answer(writer, &share, &shares->to[i], &construct, &team);
	}
	crit_parcels_empty(shares->to, peers->rank ? peers->count : 0);
	transport = peers->exchange(peers->user, shares->to, shares->from);
	if (!rc && !transport && peers->rank)
		rc = take_numbers(writer, &shares->from[0]);
	return transport ? transport : rc;
}

void crit_otf2_shares_fini(const struct crit_otf2_writer *writer, struct crit_otf2_shares *shares)
{
	if (!writer->options->peers)
		return;
	crit_parcels_destroy(shares->to, writer->options->peers->count);
	crit_parcels_destroy(shares->from, writer->options->peers->count);
}
