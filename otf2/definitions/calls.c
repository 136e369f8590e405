// SPDX-License-Identifier: BSD-3-Clause
// Roles and operations by a call's name, where its group in the call table is not enough.
#include "otf2/definitions/calls.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/base/call.h"

#define ROLE(name) OTF2_REGION_ROLE_##name
#define OP(name) OTF2_COLLECTIVE_OP_##name

static const struct collective {
	const char *begins; /* the first that fits counts, case apart */
	OTF2_RegionRole role;
	OTF2_CollectiveOp op;
} collectives[] = {
	{ "barrier", ROLE(BARRIER), OP(BARRIER) },
	{ "bcast", ROLE(COLL_ONE2ALL), OP(BCAST) },
	{ "scatterv", ROLE(COLL_ONE2ALL), OP(SCATTERV) },
	{ "scatter", ROLE(COLL_ONE2ALL), OP(SCATTER) },
	{ "gatherv", ROLE(COLL_ALL2ONE), OP(GATHERV) },
	{ "gather", ROLE(COLL_ALL2ONE), OP(GATHER) },
	{ "reduce_local", ROLE(FUNCTION), OP(REDUCE) },
	{ "reduce_scatter_block", ROLE(COLL_ALL2ALL), OP(REDUCE_SCATTER_BLOCK) },
	{ "reduce_scatter", ROLE(COLL_ALL2ALL), OP(REDUCE_SCATTER) },
	{ "reduce", ROLE(COLL_ALL2ONE), OP(REDUCE) },
	{ "allgatherv", ROLE(COLL_ALL2ALL), OP(ALLGATHERV) },
	{ "allgather", ROLE(COLL_ALL2ALL), OP(ALLGATHER) },
	{ "allreduce", ROLE(COLL_ALL2ALL), OP(ALLREDUCE) },
	{ "alltoallv", ROLE(COLL_ALL2ALL), OP(ALLTOALLV) },
	{ "alltoallw", ROLE(COLL_ALL2ALL), OP(ALLTOALLW) },
	{ "alltoall", ROLE(COLL_ALL2ALL), OP(ALLTOALL) },
	{ "exscan", ROLE(COLL_OTHER), OP(EXSCAN) },
	{ "scan", ROLE(COLL_OTHER), OP(SCAN) },
	{ "comm_free", ROLE(COLL_OTHER), OP(DESTROY_HANDLE) },
	{ "comm_disconnect", ROLE(COLL_OTHER), OP(DESTROY_HANDLE) },
	{ "win_allocate", ROLE(RMA), OP(CREATE_HANDLE_AND_ALLOCATE) },
	{ "win_create", ROLE(RMA), OP(CREATE_HANDLE) },
	{ "win_free", ROLE(RMA), OP(DESTROY_HANDLE) },
	{ "win_fence", ROLE(RMA), OP(BARRIER) },
	{ "file_close", ROLE(FILE_IO), OP(DESTROY_HANDLE) },
	{ "file_open", ROLE(FILE_IO), OP(CREATE_HANDLE) },
	{ "file_", ROLE(FILE_IO), OP(BARRIER) }, /* the nearest there is */
	{ "", ROLE(COLL_OTHER), OP(CREATE_HANDLE) },
};

static uint8_t search(unsigned int call)
{
	const char *name = crit_call_name(call);
	uint8_t i = 0;

	if (strncmp(name, "MPI_", 4) == 0)
		name += 4;
	if (*name == 'I' && islower((unsigned char)name[1]))
		name++; /* Ibcast */
	if (strncasecmp(name, "neighbor_", 9) == 0)
		name += 9;
	while (strncasecmp(name, collectives[i].begins, strlen(collectives[i].begins)) != 0)
		i++;
	return i;
}

/* Asked at each event: a name is searched once. */
static const struct collective *find(unsigned int call)
{
	static _Atomic uint8_t found[CRIT_CALL_OMP_FIRST]; /* plus one */
	uint8_t i = call < CRIT_CALL_OMP_FIRST ? found[call] : 0;

	if (i > 0)
		return &collectives[i - 1];
	i = search(call);
	if (call < CRIT_CALL_OMP_FIRST)
		found[call] = i + 1;
	return &collectives[i];
}

static const OTF2_RegionRole constructs[] = {
#define AT(name) [CRIT_CONSTRUCT_##name - CRIT_CALL_OMP_FIRST]
	AT(PARALLEL) = ROLE(PARALLEL),
	AT(BARRIER) = ROLE(BARRIER),
	AT(IMPLICIT_BARRIER) = ROLE(IMPLICIT_BARRIER),
	AT(RUNTIME_BARRIER) = ROLE(IMPLICIT_BARRIER),
	AT(TASKWAIT) = ROLE(TASK_WAIT),
	AT(TASKGROUP) = ROLE(TASK_WAIT),
	AT(REDUCTION) = ROLE(IMPLICIT_BARRIER),
	AT(LOOP) = ROLE(LOOP),
	AT(SECTIONS) = ROLE(SECTIONS),
	AT(SINGLE) = ROLE(SINGLE),
	AT(WORKSHARE) = ROLE(WORKSHARE),
	AT(DISTRIBUTE) = ROLE(LOOP),
	AT(TASKLOOP) = ROLE(TASK_CREATE),
	AT(SCOPE) = ROLE(WORKSHARE),
	AT(TASK) = ROLE(TASK),
	AT(MASKED) = ROLE(MASTER),
	AT(CRITICAL) = ROLE(CRITICAL_SBLOCK),
	AT(CRITICAL_WAIT) = ROLE(CRITICAL),
	AT(LOCK_WAIT) = ROLE(WRAPPER),
	AT(NEST_LOCK_WAIT) = ROLE(WRAPPER),
	AT(ORDERED) = ROLE(ORDERED_SBLOCK),
	AT(ORDERED_WAIT) = ROLE(ORDERED),
	AT(ATOMIC_WAIT) = ROLE(ATOMIC),
	AT(PHASE) = ROLE(CODE),
#undef AT
};

OTF2_RegionRole crit_otf2_role(unsigned int call)
{
	if (call >= CRIT_CALL_OMP_FIRST)
		return call - CRIT_CALL_OMP_FIRST < sizeof(constructs) / sizeof(constructs[0])
			       ? constructs[call - CRIT_CALL_OMP_FIRST]
			       : OTF2_REGION_ROLE_UNKNOWN;
	switch (crit_call_group(call)) {
	case CRIT_GROUP_POINT_TO_POINT:
	case CRIT_GROUP_REQUEST:
		return OTF2_REGION_ROLE_POINT2POINT;
	case CRIT_GROUP_COLLECTIVE:
		return find(call)->role;
	case CRIT_GROUP_COMMUNICATOR: /* those that wait are collective */
		return crit_call_class(call) == CRIT_CLASS_MPI_WAIT ? find(call)->role
								    : OTF2_REGION_ROLE_FUNCTION;
	case CRIT_GROUP_RMA:
		return OTF2_REGION_ROLE_RMA;
	case CRIT_GROUP_IO:
		return OTF2_REGION_ROLE_FILE_IO;
	default:
		return OTF2_REGION_ROLE_FUNCTION;
	}
}

OTF2_CollectiveOp crit_otf2_collective(unsigned int call)
{
	return find(call)->op;
}
