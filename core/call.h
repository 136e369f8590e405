/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and classes of the calls a span can be; the C face of core/mpi_calls.def. */
#ifndef CRIT_CALL_H
#define CRIT_CALL_H

#include "core/abi_tag.h"

enum crit_mpi_call {
	CRIT_MPI_NONE = 0,
#define CRIT_MPI_CALL(number, name, span_class, group) CRIT_MPI_##name = (number),
#include "core/mpi_calls.def"
#undef CRIT_MPI_CALL
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

/* "MPI_Recv"; "?" for a number nobody gave.  Borrowed, lives for ever. */
const char *crit_call_name(unsigned int call);

/* The span class a call has by itself; CRIT_CLASS_MPI for an unknown number below 768. */
enum crit_span_class crit_call_class(unsigned int call);

enum crit_call_group crit_call_group(unsigned int call);

/* "mpi_wait" and so on. */
const char *crit_class_name(enum crit_span_class span_class);

#endif
