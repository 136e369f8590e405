// SPDX-License-Identifier: BSD-3-Clause
// Who is in a communicator, window or file, compiled once per MPI flavour.
//
// Members are named by their ranks in MPI_COMM_WORLD, so two processes that compute the hash of
// their world ranks agree without a message.
#include "pmpi/details_comm.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/guard.h"
#include "core/base/hash.h"
#include "pmpi/details.h"

#define CHUNK 256 /* ranks translated at a time */
#define NAME_MAX_BYTES 63 /* that results have room for */
#define NAME_PART_BYTES 24 /* in one detail */

static atomic_bool has_world;

/* The hash of a group's ordered world ranks; flags says whether somebody is of another world. */
static uint64_t hash_group(MPI_Group group, int size, uint32_t *ret_flags)
{
	int ranks[CHUNK], world_ranks[CHUNK];
	MPI_Group world = MPI_GROUP_NULL;
	uint64_t hash = crit_hash_mix(0, (uint64_t)size);

	if (!atomic_load(&has_world) ||
	    NATIVE(MPI_Comm_group)(MPI_COMM_WORLD, &world) != MPI_SUCCESS) {
		*ret_flags |= CRIT_COMM_IS_FOREIGN;
		return hash;
	}
	for (int done = 0; done < size; done += CHUNK) {
		const int n = size - done < CHUNK ? size - done : CHUNK;

		for (int i = 0; i < n; i++)
			ranks[i] = done + i;
		(void)NATIVE(MPI_Group_translate_ranks)(group, n, ranks, world, world_ranks);
		for (int i = 0; i < n; i++) {
			hash = crit_hash_mix(hash, (uint32_t)world_ranks[i]);
			if (world_ranks[i] == MPI_UNDEFINED)
				*ret_flags |= CRIT_COMM_IS_FOREIGN;
		}
	}
	(void)NATIVE(MPI_Group_free)(&world);
	return hash;
}

/* Takes the group. */
static void describe_group(MPI_Group *group, struct crit_shim_comm *what)
{
	int rank = 0, size = 0;

	(void)NATIVE(MPI_Group_rank)(*group, &rank);
	(void)NATIVE(MPI_Group_size)(*group, &size);
	what->rank = (uint32_t)rank;
	what->size = (uint32_t)size;
	what->peers = (uint32_t)size;
	what->hash = hash_group(*group, size, &what->flags);
	(void)NATIVE(MPI_Group_free)(group);
}

/* Both sides of an intercommunicator have one hash, whichever they are. */
static void add_remote_group(MPI_Comm comm, struct crit_shim_comm *what)
{
	MPI_Group group = MPI_GROUP_NULL;
	uint64_t remote;
	int size = 0;

	(void)NATIVE(MPI_Comm_remote_size)(comm, &size);
	(void)NATIVE(MPI_Comm_remote_group)(comm, &group);
	remote = hash_group(group, size, &what->flags);
	(void)NATIVE(MPI_Group_free)(&group);
	what->peers = (uint32_t)size;
	what->flags |= CRIT_COMM_IS_INTER;
	if (what->hash > remote)
		what->flags |= CRIT_COMM_IS_SECOND;
	what->hash = what->hash > remote ? crit_hash_mix(remote, what->hash)
					 : crit_hash_mix(what->hash, remote);
}

static void define(MPI_Comm comm, struct crit_shim_comm *what)
{
	CRIT_GUARD;
	MPI_Group group = MPI_GROUP_NULL;
	int is_inter = 0;

	(void)NATIVE(MPI_Comm_test_inter)(comm, &is_inter);
	if (NATIVE(MPI_Comm_group)(comm, &group) != MPI_SUCCESS)
		return;
	describe_group(&group, what);
	if (is_inter)
		add_remote_group(comm, what);
	crit_shim_comm_define(HANDLE(comm), what);
}

void crit_world_made(void)
{
	atomic_store(&has_world, true);
	define(MPI_COMM_WORLD, &(struct crit_shim_comm){ .number = CRIT_COMM_WORLD });
	define(MPI_COMM_SELF, &(struct crit_shim_comm){ .number = CRIT_COMM_SELF });
}

/* From here on a session may go on, but MPI_COMM_WORLD must not be asked any more. */
void crit_world_ends(void)
{
	atomic_store(&has_world, false);
}

/* All members of the parent made it, who is not in it too. */
void crit_comm_made(MPI_Comm comm, MPI_Comm parent)
{
	struct crit_shim_comm what = { .parent = HANDLE(parent), .is_of_all = true };

	if (comm == MPI_COMM_NULL)
		crit_shim_comm_define(0, &what);
	else
		define(comm, &what);
}

/* Only its own members made it. */
void crit_comm_joined(MPI_Comm comm, MPI_Comm parent)
{
	if (comm != MPI_COMM_NULL)
		define(comm, &(struct crit_shim_comm){ .parent = HANDLE(parent) });
}

/* A call that may answer with a communicator we know. */
void crit_comm_met(MPI_Comm comm)
{
	if (!crit_shim_comm_find(HANDLE(comm)))
		crit_comm_joined(comm, MPI_COMM_NULL);
}

/* It may not be used yet, but its members are its parent's. */
void crit_comm_copied(MPI_Comm comm, MPI_Comm parent)
{
	const struct crit_shim_comm *known = crit_shim_comm_find(HANDLE(parent));
	struct crit_shim_comm what;

	if (!known)
		return;
	what = *known;
	what.number = 0;
	what.parent = HANDLE(parent);
	what.is_of_all = true;
	crit_shim_comm_define(HANDLE(comm), &what);
}

/* The text goes where other details have their numbers; what is longer than MAX is cut. */
void crit_comm_named(uint64_t comm, const char *name)
{
	uint32_t kind = CRIT_D_COMM_NAME;

	for (size_t left = strnlen(name, NAME_MAX_BYTES); left || kind == CRIT_D_COMM_NAME;) {
		const size_t length = left < NAME_PART_BYTES ? left : NAME_PART_BYTES;
		struct {
			uint64_t bytes;
			int32_t peer;
			int32_t tag;
			uint64_t request;
		} part = { 0 };

		memcpy(&part, name, length);
		crit_shim_detail(kind, comm, part.peer, part.tag, part.bytes, part.request);
		kind = CRIT_D_COMM_NAME_MORE;
		name += length;
		left -= length;
	}
}

void crit_win_made(MPI_Win win, MPI_Comm parent)
{
	CRIT_GUARD;
	struct crit_shim_comm what = { .flags = CRIT_COMM_IS_WINDOW,
				       .parent = HANDLE(parent),
				       .is_of_all = true };
	MPI_Group group = MPI_GROUP_NULL;

	if (win == MPI_WIN_NULL || NATIVE(MPI_Win_get_group)(win, &group) != MPI_SUCCESS)
		return;
	describe_group(&group, &what);
	crit_shim_comm_define(HANDLE(win), &what);
}

void crit_file_made(MPI_File file, MPI_Comm parent)
{
	const struct crit_shim_comm *known = crit_shim_comm_find(HANDLE(parent));
	struct crit_shim_comm what;

	if (!known || file == MPI_FILE_NULL)
		return;
	what = *known;
	what.number = 0;
	what.flags |= CRIT_COMM_IS_FILE;
	what.parent = HANDLE(parent);
	what.is_of_all = true;
	crit_shim_comm_define(FILE_HANDLE(file), &what);
}

static const struct crit_shim_sizes nothing;

/* Before the call in which all do, after which the handle means nothing. */
void crit_come_together(uint64_t handle)
{
	crit_shim_collective_first(CRIT_D_COLL, handle, CRIT_PEER_ANY, &nothing, 0);
}

/* All members called this. */
void crit_came_together(uint64_t handle)
{
	crit_shim_collective(CRIT_D_COLL, handle, CRIT_PEER_ANY, &nothing, 0);
}

static void count_neighbours(MPI_Comm comm, int *ret_in, int *ret_out)
{
	int topology = MPI_UNDEFINED, dimensions = 0, rank = 0, has_weights;

	*ret_in = *ret_out = 0;
	(void)NATIVE(MPI_Topo_test)(comm, &topology);
	if (topology == MPI_CART) {
		(void)NATIVE(MPI_Cartdim_get)(comm, &dimensions);
		*ret_in = *ret_out = 2 * dimensions;
	} else if (topology == MPI_GRAPH) {
		(void)NATIVE(MPI_Comm_rank)(comm, &rank);
		(void)NATIVE(MPI_Graph_neighbors_count)(comm, rank, ret_in);
		*ret_out = *ret_in;
	} else if (topology == MPI_DIST_GRAPH) {
		(void)NATIVE(MPI_Dist_graph_neighbors_count)(comm, ret_in, ret_out, &has_weights);
	}
}

int crit_neighbours_in(MPI_Comm comm)
{
	int in, out;

	count_neighbours(comm, &in, &out);
	return in;
}

int crit_neighbours_out(MPI_Comm comm)
{
	int in, out;

	count_neighbours(comm, &in, &out);
	return out;
}
