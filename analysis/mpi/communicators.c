// SPDX-License-Identifier: BSD-3-Clause
// Finds which communicators of different processes are the same.
#include "analysis/mpi/communicators.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/line.h"

#define SELF 0u /* MPI_COMM_SELF is the first row */

static const struct crit_communicator_view nothing = { CRIT_NONE, 0, CRIT_NONE };

static uint64_t number_key(uint32_t process, uint32_t number)
{
	return (uint64_t)process << 32 | number;
}

/* Range: index below CRIT_COMMUNICATORS_MAX, so that 49 bits hold it all. */
static uint64_t place_key(uint32_t index, uint32_t side, uint32_t number)
{
	return (uint64_t)index << 33 | (uint64_t)side << 32 | number;
}

static uint64_t hash_of(const struct crit_communicator *row)
{
	return crit_hash_mix(crit_hash_mix(crit_hash_mix(row->hash, row->nth), row->world),
			     row->kind);
}

static bool is_same(const struct crit_communicator *a, const struct crit_communicator *b)
{
	return a->hash == b->hash && a->nth == b->nth && a->world == b->world && a->kind == b->kind;
}

/* The row of the same communicator, or CRIT_NONE.  A foreign one has no name to find it by. */
static uint32_t find(const struct crit_communicators *all, const struct crit_communicator *like)
{
	struct crit_probe probe;
	uint32_t index;

	if (like->kind == CRIT_COMMUNICATOR_FOREIGN)
		return CRIT_NONE;
	index = crit_index_first(&all->keys, hash_of(like), &probe);
	while (index != CRIT_NONE && !is_same(&all->rows[index], like))
		index = crit_index_next(&all->keys, &probe);
	return index;
}

/* Finds or makes a row.  Errors: -ENOMEM, -ENOSPC when there are too many. */
static int obtain(struct crit_communicators *all, const struct crit_communicator *like,
		  uint32_t *ret_index)
{
	uint32_t index = find(all, like);
	int rc;

	if (index != CRIT_NONE) {
		*ret_index = index;
		return 0;
	}
	if (all->count >= CRIT_COMMUNICATORS_MAX) {
		all->dropped++;
		return -ENOSPC;
	}
	index = (uint32_t)all->count;
	rc = crit_array_grow(&all->rows, &all->capacity, index + 1, sizeof(*all->rows));
	if (!rc && like->kind != CRIT_COMMUNICATOR_FOREIGN)
		rc = crit_index_put(&all->keys, hash_of(like), index);
	if (rc)
		return rc;
	all->rows[index] = *like;
	all->count++;
	*ret_index = index;
	return 0;
}

/* The member at a place, made when it is not there.  Errors: -ENOMEM. */
static int obtain_member(struct crit_communicators *all, struct crit_communicator_view view,
			 uint32_t number, uint32_t *ret_member)
{
	uint64_t key = place_key(view.index, view.side, number);
	uint32_t at = crit_map_get(&all->places, key);
	int rc;

	*ret_member = at;
	if (at != CRIT_NONE)
		return 0;
	at = (uint32_t)all->member_count;
	rc = crit_array_grow(&all->members, &all->member_capacity, at + 1, sizeof(*all->members));
	if (!rc)
		rc = crit_map_set(&all->places, key, at);
	if (rc)
		return rc;
	all->members[at] = (struct crit_comm_member){ .communicator = view.index,
						      .number = number,
						      .rank = CRIT_NONE };
	all->member_count++;
	*ret_member = at;
	return 0;
}

/* The first to announce a place has it: sets the view's member.  Errors: -ENOMEM. */
static int announce(struct crit_communicators *all, struct crit_communicator_view *view,
		    uint32_t number, uint32_t rank)
{
	struct crit_communicator *row = &all->rows[view->index];
	uint32_t at;
	int rc;

	view->member = CRIT_NONE;
	if (number >= row->size[view->side])
		return 0;
	rc = obtain_member(all, *view, number, &at);
	if (rc || all->members[at].is_known)
		return rc;
	all->members[at].is_known = true;
	all->members[at].rank = rank;
	row->known[view->side]++;
	view->member = at;
	return 0;
}

static int add_world_of(struct crit_communicators *all, uint32_t index)
{
	const struct crit_rank *rank = &all->model->ranks[index];
	struct crit_communicator like = { .world = rank->world_number,
					  .kind = CRIT_COMMUNICATOR_WORLD,
					  .parent = CRIT_NONE };
	struct crit_communicator_view view = { .member = CRIT_NONE };
	int rc = obtain(all, &like, &view.index);

	all->worlds[index] = nothing;
	if (rc)
		return rc == -ENOSPC ? 0 : rc;
	if (rank->size > all->rows[view.index].size[0])
		all->rows[view.index].size[0] = rank->size;
	rc = announce(all, &view, rank->rank, index);
	all->worlds[index] = view;
	return rc;
}

int crit_communicators_init(struct crit_communicators *all, const struct crit_model *model)
{
	struct crit_communicator self = { .kind = CRIT_COMMUNICATOR_SELF,
					  .size = { 1 },
					  .parent = CRIT_NONE };
	uint32_t index;
	int rc;

	*all = (struct crit_communicators){ .model = model };
	all->worlds = calloc(model->rank_count + 1, sizeof(*all->worlds));
	if (!all->worlds)
		return -ENOMEM;
	rc = obtain(all, &self, &index);
	for (size_t i = 0; i < model->rank_count && !rc; i++)
		rc = add_world_of(all, (uint32_t)i);
	if (rc)
		crit_communicators_fini(all);
	return rc;
}

void crit_communicators_fini(struct crit_communicators *all)
{
	free(all->rows);
	free(all->members);
	free(all->views);
	free(all->worlds);
	crit_index_fini(&all->keys);
	crit_map_fini(&all->numbers);
	crit_map_fini(&all->places);
	*all = (struct crit_communicators){ 0 };
}

static uint32_t rank_of(const struct crit_communicators *all, uint32_t process)
{
	return all->model->processes[process].rank;
}

static enum crit_communicator_kind kind_of(uint32_t flags)
{
	if (flags & CRIT_COMM_IS_FOREIGN)
		return CRIT_COMMUNICATOR_FOREIGN;
	if (flags & CRIT_COMM_IS_WINDOW)
		return CRIT_COMMUNICATOR_WINDOW;
	if (flags & CRIT_COMM_IS_FILE)
		return CRIT_COMMUNICATOR_FILE;
	return flags & CRIT_COMM_IS_INTER ? CRIT_COMMUNICATOR_INTER : CRIT_COMMUNICATOR_INTRA;
}

/* A number that is used again means the new one.  Errors: -ENOMEM. */
static int set_view(struct crit_communicators *all, uint64_t key,
		    struct crit_communicator_view view)
{
	uint32_t at = crit_map_get(&all->numbers, key);
	int rc = 0;

	if (at == CRIT_NONE) {
		at = (uint32_t)all->view_count;
		rc = crit_array_grow(&all->views, &all->view_capacity, at + 1, sizeof(*all->views));
		if (!rc)
			rc = crit_map_set(&all->numbers, key, at);
		if (rc)
			return rc;
		all->view_count++;
	}
	all->views[at] = view;
	return rc;
}

int crit_communicators_take(struct crit_communicators *all, uint32_t process,
			    const struct crit_slot_comm *slot)
{
	uint32_t rank = rank_of(all, process);
	struct crit_communicator like = {
		.hash = slot->hash,
		.nth = slot->nth,
		.world = rank == CRIT_NONE ? CRIT_NONE : all->model->ranks[rank].world_number,
		.kind = kind_of(slot->flags),
		.parent = CRIT_NONE,
	};
	struct crit_communicator_view view = {
		.side = like.kind == CRIT_COMMUNICATOR_INTER &&
			(slot->flags & CRIT_COMM_IS_SECOND) != 0,
	};
	int rc;

	if (slot->flags & CRIT_COMM_IS_FREED || !slot->comm ||
	    (rank != CRIT_NONE && slot->comm <= CRIT_COMM_SELF))
		return 0;
	if (slot->parent > 0)
		like.parent = crit_communicators_view(all, process, (uint32_t)slot->parent).index;
	like.size[view.side] = slot->size;
	rc = obtain(all, &like, &view.index);
	if (rc)
		return rc == -ENOSPC ? 0 : rc;
	if (!all->rows[view.index].size[view.side])
		all->rows[view.index].size[view.side] = slot->size;
	rc = announce(all, &view, slot->rank, rank);
	return rc ? rc : set_view(all, number_key(process, slot->comm), view);
}

struct crit_communicator_view crit_communicators_view(const struct crit_communicators *all,
						      uint32_t process, uint32_t number)
{
	uint32_t rank = rank_of(all, process);
	uint32_t found;

	if (number == CRIT_COMM_SELF)
		return (struct crit_communicator_view){ SELF, 0, CRIT_NONE };
	if (number == CRIT_COMM_WORLD && rank != CRIT_NONE)
		return all->worlds[rank];
	found = crit_map_get(&all->numbers, number_key(process, number));
	return found == CRIT_NONE ? nothing : all->views[found];
}

void crit_communicators_rename(struct crit_communicators *all, uint32_t process,
			       const struct crit_slot_detail *part)
{
	const uint32_t index = crit_communicators_view(all, process, part->comm).index;
	struct crit_communicator *row = index == CRIT_NONE ? NULL : &all->rows[index];
	const bool is_first = part->detail == CRIT_D_COMM_NAME;
	char text[25] = "";
	size_t length;

	if (!row || (row->name[0] && row->name_process != process))
		return;
	memcpy(text, &part->bytes, 8);
	memcpy(text + 8, &part->peer, 4);
	memcpy(text + 12, &part->tag, 4);
	memcpy(text + 16, &part->request, 8);
	for (size_t i = 0; text[i]; i++) /* it stands between quotes in tables */
		text[i] = crit_line_is_control(text[i]) || text[i] == '"' ? '_' : text[i];
	length = is_first ? 0 : strlen(row->name);
	(void)snprintf(row->name + length, sizeof(row->name) - length, "%s", text);
	row->name_process = process;
}

uint32_t crit_communicators_member(const struct crit_communicators *all, uint32_t index,
				   uint32_t side, uint32_t number)
{
	return crit_map_get(&all->places, place_key(index, side, number));
}

int crit_communicators_peer(struct crit_communicators *all, uint32_t process,
			    struct crit_communicator_view view, int32_t peer, uint32_t *ret_member)
{
	uint32_t number = (uint32_t)peer;
	uint32_t rank = rank_of(all, process);
	int rc;

	*ret_member = CRIT_NONE;
	if (view.index == CRIT_NONE || peer < 0)
		return 0;
	if (view.index == SELF) { /* everybody's own: its members are the ranks themselves */
		if (rank == CRIT_NONE)
			return 0;
		rc = obtain_member(all, view, rank, ret_member);
		if (!rc)
			all->members[*ret_member].rank = rank;
		return rc;
	}
	if (all->rows[view.index].kind == CRIT_COMMUNICATOR_FOREIGN)
		return 0;
	if (all->rows[view.index].kind == CRIT_COMMUNICATOR_INTER)
		view.side ^= 1;
	else if (number >= all->rows[view.index].size[0])
		return 0;
	return obtain_member(all, view, number, ret_member);
}

void crit_communicators_name(const struct crit_communicators *all, uint32_t index, char *text,
			     size_t text_bytes)
{
	const struct crit_communicator *row = &all->rows[index];
	const char *kind = row->kind == CRIT_COMMUNICATOR_WINDOW    ? "window"
			   : row->kind == CRIT_COMMUNICATOR_FILE    ? "file"
			   : row->kind == CRIT_COMMUNICATOR_FOREIGN ? "foreign comm"
								    : "comm";

	if (row->name[0])
		(void)snprintf(text, text_bytes, "%s", row->name);
	else if (row->kind == CRIT_COMMUNICATOR_SELF)
		(void)snprintf(text, text_bytes, "MPI_COMM_SELF");
	else if (row->kind == CRIT_COMMUNICATOR_WORLD && row->world)
		(void)snprintf(text, text_bytes, "MPI_COMM_WORLD %u", row->world);
	else if (row->kind == CRIT_COMMUNICATOR_WORLD)
		(void)snprintf(text, text_bytes, "MPI_COMM_WORLD");
	else if (row->kind == CRIT_COMMUNICATOR_INTER)
		(void)snprintf(text, text_bytes, "intercomm %u of %u + %u ranks", index,
			       row->size[0], row->size[1]);
	else
		(void)snprintf(text, text_bytes, "%s %u of %u ranks", kind, index, row->size[0]);
}
