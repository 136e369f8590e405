// SPDX-License-Identifier: BSD-3-Clause
// The call table, expanded from core/mpi_calls.def.
#include "core/call.h"

#include <stddef.h>

struct call_row {
	const char *name;
	unsigned char span_class;
	unsigned char group;
};

static const struct call_row rows[] = {
#define CRIT_MPI_CALL(number, name, span_class, group)                                             \
	[number] = { "MPI_" #name, CRIT_CLASS_##span_class, CRIT_GROUP_##group },
#include "core/mpi_calls.def"
#undef CRIT_MPI_CALL
};

static const struct call_row *find(unsigned int call)
{
	if (call >= sizeof(rows) / sizeof(rows[0]) || !rows[call].name)
		return NULL;
	return &rows[call];
}

const char *crit_call_name(unsigned int call)
{
	const struct call_row *row = find(call);

	return row ? row->name : "?";
}

enum crit_span_class crit_call_class(unsigned int call)
{
	const struct call_row *row = find(call);

	return row ? row->span_class : CRIT_CLASS_MPI;
}

enum crit_call_group crit_call_group(unsigned int call)
{
	const struct call_row *row = find(call);

	return row ? row->group : CRIT_GROUP_OTHER;
}

const char *crit_class_name(enum crit_span_class span_class)
{
	static const char *const names[CRIT_CLASS_COUNT] = {
		"none",     "setup",    "user", "mpi",      "mpi_may_wait",
		"mpi_poll", "mpi_wait", "omp",  "omp_wait", "omp_idle",
	};

	return (unsigned int)span_class < CRIT_CLASS_COUNT ? names[span_class] : "?";
}
