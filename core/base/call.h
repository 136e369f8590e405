/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and classes of the calls a span can be; the C face of core/abi/mpi_calls.def. */
#ifndef CRIT_CALL_H
#define CRIT_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_tag.h"

enum crit_mpi_call {
	CRIT_MPI_NONE = 0,
#define CRIT_MPI_CALL(number, name, span_class, group) CRIT_MPI_##name = (number),
#include "core/abi/mpi_calls.def"
#undef CRIT_MPI_CALL
};

enum crit_construct {
	CRIT_CONSTRUCT_NONE = 0,
#define CRIT_CONSTRUCT(number, name, text, span_class) CRIT_CONSTRUCT_##name = (number),
#include "core/abi/constructs.def"
#undef CRIT_CONSTRUCT
};

enum crit_call_group {
	CRIT_GROUP_NONE = 0,
	CRIT_GROUP_ENVIRONMENT,
	CRIT_GROUP_POINT_TO_POINT,
	CRIT_GROUP_REQUEST,
	CRIT_GROUP_COLLECTIVE,
	CRIT_GROUP_RMA,
	CRIT_GROUP_IO,
	CRIT_GROUP_COMMUNICATOR,
	CRIT_GROUP_DATATYPE,
	CRIT_GROUP_GROUP,
	CRIT_GROUP_OTHER,
	CRIT_GROUP_COUNT
};

/* "MPI_Recv", "omp barrier"; "?" for a number nobody gave.  Borrowed, lives for ever. */
const char *crit_call_name(unsigned int call);

/*
 * The span class a call has by itself; of an unknown number CRIT_CLASS_MPI below
 * CRIT_CALL_OMP_FIRST and CRIT_CLASS_OMP from there on.
 */
enum crit_span_class crit_call_class(unsigned int call);

enum crit_call_group crit_call_group(unsigned int call);

/* "point_to_point" and so on. */
const char *crit_group_name(enum crit_call_group group);

/* Has the group calls that may wait, beside those that begin and end MPI? */
bool crit_group_may_wait(enum crit_call_group group);

/* Calls that begin and end a process's part of the window: recorded whatever is asked for. */
static inline bool crit_call_is_window(unsigned int call)
{
	return call == CRIT_MPI_Init || call == CRIT_MPI_Init_thread || call == CRIT_MPI_Finalize ||
	       call == CRIT_MPI_Session_init || call == CRIT_MPI_Session_finalize;
}

/*
 * Reads a list of groups, separated by commas: names alone, then only these are on; or with a minus
 * each, then all others are; "all" is all.  Later ones win.  ret_off: a bit 1 << group for each
 * that is off.  Errors: -EINVAL for a name nobody gave.
 */
int crit_groups_parse(const char *list, uint32_t *ret_off);

/* "mpi_wait" and so on. */
const char *crit_class_name(enum crit_span_class span_class);

#endif
