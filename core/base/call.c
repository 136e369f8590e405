// SPDX-License-Identifier: BSD-3-Clause
// The table of calls and constructs, of mpi_calls.def and constructs.def in core/abi.
#include "core/base/call.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct call_row {
	const char *name;
	unsigned char span_class;
	unsigned char group;
};

static const struct call_row rows[] = {
#define CRIT_MPI_CALL(number, name, span_class, group)                                             \
	[number] = { "MPI_" #name, CRIT_CLASS_##span_class, CRIT_GROUP_##group },
#include "core/abi/mpi_calls.def"
#undef CRIT_MPI_CALL
#define CRIT_CONSTRUCT(number, name, text, span_class)                                             \
	[number] = { text, CRIT_CLASS_##span_class, CRIT_GROUP_NONE },
#include "core/abi/constructs.def"
#undef CRIT_CONSTRUCT
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

	if (row)
		return row->span_class;
	return call < CRIT_CALL_OMP_FIRST ? CRIT_CLASS_MPI : CRIT_CLASS_OMP;
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

static const char *const group_names[CRIT_GROUP_COUNT] = {
	"none", "environment",  "point_to_point", "request", "collective", "rma",
	"io",   "communicator", "datatype",       "group",   "other",
};

const char *crit_group_name(enum crit_call_group group)
{
	return (unsigned int)group < CRIT_GROUP_COUNT ? group_names[group] : "?";
}

bool crit_group_may_wait(enum crit_call_group group)
{
	for (unsigned int call = 0; call < sizeof(rows) / sizeof(rows[0]); call++)
		if (rows[call].name && rows[call].group == group &&
		    rows[call].span_class != CRIT_CLASS_MPI && !crit_call_is_window(call))
			return true;
	return false;
}

/* The bits of a group's name, of "all" for every group; 0 for a name nobody gave. */
static uint32_t groups_of(const char *name, size_t length)
{
	const uint32_t all = (1u << CRIT_GROUP_COUNT) - 2;

	if (length == 3 && memcmp(name, "all", 3) == 0)
		return all;
	for (unsigned int group = 1; group < CRIT_GROUP_COUNT; group++)
		if (strlen(group_names[group]) == length &&
		    memcmp(group_names[group], name, length) == 0)
			return 1u << group;
	return 0;
}

int crit_groups_parse(const char *list, uint32_t *ret_off)
{
	uint32_t off = *list == '-' ? 0 : groups_of("all", 3);

	for (;;) {
		const bool is_off = *list == '-';
		const char *name = list + is_off;
		const size_t length = strcspn(name, ",");
		const uint32_t groups = groups_of(name, length);

		if (!groups)
			return -EINVAL;
		off = is_off ? off | groups : off & ~groups;
		if (!name[length])
			break;
		list = name + length + 1;
	}
	*ret_off = off;
	return 0;
}
